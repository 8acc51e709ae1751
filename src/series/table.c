/*
 * table.c - headers and rows.
 *
 * A header is a line of nothing but names, one of which speaks of memory. What follows is a row
 * as long as its fields are as many and the figures are numbers. Columns of blanks (Ultralytics
 * prints them) are looser: a row may go on after its columns, with a progress bar.
 */
#include "series/table.h"

#include "series/fields.h"
#include "series/heading.h"

#include "base/error.h"

#include <string.h>

#define FIELD_BYTES_MAX  96u
#define FIELD_WORDS_MAX  4u
#define QUOTED_WORDS_MAX 10u /* where fields are separated, not by blanks */
#define BLANK_COLUMNS    3u  /* fewer words with blanks between are no header but a phrase */
#define MISSED_ROWS_MAX  8u
#define WHO_BYTES_MAX    40u

/* Columns of [columns] that say neither count only beside one that does: vmstat's "free". */
#define MARKS_TOOL (PLIM_WORD_MEMORY | PLIM_WORD_NEVER)

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
        !(plim_is_alphabetic(line[field.at]) || line[field.at] == '_' || line[field.at] == '#' ||
          (line[field.at] == '%' && field.end - field.at > 1))) {
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
            ((words->any & (PLIM_WORD_HOLD | PLIM_WORD_NAMED_DEVICE)) != 0 &&
             words->unit.log2 >= 0));
}

