/* SPDX-License-Identifier: MIT */
/* Times as they stand in records. */
#include "dedup/time_text.h"

#define SECONDS_LIMIT UINT64_C(100000000000)
#define MILLISECONDS_LIMIT (SECONDS_LIMIT * 1000)
#define MICROSECONDS_LIMIT (MILLISECONDS_LIMIT * 1000)

typedef struct text_cursor {
    const uint8_t *next;
    const uint8_t *end;
    bool failed;
} text_cursor;

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static int peek(const text_cursor *c)
{
    return c->next < c->end ? *c->next : -1;
}

/* Exactly `digits` digits, up to `most`. */
static int take_number(text_cursor *c, int digits, int least, int most)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (c->next == c->end || !is_digit(*c->next)) {
            c->failed = true;
            return 0;
        }
        value = value * 10 + (*c->next++ - '0');
    }
    if (value < least || value > most)
        c->failed = true;
    return value;
}

static void take_byte(text_cursor *c, uint8_t byte)
{
    if (peek(c) != byte)
        c->failed = true;
    else
        c->next++;
}

/* Milliseconds of what stands behind a point, which has to have a digit. */
static int take_fraction(text_cursor *c)
{
    int ms = 0;
    int scale = 100;
    if (!is_digit((uint8_t)peek(c)))
        c->failed = true;
    for (; c->next < c->end && is_digit(*c->next); c->next++) {
        ms += (*c->next - '0') * scale;
        scale /= 10;
    }
    return ms;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970 to a date of the Gregorian calendar, of the years 0 to 9999.
 */
static int64_t days_of_date(int year, int month, int day)
{
    int64_t before = year - 1;
    int64_t days = 365 * (int64_t)year + before / 4 - before / 100 +
                   before / 400 + (year > 0);
    for (int m = 1; m < month; m++)
        days += days_of_month(year, m);
    /* 719528 days from the first day of the year 0 to that of 1970. */
    return days + day - 1 - 719528;
}

/* Minutes to the east of UTC. */
static int take_zone(text_cursor *c)
{
    int sign = peek(c);
    if (sign == 'Z' || sign == 'z') {
        c->next++;
        return 0;
    }
    if (sign != '+' && sign != '-') {
        c->failed = true;
        return 0;
    }
    c->next++;
    int hours = take_number(c, 2, 0, 23);
    take_byte(c, ':');
    int minutes = hours * 60 + take_number(c, 2, 0, 59);
    return sign == '-' ? -minutes : minutes;
}

static bool parse_rfc3339(text_cursor *c, int64_t *time_ms)
{
    int year = take_number(c, 4, 0, 9999);
    take_byte(c, '-');
    int month = take_number(c, 2, 1, 12);
    take_byte(c, '-');
    int day = take_number(c, 2, 1, 31);
    int between = peek(c);
    if (c->failed || day > days_of_month(year, month) ||
        (between != 'T' && between != 't' && between != ' '))
        return false;
    c->next++;
    int hour = take_number(c, 2, 0, 23);
    take_byte(c, ':');
    int minute = take_number(c, 2, 0, 59);
    take_byte(c, ':');
    int second = take_number(c, 2, 0, 60);
    int ms = 0;
    if (peek(c) == '.') {
        c->next++;
        ms = take_fraction(c);
    }
    int zone = take_zone(c);
    int64_t minutes =
        (days_of_date(year, month, day) * 24 + hour) * 60 + minute - zone;
    *time_ms = (minutes * 60 + second) * 1000 + ms;
    return !c->failed && c->next == c->end;
}

/* `digits` of a value rounded down by `divisor`. */
static int64_t divide(uint64_t value, uint64_t divisor, bool is_negative)
{
    if (!is_negative)
        return (int64_t)(value / divisor);
    return -(int64_t)((value + divisor - 1) / divisor);
}

static bool parse_number(text_cursor *c, int64_t *time_ms)
{
    bool is_negative = peek(c) == '-';
    uint64_t value = 0;
    int ms = 0;
    c->next += is_negative;
    if (!is_digit((uint8_t)peek(c)))
        return false;
    for (; c->next < c->end && is_digit(*c->next); c->next++) {
        if (value > (INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(*c->next - '0');
    }
    if (peek(c) == '.') {
        c->next++;
        ms = take_fraction(c);
    }
    if (c->failed || c->next != c->end)
        return false;
    if (value < SECONDS_LIMIT)
        *time_ms = divide(value * 1000 + (uint64_t)ms, 1, is_negative);
    else if (value < MILLISECONDS_LIMIT)
        *time_ms = divide(value, 1, is_negative);
    else if (value < MICROSECONDS_LIMIT)
        *time_ms = divide(value, 1000, is_negative);
    else
        *time_ms = divide(value, 1000000, is_negative);
    return true;
}

bool time_text_parse(const uint8_t *text, size_t size_bytes, int64_t *time_ms)
{
    text_cursor c = {text, text + size_bytes, false};
    bool is_date = size_bytes > 4 && text[4] == '-';
    return is_date ? parse_rfc3339(&c, time_ms) : parse_number(&c, time_ms);
}
