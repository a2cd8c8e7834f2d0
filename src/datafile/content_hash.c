/* SPDX-License-Identifier: MIT */
/* The hash of the whole content of a data file: a chain over its blocks. */
#include "datafile/content_hash.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "datafile/datafile.h"
#include "io/file.h"

struct content_hash {
    ksv_allocator allocator;
    content_chain chain;
    hash_wide_state *block; /* the one that is begun */
    size_t block_bytes;
};

ksv_status content_hash_open(const content_chain *from,
                             const ksv_allocator *allocator, content_hash **out,
                             ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    content_hash *hash = memory_zalloc(&a, sizeof *hash);
    if (hash == NULL)
        return error_set_memory(error);
    hash->allocator = a;
    if (from != NULL)
        hash->chain = *from;
    ksv_status status = hash_wide_open(&a, &hash->block, error);
    if (status != KSV_OK) {
        memory_free(&a, hash, sizeof *hash);
        return status;
    }
    *out = hash;
    return KSV_OK;
}

/* What `value` becomes with one more block. */
static void extend(uint8_t value[CONTENT_HASH_BYTES],
                   const uint8_t block_hash[CONTENT_HASH_BYTES])
{
    uint8_t both[2 * CONTENT_HASH_BYTES];
    memcpy(both, value, CONTENT_HASH_BYTES);
    memcpy(both + CONTENT_HASH_BYTES, block_hash, CONTENT_HASH_BYTES);
    hash_wide(both, sizeof both, value);
}

void content_hash_add(content_hash *hash, const void *data, size_t size_bytes)
{
    const uint8_t *p = data;
    while (size_bytes > 0) {
        size_t room = CONTENT_BLOCK_BYTES - hash->block_bytes;
        size_t take = size_bytes < room ? size_bytes : room;
        hash_wide_add(hash->block, p, take);
        hash->block_bytes += take;
        p += take;
        size_bytes -= take;
        if (take < room)
            continue;
        uint8_t block_hash[CONTENT_HASH_BYTES];
        hash_wide_take(hash->block, block_hash);
        extend(hash->chain.value, block_hash);
        hash->chain.blocks++;
        hash->block_bytes = 0;
    }
}

void content_hash_finish(content_hash *hash, uint8_t value[CONTENT_HASH_BYTES],
                         content_chain *chain)
{
    memcpy(value, hash->chain.value, CONTENT_HASH_BYTES);
    if (hash->block_bytes > 0) {
        uint8_t last[CONTENT_HASH_BYTES];
        hash_wide_take(hash->block, last);
        extend(value, last);
    }
    if (chain != NULL)
        *chain = hash->chain;
}

void content_hash_close(content_hash *hash)
{
    if (hash == NULL)
        return;
    ksv_allocator a = hash->allocator;
    hash_wide_close(hash->block);
    memory_free(&a, hash, sizeof *hash);
}

static ksv_status add_all(datafile_stream *stream, content_hash *hash,
                          ksv_error *error)
{
    for (bool last = false; !last;) {
        const uint8_t *data;
        size_t size_bytes;
        KSV_TRY(datafile_stream_next(stream, &data, &size_bytes, &last, error));
        content_hash_add(hash, data, size_bytes);
    }
    return KSV_OK;
}

static ksv_status hash_stream(datafile_stream *stream, content_hash *hash,
                              ksv_file_info *info, ksv_error *error)
{
    const datafile_stream_options options = {.ignore_trailing_garbage = true};
    KSV_TRY(datafile_stream_configure(stream, &options, error));
    datafile_stream_opened_as(stream, info);
    file_wait_for_tick(info);
    KSV_TRY(add_all(stream, hash, error));
    ksv_file_info now;
    KSV_TRY(datafile_stream_info_now(stream, &now, error));
    if (!file_info_is_same(info, &now))
        return error_set(error, KSV_ERROR_STALE, NULL,
                         "changed while it was read");
    return KSV_OK;
}

ksv_status datafile_content_hash(const ksv_file_system *fs, const char *path,
                                 const ksv_allocator *allocator,
                                 ksv_file_info *info,
                                 uint8_t value[CONTENT_HASH_BYTES],
                                 ksv_error *error)
{
    content_hash *hash;
    KSV_TRY(content_hash_open(NULL, allocator, &hash, error));
    datafile_stream *stream = NULL;
    ksv_status status =
        datafile_stream_open(fs, path, allocator, &stream, error);
    if (status == KSV_OK)
        status = hash_stream(stream, hash, info, error);
    if (status == KSV_OK)
        content_hash_finish(hash, value, NULL);
    else
        error_add_path(error, path);
    datafile_stream_close(stream);
    content_hash_close(hash);
    return status;
}
