/* SPDX-License-Identifier: MIT */
/* Runs the tests of a program once for each organisation of an index. */
#include "support/organisations.h"

#include <stdlib.h>
#include <string.h>

#include "support/pace.h"

static const struct {
    ksv_organisation kind;
    const char *name;
} all[] = {{KSV_ORGANISATION_HASH, "hash"},
           {KSV_ORGANISATION_SORTED, "sorted"},
           {KSV_ORGANISATION_BTREE, "btree"}};

ksv_organisation organisation_tried = KSV_ORGANISATION_HASH;
static size_t next;

/* One alone can be tried by hand. */
static int is_wanted(size_t i, int has_threads)
{
    const char *only = getenv("KSV_ORGANISATION");
    if (only != NULL)
        return strcmp(only, all[i].name) == 0;
    return PACE_STEP <= 3 || has_threads || all[i].kind == organisation_tried;
}

int organisation_try_next(int has_threads)
{
    while (next < sizeof all / sizeof all[0] && !is_wanted(next, has_threads))
        next++;
    if (next == sizeof all / sizeof all[0])
        return 0;
    organisation_tried = all[next++].kind;
    return 1;
}

const char *organisation_tried_name(void)
{
    return all[next - 1].name;
}

int organisation_by_name(const char *name, ksv_organisation *kind)
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0) {
            *kind = all[i].kind;
            return 1;
        }
    return 0;
}
