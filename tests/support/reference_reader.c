/* SPDX-License-Identifier: MIT */
/* The rules of csv, tsv, lines and fixed, read slowly from a whole buffer. */
#include "support/reference_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 300
#define PARTS 8

typedef struct text {
    uint8_t bytes[ROOM * 2];
    size_t size;
} text;

typedef struct content {
    const ksv_format_options *o;
    bool skip_bad;
    const uint8_t *b;
    size_t n;
    size_t p; /* next byte */
    bool saw_end;
    bool saw_cr;
    size_t first_cr;
    scan_result *out;
} content;

typedef struct row {
    size_t offset;
    size_t length;
    text *fields;
    size_t count;
    bool open_quote;
    size_t quote_at;
} row;

static void fail(content *c, size_t offset)
{
    c->out->status = KSV_ERROR_DATA;
    c->out->error.byte_offset = offset;
}

static void put(text *t, uint8_t byte)
{
    t->bytes[t->size++] = byte;
}

static size_t terminator_at(const content *c, size_t p)
{
    if (c->o->record_end_cr)
        return p < c->n && c->b[p] == '\r' ? 1 : 0;
    if (p < c->n && c->b[p] == '\n')
        return 1;
    return p + 1 < c->n && c->b[p] == '\r' && c->b[p + 1] == '\n' ? 2 : 0;
}

static void put_key(content *c, size_t offset, size_t length, const text *parts,
                    size_t count)
{
    text key = {.size = 0};
    const char *separator =
        c->o->key_separator != NULL ? c->o->key_separator : "\t";
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size == 0) {
            scan_result_add(c->out, offset, length, SCAN_RECORD_WITHOUT_KEY,
                            NULL, 0);
            return;
        }
        for (const char *s = separator; i > 0 && *s != '\0'; s++)
            put(&key, (uint8_t)*s);
        for (size_t k = 0; k < parts[i].size; k++)
            put(&key, parts[i].bytes[k]);
    }
    scan_result_add(c->out, offset, length, SCAN_RECORD_KEYED, key.bytes,
                    key.size);
}

/* Old Mac files are refused when the last record has been read. */
static bool refuse_cr(content *c, size_t terminator)
{
    if (terminator > 0 || c->o->record_end_cr || c->saw_end || !c->saw_cr)
        return false;
    fail(c, c->first_cr);
    return true;
}

static void see_plain(content *c, size_t p)
{
    if (c->b[p] != '\r')
        return;
    if (!c->saw_cr)
        c->first_cr = p;
    c->saw_cr = true;
}

/* csv and tsv ------------------------------------------------------------ */

static int quote_of(const ksv_format_options *o)
{
    if (o->quote == KSV_BYTE_DEFAULT)
        return o->format == KSV_FORMAT_CSV ? '"' : KSV_BYTE_NONE;
    return o->quote;
}

static int delimiter_of(const ksv_format_options *o)
{
    if (o->delimiter == KSV_BYTE_DEFAULT)
        return o->format == KSV_FORMAT_CSV ? ',' : '\t';
    return o->delimiter;
}

static bool quoted_part(content *c, row *r, text *field)
{
    int quote = quote_of(c->o);
    bool escapes = c->o->escape_backslash;
    r->quote_at = c->p++;
    while (c->p < c->n) {
        uint8_t byte = c->b[c->p++];
        if (escapes && byte == '\\' && c->p < c->n) {
            put(field, c->b[c->p++]);
        } else if (byte == quote) {
            if (escapes || c->p == c->n || c->b[c->p] != quote)
                return true;
            put(field, c->b[c->p++]);
        } else {
            put(field, byte);
        }
    }
    return false;
}

static bool read_field(content *c, row *r)
{
    text *field = &r->fields[r->count++];
    field->size = 0;
    if (c->p < c->n && c->b[c->p] == quote_of(c->o) &&
        !quoted_part(c, r, field))
        return false;
    while (c->p < c->n && terminator_at(c, c->p) == 0 &&
           c->b[c->p] != delimiter_of(c->o)) {
        bool escape = c->o->escape_backslash && c->b[c->p] == '\\' &&
                      c->p + 1 < c->n && c->b[c->p + 1] != '\n' &&
                      c->b[c->p + 1] != '\r';
        if (escape)
            c->p++;
        see_plain(c, c->p);
        put(field, c->b[c->p++]);
    }
    return true;
}

/* False: there is none, or an error was found. */
static bool read_row(content *c, row *r)
{
    for (size_t t; c->p < c->n && (t = terminator_at(c, c->p)) > 0;) {
        c->p += t; /* a blank line */
        c->saw_end = true;
    }
    if (c->p == c->n)
        return false;
    r->count = 0;
    r->offset = c->p;
    while (read_field(c, r)) {
        if (c->p < c->n && terminator_at(c, c->p) == 0) {
            c->p++; /* the delimiter */
            continue;
        }
        r->length = c->p - r->offset;
        size_t t = terminator_at(c, c->p);
        if (refuse_cr(c, t))
            return false;
        c->saw_end |= t > 0;
        c->p += t;
        return true;
    }
    if (c->skip_bad)
        scan_result_add(c->out, r->offset, c->n - r->offset, SCAN_RECORD_BAD,
                        NULL, 0);
    else
        fail(c, r->quote_at);
    return false;
}

static bool is_number(const char *key)
{
    return isdigit((unsigned char)key[0]);
}

