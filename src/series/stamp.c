/*
 * stamp.c - finding times in lines, and reading them.
 */
#include "series/stamp.h"

#include <math.h>
#include <string.h>

#define NUMBERS_MAX     16u /* a time stands among the first of its line */
#define LOOK_BYTES_MAX  96u
#define GAP_BYTES_MAX   4u
#define DAY_SECONDS     86400.0
#define EPOCH_MIN       1.0e9 /* 2001, */
#define EPOCH_MAX       4.0e9 /* and 2096 */
#define THOUSANDTHS_MAX 3

const char plim_series_second[] = "second";

static char at_or_blank(const char *line, size_t length, size_t at)
{
    return at < length ? line[at] : ' ';
}

/* Digits before the point. */
static uint32_t whole_digits(const char *line, plim_series_span number)
{
    uint32_t end = number.at;
    while (end < number.end && plim_is_digit(line[end])) {
        end++;
    }
    return end - number.at;
}

static int64_t whole(const char *line, plim_series_span number)
{
    int64_t value = 0;
    for (uint32_t at = number.at; at < number.end && plim_is_digit(line[at]); at++) {
        value = value < INT64_MAX / 100 ? value * 10 + (line[at] - '0') : value;
    }
    return value;
}

/* Two numbers with one character between them. */
static bool are_joined(const char *line, plim_series_span a, plim_series_span b, char by)
{
    return a.end + 1 == b.at && line[a.end] == by;
}

/* --- words around --- */

/* The month that a word of three letters or more begins with, from 1; 0 for any other word. */
static uint8_t month_of(const char *line, plim_series_span word)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    if (word.end - word.at < 3) {
        return 0;
    }
    for (uint8_t i = 0; i < 12; i++) {
        const char *const name = names + (size_t)3 * i;
        if (plim_lower(line[word.at]) == name[0] && plim_lower(line[word.at + 1]) == name[1] &&
            plim_lower(line[word.at + 2]) == name[2]) {
            return (uint8_t)(i + 1);
        }
    }
    return 0;
}

/* The word before a place, with blanks, colons and commas between. */
static plim_series_span word_before(const char *line, uint32_t at)
{
    while (at > 0 && strchr(" :,=[(", line[at - 1]) != NULL && line[at - 1] != '\0') {
        at--;
    }
    plim_series_span word = { .at = at, .end = at };
    while (word.at > 0 && plim_is_letter(line[word.at - 1])) {
        word.at--;
    }
    return word;
}

static bool is_duration(const char *line, size_t length, plim_series_span hour,
                        plim_series_span second)
{
    static const char *const before[] = { "eta",  "elapsed",   "remaining", "day", "days",
                                          "took", "duration",  "left",      "up",  "uptime",
                                          "for",  "wallclock", "in" };
    const char last = hour.at == 0 ? ' ' : line[hour.at - 1];
    if (at_or_blank(line, length, second.end) == '<' || last == '<' || last == '+') {
        return true;
    }
    const plim_series_span word = word_before(line, hour.at);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        if (plim_series_span_is_folded(line, word, before[i])) {
            return true;
        }
    }
    return false;
}

/* --- finding --- */

static bool is_clock(const char *line, size_t length, const plim_series_span *three)
{
    const char before = three[0].at == 0 ? ' ' : line[three[0].at - 1];
    return whole_digits(line, three[0]) <= 2 && whole_digits(line, three[1]) == 2 &&
           whole_digits(line, three[2]) == 2 && are_joined(line, three[0], three[1], ':') &&
           are_joined(line, three[1], three[2], ':') && before != ':' && before != '.' &&
           at_or_blank(line, length, three[2].end) != ':' && whole(line, three[0]) < 24 &&
           whole(line, three[1]) < 60 && whole(line, three[2]) < 62 &&
           !is_duration(line, length, three[0], three[2]);
}

/* Between a date and its time. */
static bool is_date_gap(const char *line, plim_series_span date, plim_series_span hour)
{
    for (uint32_t at = date.end; at < hour.at; at++) {
        if (strchr(" T,_-\t\"", line[at]) == NULL || line[at] == '\0') {
            return false;
        }
    }
    return hour.at > date.end && hour.at - date.end <= GAP_BYTES_MAX;
}

