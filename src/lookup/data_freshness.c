/* SPDX-License-Identifier: MIT */
/* Whether the data files of a snapshot are what was indexed. */
#include "lookup/data_freshness.h"

#include "base/error.h"
#include "io/file.h"
#include "lookup/data_sweep.h"

/* How long the state of a data file is believed within one call. */
#define IDENTITY_AGE_NS 1000000000u

/* Reading as much again each time is worth a word. */
#define WARN_READ_BYTES (64u << 20)

ksv_status freshness_find_path(index_snapshot *s, snapshot_file *file,
                               ksv_error *error)
{
    if (file->path != NULL)
        return KSV_OK;
    return file_identity_path(s->fs, s->directory, file->facts, &s->allocator,
                              &file->path, error);
}

static ksv_file_info indexed_info(const catalog_file *facts)
{
    return (ksv_file_info){.size_bytes = facts->size_bytes,
                           .mtime_ns = facts->mtime_ns,
                           .ctime_ns = facts->ctime_ns,
                           .inode = facts->inode,
                           .device = facts->device,
                           .kind = KSV_FILE_REGULAR};
}

static bool is_fresh(file_identity identity)
{
    return identity == FILE_IDENTITY_SAME || identity == FILE_IDENTITY_TOUCHED;
}

bool freshness_expects(const snapshot_file *file, ksv_file_info *info)
{
    bool was_looked_at = file->looked_ns != 0;
    *info = was_looked_at ? file->found.info : indexed_info(file->facts);
    return !was_looked_at || is_fresh(file->found.identity);
}

bool freshness_believes(const index_snapshot *s, uint64_t looked_ns,
                        uint64_t since_ns, uint64_t now_ns)
{
    if (looked_ns == 0)
        return false;
    uint64_t age_ns = now_ns - looked_ns;
    return age_ns < s->trust_ns ||
           (looked_ns >= since_ns && age_ns < IDENTITY_AGE_NS);
}

/* A file that had to be read costs every process that uses the index as much.
 */
static void warn_if_read(index_snapshot *s, const snapshot_file *file)
{
    bool is_worth_it = file->found.was_read &&
                       file->found.identity == FILE_IDENTITY_TOUCHED &&
                       file->facts->size_bytes >= WARN_READ_BYTES;
    if (!is_worth_it)
        return;
    ksv_error warning;
    error_set(&warning, KSV_OK, file->facts->given_path,
              "was touched or copied after it was indexed: all of it was read "
              "to see that it is unchanged");
    error_add_remedy(&warning, KSV_REMEDY_UPDATE);
    snapshot_tell(s, &warning);
}

static uint64_t *group_of(index_snapshot *s, const snapshot_file *file)
{
    return &s->looked_ns[(size_t)(file - s->files) / SNAPSHOT_GROUP_FILES];
}

/* What the look at its group has found, when that came after its own. */
static void take_from_group(index_snapshot *s, snapshot_file *file)
{
    uint64_t looked_ns = *group_of(s, file);
    if (looked_ns <= file->looked_ns)
        return;
    if (file->looked_ns == 0)
        file->found = (data_identity){.identity = FILE_IDENTITY_SAME,
                                      .info = indexed_info(file->facts)};
    file->looked_ns = looked_ns;
}

/* Whether a file that was looked at before is still what it was then. */
static bool is_as_it_was(const index_snapshot *s, const snapshot_file *file)
{
    ksv_file_info now;
    return file->looked_ns != 0 &&
           file->found.identity != FILE_IDENTITY_MISSING &&
           s->fs->info(s->fs->ctx, file->path, &now, NULL) == KSV_OK &&
           file_info_is_same(&now, &file->found.info);
}

static ksv_status look(index_snapshot *s, snapshot_file *file, ksv_error *error)
{
    KSV_TRY(freshness_find_path(s, file, error));
    uint64_t now_ns = clock_monotonic_ns();
    if (!is_as_it_was(s, file)) {
        file->looked_ns = 0;
        *group_of(s, file) = 0;
        ksv_status status = data_identity_check(
            &s->place, file->facts, file->path, &file->found, error);
        if (status != KSV_OK) {
            error_replace_path(error, file->facts->given_path);
            return status;
        }
        warn_if_read(s, file);
    }
    file->looked_ns = now_ns;
    return KSV_OK;
}

