/* SPDX-License-Identifier: MIT */
/* The entries in a page of a run: codec. */
#include "dedup/run_entry.h"

#include "base/bits.h"
#include "base/coding.h"
#include "base/error.h"
#include "base/varint.h"

/* The first byte of an entry. */
enum {
    TAG_HASH_BYTES = 7, /* mask: how many the difference of hashes has */
    TAG_TIME_SHIFT = 3, /* likewise, of the time; 7 stands for 8 */
    TAG_TIME_BYTES = 7, /* mask, once shifted */
    TAG_HAS_SHAPE = 64, /* length and form follow; else as the one before */
    TAG_UNUSED = 128,
    HASH_BYTES_MAX = 6,
    FORM_BITS = 2
};

#define HASH_SHIFT 16

static unsigned bytes_of(uint64_t value)
{
    return value == 0 ? 0 : bits_highest(value) / 8 + 1;
}

static bool has_same_shape(const run_entry_before *before, const run_key *key)
{
    return before->key_bytes == key->key_bytes && before->form == key->form;
}

size_t run_entry_head_encode(const run_info *info,
                             const run_entry_before *before,
                             const run_entry *entry,
                             uint8_t out[RUN_ENTRY_HEAD_MAX])
{
    uint64_t rise = (entry->hash - before->hash) >> HASH_SHIFT;
    uint64_t since = (uint64_t)entry->time_ms - (uint64_t)info->base_time_ms;
    unsigned rise_bytes = bytes_of(rise);
    unsigned time_code = bytes_of(since);
    unsigned time_bytes = time_code < 7 ? time_code : 8;
    if (time_code > 7)
        time_code = 7;
    uint8_t *p = out + 1;
    store_u64(p, rise);
    p += rise_bytes;
    store_u64(p, since);
    p += time_bytes;
    out[0] = (uint8_t)(rise_bytes | time_code << TAG_TIME_SHIFT);
    if (!has_same_shape(before, &entry->key)) {
        out[0] |= TAG_HAS_SHAPE;
        p = varint_put(p, entry->key.key_bytes << FORM_BITS |
                              (uint64_t)entry->key.form);
    }
    return (size_t)(p - out);
}

void run_entry_note(run_entry_before *before, const run_entry *entry)
{
    before->hash = entry->hash;
    before->key_bytes = entry->key.key_bytes;
    before->stored_bytes = entry->key.stored_bytes;
    before->form = entry->key.form;
}

void run_page_walk_begin(run_page_walk *walk, const run_info *info,
                         const run_page_head *head, const uint8_t *page)
{
    *walk = (run_page_walk){
        .info = info,
        .page_number = head->number,
        .next = page + RUN_PAGE_HEAD_BYTES,
        .end = page + RUN_PAGE_HEAD_BYTES + head->used_bytes,
        .kind = head->kind,
        .left = head->kind == RUN_PAGE_REST ? 0 : head->count,
    };
}

/* A number of `bytes` bytes, which are there. */
static inline uint64_t load_few(const uint8_t *p, const uint8_t *end,
                                unsigned bytes)
{
    static const uint64_t masks[] = {0,
                                     UINT64_C(0xff),
                                     UINT64_C(0xffff),
                                     UINT64_C(0xffffff),
                                     UINT64_C(0xffffffff),
                                     UINT64_C(0xffffffffff),
                                     UINT64_C(0xffffffffffff),
                                     UINT64_C(0xffffffffffffff),
                                     UINT64_MAX};
    if (end - p >= 8)
        return load_u64(p) & masks[bytes];
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

/* Reads length and form. */
static bool take_shape(run_page_walk *walk, const uint8_t **p)
{
    byte_cursor c = {*p, walk->end, false};
    uint64_t shape = cursor_varint(&c);
    unsigned form = shape & ((1u << FORM_BITS) - 1);
    walk->before.form = (run_key_form)form;
    walk->before.key_bytes = shape >> FORM_BITS;
    *p = c.next;
    return !c.failed && run_key_measure(form, walk->before.key_bytes,
                                        &walk->before.stored_bytes);
}

/* There is one; false: it is damaged. */
static inline bool take_entry(run_page_walk *walk, run_entry *entry)
{
    run_entry_before *before = &walk->before;
    const uint8_t *p = walk->next;
    const uint8_t *end = walk->end;
    if (p == end)
        return false;
    unsigned tag = *p++;
    unsigned rise_bytes = tag & TAG_HASH_BYTES;
    unsigned time_bytes = tag >> TAG_TIME_SHIFT & TAG_TIME_BYTES;
    time_bytes += time_bytes == 7;
    if ((size_t)(end - p) < rise_bytes + time_bytes ||
        rise_bytes > HASH_BYTES_MAX || (tag & TAG_UNUSED) != 0)
        return false;
    before->hash += load_few(p, end, rise_bytes) << HASH_SHIFT;
    p += rise_bytes;
    entry->time_ms = (int64_t)((uint64_t)walk->info->base_time_ms +
                               load_few(p, end, time_bytes));
    p += time_bytes;
    if ((tag & TAG_HAS_SHAPE) != 0 && !take_shape(walk, &p))
        return false;
    entry->hash = before->hash;
    entry->key =
        (run_key){before->form, before->key_bytes, before->stored_bytes, p};
    size_t left = (size_t)(end - p);
    bool is_whole = before->stored_bytes <= left;
    entry->here_bytes = is_whole ? (size_t)before->stored_bytes : left;
    walk->next = p + entry->here_bytes;
    walk->left--;
    return is_whole || walk->kind != RUN_PAGE_KEYS;
}

static ksv_status bad_entry(const run_page_walk *walk, ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                        run_page_offset(walk->info, walk->page_number),
                        "an entry of a page of keys is damaged");
}

ksv_status run_page_walk_next(run_page_walk *walk, run_entry *entry, bool *any,
                              ksv_error *error)
{
    *any = walk->left > 0;
    if (walk->left == 0 || take_entry(walk, entry))
        return KSV_OK;
    return bad_entry(walk, error);
}

ksv_status run_page_walk_find(run_page_walk *walk, uint64_t hash,
                              run_entry *entry, bool *any, ksv_error *error)
{
    *any = false;
    while (walk->left > 0 && !*any) {
        if (!take_entry(walk, entry))
            return bad_entry(walk, error);
        *any = entry->hash >= hash;
    }
    return KSV_OK;
}
