/*
 * table.c - headers and rows.
 *
 * A header is a line of nothing but names, one of which speaks of memory. What follows is a row
 * as long as its fields are as many and the figures are numbers. Columns of blanks (Ultralytics
 * prints them) are looser: a row may go on behind its columns, with a progress bar.
 */
#include "series/table.h"

#include "series/heading.h"

#include "base/error.h"

#include <string.h>

#define FIELD_BYTES_MAX 64u
#define FIELD_WORDS_MAX 4u
#define BLANK_COLUMNS   3u /* fewer words with blanks between are no header but a phrase */
#define MISSED_ROWS_MAX 8u
#define WHO_BYTES_MAX   40u

typedef struct fields {
    plim_series_span items[PLIM_SERIES_TABLE_COLUMNS_MAX];
    uint32_t count; /* PLIM_SERIES_TABLE_COLUMNS_MAX + 1: more */
} fields;

/* Without blanks and quotes around it. */
static plim_series_span bare_field(const char *line, plim_series_span field)
{
    plim_series_span bare = plim_series_span_trim(line, field);
    if (bare.end - bare.at >= 2 && line[bare.at] == line[bare.end - 1] &&
        (line[bare.at] == '"' || line[bare.at] == '\'')) {
        bare.at++;
        bare.end--;
        bare = plim_series_span_trim(line, bare);
    }
    return bare;
}

static void split_blanks(const char *line, size_t length, uint32_t count_max, fields *ret)
{
    size_t at = 0;
    ret->count = 0;
    while (true) {
        while (at < length && plim_is_blank(line[at])) {
            at++;
        }
        if (at == length || ret->count == count_max) {
            break;
        }
        plim_series_span field = { .at = (uint32_t)at };
        while (at < length && !plim_is_blank(line[at])) {
            at++;
        }
        field.end = (uint32_t)at;
        ret->items[ret->count++] = field;
    }
    ret->count += at < length ? 1 : 0;
}

static void split_at(const char *line, size_t length, char separator, uint32_t count_max,
                     fields *ret)
{
    uint32_t begin = 0;
    bool in_quotes = false;
    ret->count = 0;
    for (uint32_t at = 0; at <= length; at++) {
        const char c = at < length ? line[at] : separator;
        if (c == '"') {
            in_quotes = !in_quotes;
        }
        if (c != separator || (in_quotes && at < length)) {
            continue;
        }
        if (ret->count == count_max) {
            ret->count++;
            return;
        }
        ret->items[ret->count++] = (plim_series_span){ .at = begin, .end = at };
        begin = at + 1;
    }
}

static void split(const char *line, size_t length, char separator, uint32_t count_max, fields *ret)
{
    if (separator == ' ') {
        split_blanks(line, length, count_max, ret);
    } else {
        split_at(line, length, separator, count_max, ret);
    }
}

/* --- headers --- */

static char separator_of(const char *line, size_t length)
{
    size_t commas = 0;
    size_t semicolons = 0;
    if (memchr(line, '\t', length) != NULL) {
        return '\t';
    }
    for (size_t i = 0; i < length; i++) {
        commas += line[i] == ',' ? 1 : 0;
        semicolons += line[i] == ';' ? 1 : 0;
    }
    return commas == 0 && semicolons == 0 ? ' ' : commas >= semicolons ? ',' : ';';
}

static bool is_column_name(const char *line, plim_series_span field)
{
    if (field.end - field.at > FIELD_BYTES_MAX || plim_series_span_is_empty(field) ||
        !(plim_is_alphabetic(line[field.at]) || line[field.at] == '_' || line[field.at] == '#')) {
        return false;
    }
    for (uint32_t at = field.at; at < field.end; at++) {
        if (line[at] == '\0' || strchr("=:{}|!?", line[at]) != NULL) {
            return false;
        }
    }
    /* A sentence ends in a full stop; names do not. */
    return line[field.end - 1] != '.';
}

static bool is_memory_column(const plim_series_words *words)
{
    return (words->any & PLIM_WORD_NEVER) == 0 &&
           ((words->any & PLIM_WORD_MEMORY) != 0 ||
            ((words->any & (PLIM_WORD_HOLD | PLIM_WORD_DEVICE)) != 0 && words->unit.log2 >= 0));
}

