/* SPDX-License-Identifier: MIT */
/* What an index holds: its parameters, data files and segments. */
#ifndef KSV_CATALOG_CATALOG_H
#define KSV_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/builder.h>
#include <keysieve/hash.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "base/memory.h"

/* Fixed when the index is first built. */
typedef struct catalog_parameters {
    uint8_t index_id[16];
    ksv_hasher hasher;
    unsigned hash_bits;
    ksv_organisation organisation;
    double fpr;
    /* The stored form of the format and key specification, opaque here. */
    uint8_t *format;
    size_t format_bytes;
    /* Which files an update takes in (watch_list.h). The only parameter that
     * a later build may change. */
    uint8_t *watch;
    size_t watch_bytes;
} catalog_parameters;

/* A filter sidecar. */
typedef struct catalog_filter {
    uint64_t id;    /* from 1; names the sidecar */
    uint64_t keys;  /* truncated hashes, a few fewer than keys */
    uint64_t bytes; /* size of the sidecar */
} catalog_filter;

/* A stretch of the content of a data file that was indexed at one time and has
 * records with keys, and the filter of those. */
typedef struct catalog_extent {
    uint64_t first_offset;
    uint64_t length_bytes; /* above 0 */
    uint64_t entries;      /* records with keys */
    uint64_t distinct_keys;
    catalog_filter filter;
    /* Hashes in the filter that no record has any more: that of a last record
     * which has grown since, and is of the next extent now. */
    uint64_t lost_hashes;
} catalog_extent;

/* What a data file was when it was indexed. */
typedef struct catalog_file {
    /* Position in the order in which files were given; never used again. */
    uint64_t ordinal;
    char *given_path;    /* as the user gave it, for printing */
    char *relative_path; /* from the index directory, canonical: its identity */
    uint64_t size_bytes;
    int64_t mtime_ns;
    int64_t ctime_ns;
    uint64_t inode;
    uint64_t device;
    uint8_t fingerprint[16];  /* of its bytes on disk */
    uint8_t content_hash[16]; /* of its whole content, uncompressed */
    /* Where the content hash can go on when the file has grown: its value
     * after the last whole block, and how many whole blocks that covers. */
    uint8_t content_chain[16];
    uint64_t chain_blocks;
    uint32_t data_kind;     /* a datafile_kind, opaque here */
    uint64_t content_bytes; /* uncompressed */
    /* Where the last record begins. Those before it stay what they are whatever
     * is appended; 0: nothing is known of that. */
    uint64_t complete_bytes;
    uint64_t records; /* those without key included, bad ones not */
    uint64_t records_without_key;
    uint64_t bad_records;
    uint64_t longest_record_bytes;
    uint64_t points_id;      /* names the access points; 0: there are none */
    uint64_t points_bytes;   /* size of their sidecar */
    catalog_extent *extents; /* by offset, not overlapping; none: no keys */
    size_t extent_count;
    /* The stored layout of the scan layer, opaque here. */
    uint8_t *layout;
    size_t layout_bytes;
} catalog_file;

/* A stretch of a data file that a segment covers. */
typedef struct catalog_part {
    uint64_t ordinal;      /* of the file; a dead part's file may be gone */
    uint64_t first_offset; /* in the content */
    uint64_t length_bytes; /* above 0 */
    uint64_t entries;
    bool is_dead; /* the file has other content by now, or was dropped */
} catalog_part;

#define CATALOG_TIER_MOST 255

/* A table over parts of data files, and the filter of its keys. Its payloads
 * are positions in the parts laid end to end: payload p is in the part whose
 * base, the sum of the lengths before it, is the last one not above p; in the
 * file that is the part's first offset + p - base. */
typedef struct catalog_segment {
    uint64_t id;   /* from 1; names the table; never used again */
    unsigned tier; /* how often its entries were merged, about; up to
                      CATALOG_TIER_MOST */
    uint64_t entries;
    unsigned payload_bits;
    uint64_t table_bytes;  /* size of the sidecar */
    catalog_filter filter; /* that of an extent when it covers that alone */
    catalog_part *parts;   /* at least one, by ordinal, then offset */
    size_t part_count;
} catalog_segment;

/* The whole of it at one moment. Owned; released with catalog_state_release().
 */
typedef struct catalog_state {
    ksv_allocator allocator;
    struct arena *arena; /* which all of it lies in, or NULL: read only */
    uint64_t generation; /* 0: never committed */
    catalog_parameters parameters;
    uint64_t next_ordinal;
    uint64_t next_segment_id;
    catalog_file *files; /* by ordinal, ascending */
    size_t file_count;
    size_t file_capacity;
    catalog_segment *segments; /* by id, ascending */
    size_t segment_count;
    size_t segment_capacity;
} catalog_state;

void catalog_state_init(catalog_state *state, const ksv_allocator *allocator);
void catalog_state_release(catalog_state *state);
/* Appends; what the file or segment owns becomes the state's (also on failure).
 */
ksv_status catalog_state_add_file(catalog_state *state, catalog_file *file,
                                  ksv_error *error);
ksv_status catalog_state_add_segment(catalog_state *state,
                                     catalog_segment *segment,
                                     ksv_error *error);
