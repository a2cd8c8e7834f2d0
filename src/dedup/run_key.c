/* SPDX-License-Identifier: MIT */
/* The forms in which keys are stored in runs: ids of hexadecimal digits take
 * half of their bytes. */
#include "dedup/run_key.h"

#include <string.h>

#include "base/coding.h"

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

enum { UUID_BYTES = 36, UUID_DIGITS = 32, UUID_PARTS = 5 };

/* Four bytes of eight digits; false: not all are digits. */
static bool pack_eight(const uint8_t *digits, uint8_t packed[4])
{
    uint64_t x = load_u64(digits);
    uint64_t is_letter = x >> 6 & EACH_BYTE(1);
    uint64_t values = (x & EACH_BYTE(15)) + is_letter * 9;
    uint64_t again =
        values + EACH_BYTE('0') +
        ((values + EACH_BYTE(6)) >> 4 & EACH_BYTE(1)) * ('a' - 10 - '0');
    if ((values & EACH_BYTE(0xf0)) != 0 || again != x)
        return false;
    uint64_t pairs = (values << 4 | values >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    pairs = (pairs | pairs >> 8) & UINT64_C(0x0000ffff0000ffff);
    store_u32(packed, (uint32_t)(pairs | pairs >> 16));
    return true;
}

static bool pack_digits(const uint8_t *digits, size_t count, uint8_t *packed)
{
    size_t done = 0;
    for (; done + 8 <= count; done += 8) {
        if (!pack_eight(digits + done, packed + done / 2))
            return false;
    }
    size_t left = count - done;
    if (left == 0)
        return true;
    uint8_t last[8];
    uint8_t last_packed[4];
    memset(last, '0', sizeof last);
    memcpy(last, digits + done, left);
    if (!pack_eight(last, last_packed))
        return false;
    memcpy(packed + done / 2, last_packed, (left + 1) / 2);
    return true;
}

static bool pack_uuid(const uint8_t *key, uint8_t *packed)
{
    static const uint8_t parts[UUID_PARTS] = {8, 4, 4, 4, 12};
    uint8_t digits[UUID_DIGITS];
    size_t at = 0;
    size_t count = 0;
    for (size_t i = 0; i < UUID_PARTS; i++) {
        if (i > 0 && key[at++] != '-')
            return false;
        memcpy(digits + count, key + at, parts[i]);
        at += parts[i];
        count += parts[i];
    }
    return pack_digits(digits, sizeof digits, packed);
}

void run_key_pack(const uint8_t *key, uint64_t key_bytes,
                  uint8_t packed[RUN_KEY_PACKED_BYTES], run_key *out)
{
    *out = (run_key){RUN_KEY_BYTES, key_bytes, key_bytes, key};
    if (key_bytes < 2 || key_bytes > RUN_KEY_PACKED_MAX)
        return;
    run_key_form form = RUN_KEY_BYTES;
    if (pack_digits(key, (size_t)key_bytes, packed))
        form = RUN_KEY_HEX;
    else if (key_bytes == UUID_BYTES && pack_uuid(key, packed))
        form = RUN_KEY_UUID;
    if (form == RUN_KEY_BYTES)
        return;
    out->form = form;
    out->stored = packed;
    (void)run_key_measure(form, key_bytes, &out->stored_bytes);
}

bool run_key_measure(unsigned form, uint64_t key_bytes, uint64_t *stored_bytes)
{
    *stored_bytes = key_bytes;
    if (form == RUN_KEY_HEX)
        *stored_bytes = key_bytes / 2 + key_bytes % 2;
    if (form == RUN_KEY_UUID)
        *stored_bytes = UUID_DIGITS / 2;
    return form <= RUN_KEY_HEX ||
           (form == RUN_KEY_UUID && key_bytes == UUID_BYTES);
}
