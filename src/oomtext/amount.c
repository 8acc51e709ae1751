/*
 * amount.c - digits and units in flat text.
 */
#include "oomtext/amount.h"

#include "base/ascii.h"

#include <math.h>
#include <string.h>

#define DIGITS_MAX       24u                 /* of a number; 2^64 has 20 */
#define WRITTEN_DECIMALS 6u                  /* what printf writes of its own: "0.000000B" */
#define BEFORE_CHARS_MAX 40u                 /* of a number and its unit */
#define SMALL_BYTES      (UINT64_C(1) << 20) /* a number of bytes says more than that */

/* The digits of a number, read but not yet multiplied by anything. */
typedef struct digits {
    long double value;
    unsigned decimals;
    size_t end;
    bool is_integer;
} digits;

/* True if full[i] still belongs to the number: nothing, or only a line's end, was left out. */
static bool goes_on(const plim_flat *flat, size_t i, bool joined)
{
    return i < flat->count && (flat->gap[i] == 0 || (joined && flat->gap[i] == PLIM_GAP_LINE));
}

/* How many digits stand at full[i]. */
static size_t digit_run(const plim_flat *flat, size_t i, bool joined)
{
    size_t count = 0;
    while (goes_on(flat, i + count, joined) && plim_is_digit(flat->full[i + count])) {
        count++;
    }
    return count;
}

/* "1,048,576": groups of three after the first, and at least one. Returns the end, or i. */
static size_t grouped_end(const plim_flat *flat, size_t i, size_t first, bool joined)
{
    size_t end = i + first;
    if (first > 3) {
        return i;
    }
    while (goes_on(flat, end, joined) && flat->full[end] == ',' &&
           digit_run(flat, end + 1, joined) == 3) {
        end += 4;
    }
    return end == i + first ? i : end;
}

static void add_digits(digits *d, const plim_flat *flat, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (plim_is_digit(flat->full[i])) {
            d->value = d->value * 10 + (flat->full[i] - '0');
        }
    }
}

/* Digits that begin at full[i], which may stand after any gap. */
static bool read_digits(const plim_flat *flat, size_t i, bool joined, digits *ret)
{
    digits d = { .is_integer = true };
    if (i >= flat->count || !plim_is_digit(flat->full[i])) {
        return false;
    }
    const size_t run = 1 + digit_run(flat, i + 1, joined);
    const size_t grouped = grouped_end(flat, i, run, joined);
    d.end = grouped > i ? grouped : i + run;
    add_digits(&d, flat, i, d.end);
    if (goes_on(flat, d.end, joined) &&
        (flat->full[d.end] == '.' || (flat->full[d.end] == ',' && grouped == i))) {
        const size_t decimals = digit_run(flat, d.end + 1, joined);
        const bool is_point = flat->full[d.end] == '.';
        if (decimals > 0) {
            add_digits(&d, flat, d.end + 1, d.end + 1 + decimals);
            d.decimals = (unsigned)decimals;
            d.is_integer = false;
            d.end += 1 + decimals;
        } else if (is_point && d.end + 1 < flat->count && plim_is_lower(flat->full[d.end + 1]) &&
                   (flat->gap[d.end + 1] & (PLIM_GAP_BLANK | PLIM_GAP_LINE)) != 0) {
            d.end++; /* "926. GiB" */
        }
    }
    /* 1.2.3 is a version, and what has so many digits is no amount. */
    if (d.end - i > DIGITS_MAX ||
        (goes_on(flat, d.end, false) && flat->full[d.end] == '.' &&
         goes_on(flat, d.end + 1, false) && plim_is_digit(flat->full[d.end + 1]))) {
        return false;
    }
    *ret = d;
    return true;
}

/* "MBtotal", "BGpuMin", where a paste lost line ends: a unit in capitals ends there all the same.
 */
static bool ends_in_capitals(const plim_flat *flat, size_t end)
{
    const char last = flat->text[flat->at[end - 1]];
    const char next = flat->text[flat->at[end]];
    const char after = end + 1 < flat->count ? flat->full[end + 1] : '\0';
    return last == 'B' && !(next == 'p' && after == 's') && !(next == 'i' && after == 't') &&
           !(next == 'y' && after == 't') && next != '/';
}

