/*
 * bare.c - what the columns of rows without a header are, by their figures.
 */
#include "series/bare.h"

#include <math.h>
#include <string.h>

#define COLUMNS_MAX 8u
#define INDEX_MAX   63.0 /* of a GPU */

#define TIME_NUMBERS_MAX 12u
#define TIME_BYTES_MAX   48u

/* A column over the rows that are kept. */
typedef struct bare_column {
    bool is_figure; /* an amount in every row */
    bool is_whole;
    bool is_epoch;
    int8_t log2;
    double values[PLIM_SERIES_BARE_ROWS];
} bare_column;

static char separator_of(const char *line, size_t length)
{
    static const char separators[] = { ',', ';', '\t' };
    for (size_t i = 0; i < sizeof separators; i++) {
        if (memchr(line, separators[i], length) != NULL) {
            return separators[i];
        }
    }
    plim_series_span numbers[2];
    return plim_series_numbers(line, length, numbers, 2) == 2 ? ' ' : ',';
}

static uint32_t split(const char *line, size_t length, plim_series_span *ret)
{
    plim_series_table table = { .separator = separator_of(line, length) };
    return plim_series_table_split(&table, line, length, COLUMNS_MAX, ret);
}

/* A number with its unit, and nothing else. */
static bool read_amount(const char *line, plim_series_span field, bare_column *ret, uint32_t row)
{
    const char *const text = line + field.at;
    const size_t length = field.end - field.at;
    plim_series_span number;
    if (length == 0 || !plim_is_digit(text[0]) ||
        plim_series_numbers(text, length, &number, 1) == 0) {
        return false;
    }
    const plim_series_unit unit = plim_series_unit_after(text, length, number);
    const size_t end = unit.log2 >= 0 ? unit.text.end : number.end;
    ret->log2 = unit.log2;
    ret->is_whole = ret->is_whole && plim_series_number_is_whole(text, number);
    ret->is_epoch = ret->is_epoch && plim_series_is_epoch(text, number, true);
    return unit.log2 != PLIM_UNIT_ELSE && end == length &&
           plim_series_number_read(text, number, &ret->values[row]);
}

/* A GPU's name, an address, a time: words that logs put before figures are in none of them. */
static bool is_label(const char *line, plim_series_span field)
{
    const uint32_t says = plim_series_words_of(line, field).any;
    const uint32_t speaks = PLIM_WORD_STEP | PLIM_WORD_EPOCH | PLIM_WORD_NEVER | PLIM_WORD_AMOUNT |
                            PLIM_WORD_HOLD | PLIM_WORD_MEMORY | PLIM_WORD_PERCENT;
    const bool is_model = plim_series_span_is_folded(
        line, (plim_series_span){ field.at, field.at + (field.end - field.at > 6 ? 6 : 0) },
        "nvidia");
    return is_model || (says & speaks) == 0;
}

/* The end of the time that a line begins with; 0 if it does not begin with one. */
static uint32_t end_of_time(const char *line, size_t length)
{
    plim_series_span numbers[TIME_NUMBERS_MAX];
    const size_t count = plim_series_numbers(line, length, numbers, TIME_NUMBERS_MAX);
    const plim_series_stamp stamp = plim_series_stamp_of(line, length, numbers, count);
    const bool is_first =
        count > 0 && plim_is_digit(line[0]) &&
        (stamp.kind == PLIM_STAMP_CLOCK ? stamp.clock == 0 : stamp.kind == PLIM_STAMP_DATE);
    return is_first ? numbers[stamp.clock + 2].end : 0;
}

/* Of blanks between, all fields after the time are numbers; else one is. */
static bool is_row(const char *line, size_t length)
{
    plim_series_span fields[COLUMNS_MAX];
    const uint32_t count = split(line, length, fields);
    const bool is_blank = separator_of(line, length) == ' ';
    const uint32_t timed = is_blank ? end_of_time(line, length) : 0;
    uint32_t amounts = 0;
    uint32_t times = 0;
    for (uint32_t i = 0; i < count && i < COLUMNS_MAX; i++) {
        if (fields[i].at < timed) {
            times++;
            continue;
        }
        bare_column column = { .is_whole = true, .is_epoch = true };
        const bool is_amount = read_amount(line, fields[i], &column, 0);
        amounts += is_amount ? 1 : 0;
        if (!is_amount && !is_label(line, fields[i])) {
            return false;
        }
    }
    return count <= COLUMNS_MAX && amounts > 0 &&
           ((!is_blank && count > 1) || amounts + times == count);
}

/* A line of date(1), between the rows of a loop. */
static bool is_time(const char *line, size_t length)
{
    plim_series_span numbers[TIME_NUMBERS_MAX];
    const size_t count = plim_series_numbers(line, length, numbers, TIME_NUMBERS_MAX);
    return length <= TIME_BYTES_MAX &&
           plim_series_stamp_of(line, length, numbers, count).kind != PLIM_STAMP_NONE;
}

/* The kept rows without the lines of times between them. */
static plim_series_bare rows_of(const plim_series_bare *bare)
{
    plim_series_bare rows = { 0 };
    for (uint32_t i = 0; i < bare->count; i++) {
        if (!bare->rows[i].is_time) {
            rows.rows[rows.count++] = bare->rows[i];
        }
    }
    return rows;
}

