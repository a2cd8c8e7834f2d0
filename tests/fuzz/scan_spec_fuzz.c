/* SPDX-License-Identifier: MIT */
/* Stored specifications and layouts from untrusted bytes: a 16-bit length, the
 * specification of that length, then a layout. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/coding.h"
#include "scan/record_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What decodes must encode to the same bytes. */
static void check_spec(const scan_spec *spec, const uint8_t *data, size_t size)
{
    byte_buffer again;
    buffer_init(&again, &spec->allocator);
    if (scan_spec_encode(spec, &again, NULL) != KSV_OK || again.size != size ||
        memcmp(again.data, data, size) != 0)
        abort();
    buffer_release(&again);
}

static bool has_regex(const scan_spec *spec)
{
    for (size_t i = 0; i < spec->part_count; i++) {
        if (spec->parts[i].kind == KEY_PART_REGEX)
            return true;
    }
    return false;
}

static void try_layout(const scan_spec *spec, const uint8_t *layout,
                       size_t size)
{
    static const uint8_t TEXT[] = "a,b\t\"c\"\nd,\"e\"\n";
    uint64_t offset;
    uint64_t length;
    bool header =
        record_layout_header(layout, size, &offset, &length, NULL) == KSV_OK;
    if (header && length > UINT64_MAX - offset)
        abort();
    record_reader *r;
    /* Compiling what a fuzzer thinks of can take for ever. */
    if (has_regex(spec) ||
        record_reader_open(spec, true, NULL, &r, NULL) != KSV_OK)
        return;
    if (record_reader_begin_at(r, layout, size, UINT64_MAX / 2, NULL) ==
        KSV_OK) {
        scan_record records[4];
        size_t count;
        record_reader_feed(r, TEXT, sizeof TEXT - 1, true);
        while (record_reader_next(r, records, 4, &count, NULL) == KSV_OK &&
               count > 0)
            if (records[0].offset < UINT64_MAX / 2)
                abort();
    }
    record_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t spec_bytes = load_u16(data);
    data += 2;
    size -= 2;
    if (spec_bytes > size)
        spec_bytes = size;
    scan_spec *spec;
    if (scan_spec_decode(data, spec_bytes, NULL, &spec, NULL) != KSV_OK)
        return 0;
    check_spec(spec, data, spec_bytes);
    try_layout(spec, data + spec_bytes, size - spec_bytes);
    scan_spec_destroy(spec);
    return 0;
}
