/* SPDX-License-Identifier: MIT */
/* States as bytes: round trips, and what is refused on both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "catalog/catalog_codec.h"
#include "support/catalog_samples.h"

static void encode(const catalog_state *state, byte_buffer *out)
{
    buffer_init(out, &state->allocator);
    assert_int_equal(codec_put_state(out, state, NULL), KSV_OK);
}

static ksv_status decode(const uint8_t *data, size_t size, catalog_state *state)
{
    catalog_state_init(state, NULL);
    byte_cursor in = cursor_over(data, size);
    return codec_get_state(&in, state, NULL);
}

static void test_round_trip(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed < 50; seed++) {
        uint64_t random = seed;
        catalog_state state;
        catalog_state read;
        byte_buffer bytes;
        sample_start(&state, &random);
        sample_add_files(&state, &random, seed % 7);
        encode(&state, &bytes);
        assert_int_equal(decode(bytes.data, bytes.size, &read), KSV_OK);
        assert_true(sample_equal(&state, &read));
        catalog_state_release(&read);
        buffer_release(&bytes);
        catalog_state_release(&state);
    }
}

static void test_every_cut_is_refused(void **unused)
{
    (void)unused;
    uint64_t random = 3;
    catalog_state state;
    catalog_state read;
    byte_buffer bytes;
    sample_start(&state, &random);
    sample_add_files(&state, &random, 2);
    encode(&state, &bytes);
    for (size_t size = 0; size < bytes.size; size++)
        assert_int_equal(decode(bytes.data, size, &read), KSV_ERROR_CORRUPT);
    assert_int_equal(buffer_append(&bytes, "", 1, NULL), KSV_OK);
    assert_int_equal(decode(bytes.data, bytes.size, &read), KSV_ERROR_CORRUPT);
    buffer_release(&bytes);
    catalog_state_release(&state);
}

/* Without a checksum a changed byte may be another value, yet never more than
 * that. */
