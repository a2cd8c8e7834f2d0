/* SPDX-License-Identifier: MIT */
/* Prints the records of standard input, for scripts to compare:
 *   scan_dump FORMAT [--skip] [--piece BYTES] KEY...
 * A line a record: "keyed", "none" or "bad", offset, length and the key in
 * hexadecimal; or "error", status, byte offset and text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/record_reader.h"

#define BATCH 64

static uint8_t *read_input(size_t *size)
{
    size_t capacity = 1 << 16;
    uint8_t *data = malloc(capacity);
    *size = 0;
    while (data != NULL) {
        *size += fread(data + *size, 1, capacity - *size, stdin);
        if (*size < capacity)
            break;
        capacity *= 2;
        data = realloc(data, capacity);
    }
    return data;
}

static void print_record(const scan_record *r)
{
    static const char *const KINDS[] = {"keyed", "none", "bad"};
    printf("%s %" PRIu64 " %" PRIu64 " ", KINDS[r->kind], r->offset, r->length);
    for (size_t i = 0; i < r->key_bytes && r->kind == SCAN_RECORD_KEYED; i++)
        printf("%02x", r->key[i]);
    printf("\n");
}

static int print_error(const ksv_error *e)
{
    printf("error %d %" PRIu64 " %s\n", (int)e->status, e->byte_offset,
           e->text);
    return 0;
}

static int dump(record_reader *reader, const uint8_t *data, size_t size,
                size_t piece)
{
    static ksv_error error;
    for (size_t at = 0;;) {
        size_t n = size - at < piece ? size - at : piece;
        /* Of exact size, so that a sanitizer sees a read past it. */
        uint8_t *copy = malloc(n + 1);
        if (copy == NULL)
            return 2;
        memcpy(copy + 1, data + at, n);
        at += n;
        record_reader_feed(reader, copy + 1, n, at == size);
        size_t count;
        do {
            scan_record records[BATCH];
            if (record_reader_next(reader, records, BATCH, &count, &error) !=
                KSV_OK) {
                free(copy);
                return print_error(&error);
            }
            for (size_t i = 0; i < count; i++)
                print_record(&records[i]);
        } while (count > 0);
        free(copy);
        if (at == size)
            return 0;
    }
}

int main(int argc, char **argv)
{
    static ksv_error error;
    ksv_format_options options;
    ksv_format_options_init(&options);
    options.format = ksv_format_from_name(argc > 1 ? argv[1] : "");
    bool skip = false;
    size_t piece = SIZE_MAX;
    int at = 2;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        skip |= strcmp(argv[at], "--skip") == 0;
        if (strcmp(argv[at], "--piece") == 0 && at + 1 < argc)
            piece = strtoul(argv[++at], NULL, 10);
    }
    options.keys = (const char *const *)argv + at;
    options.key_count = at < argc ? (size_t)(argc - at) : 0;
    scan_spec *spec;
    if (scan_spec_create(&options, NULL, &spec, &error) != KSV_OK) {
        fprintf(stderr, "scan_dump: %s\n", error.text);
        return 2;
    }
    record_reader *reader;
    size_t size;
    uint8_t *data = read_input(&size);
    if (data == NULL ||
        record_reader_open(spec, skip, NULL, &reader, &error) != KSV_OK)
        return 2;
    int result = dump(reader, data, size, piece);
    record_reader_close(reader);
    scan_spec_destroy(spec);
    free(data);
    return result;
}
