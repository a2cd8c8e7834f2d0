/* SPDX-License-Identifier: MIT */
/* Which files of an index directory are ours, by their names. */
#ifndef KSV_CATALOG_CATALOG_NAMES_H
#define KSV_CATALOG_CATALOG_NAMES_H

#include "catalog/catalog.h"

typedef enum name_kind {
    NAME_FOREIGN, /* a name that this library never makes */
    NAME_CATALOG, /* catalog.mdb */
    NAME_LOCK,
    NAME_COPY,     /* 16 hexadecimal digits and .ksc */
    NAME_SIDECAR,  /* 16 hexadecimal digits and .ks with another letter */
    NAME_TEMPORARY /* one of the above, or 16 digits and letters, with .tmp */
} name_kind;

/* `*number` is what the digits of a copy or sidecar say. */
name_kind name_parse(const char *name, uint64_t *number);

/* Everything of ours in a directory. */
typedef struct name_list {
    const ksv_allocator *allocator; /* borrowed */
    char **names;
    size_t count;
    size_t capacity;
    bool has_sidecar;
    bool has_copy;
    uint64_t highest_copy;
    bool no_memory;
} name_list;

/* `list` is released with name_list_release() in every case. */
ksv_status name_list_read(const ksv_file_system *fs, const char *directory,
                          const ksv_allocator *allocator, name_list *list,
                          ksv_error *error);
void name_list_release(name_list *list);

/* Removes `directory`/`name`; one that does not exist is no error. */
ksv_status name_remove(const ksv_file_system *fs, const char *directory,
                       const char *name, const ksv_allocator *allocator,
                       ksv_error *error);

#endif
