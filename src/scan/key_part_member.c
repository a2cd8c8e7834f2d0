/* SPDX-License-Identifier: MIT */
/* The path to a member of a JSON object: dotted names or a JSON Pointer. */
#include "scan/key_part.h"

#include <string.h>

#include "base/error.h"

static ksv_status put(byte_buffer *out, char c, ksv_error *error)
{
    return buffer_append(out, &c, 1, error);
}

/* A JSON Pointer (RFC 6901): "~1" is a slash, "~0" a tilde. */
static ksv_status parse_pointer(const char *text, byte_buffer *steps,
                                ksv_error *error)
{
    for (const char *p = text + 1; *p != '\0'; p++) {
        char c = *p;
        if (c == '/') {
            c = '\0';
        } else if (c == '~') {
            p++;
            if (*p != '0' && *p != '1')
                return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                                 "key '%.200s': in a JSON Pointer a '~' is "
                                 "written '~0' and a '/' inside a name '~1'",
                                 text);
            c = *p == '0' ? '~' : '/';
        }
        KSV_TRY(put(steps, c, error));
    }
    return put(steps, '\0', error);
}

static ksv_status refuse_empty_name(const char *text, ksv_error *error)
{
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "key '%.200s': a member name between the dots is empty; "
                     "for a member without a name write a JSON Pointer, such "
                     "as '/user//id'",
                     text);
}

static ksv_status parse_dotted(const char *text, byte_buffer *steps,
                               ksv_error *error)
{
    size_t step_start = 0;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '.') {
            if (steps->size == step_start)
                return refuse_empty_name(text, error);
            KSV_TRY(put(steps, '\0', error));
            step_start = steps->size;
            continue;
        }
        if (*p == '\\') {
            p++;
            if (*p != '.' && *p != '\\')
                return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                                 "key '%.200s': a backslash stands only "
                                 "before a dot or a backslash that belongs to "
                                 "a name",
                                 text);
        }
        KSV_TRY(put(steps, *p, error));
    }
    if (steps->size == step_start)
        return refuse_empty_name(text, error);
    return put(steps, '\0', error);
}

ksv_status key_part_parse_member(const char *text, const ksv_allocator *a,
                                 key_part *part, ksv_error *error)
{
    part->kind = KEY_PART_MEMBER;
    if (text[0] == '\0')
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "key '': a member name is needed, such as 'id', "
                         "'user.id' or '/user/id'");
    byte_buffer steps;
    buffer_init(&steps, a);
    ksv_status status = text[0] == '/' ? parse_pointer(text, &steps, error)
                                       : parse_dotted(text, &steps, error);
    if (status == KSV_OK) {
        part->text =
            memory_copy_string(a, (const char *)steps.data, steps.size);
        part->text_bytes = steps.size;
        if (part->text == NULL)
            status = error_set_memory(error);
    }
    buffer_release(&steps);
    return status;
}

/* Whether dots and backslashes can say it. */
static bool can_be_dotted(const key_part *part)
{
    bool at_start = true;
    for (size_t i = 0; i < part->text_bytes; i++) {
        if (at_start && part->text[i] == '\0')
            return false;
        at_start = part->text[i] == '\0';
    }
    return part->text[0] != '/';
}

static ksv_status describe_byte(char c, bool dotted, byte_buffer *out,
                                ksv_error *error)
{
    if (c == '\0')
        return put(out, dotted ? '.' : '/', error);
    if (dotted && (c == '.' || c == '\\'))
        KSV_TRY(put(out, '\\', error));
    if (!dotted && (c == '~' || c == '/')) {
        KSV_TRY(put(out, '~', error));
        c = c == '~' ? '0' : '1';
    }
    return put(out, c, error);
}

ksv_status key_part_describe_member(const key_part *part, byte_buffer *out,
                                    ksv_error *error)
{
    bool dotted = can_be_dotted(part);
    if (!dotted)
        KSV_TRY(put(out, '/', error));
    /* The NUL that ends the last step stands for nothing. */
    for (size_t i = 0; i + 1 < part->text_bytes; i++)
        KSV_TRY(describe_byte(part->text[i], dotted, out, error));
    return KSV_OK;
}
