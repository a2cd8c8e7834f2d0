/* SPDX-License-Identifier: MIT */
/* The copy of a committed state: one checksummed file that never changes. */
#include "catalog/catalog_copy.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "catalog/catalog_codec.h"
#include "catalog/catalog_names.h"
#include "hash/hash.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/large_pages.h"

static const uint8_t MAGIC[8] = {'K', 'S', 'V', 'C', 'A', 'T', 'L', '\n'};

#define HEADER_BYTES 64
#define CHECKSUM_BYTES 8
#define VERSION_OFFSET 8
#define FEATURES_OFFSET 12
#define GENERATION_OFFSET 16
#define ENVIRONMENT_OFFSET 24
#define OTHER_CHECKSUM_OFFSET 32
#define INDEX_ID_OFFSET 40
#define BODY_BYTES_OFFSET 56

void copy_name(uint64_t generation, char name[CATALOG_NAME_BYTES])
{
    catalog_sidecar_name(generation, CATALOG_COPY_ENDING, name);
}

static ksv_status corrupt(ksv_error *error, const char *what)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "%s", what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

ksv_status copy_encode(const catalog_state *state, const catalog_mark *mark,
                       byte_buffer *out, uint64_t *body_checksum,
                       ksv_error *error)
{
    size_t start = out->size;
    static const uint8_t no_header[HEADER_BYTES];
    KSV_TRY(buffer_append(out, no_header, HEADER_BYTES, error));
    KSV_TRY(codec_put_state(out, state, error));
    uint8_t *header = out->data + start;
    size_t body_bytes = out->size - start - HEADER_BYTES;
    memcpy(header, MAGIC, sizeof MAGIC);
    store_u16(header + VERSION_OFFSET, CATALOG_FORMAT_VERSION);
    store_u64(header + GENERATION_OFFSET, mark->generation);
    store_u64(header + ENVIRONMENT_OFFSET, mark->environment_id);
    store_u64(header + OTHER_CHECKSUM_OFFSET, mark->other_checksum);
    memcpy(header + INDEX_ID_OFFSET, state->parameters.index_id,
           sizeof state->parameters.index_id);
    store_u64(header + BODY_BYTES_OFFSET, body_bytes);
    if (body_checksum != NULL)
        *body_checksum = hash_checksum64(header + HEADER_BYTES, body_bytes);
    return buffer_put_u64(out, hash_checksum64(header, out->size - start),
                          error);
}

/* The version is judged before the checksum, which a later one may place
 * elsewhere. */
static ksv_status check_frame(const uint8_t *data, size_t size_bytes,
                              ksv_error *error)
{
    if (size_bytes < HEADER_BYTES + CHECKSUM_BYTES)
        return corrupt(error, size_bytes == 0 ? "is empty" : "is cut short");
    if (memcmp(data, MAGIC, sizeof MAGIC) != 0)
        return corrupt(error, "is no copy of a catalog");
    unsigned version = load_u16(data + VERSION_OFFSET);
    if (version > CATALOG_FORMAT_VERSION)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "has format version %u; this program reads version %d",
                         version, CATALOG_FORMAT_VERSION);
    size_t checked = size_bytes - CHECKSUM_BYTES;
    if (version != CATALOG_FORMAT_VERSION ||
        load_u64(data + checked) != hash_checksum64(data, checked))
        return corrupt(error, "is damaged");
    if ((load_u32(data + FEATURES_OFFSET) & ~(uint32_t)CATALOG_FEATURES) != 0)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "uses features of a later format version");
    if (load_u64(data + BODY_BYTES_OFFSET) != checked - HEADER_BYTES)
        return corrupt(error, "has another size than it says");
    return KSV_OK;
}

/* In memory a state takes about a tenth more than in the file; those who read
 * it keep about half as much beside it. */
