/* SPDX-License-Identifier: MIT */
/* gzip files that grow: a pass that goes on where one was before gives the same
 * content and, byte for byte, the same access points as one from the start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "datafile/bgzf_marker.h"
#include "hash/hash.h"
#include "io/memory_file_system.h"
#include "support/gzip_data.h"
#include "support/pace.h"

enum { ROUNDS = 60, STEPS = 4 };

typedef struct growing {
    ksv_file_system fs;
    random_source random;
    unsigned seed;
    bool is_bgzf;
    bool has_marker;
    uint64_t spacing;
    gzip_bytes file;
    gzip_bytes content;
    gzip_pass pass;
} growing;

static void add_some(growing *g)
{
    gzip_bytes more = {NULL, 0, 0};
    const gzip_how how = gzip_how_random(&g->random);
    const size_t most = random_below(&g->random, 3) == 0 ? 300000 : 30000;
    gzip_content_add(
        &more, (gzip_content_kind)random_below(&g->random, GZIP_CONTENT_KINDS),
        random_below(&g->random, most), &g->random);
    if (g->is_bgzf)
        gzip_bgzf_add(&g->file, more.data, more.size,
                      1 + random_below(&g->random, 60000), &how);
    else
        gzip_member_add(&g->file, more.data, more.size, &how, NULL, 0);
    if (more.size != 0)
        gzip_bytes_add(&g->content, more.data, more.size);
    gzip_bytes_release(&more);
}

/* Members or blocks, and now and then zeros. */
static void add_members(growing *g)
{
    static const uint8_t zeros[40] = {0};
    const size_t count = 1 + random_below(&g->random, 3);
    for (size_t i = 0; i < count; i++)
        add_some(g);
    if (!g->is_bgzf && random_below(&g->random, 4) == 0)
        gzip_bytes_add(&g->file, zeros, random_below(&g->random, 40));
    g->has_marker = g->is_bgzf && random_below(&g->random, 3) != 0;
    if (g->has_marker)
        gzip_bgzf_marker_add(&g->file);
}

static void run_pass(growing *g, const datafile_resume *resume,
                     const char *points)
{
    g->pass.spacing_bytes = g->spacing;
    g->pass.points_path = points;
    g->pass.resume = resume;
    g->pass.threads = 1 + (unsigned)random_below(&g->random, 2);
    gzip_pass_run(&g->pass, &g->fs, "data", NULL);
    if (g->pass.status != KSV_OK)
        fail_msg("%s", g->pass.error.text);
}

static void compare_points(growing *g, int step)
{
    gzip_bytes whole = {NULL, 0, 0}, resumed = {NULL, 0, 0};
    gzip_file_read(&g->fs, "whole", &whole);
    gzip_file_read(&g->fs, "resumed", &resumed);
    if (whole.size != resumed.size ||
        memcmp(whole.data, resumed.data, whole.size) != 0)
        fail_msg("seed %u, step %d: other points", g->seed, step);
    gzip_bytes_release(&whole);
    gzip_bytes_release(&resumed);
}

/* What is left when the marker is taken away looks as it was before. */
static bool drop_marker(growing *g)
{
    if (!g->has_marker || random_below(&g->random, 2) == 0)
        return false;
    g->file.size -= BGZF_MARKER_BYTES;
    return true;
}

static void check_marked(growing *g, uint64_t size, const uint8_t *fingerprint)
{
    ksv_file *file;
    bgzf_marked_file marked;
    uint8_t found[HASH_FINGERPRINT_BYTES];
    assert_int_equal(g->fs.open_read(g->fs.ctx, "data", &file, NULL), KSV_OK);
    bgzf_marked_file_init(&marked, file, size);
    assert_int_equal(hash_fingerprint(&marked.base, size, found, NULL), KSV_OK);
    assert_memory_equal(found, fingerprint, sizeof found);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
}

static void take_fingerprint(growing *g, uint8_t *fingerprint)
{
    ksv_file *file;
    assert_int_equal(g->fs.open_read(g->fs.ctx, "data", &file, NULL), KSV_OK);
    assert_int_equal(hash_fingerprint(file, g->file.size, fingerprint, NULL),
                     KSV_OK);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
}

static void run_step(growing *g, int step)
{
    uint8_t fingerprint[HASH_FINGERPRINT_BYTES];
    take_fingerprint(g, fingerprint);
    const size_t old_size = g->file.size;
    const size_t old_content = g->content.size;
    const bool is_gone = drop_marker(g);
    add_members(g);
    gzip_file_write(&g->fs, "data", g->file.data, g->file.size);
    if (is_gone)
        check_marked(g, old_size, fingerprint);
    uint64_t from = random_below(&g->random, 3) == 0
                        ? random_below(&g->random, old_content + 1)
                        : old_content;
    const datafile_resume resume = {from, "known", gzip_pass_id, is_gone};
    run_pass(g, &resume, "resumed");
    assert_true(g->pass.begin <= from);
    assert_int_equal(g->pass.begin + g->pass.content.size, g->content.size);
    assert_memory_equal(g->pass.content.data, g->content.data + g->pass.begin,
                        g->pass.content.size);
    assert_true(from - g->pass.begin <= 3 * g->spacing / 2 + 200000);
    run_pass(g, NULL, "whole");
    compare_points(g, step);
    assert_int_equal(g->fs.rename(g->fs.ctx, "resumed", "known", NULL), KSV_OK);
}

static void run_round(uint64_t seed)
{
    growing g;
    memset(&g, 0, sizeof g);
    assert_int_equal(memory_file_system_open(NULL, &g.fs, NULL), KSV_OK);
    g.seed = (unsigned)seed;
    g.random = (random_source){seed};
    g.is_bgzf = random_below(&g.random, 2) == 0;
    g.spacing = 33000 + random_below(&g.random, 100000);
    while (g.content.size == 0)
        add_members(&g);
    gzip_file_write(&g.fs, "data", g.file.data, g.file.size);
    run_pass(&g, NULL, "known");
    for (int step = 0; step < STEPS; step++)
        run_step(&g, step);
    gzip_bytes_release(&g.file);
    gzip_bytes_release(&g.content);
    gzip_bytes_release(&g.pass.content);
    memory_file_system_close(&g.fs);
}

static void test_growth(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed += PACE_STEP)
        run_round(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