static void add_figure(plim_series_table *table, const char *line, plim_series_span field,
                       uint32_t index, const plim_series_words *words)
{
    if (table->figure_count == PLIM_SERIES_TABLE_FIGURES_MAX) {
        return;
    }
    plim_series_table_column *const column = &table->figures[table->figure_count++];
    *column = (plim_series_table_column){ .index = index };
    column->heading.words = words->any;
    column->heading.unit_log2 = words->unit.log2;
    column->heading.name_length = field.end - field.at;
    memcpy(column->heading.name, line + field.at, field.end - field.at);
    const uint32_t unit_length = words->unit.text.end - words->unit.text.at;
    if (words->unit.log2 >= 0 && unit_length < sizeof column->unit) {
        memcpy(column->unit, line + words->unit.text.at, unit_length);
        column->unit_length = unit_length;
    }
}

static void add_who(plim_series_table *table, const char *line, plim_series_span field,
                    uint32_t index)
{
    if (table->who_count == PLIM_SERIES_TABLE_WHO_MAX) {
        return;
    }
    char *const word = table->whose[table->who_count].word;
    for (uint32_t i = 0; i < field.end - field.at && i + 1 < sizeof table->whose[0].word; i++) {
        const char c = plim_lower(line[field.at + i]);
        word[i] = (unsigned char)c < 0x80 ? c : '?';
    }
    table->whose[table->who_count++].index = index;
}

/* Whether a column says whose figures its row has; ret_device: which device, of one machine. */
static bool says_who(const char *line, plim_series_span field, const plim_series_words *words,
                     uint32_t index, bool *ret_device)
{
    static const struct {
        const char *name;
        bool is_device;
    } known[] = {
        { "index", true }, /* nvidia-smi's name for the number of a GPU */
        { "pci.bus_id", true }, { "gpu_bus_id", true }, { "serial", true }, { "gpu_serial", true },
        { "uuid", true },       { "gpu_uuid", true },   { "host", false },  { "hostname", false },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (plim_series_span_is_folded(line, field, known[i].name)) {
            *ret_device = known[i].is_device;
            return i > 0 || index <= 1; /* further to the right, "index" is some other */
        }
    }
    *ret_device = (words->any & PLIM_WORD_ACCELERATOR) != 0;
    return (words->any & PLIM_WORD_IDENTITY) != 0 &&
           (words->any & (PLIM_WORD_AMOUNT | PLIM_WORD_NEVER)) == 0 && words->count <= 2 &&
           words->unit.log2 == PLIM_UNIT_NONE;
}

/* Names of bytes that are no letters of ours stay out: a header is not the place to guess. */
static bool is_plain(const char *line, plim_series_span field)
{
    for (uint32_t at = field.at; at < field.end; at++) {
        if ((unsigned char)line[at] >= 0x80 || (unsigned char)line[at] < ' ') {
            return false;
        }
    }
    return true;
}

static uint32_t rank_step(const plim_series_words *words)
{
    if ((words->any & PLIM_WORD_STEP) != 0 && (words->last & PLIM_WORD_STEP) != 0) {
        return (words->any & PLIM_WORD_GLOBAL) != 0    ? 4
               : (words->any & PLIM_WORD_NO_STEP) != 0 ? 0
               : words->step_name[0] == 'b'            ? 2
                                                       : 3;
    }
    return (words->any & (PLIM_WORD_EPOCH | PLIM_WORD_NO_STEP)) == PLIM_WORD_EPOCH ? 1 : 0;
}

static void add_column(plim_series_table *table, const char *line, plim_series_span field,
                       uint32_t index, uint32_t *step_rank)
{
    const plim_series_words words = plim_series_words_of(line, field);
    if (is_memory_column(&words) && is_plain(line, field)) {
        add_figure(table, line, field, index, &words);
        return;
    }
    const uint32_t rank = rank_step(&words);
    if (rank > *step_rank) {
        *step_rank = rank;
        table->step_column = index;
        table->step_name = words.step_name;
        return;
    }
    bool is_device = false;
    if (says_who(line, field, &words, index, &is_device) && !(is_device && table->has_device)) {
        add_who(table, line, field, index);
        table->has_device = table->has_device || is_device;
    }
}

/* Numbers stand in names at most: "gpu0_mem_gb". */
static bool has_values(const plim_series_line *row)
{
    for (size_t i = 0; i < row->number_count; i++) {
        const uint32_t at = row->numbers[i].at;
        if (at == 0 || !(plim_is_alphabetic(row->plain[at - 1]) || row->plain[at - 1] == '_')) {
            return true;
        }
    }
    return false;
}

