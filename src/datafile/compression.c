/* SPDX-License-Identifier: MIT */
/* Compressions told by the first bytes of a file. */
#include "datafile/compression.h"

#include <stdbool.h>
#include <string.h>

typedef struct compression_mark {
    const char *name;
    uint8_t length;
    uint8_t bytes[6];
} compression_mark;

static const compression_mark MARKS[] = {
    {"gzip", 2, {0x1f, 0x8b}},
    {"zstd", 4, {0x28, 0xb5, 0x2f, 0xfd}},
    {"xz", 6, {0xfd, '7', 'z', 'X', 'Z', 0x00}},
    {"lz4", 4, {0x04, 0x22, 0x4d, 0x18}},
};

/* "BZh" alone may begin a text: the first block or the end has to follow. */
static bool is_bzip2(const uint8_t *head, size_t size_bytes)
{
    static const uint8_t block[] = {0x31, 0x41, 0x59, 0x26, 0x53, 0x59};
    static const uint8_t end[] = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};
    return size_bytes >= 10 && memcmp(head, "BZh", 3) == 0 &&
           (memcmp(head + 4, block, sizeof block) == 0 ||
            memcmp(head + 4, end, sizeof end) == 0);
}

const char *compression_name(const uint8_t *head, size_t size_bytes)
{
    for (size_t i = 0; i < sizeof MARKS / sizeof MARKS[0]; i++) {
        const compression_mark *mark = &MARKS[i];
        if (size_bytes >= mark->length &&
            memcmp(head, mark->bytes, mark->length) == 0)
            return mark->name;
    }
    return is_bzip2(head, size_bytes) ? "bzip2" : NULL;
}
