/* SPDX-License-Identifier: MIT */
/* Meta pages: which pairs of them are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog_store.h"
#include "io/file.h"
#include "io/memory_file_system.h"
#include "mdb/lmdb_layout.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"

#define PAGE_BYTES 4096

/* The meta pages of an environment that LMDB made: without a commit, or with
 * one. */
static void make_pages(uint8_t pages[2 * PAGE_BYTES], bool with_commit)
{
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    temp_dir_make(&dir);
    temp_dir_path(&dir, "env", path);
    assert_int_equal(store_create(path, NULL), KSV_OK);
    if (with_commit) {
        uint64_t seed = 1;
        catalog_state state;
        catalog_mark mark = {1, 0, 0};
        sample_start(&state, &seed);
        assert_int_equal(store_commit(path, 8192, &state, &mark, 0, NULL),
                         KSV_OK);
        catalog_state_release(&state);
    }
    index_copy files;
    index_copy_take(&files, dir.path);
    assert_true(files.files[0].size >= 2 * PAGE_BYTES);
    memcpy(pages, files.files[0].data, 2 * PAGE_BYTES);
    index_copy_release(&files);
    temp_dir_remove(&dir);
}

static ksv_status judge(const uint8_t *pages, size_t size, lmdb_head *head)
{
    ksv_file *file;
    ksv_error error;
    assert_int_equal(memory_file_over(pages, size, NULL, &file, NULL), KSV_OK);
    ksv_status status = lmdb_head_read(file, "env", head, &error);
    if (status == KSV_ERROR_CORRUPT)
        assert_int_equal(error.remedy, KSV_REMEDY_BUILD);
    file_close_quietly(file);
    return status;
}

static ksv_status judge_ids(uint8_t *pages, uint64_t first, uint64_t second,
                            lmdb_head *head)
{
    lmdb_meta_patch(pages, 5, first);
    lmdb_meta_patch(pages + PAGE_BYTES, 5, second);
    return judge(pages, 2 * PAGE_BYTES, head);
}

static void test_ids_take_turns(void **unused)
{
    (void)unused;
    uint8_t pages[2 * PAGE_BYTES];
    lmdb_head head;
    make_pages(pages, true);
    for (uint64_t a = 0; a < 20; a++)
        for (uint64_t b = 0; b < 20; b++) {
            bool neighbours = a + 1 == b || b + 1 == a;
            bool in_place = a % 2 == 0 && (b % 2 == 1 || b == 0);
            ksv_status status = judge_ids(pages, a, b, &head);
            assert_int_equal(
                status, neighbours && in_place ? KSV_OK : KSV_ERROR_CORRUPT);
            if (status == KSV_OK)
                assert_int_equal(head.txn_id, a > b ? a : b);
        }
}

static void test_no_commit(void **unused)
{
    (void)unused;
    uint8_t pages[2 * PAGE_BYTES];
    lmdb_head head;
    make_pages(pages, false);
    assert_int_equal(judge(pages, sizeof pages, &head), KSV_OK);
    assert_int_equal(head.txn_id, 0);
    assert_int_equal(head.page_bytes, PAGE_BYTES);
    make_pages(pages, true);
    assert_int_equal(judge(pages, sizeof pages, &head), KSV_OK);
    assert_int_equal(head.txn_id, 1);
    /* A commit that lost its id is damage, not an index without commit. */
    assert_int_equal(judge_ids(pages, 0, 0, &head), KSV_ERROR_CORRUPT);
}

static void test_two_environments(void **unused)
{
    (void)unused;
    uint8_t pages[2 * PAGE_BYTES];
    lmdb_head head;
    make_pages(pages, true);
    lmdb_meta_patch(pages, 6, 0);
    assert_int_equal(judge(pages, sizeof pages, &head), KSV_ERROR_CORRUPT);
    lmdb_meta_patch(pages + PAGE_BYTES, 6, 1);
    assert_int_equal(judge(pages, sizeof pages, &head), KSV_OK);
    assert_int_equal(head.environment_id, 6);
}

static void test_short_files(void **unused)
{
    (void)unused;
    uint8_t pages[2 * PAGE_BYTES];
    lmdb_head head;
    make_pages(pages, true);
    for (size_t size = 0; size < PAGE_BYTES + LMDB_META_BYTES; size += 3)
        assert_int_equal(judge(pages, size, &head), KSV_ERROR_CORRUPT);
}

static void test_later_version_in_both_pages(void **unused)
{
    (void)unused;
    uint8_t pages[2 * PAGE_BYTES];
    lmdb_head head;
    const uint32_t later = 2;
    size_t offset = LMDB_PAGE_HEADER_BYTES + 4;
    make_pages(pages, true);
    memcpy(pages + offset, &later, sizeof later);
    assert_int_equal(judge(pages, sizeof pages, &head), KSV_ERROR_CORRUPT);
    memcpy(pages + PAGE_BYTES + offset, &later, sizeof later);
    assert_int_equal(judge(pages, sizeof pages, &head), KSV_ERROR_VERSION);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_take_turns),
        cmocka_unit_test(test_no_commit),
        cmocka_unit_test(test_two_environments),
        cmocka_unit_test(test_short_files),
        cmocka_unit_test(test_later_version_in_both_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