/* Letters at full[i] that spell `word`; blanks between them are none. Returns the end, or i. */
static size_t spells(const plim_flat *flat, size_t i, const char *word)
{
    size_t j = i;
    for (; *word != '\0'; word++, j++) {
        if (j >= flat->count || flat->full[j] != *word ||
            (j > i && (flat->gap[j] & ~PLIM_GAP_LINE) != 0)) {
            return i;
        }
    }
    if (j < flat->count && plim_is_lower(flat->full[j]) && flat->gap[j] == 0 &&
        !ends_in_capitals(flat, j)) {
        return i; /* "mbps", "gigantic" */
    }
    return j;
}

/* A letter that a line's end parts from its number, or from its word: "512" and "M: 3". */
static bool is_other_letter(const plim_flat *flat, size_t i)
{
    return (flat->gap[i] & PLIM_GAP_LINE) != 0 ||
           (i + 1 < flat->count && flat->gap[i + 1] == PLIM_GAP_LINE &&
            plim_is_lower(flat->full[i + 1]));
}

/* The unit at full[i]: log2 of its bytes, or -1. Longest spellings first. */
static int read_unit(const plim_flat *flat, size_t i, bool is_integer, size_t *ret_end)
{
    static const struct {
        const char *word;
        int log2;
    } units[] = {
        { "bytes", 0 }, { "byte", 0 }, { "b", 0 },    { "kbytes", 10 }, { "kib", 10 },
        { "kb", 10 },   { "ki", 10 },  { "k", 10 },   { "mbytes", 20 }, { "mib", 20 },
        { "mb", 20 },   { "mi", 20 },  { "m", 20 },   { "gbytes", 30 }, { "gib", 30 },
        { "gb", 30 },   { "gi", 30 },  { "g", 30 },   { "tib", 40 },    { "tb", 40 },
        { "ti", 40 },   { "t", 40 },   { "pib", 50 }, { "pb", 50 },     { "eib", 60 },
        { "eb", 60 },
    };
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        const size_t end = spells(flat, i, units[u].word);
        if (end > i && !(is_integer && units[u].word[1] == '\0' && is_other_letter(flat, i))) {
            *ret_end = end;
            return units[u].log2;
        }
    }
    return -1;
}

static uint64_t to_bytes(long double bytes)
{
    const long double most = 18446744073709551614.0L; /* UINT64_MAX - 1 */
    return bytes >= most ? UINT64_MAX - 1 : (uint64_t)(bytes + 0.5L);
}

static void scale(plim_amount *amount, int log2)
{
    const long double unit = ldexpl(1, log2);
    long double divisor = 1;
    for (unsigned i = 0; i < amount->decimals; i++) {
        divisor *= 10;
    }
    const long double bytes = amount->value * unit / divisor;
    amount->log2 = log2;
    amount->bytes = to_bytes(bytes);
    amount->slack_bytes = log2 == 0 ? 0 : to_bytes(unit / divisor / 2);
    amount->is_sentinel = bytes >= 18446744073709551615.0L - ldexpl(1, 11);
}

/* "01:00.0" is a place on a bus, "2024-05-01" a date, "3%" a share: no index. */
static bool is_address(const plim_flat *flat, size_t end)
{
    if (!goes_on(flat, end, false)) {
        return false;
    }
    const char c = flat->full[end];
    return c == '%' || ((c == ':' || c == '-' || c == '/') && goes_on(flat, end + 1, false) &&
                        plim_is_digit(flat->full[end + 1]));
}

/* "6,442" of "6,442,45", which was cut. */
static bool is_longer(const plim_flat *flat, size_t end)
{
    return goes_on(flat, end, false) && (flat->full[end] == ',' || flat->full[end] == '.') &&
           goes_on(flat, end + 1, false) && plim_is_digit(flat->full[end + 1]);
}

