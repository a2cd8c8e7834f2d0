/* SPDX-License-Identifier: MIT */
/* Checks one JSON value while its bytes pass by, and takes the scalars at the
 * given paths. */
#include "scan/json_scanner.h"

#include <string.h>

#include "base/error.h"
#include "scan/json_state.h"

const uint8_t *json_fail(json_scanner *s, json_fault fault, const uint8_t *at)
{
    s->fault = fault;
    s->fault_byte = *at;
    s->fault_at = s->passed_bytes + (uint64_t)(at - s->data);
    s->place = JSON_AT_FAULT;
    return at;
}

void json_forget_values(json_scanner *s, uint32_t node)
{
    uint32_t end = s->paths.nodes[node].subtree_end;
    for (uint32_t i = node; i < end; i++)
        s->values[i].text.size_bytes = 0;
}

void json_use_own_text(json_scanner *s)
{
    json_value *value = &s->values[s->value_node];
    value->text = (json_text){value->own.data, value->own.size, false};
}

void json_end_scalar(json_scanner *s)
{
    s->place = s->depth > 0 ? JSON_AFTER_VALUE : JSON_AT_END;
}

static ksv_status push_kind(json_scanner *s, bool is_object, ksv_error *error)
{
    size_t word = (size_t)(s->depth / 64);
    uint64_t bit = UINT64_C(1) << (s->depth % 64);
    if (word >= s->kind_words) {
        void *kinds = s->kinds;
        ksv_status status = memory_grow(&s->allocator, &kinds, &s->kind_words,
                                        word + 1, sizeof *s->kinds, error);
        s->kinds = kinds;
        KSV_TRY(status);
    }
    /* Words that memory_grow() has added hold anything. */
    if (bit == 1)
        s->kinds[word] = 0;
    s->kinds[word] = is_object ? s->kinds[word] | bit : s->kinds[word] & ~bit;
    s->depth++;
    s->in_object = is_object;
    return KSV_OK;
}

static const uint8_t *open_container(json_scanner *s, const uint8_t *p,
                                     ksv_error *error)
{
    bool is_object = *p == '{';
    if (push_kind(s, is_object, error) != KSV_OK)
        return NULL;
    uint32_t node = s->value_node;
    if (node != JSON_NO_NODE &&
        s->paths.nodes[node].first_child != JSON_NO_NODE)
        s->frames[s->path_depth++] = (json_frame){.node = node};
    s->place = is_object ? JSON_AT_FIRST_MEMBER : JSON_AT_FIRST_ELEMENT;
    return p + 1;
}

static const uint8_t *close_container(json_scanner *s, const uint8_t *p)
{
    s->depth--;
    if (s->path_depth > s->depth)
        s->path_depth = s->depth;
    if (s->depth == 0) {
        s->place = JSON_AT_END;
        return p + 1;
    }
    uint64_t level = s->depth - 1;
    s->in_object = (s->kinds[level / 64] >> (level % 64) & 1) != 0;
    s->place = JSON_AFTER_VALUE;
    return p + 1;
}

static void begin_element(json_scanner *s)
{
    s->place = JSON_AT_VALUE;
    s->value_node = JSON_NO_NODE;
    if (!json_on_path(s))
        return;
    json_frame *frame = &s->frames[s->depth - 1];
    s->value_node =
        json_paths_element(&s->paths, frame->node, frame->next_index++);
}

static const uint8_t *at_value(json_scanner *s, const uint8_t *p,
                               const uint8_t *end, ksv_error *error)
{
    if (s->depth > 0 && !s->in_object && !json_on_path(s)) {
        p = json_run_elements(s, p, end);
        if (p == end || s->place != JSON_AT_VALUE)
            return p;
    }
    if (*p == '"')
        return json_string_begin(s, p, false);
    if (*p == '{' || *p == '[')
        return open_container(s, p, error);
    return json_scalar_begin(s, p, error);
}

static const uint8_t *at_name(json_scanner *s, const uint8_t *p,
                              const uint8_t *end)
{
    p = json_run_members(s, p, end);
    if (p == end || s->place != JSON_AT_NAME)
        return p;
    if (*p != '"')
        return json_fail(s, JSON_FAULT_NAME, p);
    return json_string_begin(s, p, true);
}

static const uint8_t *at_first(json_scanner *s, const uint8_t *p)
{
    if (*p == (s->in_object ? '}' : ']'))
        return close_container(s, p);
    if (s->in_object)
        s->place = JSON_AT_NAME;
    else
        begin_element(s);
    return p;
}

static const uint8_t *at_colon(json_scanner *s, const uint8_t *p)
{
    if (*p != ':')
        return json_fail(s, JSON_FAULT_COLON, p);
    s->place = JSON_AT_VALUE;
    return p + 1;
}

static const uint8_t *after_value(json_scanner *s, const uint8_t *p)
{
    if (*p == (s->in_object ? '}' : ']'))
        return close_container(s, p);
    if (*p != ',')
        return json_fail(
            s, s->in_object ? JSON_FAULT_IN_OBJECT : JSON_FAULT_IN_ARRAY, p);
    if (s->in_object)
        s->place = JSON_AT_NAME;
    else
        begin_element(s);
    return p + 1;
}