/* A column of a tool, which [columns] has; NULL for any other. */
static const plim_series_key *find_column(const plim_series_table *table, const char *line,
                                          plim_series_span field)
{
    const plim_series_vocabulary *const known = plim_series_vocabulary_shared();
    for (size_t i = 0; table->separator == ' ' && i < known->column_count; i++) {
        if (plim_series_span_is_folded(line, field, known->columns[i].text)) {
            return &known->columns[i];
        }
    }
    return NULL;
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

void plim_series_table_add_who(plim_series_table *table, const char *word, uint32_t index)
{
    add_who(table, word, (plim_series_span){ 0, (uint32_t)strlen(word) }, index);
}

void plim_series_table_add_bare(plim_series_table *table, uint32_t index, uint32_t says)
{
    char name[] = "column ?";
    const plim_series_words words = { .any = says, .unit = { .log2 = PLIM_UNIT_NONE } };
    name[sizeof name - 2] = (char)('1' + index % 9);
    add_figure(table, name, (plim_series_span){ 0, sizeof name - 1 }, index, &words);
}

/* True if a column says whose figures its row has; ret_device: which device, of one machine. */
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

/* Of a tool's rows: a container, a pod, an entity. */
static bool says_thing(const char *line, plim_series_span field)
{
    return plim_series_span_is_folded(line, field, "name") ||
           plim_series_span_is_folded(line, field, "pod") ||
           plim_series_span_is_folded(line, field, "entity");
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

static bool has_percent(const char *line, plim_series_span field)
{
    return memchr(line + field.at, '%', field.end - field.at) != NULL;
}

/* A column of memory, by what tool prints it or by its words. */
static bool add_memory_column(plim_series_table *table, const char *line, plim_series_span field,
                              uint32_t index)
{
    const plim_series_key *const key = find_column(table, line, field);
    plim_series_words words = plim_series_words_of(line, field);
    if (key != NULL && (table->is_tool || (key->says & MARKS_TOOL) != 0)) {
        table->is_tool = true;
        if ((key->says & PLIM_WORD_NEVER) != 0) {
            return false;
        }
        words.any = key->says | PLIM_WORD_MEMORY;
        words.unit.log2 = key->log2;
        words.unit.text = (plim_series_span){ 0 };
    } else if (!is_memory_column(&words) || !is_plain(line, field) || has_percent(line, field)) {
        return false;
    }
    add_figure(table, line, field, index, &words);
    return true;
}

static void add_other_column(plim_series_table *table, const char *line, plim_series_span field,
                             uint32_t index, uint32_t *step_rank)
{
    const plim_series_words words = plim_series_words_of(line, field);
    if ((words.any & PLIM_WORD_TIME) != 0 && table->time_column == UINT32_MAX) {
        table->time_column = index;
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
    } else if (table->is_tool && index <= 1 && says_thing(line, field)) {
        add_who(table, line, field, index);
    }
}

/*
 * Numbers stand in names at most: "gpu0_mem_gb", "run-1 - gpu_mem". pidstat's header begins with
 * the time.
 */
static bool has_values(const plim_series_line *row)
{
    const plim_series_stamp stamp =
        plim_series_stamp_of(row->plain, row->length, row->numbers, row->number_count);
    const bool begins_with_time = stamp.kind == PLIM_STAMP_CLOCK && stamp.clock == 0;
    for (size_t i = begins_with_time ? 3 : 0; i < row->number_count; i++) {
        const uint32_t at = row->numbers[i].at;
        const bool is_joined = at > 1 && strchr("-._/", row->plain[at - 1]) != NULL &&
                               plim_is_alphabetic(row->plain[at - 2]);
        if (at == 0 ||
            !(plim_is_alphabetic(row->plain[at - 1]) || row->plain[at - 1] == '_' || is_joined)) {
            return true;
        }
    }
    return false;
}

/* Words of a name; of a path, those of its last part. */
static size_t count_words(const char *line, plim_series_span field)
{
    for (uint32_t at = field.end; at > field.at + 1; at--) {
        if (line[at - 1] == '/' && line[at - 2] != ' ') {
            field.at = at;
            break;
        }
    }
    return plim_series_words_of(line, field).count;
}

/* The column of the metric's name, by the surest word: MLflow has "Name" (of the run) and "metric".
 */
static uint32_t key_column(const char *line, const plim_series_fields *all)
{
    static const char *const known[] = { "key", "metric", "metric_name", "tag", "name" };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        for (uint32_t i = 0; i < all->count; i++) {
            if (plim_series_span_is_folded(line, all->items[i], known[k])) {
                return i;
            }
        }
    }
    return UINT32_MAX;
}

/*
 * Exports of one metric a row: "Wall time,Step,Value" of TensorBoard, where the file is one metric,
 * and "run_id,key,value,step,timestamp" of MLflow, where the row names it.
 */
static void add_value_column(plim_series_table *table, const char *line,
                             const plim_series_fields *all)
{
    uint32_t value = UINT32_MAX;
    const uint32_t key = key_column(line, all);
    for (uint32_t i = 0; i < all->count; i++) {
        value = plim_series_span_is_folded(line, all->items[i], "value") ? i : value;
    }
    const uint32_t places =
        (table->step_name != NULL ? 1u : 0u) + (table->time_column != UINT32_MAX ? 1u : 0u);
    const bool is_alone = all->count == places + 1;
    if (value == UINT32_MAX || places == 0 || (key == UINT32_MAX && !is_alone)) {
        return;
    }
    const plim_series_words words = { .any = PLIM_WORD_MEMORY | PLIM_WORD_USED | PLIM_WORD_BARE,
                                      .unit = { .log2 = PLIM_UNIT_NONE } };
    table->key_column = key;
    add_figure(table, line, all->items[value], value, &words);
}

/* Read a header; its separator and what parts its columns are set. False: not a header. */
static bool read_header(plim_series_table *table, const char *line, size_t length)
{
    plim_series_fields all;
    uint32_t step_rank = 0;
    plim_series_split(table, line, length, PLIM_SERIES_TABLE_COLUMNS_MAX, &all);
    if (all.count > PLIM_SERIES_TABLE_COLUMNS_MAX) {
        return false;
    }
    table->column_count = all.count;
    table->time_column = UINT32_MAX;
    table->key_column = UINT32_MAX;
    bool is_memory[PLIM_SERIES_TABLE_COLUMNS_MAX];
    for (uint32_t i = 0; i < all.count; i++) {
        const plim_series_span field = plim_series_bare_field(line, all.items[i]);
        all.items[i] = field;
        const bool is_time = i == 0 && table->separator == ' ' && plim_is_digit(line[field.at]);
        /* pandas leaves the name of its index empty */
        if (!(i == 0 && plim_series_span_is_empty(field)) && !is_time &&
            !is_column_name(line, field)) {
            return false;
        }
        if (count_words(line, field) >
            (table->separator == ' ' ? FIELD_WORDS_MAX : QUOTED_WORDS_MAX)) {
            return false;
        }
        is_memory[i] = add_memory_column(table, line, field, i);
    }
    for (uint32_t i = 0; i < all.count; i++) {
        if (!is_memory[i]) {
            add_other_column(table, line, all.items[i], i, &step_rank);
        }
    }
    const uint32_t count_min = table->separator != ' ' ? 2 : table->is_tool ? 1 : BLANK_COLUMNS;
    if (table->figure_count == 0 && table->separator != ' ') {
        add_value_column(table, line, &all);
    }
    return table->figure_count > 0 && all.count >= count_min;
}

bool plim_series_table_begin(plim_series_table *table, const plim_series_line *header)
{
    if (has_values(header)) {
        return false;
    }
    const plim_series_span all =
        plim_series_span_trim(header->plain, (plim_series_span){ 0, (uint32_t)header->length });
    const bool is_marked = !plim_series_span_is_empty(all) && header->plain[all.at] == '#';
    const char *const line = header->plain + all.at + (is_marked ? 1 : 0);
    const size_t length = all.end - all.at - (is_marked ? 1 : 0);
    plim_series_table fresh = { .separator = separator_of(line, length),
                                .is_marked = is_marked,
                                .is_tool = is_marked,
                                .serial = table->serial + 1 };
    if (length <= sizeof fresh.header) {
        memcpy(fresh.header, line, length);
        fresh.header_length = (uint32_t)length;
    }
    plim_series_table made = fresh;
    if (!read_header(&made, line, length)) {
        made = fresh;
        made.is_wide = true;
        if (made.separator != ' ' || !read_header(&made, line, length)) {
            return false;
        }
    }
    *table = made;
    return true;
}

/*
 * Columns of blanks may be parted by one or by two: "283 MB" is one field of amd-smi's rows,
 * "RSS COMMAND" is two of ps's header. The row says which, where its fields are as many.
 */
static void choose_width(plim_series_table *table, const char *line, size_t length)
{
    plim_series_table other = { .separator = ' ',
                                .is_wide = !table->is_wide,
                                .is_marked = table->is_marked,
                                .is_tool = table->is_marked,
                                .is_lasting = table->is_lasting,
                                .has_rows = table->has_rows,
                                .header_length = table->header_length,
                                .serial = table->serial,
                                .missed = table->missed };
    plim_series_fields row;
    memcpy(other.header, table->header, table->header_length);
    if (table->header_length == 0 || !read_header(&other, other.header, other.header_length)) {
        return;
    }
    plim_series_split_blanks(line, length, true, PLIM_SERIES_TABLE_COLUMNS_MAX, &row);
    const plim_series_table *const wide = table->is_wide ? table : &other;
    if ((row.count == wide->column_count) != table->is_wide) {
        *table = other;
    }
}

/* "# Idx  MB  MB" after "# gpu  fb  bar1": what is in no unit of memory is no figure. */
static bool take_units(plim_series_table *table, const char *line, size_t length)
{
    plim_series_fields all;
    plim_series_split_blanks(line, length, false, PLIM_SERIES_TABLE_COLUMNS_MAX, &all);
    const bool is_units = !table->has_rows && all.count == table->column_count;
    uint32_t kept = 0;
    for (uint32_t i = 0; is_units && i < table->figure_count; i++) {
        const plim_series_span unit = all.items[table->figures[i].index];
        const int8_t log2 = plim_series_unit_of(line + unit.at, unit.end - unit.at);
        if (log2 >= 0) {
            table->figures[kept] = table->figures[i];
            table->figures[kept++].heading.unit_log2 = log2;
        }
    }
    table->figure_count = is_units ? kept : table->figure_count;
    return is_units;
}

/* --- rows --- */

/* A number that begins a text, with its unit; returns their end, 0 without a number. */
static size_t read_amount(const char *text, size_t length, bool is_tool,
                          plim_series_span *ret_number, plim_series_unit *ret_unit)
{
    if (length == 0 || !plim_is_digit(text[0]) ||
        plim_series_numbers(text, length, ret_number, 1) == 0) {
        return 0;
    }
    *ret_unit = plim_series_unit_after(text, length, *ret_number);
    const size_t end = ret_number->end;
    if (is_tool && end + 1 == length && plim_series_unit_of(text + end, 1) >= 0) {
        *ret_unit = (plim_series_unit){ .log2 = plim_series_unit_of(text + end, 1), /* top: 5.1g */
                                        .text = { (uint32_t)end, (uint32_t)end + 1 } };
    }
    return ret_unit->log2 == PLIM_UNIT_ELSE ? 0 : ret_unit->log2 >= 0 ? ret_unit->text.end : end;
}

/* A field: a number, perhaps with a unit, and the total after a slash. */
typedef struct field_amount {
    plim_series_span number;
    plim_series_unit unit;
    uint32_t total_at; /* 0: none */
    int8_t total_log2;
} field_amount;

static bool read_field(const plim_series_table *table, const char *line, plim_series_span field,
                       field_amount *ret)
{
    const plim_series_span bare = plim_series_bare_field(line, field);
    const char *const text = line + bare.at;
    const size_t length = bare.end - bare.at;
    size_t end = read_amount(text, length, table->is_tool, &ret->number, &ret->unit);
    ret->total_at = 0;
    if (end == 0) {
        return false;
    }
    if (table->is_tool && end + 3 < length && memcmp(text + end, " / ", 3) == 0) {
        plim_series_span total;
        plim_series_unit unit = { .log2 = PLIM_UNIT_NONE };
        const size_t some = read_amount(text + end + 3, length - end - 3, true, &total, &unit);
        ret->total_at = bare.at + (uint32_t)end + 3;
        ret->total_log2 = unit.log2;
        end = some > 0 ? end + 3 + some : 0;
    }
    ret->number = (plim_series_span){ bare.at + ret->number.at, bare.at + ret->number.end };
    ret->unit.text =
        (plim_series_span){ bare.at + ret->unit.text.at, bare.at + ret->unit.text.end };
    return end == length;
}

static bool is_numeric(const char *line, plim_series_span field)
{
    const plim_series_span bare = plim_series_bare_field(line, field);
    const char c = plim_series_span_is_empty(bare) ? ' ' : line[bare.at];
    return plim_is_digit(c) || c == '-' || c == '+' || c == 'n' || c == 'N'; /* nan */
}

static bool may_be_row(const plim_series_table *table, const char *line,
                       const plim_series_fields *all)
{
    if (table->is_tool) {
        return table->is_wide ? all->count == table->column_count
                              : all->count >= table->column_count;
    }
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

/* All numbers of a row, field by field: commas end them. */
static void find_numbers(plim_series_line *row, const plim_series_fields *all,
                         uint32_t column_count)
{
    row->number_count = 0;
    uint32_t after = 0;
    for (uint32_t i = 0; i <= column_count; i++) {
        /* At last what is after the columns, where a table allows that. */
        plim_series_span field = { .at = after, .end = (uint32_t)row->length };
        if (i < column_count) {
            field = all->items[i];
        }
        after = field.end;
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

/* The index of the row's number that begins at a place; one must. */
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
                      const plim_series_fields *all, plim_series_plan *plan)
{
    if (table->step_name == NULL) {
        return;
    }
    const plim_series_span field =
        plim_series_bare_field(row->plain, all->items[table->step_column]);
    const size_t number = number_at(row, field.at);
    if (number != PLIM_SERIES_NO_NUMBER) {
        plan->step = (uint16_t)number; /* of "13/30", 13 */
        plan->step_name = table->step_name;
    }
}

static void plan_time(const plim_series_table *table, const plim_series_line *row,
                      const plim_series_fields *all, plim_series_plan *plan)
{
    plan->stamp = plim_series_stamp_of(row->plain, row->length, row->numbers, row->number_count);
    if (table->separator == ' ' && plan->stamp.kind != PLIM_STAMP_NONE &&
        row->numbers[plan->stamp.clock].at >= all->items[1].end) {
        plan->stamp.kind = PLIM_STAMP_NONE; /* processor time */
    }
    if (plan->stamp.kind != PLIM_STAMP_NONE || table->time_column >= all->count) {
        return;
    }
    const plim_series_span field =
        plim_series_bare_field(row->plain, all->items[table->time_column]);
    const size_t number = number_at(row, field.at);
    if (number != PLIM_SERIES_NO_NUMBER &&
        plim_series_is_epoch(row->plain, row->numbers[number], true)) {
        plan->stamp = (plim_series_stamp){ .kind = PLIM_STAMP_EPOCH, .clock = (uint16_t)number };
    }
}

static void pin_field(const plim_series_line *row, plim_series_span field, plim_series_plan *plan)
{
    for (size_t k = 0; k < row->number_count; k++) {
        if (row->numbers[k].at >= field.at && row->numbers[k].at < field.end) {
            plim_series_plan_pin(plan, k);
        }
    }
}

/* Numbers in names: of whose figures they are, and of the metric. */
static void pin_names(const plim_series_table *table, const plim_series_line *row,
                      const plim_series_fields *all, plim_series_plan *plan)
{
    for (uint32_t i = 0; i < table->who_count; i++) {
        pin_field(row, all->items[table->whose[i].index], plan);
    }
    if (table->key_column < all->count) {
        pin_field(row, all->items[table->key_column], plan);
    }
}

/* A row while it is read. */
typedef struct table_row {
    const plim_series_table *table;
    const plim_series_line *line;
    plim_series_fields all;
    uint64_t number;
    plim_series_figure figures[PLIM_SERIES_TABLE_FIGURES_MAX];
    bool has_figures;
} table_row;

/* The metric that a row names; false if it is not memory. */
static bool read_key(const table_row *row, plim_series_heading *ret)
{
    const char *const line = row->line->plain;
    const plim_series_span field =
        plim_series_bare_field(line, row->all.items[row->table->key_column]);
    const plim_series_words words = plim_series_words_of(line, field);
    if (!is_memory_column(&words) || field.end - field.at > FIELD_BYTES_MAX) {
        return false;
    }
    *ret = (plim_series_heading){ .words = words.any, .unit_log2 = words.unit.log2 };
    plim_series_name_add(ret, line + field.at, field.end - field.at);
    if (words.unit.log2 >= 0) {
        ret->unit = line + words.unit.text.at;
        ret->unit_length = words.unit.text.end - words.unit.text.at;
    }
    return true;
}

/* The column's name with "[gpu 0]" after, and the unit of this very field, if it says one. */
static plim_series_heading heading_of(const table_row *row, const plim_series_table_column *column,
                                      const plim_series_unit *unit)
{
    const plim_series_table *const table = row->table;
    const char *const line = row->line->plain;
    plim_series_heading heading = column->heading;
    heading.unit = column->unit;
    heading.unit_length = column->unit_length;
    if (table->key_column != UINT32_MAX && !read_key(row, &heading)) {
        heading.name_length = 0;
        return heading;
    }
    if (unit->log2 >= 0) {
        heading.unit_log2 = unit->log2;
        heading.unit = line + unit->text.at;
        heading.unit_length = unit->text.end - unit->text.at;
    }
    for (uint32_t i = 0; i < table->who_count; i++) {
        const plim_series_span field =
            plim_series_bare_field(line, row->all.items[table->whose[i].index]);
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

/* The figures of a row, each on its track. */
static plim_status find_figures(table_row *row, plim_series_tracks *tracks, plim_error *err)
{
    const plim_series_line *const line = row->line;
    for (uint32_t i = 0; i < row->table->figure_count; i++) {
        const plim_series_table_column *const column = &row->table->figures[i];
        field_amount amount;
        row->figures[i] =
            (plim_series_figure){ .number = PLIM_SERIES_NO_NUMBER, .total = PLIM_SERIES_NO_NUMBER };
        if (!read_field(row->table, line->plain, row->all.items[column->index], &amount)) {
            continue;
        }
        const plim_series_heading heading = heading_of(row, column, &amount.unit);
        uint32_t track = PLIM_SERIES_NO_TRACK;
        if (heading.name_length == 0) {
            continue;
        }
        PLIM_TRY(plim_series_tracks_find(tracks, &heading, row->number, &track, err));
        row->has_figures = true;
        if (track == PLIM_SERIES_NO_TRACK) {
            continue;
        }
        const bool has_total = amount.total_at > 0;
        row->figures[i] =
            (plim_series_figure){ .number = (uint16_t)number_at(line, amount.number.at),
                                  .track = (uint16_t)track,
                                  .total = has_total ? (uint16_t)number_at(line, amount.total_at)
                                                     : PLIM_SERIES_NO_NUMBER,
                                  .log2 = amount.unit.log2,
                                  .total_log2 = has_total ? amount.total_log2 : heading.unit_log2 };
    }
    return PLIM_OK;
}

static void plan_figures(const table_row *row, plim_series_plan *plan)
{
    for (uint32_t i = 0; i < row->table->figure_count; i++) {
        const plim_series_figure *const total = total_of(row->table, i, row->figures);
        plim_series_figure figure = row->figures[i];
        if (figure.total == PLIM_SERIES_NO_NUMBER && total != NULL) {
            figure.total = total->number;
            figure.total_log2 = total->total_log2;
        }
        if (figure.number != PLIM_SERIES_NO_NUMBER) {
            plim_series_plan_add(plan, &figure);
        }
    }
}

/* The second line of a marked header; true if it is one. */
static bool is_units_line(plim_series_table *table, const plim_series_line *line)
{
    const plim_series_span all =
        plim_series_span_trim(line->plain, (plim_series_span){ 0, (uint32_t)line->length });
    return table->is_marked && !plim_series_span_is_empty(all) && line->plain[all.at] == '#' &&
           take_units(table, line->plain + all.at + 1, all.end - all.at - 1);
}

plim_status plim_series_table_row(plim_series_table *table, plim_series_tracks *tracks,
                                  plim_series_line *line, uint64_t row_number,
                                  plim_series_plan *ret, plim_error *err)
{
    table_row row = { .table = table, .line = line, .number = row_number };
    *ret = plim_series_plan_none();
    if (is_units_line(table, line)) {
        line->table = 0;
        return PLIM_OK;
    }
    if (table->separator == ' ') {
        choose_width(table, line->plain, line->length);
    }
    const bool is_open_ended = table->separator == ' ' && !table->is_wide;
    plim_series_split(table, line->plain, line->length,
                      is_open_ended ? table->column_count : PLIM_SERIES_TABLE_COLUMNS_MAX,
                      &row.all);
    if (may_be_row(table, line->plain, &row.all)) {
        find_numbers(line, &row.all, table->column_count);
        plan_step(table, line, &row.all, ret);
        plan_time(table, line, &row.all, ret);
        pin_names(table, line, &row.all, ret);
        PLIM_TRY(find_figures(&row, tracks, err));
    }
    if (row.has_figures) {
        plan_figures(&row, ret);
    }
    table->has_rows = table->has_rows || row.has_figures;
    table->missed = row.has_figures ? 0 : table->missed + 1;
    const bool is_strict = table->separator == ' ' && !table->is_marked && !table->is_lasting;
    if (table->missed > (is_strict ? 0 : MISSED_ROWS_MAX)) {
        table->separator = '\0';
    }
    line->table = row.has_figures ? table->serial : 0;
    return PLIM_OK;
}
