/* SPDX-License-Identifier: MIT */
/* Writes test data, the same for the same arguments, to standard output:
 * generate KIND RECORDS [SEED], or keys to ask for:
 * generate KIND RECORDS SEED present|absent|mixed COUNT */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest record, with room to write it without looking. */
#define RECORD_BYTES 8192
#define LONG_RECORD_BYTES 2048
#define SHORT_KEY_BYTES 12
#define LINE_BYTES 9
#define HEADER "id,name,address,amount,flag\n"

typedef struct text {
    char bytes[RECORD_BYTES];
    size_t length;
} text;

typedef void (*key_fn)(text *out, uint64_t number);
typedef void (*record_fn)(text *out, key_fn key, uint64_t number);

typedef struct data_kind {
    const char *name;
    const char *header;
    key_fn key;
    record_fn record;
} data_kind;

static uint64_t seed_value = 1;

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t random_of(uint64_t number, unsigned what)
{
    return mix(mix(seed_value * 8 + what) +
               number * UINT64_C(0x9e3779b97f4a7c15));
}

static void put(text *out, const char *what)
{
    size_t length = strlen(what);
    memcpy(out->bytes + out->length, what, length);
    out->length += length;
}

static void put_byte(text *out, char byte)
{
    out->bytes[out->length++] = byte;
}

static void put_number(text *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(out->bytes + out->length, digits + at, sizeof digits - at);
    out->length += sizeof digits - at;
}

/* `count` hexadecimal digits, the highest first. */
static void put_hex(text *out, uint64_t value, unsigned count)
{
    while (count-- > 0)
        put_byte(out, "0123456789abcdef"[value >> 4 * count & 15]);
}

static void put_uuid(text *out, uint64_t high, uint64_t low)
{
    put_hex(out, high >> 32, 8);
    put_byte(out, '-');
    put_hex(out, high >> 16, 4);
    put_byte(out, '-');
    put_hex(out, high, 4);
    put_byte(out, '-');
    put_hex(out, low >> 48, 4);
    put_byte(out, '-');
    put_hex(out, low, 12);
}

#define TWELVE_BITS UINT64_C(0xfff)

/* Of version 4. */
static void key_uuid(text *out, uint64_t number)
{
    uint64_t a = random_of(number, 0), b = random_of(number, 1);
    uint64_t variant = (b >> 48 & TWELVE_BITS) | 0xa000;
    put_uuid(out, (a & ~UINT64_C(0xf000)) | 0x4000,
             (b & UINT64_C(0xffffffffffff)) | variant << 48);
}

/* UUIDs of version 7, one a millisecond: in the order of their bytes. */
static void key_ordered(text *out, uint64_t number)
{
    uint64_t ms = UINT64_C(0x19bd5e00000) + number, r = random_of(number, 0);
    uint64_t variant = (r >> 40 & TWELVE_BITS) | 0xa000;
    put_uuid(out, ms << 16 | 0x7000 | r >> 52,
             (r & UINT64_C(0xffffffffffff)) | variant << 48);
}

static void key_number(text *out, uint64_t number)
{
    put_number(out, number + 1);
}

static void key_sha1(text *out, uint64_t number)
{
    put_hex(out, random_of(number, 0), 16);
    put_hex(out, random_of(number, 1), 16);
    put_hex(out, random_of(number, 2), 8);
}

static void key_url(text *out, uint64_t number)
{
    static const char *const SECTIONS[] = {"news", "articles/archive",
                                           "products", "people"};
    uint64_t r = random_of(number, 0);
    put(out, "https://www.example");
    put_number(out, r % 1000);
    put(out, ".com/");
    put(out, SECTIONS[r >> 20 & 3]);
    put(out, "/2026/page-");
    put_number(out, number);
    put(out, "?session=");
    put_hex(out, r >> 32, 8);
}

/* Letters and digits of a number of 5 bits each, no two alike. */
static void put_scrambled(text *out, uint64_t number, unsigned count)
{
    uint64_t mask = (UINT64_C(1) << 5 * count) - 1;
    for (int round = 0; round < 3; round++) {
        number = number * UINT64_C(0x9e3779b97f4a7c15) + seed_value;
        number &= mask;
        number ^= number >> (5 * count / 2 + 1);
    }
    while (count-- > 0)
        put_byte(out,
                 "0123456789abcdefghjkmnpqrstvwxyz"[number >> 5 * count & 31]);
}

static void key_line(text *out, uint64_t number)
{
    put_scrambled(out, number, LINE_BYTES);
}

static void key_short(text *out, uint64_t number)
{
    put_scrambled(out, number, SHORT_KEY_BYTES);
}

