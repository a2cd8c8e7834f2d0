/* SPDX-License-Identifier: MIT */
/* Decoding tables of random codes against decoding bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compress/inflate_tables.h"
#include "support/random.h"

#define LONGEST_CODE 15
#define CODES 400
#define LOOKUPS 300

/* A code as RFC 1951 has it: by length and value. */
typedef struct model {
    uint8_t lengths[LITERAL_SYMBOLS];
    unsigned first[LONGEST_CODE + 2]; /* code of each length */
    size_t symbols;
} model;

static inflater s;

/* Splits leaves of a tree until there are as many as symbols; `deep` of 100
 * times the one that was split last, so that codes get long. */
static void make_code(model *m, size_t symbols, unsigned deep,
                      random_source *random)
{
    uint8_t leaves[LITERAL_SYMBOLS] = {1, 1};
    size_t last = 0;
    for (size_t count = 2; count < symbols;) {
        size_t at = random_below(random, 100) < deep
                        ? last
                        : random_below(random, count);
        if (leaves[at] == LONGEST_CODE) {
            last = random_below(random, count);
            continue;
        }
        last = at;
        leaves[at]++;
        leaves[count++] = leaves[at];
    }
    memset(m, 0, sizeof *m);
    m->symbols = symbols;
    for (size_t i = symbols; i > 0; i--) {
        const size_t at = random_below(random, i);
        m->lengths[i - 1] = leaves[at];
        leaves[at] = leaves[i - 1];
    }
    unsigned code = 0;
    for (unsigned bits = 1; bits <= LONGEST_CODE; bits++) {
        m->first[bits] = code;
        for (size_t i = 0; i < symbols; i++)
            code += m->lengths[i] == bits;
        code *= 2;
    }
}

/* The symbol that `bits` begin with; `*used` bits of them. */
static unsigned model_symbol(const model *m, uint64_t bits, unsigned *used)
{
    unsigned code = 0;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        code = code << 1 | (unsigned)(bits >> (length - 1) & 1);
        unsigned number = m->first[length];
        for (unsigned i = 0; i < m->symbols; i++)
            if (m->lengths[i] == length && number++ == code) {
                *used = length;
                return i;
            }
    }
    fail();
    return 0;
}

static uint32_t look_up(const uint32_t *table, unsigned table_bits,
                        uint64_t bits, uint32_t exception, unsigned *used)
{
    uint32_t entry = table[bits & ((1u << table_bits) - 1)];
    *used = 0;
    if ((entry & exception) != 0 && (entry & ENTRY_SUBTABLE) != 0) {
        *used = entry_bits(entry);
        assert_int_equal(*used, table_bits);
        entry = table[entry_subtable_start(entry) +
                      (bits >> table_bits &
                       ((1u << entry_subtable_bits(entry)) - 1))];
    }
    return entry;
}

/* The bits from `at` on begin with a length symbol of this value. */
static void check_length(const model *m, uint64_t bits, unsigned at,
                         unsigned length, unsigned end)
{
    static const uint16_t bases[] = {
        3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    unsigned used;
    const unsigned symbol = model_symbol(m, bits >> at, &used) - 257;
    assert_in_range(symbol, 0, 28);
    const unsigned extra = symbol < 8 || symbol == 28 ? 0 : (symbol - 4) / 4;
    const unsigned value =
        (unsigned)(bits >> (at + used)) & ((1u << extra) - 1);
    assert_int_equal(length, bases[symbol] + value);
    assert_int_equal(end, at + used + extra);
}

static unsigned check_literal(const model *m, uint64_t bits, unsigned at,
                              unsigned literal)
{
    unsigned used;
    assert_int_equal(model_symbol(m, bits >> at, &used), literal);
    return at + used;
}

static void check_literals(const model *m, uint64_t bits)
{
    unsigned at;
    const uint32_t entry =
        look_up(s.literals, s.literal_bits, bits, ENTRY_EXCEPTION, &at);
    const unsigned end = at + entry_bits(entry);
    unsigned used;
    if ((entry & ENTRY_EXCEPTION) != 0) {
        const unsigned symbol = model_symbol(m, bits, &used);
        if ((entry & ENTRY_END) != 0) {
            assert_int_equal(symbol, 256);
            assert_int_equal(end, used);
        } else if ((entry & ENTRY_RANGE) != 0) {
            const unsigned code = entry_code_bits(entry);
            const unsigned extra = entry_bits(entry) - code;
            const unsigned value = (unsigned)(bits >> (at + code));
            check_length(
                m, bits, 0,
                entry_range_length(entry) + (value & ((1u << extra) - 1)), end);
        } else {
            assert_in_range(symbol, 286, 287);
        }
        return;
    }
    unsigned next = 0;
    if (entry_literal_count(entry) > 0) {
        next = check_literal(m, bits, 0, entry >> 8 & 0xff);
        assert_int_equal(next, at + entry_first_literal_bits(entry));
    }
    if (entry_literal_count(entry) > 1)
        next = check_literal(m, bits, next, entry >> 16 & 0xff);
    if ((entry & ENTRY_LITERALS) == 0)
        check_length(m, bits, next, entry_plain_length(entry), end);
    else
        assert_int_equal(next, end);
}

static void check_distance(const model *m, uint64_t bits)
{
    unsigned at, used;
    const uint32_t entry = look_up(s.distances, s.distance_bits, bits,
                                   ENTRY_DISTANCE_EXCEPTION, &at);
    const unsigned symbol = model_symbol(m, bits, &used);
    if ((entry & ENTRY_DISTANCE_EXCEPTION) != 0) {
        assert_in_range(symbol, 30, 31);
        return;
    }
    const unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;
    const unsigned base =
        symbol < 4 ? symbol + 1 : (2 + symbol % 2) * (1u << extra) + 1;
    assert_int_equal(entry >> 16, base);
    assert_int_equal(at + entry_code_bits(entry), used);
    assert_int_equal(at + entry_bits(entry), used + extra);
}

static void test_literals(void **state)
{
    (void)state;
    random_source random = {20};
    static model m;
    for (unsigned i = 0; i < CODES; i++) {
        const size_t symbols =
            i % 4 == 0 ? 288 : 2 + random_below(&random, 287);
        make_code(&m, symbols, i % 101, &random);
        assert_true(inflate_literal_table(&s, m.lengths, symbols));
        for (unsigned n = 0; n < LOOKUPS; n++)
            check_literals(&m, random_next(&random));
    }
}

static void test_distances(void **state)
{
    (void)state;
    random_source random = {21};
    static model m;
    for (unsigned i = 0; i < CODES; i++) {
        const size_t symbols = i % 4 == 0 ? 32 : 2 + random_below(&random, 31);
        make_code(&m, symbols, i % 101, &random);
        assert_true(inflate_distance_table(&s, m.lengths, symbols));
        for (unsigned n = 0; n < LOOKUPS; n++)
            check_distance(&m, random_next(&random));
    }
}

static void test_no_codes(void **state)
{
    (void)state;
    uint8_t lengths[LITERAL_SYMBOLS] = {0};
    assert_false(inflate_literal_table(&s, lengths, 288));
    lengths[256] = 1; /* one code of one bit is allowed */
    assert_true(inflate_literal_table(&s, lengths, 288));
    lengths[256] = 2;
    assert_false(inflate_literal_table(&s, lengths, 288));
    lengths[0] = lengths[1] = lengths[2] = 1;
    assert_false(inflate_literal_table(&s, lengths, 288));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_no_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
