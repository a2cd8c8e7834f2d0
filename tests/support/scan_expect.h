/* SPDX-License-Identifier: MIT */
/* Reads a text and compares what comes out with a line a record. */
#ifndef KSV_TEST_SCAN_EXPECT_H
#define KSV_TEST_SCAN_EXPECT_H

#include <keysieve/format.h>

/* `text` has `size` bytes. `expected` has, for each record, "OFFSET+LENGTH
 * KEY\n", "OFFSET+LENGTH -\n" without a key and "OFFSET+LENGTH !\n" for a bad
 * one; at its end, for an error, "error BYTE: TEXT\n" where TEXT is a part of
 * the message. Read at once, byte by byte and in windows of 3 bytes; a failure
 * ends the test program's test. */
void scan_expect(const ksv_format_options *options, bool skip_bad,
                 const char *text, size_t size, const char *expected);

#define SCAN_EXPECT(options, text, expected) \
    scan_expect(options, false, text, sizeof(text) - 1, expected)

#endif
