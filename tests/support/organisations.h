/* SPDX-License-Identifier: MIT */
/* Runs the tests of a program once for each organisation of an index. */
#ifndef KSV_TESTS_SUPPORT_ORGANISATIONS_H
#define KSV_TESTS_SUPPORT_ORGANISATIONS_H

#include <stddef.h>

#include <keysieve/builder.h>

/* The one that is tried now: what tests give to builds. */
extern ksv_organisation organisation_tried;

/* The next one becomes that which is tried; false: all were. The first call
 * begins with hash. Where threads are watched, which is slow, tests without
 * threads of their own try that one only. */
int organisation_try_next(int has_threads);

/* Runs a cmocka group for each; the result is the number of failures. */
#define ORGANISATIONS_RUN(tests, failures) \
    ORGANISATIONS_RUN_IF(tests, failures, 0)
#define ORGANISATIONS_RUN_THREADS(tests, failures) \
    ORGANISATIONS_RUN_IF(tests, failures, 1)
#define ORGANISATIONS_RUN_IF(tests, failures, has_threads)       \
    while (organisation_try_next(has_threads))                   \
    ((failures) +=                                               \
     _cmocka_run_group_tests(organisation_tried_name(), (tests), \
                             sizeof(tests) / sizeof(tests)[0], NULL, NULL))

const char *organisation_tried_name(void);

/* 0: there is none of that name. */
int organisation_by_name(const char *name, ksv_organisation *kind);

#endif