bool plim_series_table_begin(plim_series_table *table, const plim_series_line *header)
{
    fields all;
    const char *const line = header->plain;
    const size_t length = header->length;
    if (has_values(header)) {
        return false;
    }
    const char separator = separator_of(line, length);
    split(line, length, separator, PLIM_SERIES_TABLE_COLUMNS_MAX, &all);
    if (all.count < (separator == ' ' ? BLANK_COLUMNS : 2) ||
        all.count > PLIM_SERIES_TABLE_COLUMNS_MAX) {
        return false;
    }
    plim_series_table fresh = { .separator = separator,
                                .column_count = all.count,
                                .serial = table->serial + 1 };
    uint32_t step_rank = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        const plim_series_span field = bare_field(line, all.items[i]);
        /* pandas leaves the name of its index empty */
        if (!(i == 0 && plim_series_span_is_empty(field)) && !is_column_name(line, field)) {
            return false;
        }
        if (plim_series_words_of(line, field).count > FIELD_WORDS_MAX) {
            return false;
        }
        add_column(&fresh, line, field, i, &step_rank);
    }
    if (fresh.figure_count == 0) {
        return false;
    }
    *table = fresh;
    return true;
}

/* --- rows --- */

/* A field that is a number, perhaps with a unit, and nothing else. */
static bool read_field(const char *line, plim_series_span field, plim_series_span *ret_number,
                       plim_series_unit *ret_unit)
{
    const plim_series_span bare = bare_field(line, field);
    const char *const text = line + bare.at;
    const size_t length = bare.end - bare.at;
    plim_series_span number;
    if (length == 0 || !plim_is_digit(text[0]) ||
        plim_series_numbers(text, length, &number, 1) == 0) {
        return false;
    }
    const plim_series_unit unit = plim_series_unit_behind(text, length, number);
    const uint32_t end = unit.log2 >= 0 ? unit.text.end : number.end;
    if (unit.log2 == PLIM_UNIT_ELSE || end != length) {
        return false;
    }
    *ret_number = (plim_series_span){ .at = bare.at + number.at, .end = bare.at + number.end };
    *ret_unit = (plim_series_unit){ .log2 = unit.log2,
                                    .text = { bare.at + unit.text.at, bare.at + unit.text.end } };
    return true;
}

static bool is_numeric(const char *line, plim_series_span field)
{
    const plim_series_span bare = bare_field(line, field);
    const char c = plim_series_span_is_empty(bare) ? ' ' : line[bare.at];
    return plim_is_digit(c) || c == '-' || c == '+' || c == 'n' || c == 'N'; /* nan */
}

static bool may_be_row(const plim_series_table *table, const char *line, const fields *all)
{
    if (table->separator == ' ') {
        for (uint32_t i = 0; i < table->column_count; i++) {
            if (i >= all->count || !is_numeric(line, all->items[i])) {
                return false;
            }
        }
        return true;
    }
    return all->count == table->column_count;
}

/* All numbers of a row, field by field: commas are none of them. */
static void find_numbers(plim_series_line *row, const fields *all, uint32_t column_count)
{
    row->number_count = 0;
    uint32_t behind = 0;
    for (uint32_t i = 0; i <= column_count; i++) {
        /* At last what is behind the columns, where a table allows that. */
        plim_series_span field = { .at = behind, .end = (uint32_t)row->length };
        if (i < column_count) {
            field = all->items[i];
        }
        behind = field.end;
        plim_series_span *const numbers = row->numbers + row->number_count;
        const size_t some =
            plim_series_numbers(row->plain + field.at, field.end - field.at, numbers,
                                PLIM_SERIES_NUMBERS_MAX - row->number_count);
        for (size_t k = 0; k < some; k++) {
            numbers[k].at += field.at;
            numbers[k].end += field.at;
        }
        row->number_count += some;
    }
}