/* Between tokens. */
static const uint8_t *step_between(json_scanner *s, const uint8_t *p,
                                   const uint8_t *end, ksv_error *error)
{
    p = json_skip_space(p, end);
    if (p == end)
        return p;
    switch (s->place) {
    case JSON_AT_VALUE:
        return at_value(s, p, end, error);
    case JSON_AT_NAME:
        return at_name(s, p, end);
    case JSON_AT_FIRST_MEMBER:
    case JSON_AT_FIRST_ELEMENT:
        return at_first(s, p);
    case JSON_AT_COLON:
        return at_colon(s, p);
    case JSON_AFTER_VALUE:
        return after_value(s, p);
    default:
        return json_fail(s, JSON_FAULT_AFTER, p);
    }
}

static const uint8_t *step(json_scanner *s, const uint8_t *p,
                           const uint8_t *end, ksv_error *error)
{
    switch (s->place) {
    case JSON_IN_STRING:
        return json_string_run(s, p, end, error);
    case JSON_IN_ESCAPE:
        return json_string_escape(s, p, error);
    case JSON_IN_HEX:
        return json_string_hex(s, p, error);
    case JSON_IN_NUMBER:
        return json_scalar_number(s, p, end, error);
    case JSON_IN_WORD:
        return json_scalar_word(s, p, end);
    default:
        return step_between(s, p, end, error);
    }
}

/* Copies what lies in bytes that are about to go. */
static ksv_status keep_texts(json_scanner *s, ksv_error *error)
{
    for (size_t i = 0; i < s->paths.node_count; i++) {
        json_text *text = &s->values[i].text;
        byte_buffer *own = &s->values[i].own;
        if (text->size_bytes == 0 || !text->is_borrowed)
            continue;
        buffer_clear(own);
        KSV_TRY(buffer_append(own, text->data, text->size_bytes, error));
        *text = (json_text){own->data, own->size, false};
    }
    return KSV_OK;
}

ksv_status json_scanner_feed(json_scanner *scanner, const uint8_t *data,
                             size_t size_bytes, bool keep, ksv_error *error)
{
    if (size_bytes == 0)
        return KSV_OK;
    const uint8_t *p = data;
    const uint8_t *end = data + size_bytes;
    scanner->data = data;
    while (p < end && scanner->place != JSON_AT_FAULT) {
        p = step(scanner, p, end, error);
        if (p == NULL)
            return KSV_ERROR_MEMORY;
    }
    scanner->passed_bytes += size_bytes;
    return keep ? keep_texts(scanner, error) : KSV_OK;
}

json_outcome json_scanner_end(json_scanner *scanner)
{
    if (scanner->place == JSON_IN_NUMBER)
        (void)json_scalar_finish(scanner);
    if (scanner->place == JSON_AT_END)
        return JSON_VALUE;
    if (scanner->place == JSON_AT_VALUE && scanner->depth == 0)
        return JSON_BLANK;
    if (scanner->place != JSON_AT_FAULT) {
        scanner->fault = JSON_FAULT_CUT;
        scanner->fault_at = scanner->passed_bytes;
    }
    return JSON_MALFORMED;
}

json_text json_scanner_text(const json_scanner *scanner, size_t part)
{
    return scanner->values[scanner->paths.ends[part]].text;
}

void json_scanner_begin(json_scanner *scanner)
{
    scanner->place = JSON_AT_VALUE;
    scanner->depth = 0;
    scanner->path_depth = 0;
    scanner->in_object = false;
    scanner->value_node = JSON_ROOT;
    scanner->passed_bytes = 0;
    json_forget_values(scanner, JSON_ROOT);
}

static ksv_status allocate(json_scanner *s, ksv_error *error)
{
    s->values = memory_zalloc_array(&s->allocator, s->paths.node_count,
                                    sizeof *s->values);
    s->frames = memory_zalloc_array(&s->allocator, s->paths.longest_path,
                                    sizeof *s->frames);
    if (s->values == NULL || s->frames == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < s->paths.node_count; i++)
        buffer_init(&s->values[i].own, &s->allocator);
    return KSV_OK;
}

ksv_status json_scanner_open(const key_part *parts, size_t part_count,
                             const ksv_allocator *allocator, json_scanner **out,
                             ksv_error *error)
{
    *out = NULL;
    json_scanner *s = memory_zalloc(allocator, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->allocator = *allocator;
    buffer_init(&s->name, &s->allocator);
    ksv_status status =
        json_paths_init(&s->paths, parts, part_count, allocator, error);
    if (status == KSV_OK)
        status = allocate(s, error);
    if (status != KSV_OK) {
        json_scanner_close(s);
        return status;
    }
    json_scanner_begin(s);
    *out = s;
    return KSV_OK;
}

void json_scanner_close(json_scanner *scanner)
{
    if (scanner == NULL)
        return;
    ksv_allocator allocator = scanner->allocator;
    for (size_t i = 0; scanner->values != NULL && i < scanner->paths.node_count;
         i++)
        buffer_release(&scanner->values[i].own);
    memory_free(&allocator, scanner->values,
                scanner->paths.node_count * sizeof *scanner->values);
    memory_free(&allocator, scanner->frames,
                scanner->paths.longest_path * sizeof *scanner->frames);
    memory_free(&allocator, scanner->kinds,
                scanner->kind_words * sizeof *scanner->kinds);
    buffer_release(&scanner->name);
    json_paths_release(&scanner->paths);
    memory_free(&allocator, scanner, sizeof *scanner);
}