static ksv_status check_identity(index_snapshot *s, snapshot_file *file,
                                 uint64_t since_ns, file_identity *identity,
                                 ksv_error *error)
{
    take_from_group(s, file);
    if (!freshness_believes(s, file->looked_ns, since_ns, clock_monotonic_ns()))
        KSV_TRY(look(s, file, error));
    *identity = file->found.identity;
    return KSV_OK;
}

ksv_status freshness_require(index_snapshot *s, snapshot_file *file,
                             uint64_t since_ns, ksv_error *error)
{
    file_identity identity;
    KSV_TRY(check_identity(s, file, since_ns, &identity, error));
    if (is_fresh(identity))
        return KSV_OK;
    return file_identity_error(file->facts, identity, error);
}

/* The first file from `from` on that has to be asked about by itself, or the
 * number of files; `swept_ns` is when the last look at all of them began. */
static size_t next_doubtful(const index_snapshot *s, size_t from,
                            uint64_t since_ns, uint64_t swept_ns)
{
    while (from < s->state.file_count &&
           freshness_believes(s, s->looked_ns[from / SNAPSHOT_GROUP_FILES],
                              since_ns, swept_ns))
        from = (from / SNAPSHOT_GROUP_FILES + 1) * SNAPSHOT_GROUP_FILES;
    return from < s->state.file_count ? from : s->state.file_count;
}

static ksv_status check_all(index_snapshot *s, uint64_t since_ns,
                            ksv_error *error)
{
    uint64_t swept_ns = data_sweep(s, since_ns);
    size_t i = next_doubtful(s, 0, since_ns, swept_ns);
    while (i < s->state.file_count) {
        KSV_TRY(freshness_require(s, &s->files[i], since_ns, error));
        i = next_doubtful(s, i + 1, since_ns, swept_ns);
    }
    return KSV_OK;
}

ksv_status snapshot_check_all_fresh(index_snapshot *snapshot, uint64_t since_ns,
                                    ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status = check_all(snapshot, since_ns, error);
    mutex_unlock(&snapshot->lock);
    return status;
}

void snapshot_look_at_all(index_snapshot *snapshot, uint64_t since_ns)
{
    mutex_lock(&snapshot->lock);
    (void)data_sweep(snapshot, since_ns);
    mutex_unlock(&snapshot->lock);
}

static void warn_of_change(index_snapshot *s, snapshot_file *file,
                           uint64_t since_ns)
{
    ksv_error problem;
    error_clear(&problem);
    if (file->is_told ||
        freshness_require(s, file, since_ns, &problem) == KSV_OK)
        return;
    file->is_told = true;
    snapshot_tell(s, &problem);
}

void snapshot_warn_of_changes(index_snapshot *snapshot, uint64_t since_ns)
{
    index_snapshot *s = snapshot;
    if (s->problem == NULL)
        return;
    mutex_lock(&s->lock);
    uint64_t swept_ns = data_sweep(s, since_ns);
    size_t i = next_doubtful(s, 0, since_ns, swept_ns);
    while (i < s->state.file_count) {
        warn_of_change(s, &s->files[i], since_ns);
        i = next_doubtful(s, i + 1, since_ns, swept_ns);
    }
    mutex_unlock(&s->lock);
}

ksv_status snapshot_check_fresh(index_snapshot *snapshot, size_t file,
                                uint64_t since_ns, ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status =
        freshness_require(snapshot, &snapshot->files[file], since_ns, error);
    mutex_unlock(&snapshot->lock);
    return status;
}

ksv_status snapshot_identity(index_snapshot *snapshot, size_t file,
                             uint64_t since_ns, file_identity *identity,
                             ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status = check_identity(snapshot, &snapshot->files[file],
                                       since_ns, identity, error);
    mutex_unlock(&snapshot->lock);
    return status;
}

ksv_status snapshot_path(index_snapshot *snapshot, size_t file,
                         const char **path, ksv_error *error)
{
    mutex_lock(&snapshot->lock);
    ksv_status status =
        freshness_find_path(snapshot, &snapshot->files[file], error);
    *path = snapshot->files[file].path;
    mutex_unlock(&snapshot->lock);
    return status;
}
