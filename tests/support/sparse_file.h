/* SPDX-License-Identifier: MIT */
/* A file in memory that keeps only the pages that are not empty. */
#ifndef KSV_TESTS_SPARSE_FILE_H
#define KSV_TESTS_SPARSE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>

#define SPARSE_PAGE_BYTES 4096

typedef struct sparse_page {
    uint64_t number;
    uint8_t data[SPARSE_PAGE_BYTES];
} sparse_page;

/* Fill it through `base`; one thread at a time. */
typedef struct sparse_file {
    ksv_file base;
    uint64_t size_bytes;
    sparse_page *pages; /* by number */
    size_t count;
    size_t capacity;
} sparse_file;

void sparse_file_init(sparse_file *file);
void sparse_file_release(sparse_file *file);

/* The offset of the last page before `end` that is not empty. */
uint64_t sparse_file_last_page(const sparse_file *file, uint64_t end);

/* Turns over a bit of the byte at `offset`, in a page that is not empty. */
void sparse_file_flip(sparse_file *file, uint64_t offset);

#endif
