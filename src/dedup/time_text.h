/* SPDX-License-Identifier: MIT */
/* Times as they stand in records. */
#ifndef KSV_DEDUP_TIME_TEXT_H
#define KSV_DEDUP_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RFC 3339 ("2026-03-01T12:00:00.5+01:00"; a space or "t" for the T, too), or a
 * decimal number since 1970: of seconds, below 10^11 in magnitude, of
 * milliseconds, below 10^14, of microseconds, below 10^17, of nanoseconds
 * otherwise. `*time_ms` is rounded down. False: it is no time. */
bool time_text_parse(const uint8_t *text, size_t size_bytes, int64_t *time_ms);

#endif