bool plim_series_bare_keep(plim_series_bare *bare, const char *line, size_t length,
                           uint64_t line_feeds)
{
    const plim_series_span all =
        plim_series_span_trim(line, (plim_series_span){ 0, (uint32_t)length });
    line += all.at;
    length = all.end - all.at;
    if (bare->count == PLIM_SERIES_BARE_ROWS || length > PLIM_SERIES_BARE_BYTES_MAX) {
        return false;
    }
    plim_series_span fields[COLUMNS_MAX];
    const bool has_figures = is_row(line, length);
    const uint32_t field_count = has_figures ? split(line, length, fields) : 0;
    const bool is_like_others =
        bare->field_count == 0 || field_count == 0 || field_count == bare->field_count;
    if ((!has_figures && !is_time(line, length)) || !is_like_others) {
        return false;
    }
    bare->field_count = has_figures ? field_count : bare->field_count;
    memcpy(bare->rows[bare->count].text, line, length);
    bare->rows[bare->count].length = (uint32_t)length;
    bare->rows[bare->count].is_time = !has_figures;
    bare->rows[bare->count++].line_feeds = line_feeds;
    return true;
}

/* --- columns --- */

static bool is_constant(const plim_series_bare *bare, const bare_column *column)
{
    for (uint32_t i = 1; i < bare->count; i++) {
        if (column->values[i] != column->values[0]) {
            return false;
        }
    }
    return true;
}

/* By the same distance each time: a step. */
static bool counts_up(const plim_series_bare *bare, const bare_column *column)
{
    const double by = column->values[1] - column->values[0];
    for (uint32_t i = 1; i < bare->count; i++) {
        if (column->values[i] - column->values[i - 1] != by) {
            return false;
        }
    }
    return column->is_whole && by > 0;
}

/* Small numbers that come again: 0, 1, 2, 3, 0, 1, … */
static bool is_index(const plim_series_bare *bare, const bare_column *column)
{
    bool comes_again = false;
    for (uint32_t i = 0; i < bare->count; i++) {
        comes_again = comes_again || (i > 0 && column->values[i] == column->values[0]);
        if (column->values[i] > INDEX_MAX) {
            return false;
        }
    }
    return comes_again && column->is_whole && column->log2 == PLIM_UNIT_NONE;
}

static uint32_t read_columns(const plim_series_bare *bare, bare_column *columns)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COLUMNS_MAX; i++) {
        columns[i] = (bare_column){ .is_figure = true, .is_whole = true, .is_epoch = true };
    }
    for (uint32_t row = 0; row < bare->count; row++) {
        plim_series_span fields[COLUMNS_MAX];
        const char *const line = bare->rows[row].text;
        count = split(line, bare->rows[row].length, fields);
        for (uint32_t i = 0; i < count; i++) {
            columns[i].is_figure =
                columns[i].is_figure && read_amount(line, fields[i], &columns[i], row);
        }
    }
    return count;
}

/* The largest figure of each row, the same in all: what there is. */
static bool is_total(const plim_series_bare *bare, const bare_column *columns, uint32_t count,
                     uint32_t index)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < count; i++) {
        others += i != index && columns[i].is_figure ? 1 : 0;
        for (uint32_t row = 0; columns[i].is_figure && row < bare->count; row++) {
            if (columns[i].values[row] > columns[index].values[row] ||
                (i != index && columns[i].log2 != columns[index].log2)) {
                return false;
            }
        }
    }
    return others > 0 && is_constant(bare, &columns[index]);
}

bool plim_series_bare_begin(const plim_series_bare *kept, plim_series_table *table)
{
    const plim_series_bare rows = rows_of(kept);
    const plim_series_bare *const bare = &rows;
    bare_column columns[COLUMNS_MAX];
    if (bare->count < PLIM_SERIES_BARE_ROWS_MIN) {
        return false;
    }
    const uint32_t count = read_columns(bare, columns);
    plim_series_table fresh = { .separator = separator_of(bare->rows[0].text, bare->rows[0].length),
                                .column_count = count,
                                .time_column = UINT32_MAX,
                                .key_column = UINT32_MAX,
                                .serial = table->serial + 1 };
    uint32_t figures = 0;
    for (uint32_t i = 0; i < count; i++) {
        figures += columns[i].is_figure ? 1 : 0;
    }
    for (uint32_t i = 0; i < count && figures > 1; i++) {
        bare_column *const column = &columns[i];
        const bool is_plain = column->is_figure && column->log2 == PLIM_UNIT_NONE;
        if (is_plain && column->is_epoch && fresh.time_column == UINT32_MAX) {
            fresh.time_column = i;
        } else if (is_plain && is_index(bare, column)) {
            if (!is_constant(bare, column)) {
                plim_series_table_add_who(&fresh, "index", i);
            }
        } else if (is_plain && fresh.step_name == NULL && counts_up(bare, column)) {
            fresh.step_column = i;
            fresh.step_name = "step";
        } else {
            continue;
        }
        column->is_figure = false;
        figures--;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i].is_figure) {
            const uint32_t says =
                is_total(bare, columns, count, i) ? PLIM_WORD_TOTAL : PLIM_WORD_USED;
            plim_series_table_add_bare(&fresh, i, PLIM_WORD_MEMORY | PLIM_WORD_BARE | says);
        }
    }
    if (fresh.figure_count == 0) {
        return false;
    }
    *table = fresh;
    return true;
}