/* Free what a file or segment owns. */
void catalog_file_release(const ksv_allocator *allocator, catalog_file *file);
void catalog_segment_release(const ksv_allocator *allocator,
                             catalog_segment *segment);
/* Makes `count` extents or parts, all zero, of one that has none. */
ksv_status catalog_file_make_extents(const ksv_allocator *allocator,
                                     catalog_file *file, size_t count,
                                     ksv_error *error);
ksv_status catalog_segment_make_parts(const ksv_allocator *allocator,
                                      catalog_segment *segment, size_t count,
                                      ksv_error *error);
/* The lengths of all its parts together: above every payload. */
uint64_t catalog_segment_span(const catalog_segment *segment);
/* The segment with that id, or NULL. */
const catalog_segment *catalog_find_segment(const catalog_state *state,
                                            uint64_t id);

/* The file with that ordinal, or NULL. */
const catalog_file *catalog_find_file(const catalog_state *state,
                                      uint64_t ordinal);

/* The same for many in turn: it is mostly the one at `*next`, which becomes the
 * number of the file behind it. */
const catalog_file *catalog_find_file_near(const catalog_state *state,
                                           uint64_t ordinal, size_t *next);

/* Names of the files in an index directory. */
#define CATALOG_FILE_NAME "catalog.mdb"
#define CATALOG_LOCK_NAME "lock"
#define CATALOG_SCRATCH_NAME "catalog.new.tmp"
#define CATALOG_COPY_ENDING ".ksc"
#define CATALOG_FILTER_ENDING ".ksf"
#define CATALOG_TABLE_ENDING ".kst"  /* of the organisation hash */
#define CATALOG_SORTED_ENDING ".kss" /* of the organisation sorted */
#define CATALOG_TREE_ENDING ".ksb"   /* of the organisation btree */
#define CATALOG_POINTS_ENDING ".ksz"
#define CATALOG_NAME_BYTES 32

/* Of the tables of an index with this organisation. */
const char *catalog_table_ending(ksv_organisation organisation);

/* "0000000000000007.ksf" into `name`. Tables, filters and access points take
 * their numbers from one row (next_segment_id); what was written together for
 * one data file has the same. */
void catalog_sidecar_name(uint64_t id, const char *ending,
                          char name[CATALOG_NAME_BYTES]);

/* Reads the committed state of the index in `directory` without writing
 * anything, safely beside a builder: KSV_ERROR_NO_INDEX, KSV_ERROR_CORRUPT
 * (naming the file, with the remedy) or KSV_ERROR_VERSION. `state` is
 * initialised by this call and to be released only after success; it cannot be
 * changed. */
ksv_status catalog_read(const ksv_file_system *fs, const char *directory,
                        const ksv_allocator *allocator, catalog_state *state,
                        ksv_error *error);

/* A builder's hold on an index. */
typedef struct catalog catalog;

/* Makes the directory if need be, takes the lock (KSV_ERROR_BUSY), opens the
 * environment, repairs it from the copy or the copy from it, and fills
 * `*state` (released by the caller) with what is committed: generation 0 when
 * there is nothing. `*repaired` says that either was damaged; the first damage
 * is told in `*damage` (may be NULL). When both are beyond repair the state is
 * empty with generation 0, and the damage stays as it is until the first
 * commit. A later version of either is KSV_ERROR_VERSION, and nothing is
 * touched.
 *
 * LMDB opens catalog.mdb by its path: the directory has to lie in the file
 * system of the operating system (else KSV_ERROR_UNSUPPORTED), and `fs` has to
 * lead there. What cannot be made or written is KSV_ERROR_IO about the
 * directory, with KSV_REMEDY_OTHER_DIRECTORY. On failure `*state` is empty and
 * need not be released. */
ksv_status catalog_open(const ksv_file_system *fs, const char *directory,
                        const ksv_allocator *allocator, catalog **out,
                        catalog_state *state, bool *repaired, ksv_error *damage,
                        ksv_error *error);

/* Makes `state` the committed one, in one LMDB write transaction; its
 * generation is raised, mostly by 1. Everything that it names has to be synced
 * before. A failure leaves the old state committed. A state that could not be
 * read again (an organisation that is KSV_ORGANISATION_DEFAULT, files out of
 * order) is KSV_ERROR_ARGUMENT. */
ksv_status catalog_commit(catalog *c, catalog_state *state, ksv_error *error);

/* Removes every file of the index directory that `state`, which is committed,
 * does not name: sidecars of killed builds, temporary files, old copies. Ours
 * are the names above, 16 hexadecimal digits with .ks and a letter, and what
 * ends in .tmp after 16 digits, a point and letters ("<16 digits>.run.tmp");
 * files with other names stay. */
ksv_status catalog_clean(catalog *c, const catalog_state *state,
                         ksv_error *error);

/* Gives the lock back; NULL is allowed. Where nothing was ever committed, all
 * files of ours are removed, and the directory if catalog_open() made it. */
void catalog_close(catalog *c);

/* Compares the environment's content, page by page and value by value, with the
 * committed copy: KSV_ERROR_CORRUPT tells the first difference. Writes nothing.
 * `*bytes_checked` is added to. */
ksv_status catalog_verify(const ksv_file_system *fs, const char *directory,
                          const ksv_allocator *allocator,
                          uint64_t *bytes_checked, ksv_error *error);

#endif