/* "2026-01-02", "01/02/2026", "01-02": numbers up to `last`, which stands before the time. */
static bool find_numeric_date(const char *line, const plim_series_span *numbers, size_t last,
                              plim_series_stamp *ret)
{
    const char by = last > 0 ? line[numbers[last - 1].end] : ' ';
    if (last == 0 || (by != '-' && by != '/') ||
        !are_joined(line, numbers[last - 1], numbers[last], by)) {
        return false;
    }
    const bool has_three = last > 1 && are_joined(line, numbers[last - 2], numbers[last - 1], by);
    const bool year_first = has_three && whole_digits(line, numbers[last - 2]) == 4;
    const size_t month = last - (has_three && !year_first ? 2 : 1);
    ret->kind = has_three ? PLIM_STAMP_DATE : PLIM_STAMP_DAY;
    ret->year = (uint16_t)(year_first ? last - 2 : last);
    ret->month = (uint16_t)month;
    ret->day = (uint16_t)(month + 1);
    const bool is_turned = whole(line, numbers[month]) > 12; /* 17/01/2026 */
    if (is_turned) {
        ret->day = ret->month;
        ret->month++;
    }
    return whole(line, numbers[ret->month]) <= 12 && whole(line, numbers[ret->day]) <= 31;
}

/* "20260102", and glog's "I0102". */
static bool find_packed_date(const char *line, plim_series_span number, plim_series_stamp *ret)
{
    const uint32_t digits = whole_digits(line, number);
    const bool is_glued = number.at > 0 && plim_is_upper(line[number.at - 1]) &&
                          (number.at == 1 || !plim_is_name(line[number.at - 2]));
    ret->kind = digits == 8 ? PLIM_STAMP_DATE : PLIM_STAMP_DAY;
    ret->is_packed = true;
    return digits == 8 || (digits == 4 && is_glued);
}

/* "Jan  2 03:04:05 2026", "02 Jan 2026 03:04:05": `clock` is the index of the hour. */
static bool find_named_date(const char *line, const plim_series_span *numbers, size_t count,
                            size_t clock, plim_series_stamp *ret)
{
    const size_t last = clock - 1;
    ret->month_name = month_of(line, word_before(line, numbers[last].at));
    if (ret->month_name == 0) {
        return false;
    }
    if (whole_digits(line, numbers[last]) == 4) {
        ret->kind = PLIM_STAMP_DATE;
        ret->year = (uint16_t)last;
        ret->day = (uint16_t)(last - 1);
        return last > 0;
    }
    const size_t year = clock + 3;
    const bool has_year = year < count && whole_digits(line, numbers[year]) == 4 &&
                          numbers[year].at - numbers[clock + 2].end <= 3 * GAP_BYTES_MAX;
    ret->kind = has_year ? PLIM_STAMP_DATE : PLIM_STAMP_DAY;
    ret->year = (uint16_t)year;
    ret->day = (uint16_t)last;
    return true;
}

static plim_series_stamp stamp_at(const char *line, size_t length, const plim_series_span *numbers,
                                  size_t count, size_t clock)
{
    const plim_series_stamp bare = { .kind = PLIM_STAMP_CLOCK, .clock = (uint16_t)clock };
    plim_series_stamp stamp = bare;
    if (clock > 0) {
        const plim_series_span date = numbers[clock - 1];
        bool has_date = is_date_gap(line, date, numbers[clock]) &&
                        find_numeric_date(line, numbers, clock - 1, &stamp);
        if (!has_date) {
            stamp = bare;
            has_date =
                is_date_gap(line, date, numbers[clock]) && find_packed_date(line, date, &stamp);
        }
        if (!has_date) {
            stamp = bare;
            has_date = is_date_gap(line, date, numbers[clock]) &&
                       find_named_date(line, numbers, count, clock, &stamp);
        }
        stamp = has_date ? stamp : bare;
    }
    size_t half = numbers[clock + 2].end;
    half += at_or_blank(line, length, half) == ' ' ? 1 : 0;
    const bool has_m = plim_lower(at_or_blank(line, length, half + 1)) == 'm' &&
                       !plim_is_name(at_or_blank(line, length, half + 2));
    stamp.is_am = has_m && plim_lower(at_or_blank(line, length, half)) == 'a';
    stamp.is_pm = has_m && plim_lower(at_or_blank(line, length, half)) == 'p';
    return stamp;
}