static bool find_column(const content *c, const row *first, const char *key,
                        size_t *column)
{
    if (is_number(key)) {
        *column = strtoul(key, NULL, 10) - 1;
        return *column < first->count;
    }
    if (strncmp(key, "name:", 5) == 0)
        key += 5;
    size_t hits = 0;
    for (size_t i = 0; i < first->count; i++) {
        if (first->fields[i].size == strlen(key) &&
            memcmp(first->fields[i].bytes, key, strlen(key)) == 0) {
            *column = i;
            hits++;
        }
    }
    (void)c;
    return hits == 1;
}

static void read_columns(content *c)
{
    static text fields[ROOM + 1];
    static const text nothing;
    row r = {.fields = fields};
    size_t columns[PARTS];
    bool first = true;
    while (read_row(c, &r)) {
        for (size_t i = 0; first && i < c->o->key_count; i++) {
            if (!find_column(c, &r, c->o->keys[i], &columns[i])) {
                fail(c, r.offset);
                return;
            }
        }
        bool header = first && !c->o->no_header;
        first = false;
        if (header)
            continue;
        text parts[PARTS];
        for (size_t i = 0; i < c->o->key_count; i++)
            parts[i] = columns[i] < r.count ? fields[columns[i]] : nothing;
        put_key(c, r.offset, r.length, parts, c->o->key_count);
    }
}

/* lines and fixed -------------------------------------------------------- */

static void take_bytes(const char *key, const uint8_t *line, size_t length,
                       text *part)
{
    char *rest;
    unsigned long from = strtoul(key + strlen("bytes:"), &rest, 10);
    unsigned long to = strtoul(rest + 1, NULL, 10);
    for (size_t i = 0; i < length; i++) {
        if (i + 1 >= from && i + 1 <= to)
            put(part, line[i]);
    }
}

static void take_field(const content *c, const char *key, const uint8_t *line,
                       size_t length, text *part)
{
    unsigned long wanted = strtoul(key + strlen("field:"), NULL, 10);
    unsigned long field = 1;
    int delimiter =
        c->o->delimiter == KSV_BYTE_DEFAULT ? '\t' : c->o->delimiter;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == delimiter)
            field++;
        else if (field == wanted)
            put(part, line[i]);
    }
}

static void take_match(const char *key, const uint8_t *line, size_t length,
                       text *part)
{
    bool group = strcmp(key, "regex:a(b*)") == 0;
    size_t i = 0;
    while (i < length && line[i] != 'a' && (group || !isdigit(line[i])))
        i++;
    if (group) {
        for (i++; i < length && line[i] == 'b'; i++)
            put(part, 'b');
        return;
    }
    for (; i < length && (line[i] == 'a' || isdigit(line[i])); i++)
        put(part, line[i]);
}

static void take_part(const content *c, const char *key, const uint8_t *line,
                      size_t length, text *part)
{
    part->size = 0;
    if (strncmp(key, "bytes:", 6) == 0)
        take_bytes(key, line, length, part);
    else if (strncmp(key, "field:", 6) == 0)
        take_field(c, key, line, length, part);
    else if (strncmp(key, "regex:", 6) == 0)
        take_match(key, line, length, part);
    else
        for (size_t i = 0; i < length; i++)
            put(part, line[i]);
    if (c->o->format != KSV_FORMAT_FIXED || c->o->keep_padding)
        return;
    size_t from = 0;
    size_t to = part->size;
    while (from < to && part->bytes[from] == ' ')
        from++;
    while (to > from && part->bytes[to - 1] == ' ')
        to--;
    memmove(part->bytes, part->bytes + from, to - from);
    part->size = to - from;
}

static void put_line(content *c, size_t offset, size_t length)
{
    text parts[PARTS];
    for (size_t i = 0; i < c->o->key_count; i++)
        take_part(c, c->o->keys[i], c->b + offset, length, &parts[i]);
    put_key(c, offset, length, parts, c->o->key_count);
}

static void read_lines(content *c)
{
    while (c->p < c->n) {
        size_t offset = c->p;
        while (c->p < c->n && terminator_at(c, c->p) == 0)
            see_plain(c, c->p++);
        size_t length = c->p - offset;
        size_t t = terminator_at(c, c->p);
        if (refuse_cr(c, t))
            return;
        c->saw_end |= t > 0;
        c->p += t;
        if (length > 0 || c->o->format == KSV_FORMAT_LINES)
            put_line(c, offset, length);
    }
}

static void read_sized(content *c)
{
    for (; c->n - c->p >= c->o->record_size; c->p += c->o->record_size)
        put_line(c, c->p, c->o->record_size);
    if (c->p == c->n)
        return;
    if (c->skip_bad)
        scan_result_add(c->out, c->p, c->n - c->p, SCAN_RECORD_BAD, NULL, 0);
    else
        fail(c, c->p);
}

void reference_read(const ksv_format_options *options, bool skip_bad,
                    const uint8_t *data, size_t size, scan_result *result)
{
    content c = {.o = options,
                 .skip_bad = skip_bad,
                 .b = data,
                 .n = size,
                 .out = result};
    scan_result_init(result);
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        c.p = 3;
    if (options->record_size > 0)
        read_sized(&c);
    else if (size >= 2 && (memcmp(data, "\xff\xfe", 2) == 0 ||
                           memcmp(data, "\xfe\xff", 2) == 0))
        fail(&c, 0);
    else if (options->format == KSV_FORMAT_CSV ||
             options->format == KSV_FORMAT_TSV)
        read_columns(&c);
    else
        read_lines(&c);
}