static ksv_status pack_state(catalog_state *state, size_t size_bytes,
                             ksv_error *error)
{
    if (size_bytes > SIZE_MAX / 2)
        return error_set_memory(error);
    arena *a = arena_open(&state->allocator, large_pages_bytes(2 * size_bytes));
    if (a == NULL)
        return error_set_memory(error);
    size_t block_bytes;
    void *block = arena_first_block(a, &block_bytes);
    arena_skip(a, large_pages_place(block, block_bytes));
    state->arena = a;
    state->allocator = arena_allocator(a);
    return KSV_OK;
}

ksv_status copy_decode(const void *data, size_t size_bytes, bool is_packed,
                       const ksv_allocator *allocator, catalog_mark *mark,
                       catalog_state *state, ksv_error *error)
{
    const uint8_t *header = data;
    catalog_state_init(state, allocator);
    KSV_TRY(check_frame(header, size_bytes, error));
    if (is_packed)
        KSV_TRY(pack_state(state, size_bytes, error));
    byte_cursor in = cursor_over(header + HEADER_BYTES,
                                 size_bytes - HEADER_BYTES - CHECKSUM_BYTES);
    KSV_TRY(codec_get_state(&in, state, error));
    *mark = (catalog_mark){load_u64(header + GENERATION_OFFSET),
                           load_u64(header + ENVIRONMENT_OFFSET),
                           load_u64(header + OTHER_CHECKSUM_OFFSET)};
    state->generation = mark->generation;
    if (memcmp(header + INDEX_ID_OFFSET, state->parameters.index_id,
               sizeof state->parameters.index_id) != 0) {
        catalog_state_release(state);
        return corrupt(error, "has two ids of the index");
    }
    return KSV_OK;
}

/* The content of a copy in memory. */
typedef struct copy_bytes {
    const ksv_allocator *allocator;
    uint8_t *memory;
    size_t allocated_bytes;
    uint8_t *data;
    size_t size_bytes;
} copy_bytes;

static ksv_status read_opened(ksv_file *file, copy_bytes *out, ksv_error *error)
{
    ksv_file_info info;
    KSV_TRY(file->ops->info(file, &info, error));
    if (info.size_bytes > SIZE_MAX - 1)
        return error_set_memory(error);
    out->size_bytes = (size_t)info.size_bytes;
    out->allocated_bytes = large_pages_bytes(out->size_bytes);
    out->memory = memory_alloc(out->allocator, out->allocated_bytes);
    if (out->memory == NULL)
        return error_set_memory(error);
    out->data =
        out->memory + large_pages_place(out->memory, out->allocated_bytes);
    return file_read_exactly(file, 0, out->data, out->size_bytes, error);
}

static ksv_status read_bytes(const ksv_file_system *fs, const char *path,
                             copy_bytes *out, ksv_error *error)
{
    ksv_file *file;
    KSV_TRY(fs->open_read(fs->ctx, path, &file, error));
    ksv_status status = read_opened(file, out, error);
    file_close_quietly(file);
    return status;
}

static ksv_status read_and_decode(const ksv_file_system *fs, const char *path,
                                  bool is_packed,
                                  const ksv_allocator *allocator,
                                  catalog_mark *mark, catalog_state *state,
                                  uint64_t *bytes_read, ksv_error *error)
{
    copy_bytes copy = {.allocator = allocator};
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = read_bytes(fs, path, &copy, &problem);
    if (status == KSV_OK) {
        if (bytes_read != NULL)
            *bytes_read += copy.size_bytes;
        status = copy_decode(copy.data, copy.size_bytes, is_packed, allocator,
                             mark, state, &problem);
    } else if (file_error_is_missing(&problem)) {
        status = corrupt(&problem, "is missing");
    }
    memory_free(allocator, copy.memory, copy.allocated_bytes);
    if (status != KSV_OK) {
        error_add_path(&problem, path);
        if (error != NULL)
            *error = problem;
    }
    return status;
}

