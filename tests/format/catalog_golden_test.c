/* SPDX-License-Identifier: MIT */
/* A catalog of format version 1 stays readable, and is written the same. With
 * the argument --write the program makes the golden files anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "catalog/catalog_copy.h"
#include "catalog/catalog_records.h"
#include "io/file.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"

#define GOLDEN KSV_TEST_DIR "/format/golden/catalog-1"
#define GENERATION 2

static void count_up(uint8_t *bytes, size_t size, uint8_t first)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(first + i);
}

static char *text(const catalog_state *s, const char *t)
{
    char *copy = memory_copy_string(&s->allocator, t, strlen(t));
    assert_non_null(copy);
    return copy;
}

static uint8_t *blob(const catalog_state *s, size_t size, uint8_t first)
{
    uint8_t *bytes = memory_alloc(&s->allocator, size);
    assert_non_null(bytes);
    count_up(bytes, size, first);
    return bytes;
}

static void add_indexed_file(catalog_state *s)
{
    const ksv_allocator *a = &s->allocator;
    catalog_segment segment = {.id = 5,
                               .tier = 1,
                               .entries = 1000000,
                               .payload_bits = 37,
                               .table_bytes = 5898240,
                               .filter = {5, 999997, 1437504}};
    assert_int_equal(catalog_segment_make_parts(a, &segment, 2, NULL), KSV_OK);
    segment.parts[0] = (catalog_part){2, 0, 1000000007, 10, true};
    segment.parts[1] = (catalog_part){3, 0, 123456789012, 999990, false};
    assert_int_equal(catalog_state_add_segment(s, &segment, NULL), KSV_OK);
    catalog_file file = {.ordinal = 3,
                         .given_path = text(s, "data/measured.csv"),
                         .relative_path = text(s, "../data/measured.csv"),
                         .size_bytes = 123456789012,
                         .mtime_ns = 1700000000123456789,
                         .ctime_ns = -5,
                         .inode = 42,
                         .device = 66305,
                         .data_kind = 1,
                         .content_bytes = 123456789012,
                         .records = 1000002,
                         .records_without_key = 2,
                         .bad_records = 1,
                         .longest_record_bytes = 65537,
                         .complete_bytes = 123456789000,
                         .chain_blocks = 117737,
                         .points_id = 3,
                         .points_bytes = 424242,
                         .layout = blob(s, 24, 0x80),
                         .layout_bytes = 24};
    count_up(file.fingerprint, 16, 0x70);
    count_up(file.content_hash, 16, 0x90);
    count_up(file.content_chain, 16, 0xb0);
    assert_int_equal(catalog_file_make_extents(a, &file, 2, NULL), KSV_OK);
    file.extents[0] =
        (catalog_extent){0, 120000000000, 900000, 899999, {3, 899998, 1293824}};
    file.extents[1] = (catalog_extent){
        120000000000, 3456789012, 99990, 99990, {4, 99989, 143872}};
    assert_int_equal(catalog_state_add_file(s, &file, NULL), KSV_OK);
}

static void add_empty_file(catalog_state *s)
{
    catalog_file file = {.ordinal = 4,
                         .given_path = text(s, "leer \xc3\xa4.csv"),
                         .relative_path = text(s, "../leer \xc3\xa4.csv")};
    assert_int_equal(catalog_state_add_file(s, &file, NULL), KSV_OK);
}

static void make_state(catalog_state *s)
{
    catalog_state_init(s, NULL);
    count_up(s->parameters.index_id, 16, 0x10);
    s->parameters.hasher.kind = KSV_HASH_XXH3;
    count_up(s->parameters.hasher.key, 16, 0x20);
    s->parameters.hash_bits = 44;
    s->parameters.organisation = KSV_ORGANISATION_HASH;
    s->parameters.fpr = 0.005;
    s->parameters.format = blob(s, 12, 0x60);
    s->parameters.format_bytes = 12;
    s->parameters.watch = blob(s, 9, 0xd0);
    s->parameters.watch_bytes = 9;
    s->next_ordinal = 5;
    s->next_segment_id = 6;
    add_indexed_file(s);
    add_empty_file(s);
}

/* The copy is the same on every machine; catalog.mdb is that of a kind. */
static bool has_lmdb_layout_of_golden(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return sizeof(size_t) == 8 && first == 1;
}

