/* SPDX-License-Identifier: MIT */
/* SipHash-1-3: a hash that stays even for keys that an adversary chooses. */
#ifndef KSV_HASH_SIPHASH_H
#define KSV_HASH_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* One round a word and three at the end, 64 bits of output. */
uint64_t siphash_1_3(const uint8_t key[16], const void *data,
                     size_t size_bytes);

#endif