static void record_row(text *out, key_fn key, uint64_t number)
{
    uint64_t r = random_of(number, 3);
    key(out, number);
    put(out, ",\"Name, ");
    put_number(out, r % 100000000);
    put(out, "\",\"Street ");
    put_number(out, r >> 32);
    put(out, ", Some Old City\",");
    put_number(out, r >> 8 & 0xffff);
    put_byte(out, '.');
    put_number(out, 10 + r % 90);
    put_byte(out, ',');
    put_byte(out, (char)('A' + r % 26));
    put_byte(out, '\n');
}

static void record_json(text *out, key_fn key, uint64_t number)
{
    uint64_t r = random_of(number, 3);
    put(out, "{\"id\":\"");
    key(out, number);
    put(out, "\",\"name\":\"Name \\\"");
    put_number(out, r % 100000000);
    put(out, "\\\"\",\"address\":{\"street\":");
    put_number(out, r >> 32);
    put(out, "},\"tags\":[\"a\",\"b\"],\"amount\":");
    put_number(out, r >> 8 & 0xffff);
    put(out, ".5}\n");
}

static void record_line(text *out, key_fn key, uint64_t number)
{
    key(out, number);
    put_byte(out, '\n');
}

/* 20 bytes. */
static void record_short(text *out, key_fn key, uint64_t number)
{
    key(out, number);
    put_byte(out, ',');
    put_number(out, 100000 + random_of(number, 3) % 900000);
    put_byte(out, '\n');
}

static void record_long(text *out, key_fn key, uint64_t number)
{
    uint64_t r = random_of(number, 3);
    key(out, number);
    while (out->length < LONG_RECORD_BYTES - 40) {
        put(out, ",\"text, of a field\",");
        put_number(out, r >> out->length % 48);
    }
    put(out, ",end\n");
}

static void record_fasta(text *out, key_fn key, uint64_t number)
{
    uint64_t r = random_of(number, 3);
    put_byte(out, '>');
    key(out, number);
    put_byte(out, '\n');
    for (unsigned i = 0; i < 60; i++)
        put_byte(out, "ACGT"[r >> i & 3]);
    put_byte(out, '\n');
}

static const data_kind KINDS[] = {
    {"csv", HEADER, key_uuid, record_row},
    {"jsonl", "", key_uuid, record_json},
    {"lines", "", key_line, record_line},
    {"ordered", HEADER, key_ordered, record_row},
    {"numbers", HEADER, key_number, record_row},
    {"sha1", HEADER, key_sha1, record_row},
    {"urls", HEADER, key_url, record_row},
    {"short", "id,value\n", key_short, record_short},
    {"long", HEADER, key_uuid, record_long},
    {"fasta", "", key_uuid, record_fasta},
};

static const data_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (strcmp(KINDS[i].name, name) == 0)
            return &KINDS[i];
    return NULL;
}

static void write_records(const data_kind *kind, uint64_t records)
{
    static text out;
    fputs(kind->header, stdout);
    for (uint64_t i = 0; i < records; i++) {
        out.length = 0;
        kind->record(&out, kind->key, i);
        fwrite(out.bytes, 1, out.length, stdout);
    }
}

/* A key of no record. Of records in order one that lies between them. */
static void put_absent_key(text *out, const data_kind *kind, uint64_t records,
                           uint64_t i)
{
    if (kind->key != key_ordered) {
        kind->key(out, records + 1 + i);
        return;
    }
    kind->key(out, random_of(i, 7) % records);
    out->bytes[out->length - 1] = 'g';
}

/* Keys of records in random order, some twice; keys of no record. */
static void write_keys(const data_kind *kind, uint64_t records,
                       const char *which, uint64_t count)
{
    static text out;
    bool mixed = strcmp(which, "mixed") == 0;
    bool absent = strcmp(which, "absent") == 0;
    for (uint64_t i = 0; i < count; i++) {
        bool present = mixed ? i % 2 == 0 : !absent;
        out.length = 0;
        if (present)
            kind->key(&out, random_of(i, 7) % records);
        else
            put_absent_key(&out, kind, records, i);
        put_byte(&out, '\n');
        fwrite(out.bytes, 1, out.length, stdout);
    }
}

int main(int argc, char **argv)
{
    static char buffer[1 << 18];
    const data_kind *kind = argc > 2 ? find_kind(argv[1]) : NULL;
    uint64_t records = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (kind == NULL || records == 0 || argc == 5 || argc > 6) {
        fprintf(stderr, "usage: generate KIND RECORDS [SEED "
                        "[present|absent|mixed COUNT]]\nkinds:");
        for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
            fprintf(stderr, " %s", KINDS[i].name);
        fprintf(stderr, "\n");
        return 2;
    }
    if (argc > 3)
        seed_value = strtoull(argv[3], NULL, 10);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (argc == 6)
        write_keys(kind, records, argv[4], strtoull(argv[5], NULL, 10));
    else
        write_records(kind, records);
    if (fclose(stdout) != 0) {
        perror("generate");
        return 1;
    }
    return 0;
}