/* Which of the row's numbers begins at a place; it must be one. */
static size_t number_at(const plim_series_line *row, uint32_t at)
{
    size_t low = 0;
    size_t high = row->number_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (row->numbers[middle].at < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < row->number_count && row->numbers[low].at == at ? low : PLIM_SERIES_NO_NUMBER;
}

static void plan_step(const plim_series_table *table, const plim_series_line *row,
                      const fields *all, plim_series_plan *plan)
{
    if (table->step_name == NULL) {
        return;
    }
    const plim_series_span field = bare_field(row->plain, all->items[table->step_column]);
    const size_t number = number_at(row, field.at);
    if (number != PLIM_SERIES_NO_NUMBER) {
        plan->step = (uint16_t)number; /* of "13/30", 13 */
        plan->step_name = table->step_name;
    }
}

static void pin_whose(const plim_series_table *table, const plim_series_line *row,
                      const fields *all, plim_series_plan *plan)
{
    for (uint32_t i = 0; i < table->who_count; i++) {
        const plim_series_span field = all->items[table->whose[i].index];
        for (size_t k = 0; k < row->number_count; k++) {
            if (row->numbers[k].at >= field.at && row->numbers[k].at < field.end) {
                plim_series_plan_pin(plan, k);
            }
        }
    }
}

/* The column's name with "[gpu 0]" behind, and the unit of this very field, if it says one. */
static plim_series_heading heading_of(const plim_series_table *table,
                                      const plim_series_table_column *column, const char *line,
                                      const fields *all, const plim_series_unit *unit)
{
    plim_series_heading heading = column->heading;
    heading.unit = column->unit;
    heading.unit_length = column->unit_length;
    if (unit->log2 >= 0) {
        heading.unit_log2 = unit->log2;
        heading.unit = line + unit->text.at;
        heading.unit_length = unit->text.end - unit->text.at;
    }
    for (uint32_t i = 0; i < table->who_count; i++) {
        const plim_series_span field = bare_field(line, all->items[table->whose[i].index]);
        const char *const word = table->whose[i].word;
        const size_t length = field.end - field.at;
        plim_series_name_add_who(&heading, i == 0, word, strlen(word), line + field.at,
                                 length < WHO_BYTES_MAX ? length : WHO_BYTES_MAX);
    }
    if (table->who_count > 0) {
        plim_series_name_add(&heading, "]", 1);
    }
    plim_series_name_mend(&heading);
    return heading;
}

/* The only total in the row that may be what there is of a figure, or NULL. */
static const plim_series_figure *total_of(const plim_series_table *table, size_t column,
                                          const plim_series_figure *figures)
{
    const plim_series_heading *const mine = &table->figures[column].heading;
    const plim_series_figure *total = NULL;
    for (uint32_t i = 0; i < table->figure_count; i++) {
        const plim_series_heading *const other = &table->figures[i].heading;
        if (plim_series_is_total(other->words) && !plim_series_is_total(mine->words) &&
            ((other->words ^ mine->words) & PLIM_WORD_HOST) == 0 &&
            figures[i].number != PLIM_SERIES_NO_NUMBER) {
            if (total != NULL) {
                return NULL;
            }
            total = &figures[i];
        }
    }
    return total;
}

plim_status plim_series_table_row(plim_series_table *table, plim_series_tracks *tracks,
                                  plim_series_line *line, uint64_t row, plim_series_plan *ret,
                                  plim_error *err)
{
    fields all;
    const bool is_open_ended = table->separator == ' ';
    split(line->plain, line->length, table->separator,
          is_open_ended ? table->column_count : PLIM_SERIES_TABLE_COLUMNS_MAX, &all);
    const bool fits = may_be_row(table, line->plain, &all);
    plim_series_figure figures[PLIM_SERIES_TABLE_FIGURES_MAX];
    bool is_row = false;
    *ret = plim_series_plan_none();
    if (fits) {
        find_numbers(line, &all, table->column_count);
        plan_step(table, line, &all, ret);
        pin_whose(table, line, &all, ret);
    }
    for (uint32_t i = 0; fits && i < table->figure_count; i++) {
        const plim_series_table_column *const column = &table->figures[i];
        plim_series_span number;
        plim_series_unit unit;
        figures[i] =
            (plim_series_figure){ .number = PLIM_SERIES_NO_NUMBER, .total = PLIM_SERIES_NO_NUMBER };
        if (!read_field(line->plain, all.items[column->index], &number, &unit)) {
            continue;
        }
        const plim_series_heading heading = heading_of(table, column, line->plain, &all, &unit);
        uint32_t track = PLIM_SERIES_NO_TRACK;
        PLIM_TRY(plim_series_tracks_find(tracks, &heading, row, &track, err));
        is_row = true;
        if (track != PLIM_SERIES_NO_TRACK) {
            figures[i].number = (uint16_t)number_at(line, number.at);
            figures[i].track = (uint16_t)track;
            figures[i].log2 = unit.log2;
            figures[i].total_log2 = heading.unit_log2;
        }
    }
    for (uint32_t i = 0; is_row && i < table->figure_count; i++) {
        const plim_series_figure *const total = total_of(table, i, figures);
        plim_series_figure figure = figures[i];
        figure.total = total != NULL ? total->number : PLIM_SERIES_NO_NUMBER;
        figure.total_log2 = total != NULL ? total->total_log2 : PLIM_UNIT_NONE;
        if (figure.number != PLIM_SERIES_NO_NUMBER) {
            plim_series_plan_add(ret, &figure);
        }
    }
    table->missed = is_row ? 0 : table->missed + 1;
    if (table->missed > (is_open_ended ? 0 : MISSED_ROWS_MAX)) {
        table->separator = '\0';
    }
    line->table = is_row ? table->serial : 0;
    return PLIM_OK;
}
