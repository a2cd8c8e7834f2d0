/* SPDX-License-Identifier: MIT */
/* A tree written before is read; trees of the same entries have the same bytes.
 * With an argument it writes the golden file into that directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btree/tree_cursor.h"
#include "btree/tree_loader.h"
#include "io/file.h"
#include "support/temp_dir.h"
#include "support/tree_model.h"

#define NAME "tree_v1.ksb"
#define GOLDEN_DIR KSV_TEST_DIR "/format/golden"

static const uint8_t id[16] = "a golden tree...";

/* Of all lengths, with LMDB's limit among them, and with many places. */
static void make_model(tree_model *m)
{
    static uint8_t key[MODEL_KEY_BYTES_MOST];
    random_source random = {4711};
    memset(m, 0, sizeof *m);
    tree_model_add_random(m, MODEL_KEYS_SHORT, &random, 7, 300);
    for (size_t bytes = 470; bytes < 520; bytes += 3) {
        memset(key, 'k', bytes);
        tree_model_add(m, key, bytes, 7, bytes);
    }
    for (uint64_t place = 0; place < 2000; place++)
        tree_model_add(m, "twice", 5, 7, 3 * place);
    tree_model_sort(m);
}

/* LMDB writes numbers as the machine has them. */
static int is_usual_machine(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return sizeof(size_t) == 8 && first == 1;
}

static void test_golden(void **state)
{
    (void)state;
    if (!is_usual_machine())
        skip();
    tree_model m;
    make_model(&m);
    tree_reader *reader = tree_model_open(GOLDEN_DIR "/" NAME, id);
    tree_model_compare(&m, reader, 1);
    tree_reader_close(reader);
    tree_model_release(&m);
}

static byte_buffer read_file(const char *path, const ksv_allocator *a)
{
    byte_buffer out;
    buffer_init(&out, a);
    assert_int_equal(file_read_all(ksv_posix_file_system(), path,
                                   UINT64_C(1) << 30, &out, NULL),
                     KSV_OK);
    return out;
}

static void load_unnamed(const tree_model *m, const char *directory)
{
    tree_loader *loader;
    tree_info info;
    assert_int_equal(tree_loader_open(ksv_posix_file_system(), directory,
                                      "second", id, NULL, &loader, NULL),
                     KSV_OK);
    for (size_t i = 0; i < m->count; i++)
        assert_int_equal(tree_loader_add(loader, tree_model_key(m, i),
                                         m->entries[i].place, NULL, NULL),
                         KSV_OK);
    assert_int_equal(tree_loader_finish_unnamed(loader, &info, NULL), KSV_OK);
    assert_int_equal(info.entries, m->count);
    tree_loader_close(loader);
}

/* One that has its name and one that keeps its temporary one. */
static void test_same_bytes(void **state)
{
    (void)state;
    temp_dir dir;
    tree_model m;
    char first[TEMP_DIR_PATH_BYTES], second[TEMP_DIR_PATH_BYTES];
    ksv_allocator a = allocator_or_default(NULL);
    make_model(&m);
    temp_dir_make(&dir);
    tree_model_load(&m, dir.path, "first", id);
    load_unnamed(&m, dir.path);
    byte_buffer x = read_file(temp_dir_path(&dir, "first", first), &a);
    byte_buffer y = read_file(temp_dir_path(&dir, "second.tmp", second), &a);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    buffer_release(&x);
    buffer_release(&y);
    temp_dir_remove(&dir);
    tree_model_release(&m);
}

/* A block is read once, until it is let go of. */
static void test_forgotten_block_is_read_again(void **state)
{
    (void)state;
    if (!is_usual_machine())
        skip();
    tree_model m;
    tree_cursor *cursor;
    bool found;
    make_model(&m);
    tree_reader *reader = tree_model_open(GOLDEN_DIR "/" NAME, id);
    assert_int_equal(tree_cursor_open(reader, &cursor, NULL), KSV_OK);
    assert_int_equal(
        tree_cursor_seek(cursor, tree_model_key(&m, 3), &found, NULL), KSV_OK);
    assert_true(found);
    uint64_t blocks = tree_cursor_cost(cursor).blocks;
    assert_int_equal(
        tree_cursor_seek(cursor, tree_model_key(&m, 4), &found, NULL), KSV_OK);
    assert_int_equal(tree_cursor_cost(cursor).blocks, blocks);
    tree_cursor_forget(cursor);
    assert_int_equal(tree_cursor_next(cursor, &found, NULL),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(
        tree_cursor_seek(cursor, tree_model_key(&m, 4), &found, NULL), KSV_OK);
    assert_true(found);
    assert_int_equal(tree_cursor_cost(cursor).blocks, blocks + 1);
    tree_cursor_close(cursor);
    tree_reader_close(reader);
    tree_model_release(&m);
}

static int write_golden(const char *directory)
{
    tree_model m;
    make_model(&m);
    tree_model_load(&m, directory, NAME, id);
    tree_model_release(&m);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return write_golden(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_forgotten_block_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
