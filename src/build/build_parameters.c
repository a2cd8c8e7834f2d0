/* SPDX-License-Identifier: MIT */
/* Settles the parameters of an index: its own, or those of the options. */
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "build/build_run.h"
#include "hash/hash.h"
#include "scan/record_reader.h"
#include "segment/organisation.h"

#define DEFAULT_FPR 0.005

static ksv_status check_options(const ksv_build_options *options,
                                ksv_error *error)
{
    if (options->fpr != 0 && !(options->fpr > 0 && options->fpr < 1))
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "the false-positive rate must be above 0 and below 1");
    if (options->organisation != KSV_ORGANISATION_DEFAULT &&
        organisation_find(options->organisation) == NULL)
        return error_set(
            error, KSV_ERROR_UNSUPPORTED, NULL,
            "this version has the organisations hash, sorted and btree only");
    return KSV_OK;
}

/* Whether there is a reader for the format at all. */
static ksv_status try_reader(build_run *run, ksv_error *error)
{
    record_reader *reader;
    KSV_TRY(
        record_reader_open(run->spec, false, &run->allocator, &reader, error));
    record_reader_close(reader);
    return KSV_OK;
}

/* Different numbers from one seed. */
static void derive(const uint8_t seed[16], uint8_t role, uint8_t out[16])
{
    uint8_t text[16 + 2];
    memcpy(text, seed, 16);
    text[16] = role;
    for (uint8_t half = 0; half < 2; half++) {
        text[17] = half;
        store_u64(out + 8 * half, hash_checksum64(text, sizeof text));
    }
}

static void choose_identity(catalog_parameters *p, const uint8_t *seed)
{
    if (seed == NULL) {
        hash_random_id(p->index_id);
        hash_random_id(p->hasher.key);
        return;
    }
    derive(seed, 'i', p->index_id);
    derive(seed, 'k', p->hasher.key);
}

static ksv_status take_new(build_run *run, ksv_error *error)
{
    catalog_parameters *p = &run->state.parameters;
    const ksv_build_options *options = &run->options;
    if (options->format == NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a new index needs a format and a key");
    KSV_TRY(
        scan_spec_create(options->format, &run->allocator, &run->spec, error));
    byte_buffer stored;
    buffer_init(&stored, &run->allocator);
    ksv_status status = scan_spec_encode(run->spec, &stored, error);
    if (status == KSV_OK) {
        p->format = memory_alloc(&run->allocator, stored.size);
        p->format_bytes = stored.size;
        if (p->format != NULL)
            memcpy(p->format, stored.data, stored.size);
        else
            status = error_set_memory(error);
    }
    buffer_release(&stored);
    KSV_TRY(status);
    choose_identity(p, options->index_seed);
    p->hasher.kind = options->hash != 0 ? options->hash : KSV_HASH_XXH3;
    p->hash_bits = 0;
    p->organisation = options->organisation != KSV_ORGANISATION_DEFAULT
                          ? options->organisation
                          : KSV_ORGANISATION_HASH;
    p->fpr = options->fpr != 0 ? options->fpr : DEFAULT_FPR;
    run->dirty = true;
    return KSV_OK;
}

static ksv_status mismatch(build_run *run, const char *what, ksv_error *error)
{
    return error_set(error, KSV_ERROR_MISMATCH, run->directory,
                     "the index was built with another %s (it has format %s "
                     "and key %s); a directory of its own can be given to "
                     "another index",
                     what, ksv_format_name(run->spec->format),
                     run->spec->key_text);
}

/* The format of the options against that of the index. */
static ksv_status compare_format(build_run *run, ksv_error *error)
{
    if (run->options.format == NULL)
        return KSV_OK;
    scan_spec *asked;
    KSV_TRY(
        scan_spec_create(run->options.format, &run->allocator, &asked, error));
    byte_buffer stored;
    buffer_init(&stored, &run->allocator);
    const catalog_parameters *p = &run->state.parameters;
    ksv_status status = scan_spec_encode(asked, &stored, error);
    if (status == KSV_OK && (stored.size != p->format_bytes ||
                             memcmp(stored.data, p->format, stored.size) != 0))
        status = mismatch(
            run,
            asked->format != run->spec->format ? "format" : "key specification",
            error);
    buffer_release(&stored);
    scan_spec_destroy(asked);
    return status;
}

static ksv_status take_existing(build_run *run, ksv_error *error)
{
    const catalog_parameters *p = &run->state.parameters;
    const ksv_build_options *options = &run->options;
    KSV_TRY(organisation_require(p, run->directory, error));
    KSV_TRY(scan_spec_decode(p->format, p->format_bytes, &run->allocator,
                             &run->spec, error));
    KSV_TRY(compare_format(run, error));
    if (options->hash != 0 && options->hash != p->hasher.kind)
        return mismatch(run, "hash", error);
    if (options->fpr != 0 && options->fpr != p->fpr)
        return mismatch(run, "false-positive rate", error);
    if (options->organisation != KSV_ORGANISATION_DEFAULT &&
        options->organisation != p->organisation)
        return mismatch(run, "organisation", error);
    return KSV_OK;
}

ksv_status build_parameters_settle(build_run *run, ksv_error *error)
{
    KSV_TRY(check_options(&run->options, error));
    if (run->state.generation == 0)
        KSV_TRY(take_new(run, error));
    else
        KSV_TRY(take_existing(run, error));
    return try_reader(run, error);
}