plim_series_stamp plim_series_stamp_of(const char *line, size_t length,
                                       const plim_series_span *numbers, size_t number_count)
{
    for (size_t i = 0; i + 2 < number_count && i < NUMBERS_MAX; i++) {
        if (is_clock(line, length, numbers + i)) {
            return stamp_at(line, length, numbers, number_count, i);
        }
    }
    return (plim_series_stamp){ .kind = PLIM_STAMP_NONE };
}

/* --- reading --- */

/* Of the proleptic Gregorian calendar: days since 1970-01-01. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    const int64_t shifted = month > 2 ? year : year - 1; /* a year ends with February */
    const int64_t since_march = (month + 9) % 12;
    return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 +
           (153 * since_march + 2) / 5 + day - 1 - 719468;
}

/* In seconds; thousandths of them are recognised by their size. */
static double read_epoch(const char *line, plim_series_span number)
{
    double value = 0;
    if (!plim_series_number_read(line, number, &value)) {
        return NAN;
    }
    for (int i = 0; i < THOUSANDTHS_MAX && value > EPOCH_MAX; i++) {
        value /= 1000;
    }
    return value >= EPOCH_MIN && value <= EPOCH_MAX ? value : NAN;
}

bool plim_series_is_epoch(const char *line, plim_series_span number, bool in_seconds)
{
    const uint32_t digits = whole_digits(line, number);
    return (digits >= (in_seconds ? 10 : 13)) && isfinite(read_epoch(line, number));
}

static double read_date(plim_series_clock *clock, const plim_series_stamp *stamp, const char *line,
                        const plim_series_span *numbers, double of_day)
{
    int64_t day = whole(line, numbers[stamp->day]);
    int64_t month = stamp->month_name;
    int64_t year = clock->year;
    if (stamp->is_packed) {
        const int64_t packed = whole(line, numbers[stamp->clock - 1]);
        day = packed % 100;
        month = packed / 100 % 100;
        year = stamp->kind == PLIM_STAMP_DATE ? packed / 10000 : year;
    } else {
        month = month == 0 ? whole(line, numbers[stamp->month]) : month;
        year = stamp->kind == PLIM_STAMP_DATE ? whole(line, numbers[stamp->year]) : year;
        year += year < 100 ? 2000 : 0;
    }
    double seconds = (double)days_of(year, month, day) * DAY_SECONDS + of_day;
    if (stamp->kind == PLIM_STAMP_DAY && seconds < clock->now - 180 * DAY_SECONDS) {
        seconds = (double)days_of(++year, month, day) * DAY_SECONDS + of_day;
    }
    clock->year = year;
    return seconds;
}

void plim_series_clock_read(plim_series_clock *clock, const plim_series_stamp *stamp,
                            const char *line, const plim_series_span *numbers)
{
    const plim_series_span *const at = numbers + stamp->clock;
    double seconds = 0;
    if (stamp->kind == PLIM_STAMP_NONE) {
        return;
    }
    if (stamp->kind == PLIM_STAMP_EPOCH) {
        seconds = read_epoch(line, *at);
    } else {
        double fraction = 0;
        (void)plim_series_number_read(line, at[2], &fraction);
        int64_t hour = whole(line, at[0]);
        hour = stamp->is_am || stamp->is_pm ? hour % 12 + (stamp->is_pm ? 12 : 0) : hour;
        const double of_day = (double)(hour * 3600 + whole(line, at[1]) * 60) + fmin(fraction, 61);
        if (stamp->kind == PLIM_STAMP_CLOCK) {
            const double day = isfinite(clock->now) ? floor(clock->now / DAY_SECONDS) : 0;
            seconds = day * DAY_SECONDS + of_day;
            seconds += seconds < clock->now - DAY_SECONDS / 2 ? DAY_SECONDS : 0;
        } else {
            seconds = read_date(clock, stamp, line, numbers, of_day);
        }
    }
    if (isfinite(seconds)) {
        clock->now = seconds;
        clock->first = isfinite(clock->first) ? fmin(clock->first, seconds) : seconds;
    }
}

void plim_series_clock_look(plim_series_clock *clock, const char *line, size_t length)
{
    if (length > LOOK_BYTES_MAX || memchr(line, ':', length) == NULL) {
        return;
    }
    plim_series_span numbers[NUMBERS_MAX];
    const size_t count = plim_series_numbers(line, length, numbers, NUMBERS_MAX);
    const plim_series_stamp stamp = plim_series_stamp_of(line, length, numbers, count);
    plim_series_clock_read(clock, &stamp, line, numbers);
}