static void test_changed_bytes_do_no_harm(void **unused)
{
    (void)unused;
    uint64_t random = 4;
    catalog_state state;
    catalog_state read;
    byte_buffer bytes;
    sample_start(&state, &random);
    sample_add_files(&state, &random, 2);
    encode(&state, &bytes);
    for (size_t i = 0; i < bytes.size * 8; i++) {
        bytes.data[i / 8] ^= (uint8_t)(1u << i % 8);
        if (decode(bytes.data, bytes.size, &read) == KSV_OK) {
            byte_buffer again;
            encode(&read, &again);
            assert_int_equal(again.size, bytes.size);
            assert_memory_equal(again.data, bytes.data, bytes.size);
            buffer_release(&again);
            catalog_state_release(&read);
        }
        bytes.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    buffer_release(&bytes);
    catalog_state_release(&state);
}

/* Calls the encoder with one member of a good state changed. */
#define REFUSED(change)                                                      \
    do {                                                                     \
        uint64_t random_ = 11;                                               \
        catalog_state s;                                                     \
        byte_buffer b_;                                                      \
        ksv_error e_;                                                        \
        sample_start(&s, &random_);                                          \
        sample_add_files(&s, &random_, 6);                                   \
        assert_true(s.segment_count > 1);                                    \
        buffer_init(&b_, &s.allocator);                                      \
        assert_int_equal(codec_put_state(&b_, &s, &e_), KSV_OK);             \
        change;                                                              \
        assert_int_equal(codec_put_state(&b_, &s, &e_), KSV_ERROR_ARGUMENT); \
        assert_true(strlen(e_.text) > 10);                                   \
        buffer_release(&b_);                                                 \
        catalog_state_release(&s);                                           \
    } while (0)

static void test_states_that_cannot_be(void **unused)
{
    (void)unused;
    REFUSED(s.parameters.hasher.kind = (ksv_hash_kind)3);
    REFUSED(s.parameters.hash_bits = 35);
    REFUSED(s.parameters.hash_bits = 49);
    REFUSED(s.parameters.organisation = KSV_ORGANISATION_DEFAULT);
    REFUSED(s.parameters.fpr = 0);
    REFUSED(s.parameters.fpr = 1);
    REFUSED(s.parameters.fpr /= (s.parameters.fpr - s.parameters.fpr));
    REFUSED(s.files[0].given_path[0] = '\0');
    REFUSED(s.files[1].relative_path[0] = '\0');
    REFUSED(s.files[0].records_without_key = s.files[0].records + 1);
    REFUSED(s.files[1].ordinal = s.files[0].ordinal);
    REFUSED(s.next_ordinal = s.files[5].ordinal);
    REFUSED(s.files[0].complete_bytes = s.files[0].content_bytes + 1);
    REFUSED(s.files[0].points_id = s.next_segment_id);
    REFUSED(s.segments[0].id = 0);
    REFUSED(s.segments[1].id = s.segments[0].id);
    REFUSED(s.next_segment_id = s.segments[s.segment_count - 1].filter.id);
    REFUSED(s.segments[0].payload_bits = 0);
    REFUSED(s.segments[0].payload_bits = 58);
    REFUSED(s.segments[0].tier = 256);
    REFUSED(s.segments[0].filter.id = 0);
    REFUSED(s.segments[0].filter.keys = s.segments[0].entries + 1);
}

/* The first file that has extents, which is there by the macro above. */
static catalog_file *file_with_extents(catalog_state *s)
{
    for (size_t i = 0; i < s->file_count; i++)
        if (s->files[i].extent_count > 0)
            return &s->files[i];
    fail_msg("no file has extents");
    return NULL;
}

static void test_extents_that_cannot_be(void **unused)
{
    (void)unused;
    REFUSED(file_with_extents(&s)->extents[0].length_bytes = 0);
    REFUSED(file_with_extents(&s)->extents[0].length_bytes = UINT64_MAX);
    REFUSED(file_with_extents(&s)->extents[0].first_offset =
                file_with_extents(&s)->content_bytes);
    REFUSED(file_with_extents(&s)->extents[0].entries = 0);
    REFUSED(file_with_extents(&s)->extents[0].distinct_keys =
                file_with_extents(&s)->extents[0].entries + 1);
    REFUSED(file_with_extents(&s)->extents[0].filter.id = 0);
    REFUSED(file_with_extents(&s)->extents[0].filter.id = s.next_segment_id);
    REFUSED(file_with_extents(&s)->extents[0].filter.keys =
                file_with_extents(&s)->extents[0].distinct_keys +
                file_with_extents(&s)->extents[0].lost_hashes + 1);
    REFUSED(file_with_extents(&s)->extents[0].lost_hashes =
                file_with_extents(&s)->extents[0].filter.keys + 1);
}

static void test_parts_that_cannot_be(void **unused)
{
    (void)unused;
    REFUSED(s.segments[0].parts[0].length_bytes = 0);
    REFUSED(s.segments[0].parts[0].length_bytes = UINT64_MAX);
    REFUSED(s.segments[0].parts[0].ordinal += 2);
    REFUSED(s.segments[0].parts[0].entries++);
    REFUSED(s.segments[0].payload_bits -= 2);
    /* A living part is of a file that is there, and inside of it. */
    REFUSED({
        size_t last = s.segments[0].part_count - 1;
        s.segments[0].parts[last].is_dead = false;
    });
    REFUSED({
        s.segments[0].parts[0].is_dead = false;
        s.segments[0].parts[0].first_offset = UINT64_MAX >> 1;
    });
    REFUSED({
        size_t last = s.segments[0].part_count - 1;
        s.segments[0].parts[last] = s.segments[0].parts[0];
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_changed_bytes_do_no_harm),
        cmocka_unit_test(test_states_that_cannot_be),
        cmocka_unit_test(test_extents_that_cannot_be),
        cmocka_unit_test(test_parts_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