static bool read_one_way(const plim_flat *flat, size_t i, plim_amount_kind kind, bool joined,
                         plim_amount *ret)
{
    digits d;
    if (!read_digits(flat, i, joined, &d)) {
        return false;
    }
    plim_amount amount = { .value = d.value, .decimals = d.decimals, .end = d.end };
    size_t unit_end = d.end;
    const int log2 = read_unit(flat, d.end, d.is_integer, &unit_end);
    if (kind == PLIM_AMOUNT_INTEGER || kind == PLIM_AMOUNT_UNITLESS) {
        amount.bytes = to_bytes(d.value);
        *ret = amount;
        return kind == PLIM_AMOUNT_UNITLESS || (d.is_integer && !is_address(flat, d.end));
    }
    if (log2 < 0) {
        if (kind == PLIM_AMOUNT_SIZED || !d.is_integer || is_longer(flat, d.end)) {
            return false;
        }
        scale(&amount, 0);
        *ret = amount;
        return true;
    }
    if ((kind == PLIM_AMOUNT_BYTES && log2 != 0) ||
        (log2 == 0 && !d.is_integer && d.decimals != WRITTEN_DECIMALS)) {
        return false;
    }
    amount.end = unit_end;
    amount.has_unit = true;
    scale(&amount, log2);
    *ret = amount;
    return true;
}

/* A number without a unit that goes on to one in the next line: "2,684," and "354,560 bytes". */
static bool is_only_begun(const plim_flat *flat, const plim_amount *bare, const plim_amount *joined)
{
    const char next = bare->end < flat->count ? flat->full[bare->end] : '\0';
    return joined->has_unit && joined->end > bare->end + 1 &&
           (joined->log2 == 0 || next == '.' || next == ',' || bare->bytes < SMALL_BYTES);
}

bool plim_amount_read(const plim_flat *flat, size_t i, plim_amount_kind kind, plim_amount *ret)
{
    const bool is_read = read_one_way(flat, i, kind, false, ret);
    if (kind == PLIM_AMOUNT_INTEGER ||
        (is_read && (ret->has_unit || kind == PLIM_AMOUNT_UNITLESS))) {
        return is_read;
    }
    plim_amount joined;
    if (read_one_way(flat, i, kind, true, &joined) &&
        (!is_read || is_only_begun(flat, ret, &joined))) {
        *ret = joined;
        return true;
    }
    return is_read;
}

/* ".92 GiB" where a text begins: the rest of a number, unless its first digits end the line. */
static bool is_cut(const plim_flat *flat, size_t i)
{
    if (i == 0 || flat->gap[i] != 0 || (flat->full[i - 1] != '.' && flat->full[i - 1] != ',')) {
        return false;
    }
    return i == 1 || (flat->gap[i - 1] != 0 &&
                      !(flat->gap[i - 1] == PLIM_GAP_LINE && plim_is_digit(flat->full[i - 2])));
}

bool plim_amount_read_before(const plim_flat *flat, size_t end, plim_amount_kind kind,
                             plim_amount *ret, size_t *ret_begin)
{
    const size_t least = end > BEFORE_CHARS_MAX ? end - BEFORE_CHARS_MAX : 0;
    bool found = false;
    /* The longest that fits wins: "1,024 MiB", not "24 MiB". */
    for (size_t i = end; i-- > least;) {
        if (!plim_is_digit(flat->full[i])) {
            if (found && flat->full[i] != '.' && flat->full[i] != ',') {
                break;
            }
            continue;
        }
        plim_amount amount;
        if (is_cut(flat, i)) {
            return false;
        }
        if (plim_amount_read(flat, i, kind, &amount) && amount.end == end) {
            *ret = amount;
            *ret_begin = i;
            found = true;
        } else if (found) {
            break;
        }
        if (found && (flat->gap[i] & (PLIM_GAP_BLANK | PLIM_GAP_OTHER)) != 0) {
            break; /* the number begins here */
        }
    }
    return found;
}

void plim_amount_share_unit(plim_amount *amount, const plim_amount *other)
{
    scale(amount, other->log2);
}
