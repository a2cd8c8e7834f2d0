/* SPDX-License-Identifier: MIT */
/* What holds for every state of an index: each function gives NULL, or what is
 * wrong. */
#ifndef KSV_CATALOG_CATALOG_CHECK_H
#define KSV_CATALOG_CATALOG_CHECK_H

#include "catalog/catalog.h"

const char *catalog_check_parameters(const catalog_parameters *parameters);
/* Of one file or segment by itself. */
const char *catalog_check_file(const catalog_file *file);
const char *catalog_check_segment(const catalog_segment *segment);
/* The order of files and segments and how they refer to each other. */
const char *catalog_check_state(const catalog_state *state);

#endif