static void test_copy_is_read(void **unused)
{
    (void)unused;
    catalog_state wanted;
    catalog_state read;
    catalog_mark mark;
    ksv_error error;
    make_state(&wanted);
    if (copy_read(ksv_posix_file_system(), GOLDEN, GENERATION, NULL, &mark,
                  &read, NULL, &error) != KSV_OK)
        fail_msg("%s: %s", error.path, error.text);
    assert_true(sample_equal(&wanted, &read));
    assert_int_equal(read.generation, GENERATION);
    assert_string_equal(read.files[1].given_path, "leer \xc3\xa4.csv");
    assert_true(read.files[0].ctime_ns == -5);
    catalog_state_release(&read);
    catalog_state_release(&wanted);
}

static void test_copy_is_written_the_same(void **unused)
{
    (void)unused;
    catalog_state state;
    catalog_state read;
    catalog_mark mark;
    byte_buffer golden;
    byte_buffer now;
    make_state(&state);
    buffer_init(&golden, &state.allocator);
    buffer_init(&now, &state.allocator);
    assert_int_equal(file_read_all(ksv_posix_file_system(),
                                   GOLDEN "/0000000000000002.ksc", 1 << 20,
                                   &golden, NULL),
                     KSV_OK);
    assert_int_equal(
        copy_decode(golden.data, golden.size, false, NULL, &mark, &read, NULL),
        KSV_OK);
    assert_int_equal(copy_encode(&state, &mark, &now, NULL, NULL), KSV_OK);
    assert_int_equal(now.size, golden.size);
    assert_memory_equal(now.data, golden.data, now.size);
    buffer_release(&golden);
    buffer_release(&now);
    catalog_state_release(&read);
    catalog_state_release(&state);
}

/* In place, where nothing may be written. */
static void test_index_is_read_and_verified(void **unused)
{
    (void)unused;
    if (!has_lmdb_layout_of_golden())
        skip();
    const ksv_file_system *fs = ksv_posix_file_system();
    catalog_state wanted;
    catalog_state read;
    uint64_t bytes = 0;
    make_state(&wanted);
    assert_int_equal(catalog_read(fs, GOLDEN, NULL, &read, NULL), KSV_OK);
    assert_true(sample_equal(&wanted, &read));
    assert_int_equal(catalog_verify(fs, GOLDEN, NULL, &bytes, NULL), KSV_OK);
    catalog_state_release(&read);
    catalog_state_release(&wanted);
}

static void test_index_is_continued(void **unused)
{
    (void)unused;
    if (!has_lmdb_layout_of_golden())
        skip();
    const ksv_file_system *fs = ksv_posix_file_system();
    temp_dir dir;
    index_copy files;
    catalog *c;
    catalog_state state;
    catalog_state read;
    bool repaired;
    temp_dir_make(&dir);
    index_copy_take(&files, GOLDEN);
    index_copy_restore(&files, dir.path);
    index_copy_release(&files);
    assert_int_equal(
        catalog_open(fs, dir.path, NULL, &c, &state, &repaired, NULL, NULL),
        KSV_OK);
    assert_false(repaired);
    state.files[1].records = 7;
    assert_int_equal(catalog_commit(c, &state, NULL), KSV_OK);
    catalog_close(c);
    assert_int_equal(catalog_read(fs, dir.path, NULL, &read, NULL), KSV_OK);
    assert_true(sample_equal(&state, &read));
    assert_int_equal(read.generation, GENERATION + 1);
    catalog_state_release(&read);
    catalog_state_release(&state);
    temp_dir_remove(&dir);
}

static int write_golden(void)
{
    catalog *c;
    catalog_state found;
    catalog_state state;
    bool repaired;
    ksv_error error;
    make_state(&state);
    ksv_status status = catalog_open(ksv_posix_file_system(), GOLDEN, NULL, &c,
                                     &found, &repaired, NULL, &error);
    for (int i = 0; status == KSV_OK && i < GENERATION; i++)
        status = catalog_commit(c, &state, &error);
    if (status != KSV_OK)
        fprintf(stderr, "%s: %s\n", error.path, error.text);
    catalog_close(c);
    catalog_state_release(&found);
    catalog_state_release(&state);
    return status == KSV_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--write") == 0)
        return write_golden();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_is_read),
        cmocka_unit_test(test_copy_is_written_the_same),
        cmocka_unit_test(test_index_is_read_and_verified),
        cmocka_unit_test(test_index_is_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
