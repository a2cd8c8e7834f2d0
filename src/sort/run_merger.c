/* SPDX-License-Identifier: MIT */
/* Sorts a partition that does not fit in memory: sorted runs on disk, merged.
 */
#include "sort/run_merger.h"

#include "base/error.h"
#include "base/memory.h"

/* Entries given out at a time. */
#define BATCH_ENTRIES ((size_t)4096)

/* One run, of which a few entries are in memory. */
typedef struct run_input {
    const spill_run *run;
    size_t next; /* number of the first entry not in memory */
    size_t total;
    hash_entry *buffer;
    size_t index; /* of the smallest entry in `buffer` */
    size_t count; /* entries in `buffer` */
} run_input;

struct run_merger {
    sort_slot *slot;
    spill_file file;
    uint64_t mask;
    size_t buffer_entries; /* of each input */
    run_input *inputs;
    size_t input_count;
    run_input **heap; /* the input with the smallest entry at 0 */
    size_t heap_size;
};

static ksv_status write_run(run_merger *m, const hash_entry *entries,
                            size_t count, ksv_error *error)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= entries[i].payload;
    KSV_TRY(spill_file_begin_run(&m->file, all, error));
    ksv_status status = spill_file_put(&m->file, 0, entries, count, error);
    return spill_file_end_run(&m->file, status, error);
}

static ksv_status write_runs(run_merger *m, size_t partition, ksv_error *error)
{
    sort_slot *slot = m->slot;
    uint64_t total = slot->source->counts[partition];
    for (uint64_t done = 0; done < total;) {
        uint64_t left = total - done;
        size_t take = left < slot->capacity ? (size_t)left : slot->capacity;
        KSV_TRY(sort_slot_load(slot, partition, done, take, error));
        entry_span span = {slot->loaded, take};
        KSV_TRY(partition_sort(&slot->sorter, &span, 1, slot->sorted,
                               slot->loaded, error));
        KSV_TRY(write_run(m, slot->sorted, take, error));
        done += take;
    }
    return spill_file_start_reading(&m->file, error);
}

/* Reads the next entries of a run that has some. The slot's scratch holds as
 * many records as buffers have entries at most. */
static ksv_status refill(run_merger *m, run_input *input, ksv_error *error)
{
    size_t left = input->total - input->next;
    size_t take = left < m->buffer_entries ? left : m->buffer_entries;
    KSV_TRY(spill_file_read(&m->file, input->run, 0, input->next, take,
                            m->slot->scratch, input->buffer, error));
    input->next += take;
    input->index = 0;
    input->count = take;
    return KSV_OK;
}

static bool comes_before(const run_merger *m, const run_input *a,
                         const run_input *b)
{
    return hash_entry_before(&a->buffer[a->index], &b->buffer[b->index],
                             m->mask);
}

static void sift_down(run_merger *m, size_t at)
{
    run_input *moving = m->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= m->heap_size)
            break;
        if (child + 1 < m->heap_size &&
            comes_before(m, m->heap[child + 1], m->heap[child]))
            child++;
        if (!comes_before(m, m->heap[child], moving))
            break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = moving;
}

static ksv_status start_merge(run_merger *m, ksv_error *error)
{
    const ksv_allocator *a = m->slot->source->allocator;
    m->input_count = m->file.run_count;
    m->inputs = memory_zalloc_array(a, m->input_count, sizeof *m->inputs);
    m->heap = memory_zalloc_array(a, m->input_count, sizeof(run_input *));
    if (m->inputs == NULL || m->heap == NULL)
        return error_set_memory(error);
    m->buffer_entries = m->slot->capacity / m->input_count;
    if (m->buffer_entries > BATCH_ENTRIES)
        m->buffer_entries = BATCH_ENTRIES;
    if (m->buffer_entries == 0)
        return error_set_memory(error);
    for (size_t i = 0; i < m->input_count; i++) {
        run_input *input = &m->inputs[i];
        input->run = &m->file.runs[i];
        input->total = spill_file_run_count(input->run, 0);
        input->buffer = m->slot->loaded + i * m->buffer_entries;
        KSV_TRY(refill(m, input, error));
        m->heap[m->heap_size++] = input;
    }
    for (size_t i = m->heap_size / 2; i-- > 0;)
        sift_down(m, i);
    return KSV_OK;
}

ksv_status run_merger_open(sort_slot *slot, size_t partition,
                           const ksv_file_system *fs, const char *directory,
                           const char *name, run_merger **out, ksv_error *error)
{
    const ksv_allocator *a = slot->source->allocator;
    *out = NULL;
    run_merger *m = memory_zalloc(a, sizeof *m);
    if (m == NULL)
        return error_set_memory(error);
    m->slot = slot;
    m->mask = hash_entry_mask(slot->source->hash_bits);
    ksv_status status =
        spill_file_init(&m->file, fs, a, directory, name, 0, error);
    if (status == KSV_OK)
        status = write_runs(m, partition, error);
    if (status == KSV_OK)
        status = start_merge(m, error);
    if (status != KSV_OK) {
        run_merger_close(m);
        return status;
    }
    *out = m;
    return KSV_OK;
}

/* Takes the smallest entry out of the heap. */
static ksv_status pop(run_merger *m, hash_entry *entry, ksv_error *error)
{
    run_input *input = m->heap[0];
    *entry = input->buffer[input->index++];
    if (input->index == input->count) {
        if (input->next < input->total)
            KSV_TRY(refill(m, input, error));
        else
            m->heap[0] = m->heap[--m->heap_size];
    }
    if (m->heap_size > 0)
        sift_down(m, 0);
    return KSV_OK;
}

ksv_status run_merger_next(run_merger *merger, const hash_entry **entries,
                           size_t *count, ksv_error *error)
{
    sort_slot *slot = merger->slot;
    size_t most =
        slot->capacity < BATCH_ENTRIES ? slot->capacity : BATCH_ENTRIES;
    size_t n = 0;
    while (n < most && merger->heap_size > 0)
        KSV_TRY(pop(merger, &slot->sorted[n++], error));
    *entries = slot->sorted;
    *count = n;
    return distinct_counter_add(&slot->counter, slot->sorted, n, error);
}

void run_merger_close(run_merger *merger)
{
    if (merger == NULL)
        return;
    const ksv_allocator *a = merger->slot->source->allocator;
    memory_free(a, merger->inputs, merger->input_count * sizeof(run_input));
    memory_free(a, merger->heap, merger->input_count * sizeof(run_input *));
    spill_file_release(&merger->file);
    memory_free(a, merger, sizeof *merger);
}