static ksv_status read_copy(const ksv_file_system *fs, const char *directory,
                            uint64_t generation, bool is_packed,
                            const ksv_allocator *allocator, catalog_mark *mark,
                            catalog_state *state, uint64_t *bytes_read,
                            ksv_error *error)
{
    ksv_allocator a = allocator_or_default(allocator);
    char name[CATALOG_NAME_BYTES];
    copy_name(generation, name);
    char *path = path_join(&a, directory, name);
    if (path == NULL)
        return error_set_memory(error);
    ksv_status status = read_and_decode(fs, path, is_packed, &a, mark, state,
                                        bytes_read, error);
    if (status == KSV_OK && mark->generation != generation) {
        catalog_state_release(state);
        status = corrupt(error, "is the copy of another commit");
        error_add_path(error, path);
    }
    memory_free_string(&a, path);
    return status;
}

ksv_status copy_read(const ksv_file_system *fs, const char *directory,
                     uint64_t generation, const ksv_allocator *allocator,
                     catalog_mark *mark, catalog_state *state,
                     uint64_t *bytes_read, ksv_error *error)
{
    return read_copy(fs, directory, generation, false, allocator, mark, state,
                     bytes_read, error);
}

ksv_status copy_read_marked(const ksv_file_system *fs, const char *directory,
                            const catalog_mark *wanted, bool is_packed,
                            const ksv_allocator *allocator,
                            catalog_state *state, uint64_t *bytes_read,
                            ksv_error *error)
{
    catalog_mark mark;
    KSV_TRY(read_copy(fs, directory, wanted->generation, is_packed, allocator,
                      &mark, state, bytes_read, error));
    if (mark.environment_id == wanted->environment_id &&
        mark.other_checksum == wanted->other_checksum)
        return KSV_OK;
    catalog_state_release(state);
    ksv_status status =
        corrupt(error, mark.environment_id != wanted->environment_id
                           ? "belongs to another index than " CATALOG_FILE_NAME
                           : "does not fit to " CATALOG_FILE_NAME);
    char name[CATALOG_NAME_BYTES];
    copy_name(wanted->generation, name);
    char *path = path_join(&state->allocator, directory, name);
    if (path != NULL)
        error_add_path(error, path);
    memory_free_string(&state->allocator, path);
    return status;
}

static ksv_status publish(const ksv_file_system *fs, const char *directory,
                          const char *name, const byte_buffer *data,
                          ksv_error *error)
{
    atomic_file *file;
    KSV_TRY(
        atomic_file_create(fs, directory, name, data->allocator, &file, error));
    ksv_file *handle = atomic_file_handle(file);
    ksv_status status =
        handle->ops->append(handle, data->data, data->size, error);
    if (status != KSV_OK) {
        atomic_file_abandon(file);
        return status;
    }
    KSV_TRY(atomic_file_publish(file, error));
    return fs->sync_directory(fs->ctx, directory, error);
}

ksv_status copy_write(const ksv_file_system *fs, const char *directory,
                      const catalog_state *state, const catalog_mark *mark,
                      uint64_t *body_checksum, ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    copy_name(mark->generation, name);
    byte_buffer data;
    buffer_init(&data, &state->allocator);
    ksv_status status = copy_encode(state, mark, &data, body_checksum, error);
    if (status == KSV_OK)
        status = publish(fs, directory, name, &data, error);
    if (status != KSV_OK)
        error_add_path(error, directory);
    buffer_release(&data);
    return status;
}

void copy_remove(const ksv_file_system *fs, const char *directory,
                 uint64_t generation, const ksv_allocator *allocator)
{
    char name[CATALOG_NAME_BYTES];
    copy_name(generation, name);
    ksv_status ignored = name_remove(fs, directory, name, allocator, NULL);
    (void)ignored;
}

ksv_status copy_body_checksum(const catalog_state *state,
                              uint64_t *body_checksum, ksv_error *error)
{
    byte_buffer body;
    buffer_init(&body, &state->allocator);
    ksv_status status = codec_put_state(&body, state, error);
    if (status == KSV_OK)
        *body_checksum = hash_checksum64(body.data, body.size);
    buffer_release(&body);
    return status;
}
