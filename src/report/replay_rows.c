/*
 * replay_rows.c - the table of confs: what becomes of the run under each.
 *
 *   needs     at 2.00 GiB  reserved  allocated  fragm.  calls     time  settings
 *   1.74 GiB  survives     1.73 GiB   1.72 GiB    0.4%     41  2.10 ms  expandable_segments:True
 *   1.72 GiB                                                            (floor)
 *
 * Settings stand last, because they are long and never cut: what does not fit goes on below.
 */
#include "report/replay_page.h"

#include "base/assert.h"
#include "base/size.h"
#include "report/counted.h"
#include "report/table.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PIECE_COLUMNS_GOOD  33u /* "garbage_collection_threshold:0.8," */
#define PIECE_COLUMNS_LEAST 26u /* "+ empty_cache() at 123,456" */
#define PIECE_COLUMNS_MIN   12u
#define INDENT              2u
#define GAP                 2u /* as tables have it */

/* What of the table there is. */
typedef struct row_view {
    plim_table table;
    bool has_capacity;
    bool is_capacity_bound; /* what fails may survive */
    bool has_needs;
    bool has_allocated;
    bool has_calls;
    bool has_retries;
    uint32_t piece_columns; /* for settings */
} row_view;

static void add_empty(row_view *view, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        plim_table_add(&view->table, PLIM_TONE_PLAIN, "");
    }
}

/* Cells before the settings. */
static uint32_t figure_count(const row_view *view)
{
    return view->table.column_count - 1;
}

/* The last place after one of the marks, not too far from the end; 0: there is none. */
static size_t break_after(const char *words, size_t most, const char *marks)
{
    for (size_t i = most; i > most / 4; i--) {
        if (strchr(marks, words[i - 1]) != NULL) {
            return i;
        }
    }
    return 0;
}

/* How much of the words goes on this line: up to a comma, where one is near enough. */
static size_t piece_bytes(const char *words, size_t most)
{
    const size_t length = strlen(words);
    if (length <= most) {
        return length;
    }
    size_t bytes = break_after(words, most, ",");
    bytes = bytes > 0 ? bytes : break_after(words, most, "_:");
    return bytes > 0 ? bytes : most;
}

/* The last cell of a row, and rows below for what does not fit. */
static void add_words(row_view *view, plim_tone tone, const char *words)
{
    for (bool is_first = true; is_first || *words != '\0'; is_first = false) {
        const size_t bytes = piece_bytes(words, view->piece_columns);
        if (!is_first) {
            add_empty(view, figure_count(view));
        }
        plim_table_format(&view->table, tone, "%.*s", (int)bytes, words);
        words += bytes;
    }
}

/* What stands behind settings: on their line where there is room. */
static void add_settings(row_view *view, plim_tone tone, const plim_replay_row *row)
{
    const char *conf = plim_replay_conf_words(row->conf);
    char recorded[48] = "";
    if (row->is_recorded && row->empty_cache == PLIM_EMPTY_NEVER) {
        (void)snprintf(recorded, sizeof recorded, "%s",
                       row->is_start_requested ? "(as recorded, start anew)" : "(as recorded)");
    } else if (row->wants_torch != 0) {
        (void)snprintf(recorded, sizeof recorded, "(needs PyTorch %u.%u)",
                       (unsigned)(row->wants_torch / 100), (unsigned)(row->wants_torch % 100));
    }
    char words[PLIM_CONF_TEXT_BYTES + 64];
    const bool is_short = strlen(conf) + 1 + strlen(recorded) <= view->piece_columns;
    (void)snprintf(words, sizeof words, "%s%s%s", conf, is_short && *recorded != '\0' ? " " : "",
                   is_short ? recorded : "");
    add_words(view, tone, words);
    if (!is_short && *recorded != '\0') {
        add_empty(view, figure_count(view));
        plim_table_add(&view->table, tone, recorded);
    }
    const plim_replay_phrase empties = plim_replay_empty_cache_words(row);
    if (empties.text[0] != '\0') {
        add_empty(view, figure_count(view));
        plim_table_add(&view->table, tone, empties.text);
    }
}

static void add_bytes(row_view *view, plim_tone tone, uint64_t bytes, bool is_known)
{
    plim_table_add(&view->table, tone, is_known ? plim_format_bytes(bytes).text : "-");
}

static plim_short_text needs_text(const plim_replay_row *row)
{
    plim_short_text text = { "-" };
    if (row->min_capacity_bytes > 0) {
        (void)snprintf(text.text, sizeof text.text, "%s%.20s",
                       row->is_min_capacity_bound ? ">" : "",
                       plim_format_bytes(row->min_capacity_bytes).text);
    }
    return text;
}

static void add_fate(row_view *view, const plim_replay_row *row)
{
    if (row->result != NULL && row->result->survives) {
        plim_table_add(&view->table, PLIM_TONE_IN_USE, "survives");
    } else if (view->is_capacity_bound) {
        plim_table_add(&view->table, PLIM_TONE_WARN, "may survive");
    } else if (row->result == NULL) {
        plim_table_add(&view->table, PLIM_TONE_BAD, "start too large");
    } else {
        plim_table_format(&view->table, PLIM_TONE_BAD, "dies at %s",
                          plim_format_count(row->result->failed_event).text);
    }
}

static void add_figures(row_view *view, const plim_run_result *result)
{
    if (result == NULL) {
        add_empty(view, figure_count(view) - view->has_needs - view->has_capacity);
        return;
    }
    add_bytes(view, PLIM_TONE_PLAIN, result->peak_reserved_bytes, true);
    if (view->has_allocated) {
        add_bytes(view, PLIM_TONE_PLAIN, result->peak_allocated_bytes, true);
    }
    plim_table_add(&view->table, PLIM_TONE_PLAIN,
                   plim_format_percent(plim_replay_fragmentation(result)).text);
    if (view->has_calls) {
        const double us = result->driver_time_us > 0 ? result->driver_time_us : 0;
        plim_table_add(&view->table, PLIM_TONE_PLAIN,
                       plim_format_count(plim_replay_memory_calls(result)).text);
        plim_table_add(&view->table, PLIM_TONE_PLAIN,
                       plim_format_duration_us((uint64_t)llround(us)).text);
    }
    if (view->has_retries) {
        plim_table_add(&view->table, PLIM_TONE_PLAIN, plim_format_count(result->retries).text);
    }
}

static void add_row(row_view *view, const plim_replay_row *row)
{
    const plim_tone tone = row->is_winner ? PLIM_TONE_HEADING : PLIM_TONE_PLAIN;
    if (view->has_needs) {
        plim_table_add(&view->table, tone, needs_text(row).text);
    }
    if (view->has_capacity) {
        add_fate(view, row);
    }
    add_figures(view, row->result);
    add_settings(view, tone, row);
}

/* What the file itself shows, beside which predictions stand. */
static void add_recording(row_view *view, const plim_replay_page *page)
{
    const plim_replay_input *input = page->input;
    uint64_t oom_event = PLIM_NO_EVENT;
    for (size_t i = 0; i < input->device_count && oom_event == PLIM_NO_EVENT; i++) {
        oom_event = input->facts[i].oom_event;
    }
    if (view->has_needs) {
        add_empty(view, 1);
    }
    if (view->has_capacity && oom_event != PLIM_NO_EVENT) {
        plim_table_format(&view->table, PLIM_TONE_FAINT, "died at %s",
                          plim_format_count(oom_event).text);
    } else if (view->has_capacity) {
        plim_table_add(&view->table, PLIM_TONE_FAINT, "survived");
    }
    add_bytes(view, PLIM_TONE_FAINT, plim_replay_recorded_peak_bytes(input), true);
    add_empty(view, figure_count(view) - view->has_needs - view->has_capacity - 1);
    plim_table_add(&view->table, PLIM_TONE_FAINT, "the recording itself");
}

/* In the column of what is needed, else in that of what is reserved. */
static void add_floor(row_view *view, const plim_replay_page *page)
{
    const uint32_t at = !view->has_needs && view->has_capacity ? 1 : 0;
    add_empty(view, at);
    add_bytes(view, PLIM_TONE_FAINT, plim_replay_floor_bytes(page->input), true);
    add_empty(view, figure_count(view) - at - 1);
    plim_table_add(&view->table, PLIM_TONE_FAINT, "the floor");
}

static void begin(row_view *view, const plim_replay_page *page, plim_table_column *columns,
                  const char *at)
{
    uint32_t count = 0;
    if (view->has_needs) {
        columns[count++] = (plim_table_column){ "needs", PLIM_ALIGN_RIGHT };
    }
    if (view->has_capacity) {
        columns[count++] = (plim_table_column){ at, PLIM_ALIGN_LEFT };
    }
    columns[count++] = (plim_table_column){ "reserved", PLIM_ALIGN_RIGHT };
    if (view->has_allocated) {
        columns[count++] = (plim_table_column){ "allocated", PLIM_ALIGN_RIGHT };
    }
    columns[count++] = (plim_table_column){ "fragm.", PLIM_ALIGN_RIGHT };
    if (view->has_calls) {
        columns[count++] = (plim_table_column){ "calls", PLIM_ALIGN_RIGHT };
        columns[count++] = (plim_table_column){ "time", PLIM_ALIGN_RIGHT };
    }
    if (view->has_retries) {
        columns[count++] = (plim_table_column){ "retries", PLIM_ALIGN_RIGHT };
    }
    columns[count++] = (plim_table_column){ "settings", PLIM_ALIGN_LEFT };
    plim_table_init(&view->table, page->out->mem, columns, count);
}

/* Columns that all but the settings take, with the gaps before them. */
static uint32_t measure_figures(const row_view *view, const plim_style *style, uint32_t gap)
{
    uint32_t widest[PLIM_TABLE_COLUMNS_MAX] = { 0 };
    uint32_t total = figure_count(view) * gap;
    for (uint32_t i = 0; i < view->table.column_count; i++) {
        widest[i] = plim_style_columns(style, view->table.columns[i].title);
    }
    PLIM_ASSERT(view->table.column_count > 0);
    const char *cell = view->table.cells.data;
    for (size_t i = 0; cell != NULL && i < view->table.cell_count; i++) {
        const uint32_t columns = plim_style_columns(style, cell + 1); /* behind its tone */
        uint32_t *most = &widest[i % view->table.column_count];
        *most = columns > *most ? columns : *most;
        cell += strlen(cell) + 1;
    }
    for (uint32_t i = 0; i < figure_count(view); i++) {
        total += widest[i];
    }
    return total;
}

/* What is left for settings; a table that is too wide has narrower gaps. */
static uint32_t find_room(const row_view *view, const plim_style *style)
{
    const uint32_t width = plim_style_width(style);
    const uint32_t wide = INDENT + measure_figures(view, style, GAP);
    const uint32_t narrow = INDENT + measure_figures(view, style, 1);
    const uint32_t room = width > wide ? width - wide : 0;
    if (room >= PIECE_COLUMNS_GOOD) {
        return room;
    }
    return width > narrow + PIECE_COLUMNS_MIN ? width - narrow : PIECE_COLUMNS_MIN;
}

static void fill(row_view *view, const plim_replay_page *page, const plim_replay_row *rows,
                 size_t count, bool with_recording)
{
    if (with_recording) {
        add_recording(view, page);
    }
    for (size_t i = 0; i < count; i++) {
        add_row(view, &rows[i]);
    }
    add_floor(view, page);
}

void plim_replay_rows_write(const plim_replay_page *page, const plim_replay_row *rows, size_t count,
                            bool with_recording)
{
    row_view view = { .has_capacity = page->input->capacity_bytes != PLIM_UNLIMITED,
                      .is_capacity_bound = plim_replay_is_capacity_bound(page->input) };
    for (size_t i = 0; i < count; i++) {
        view.has_needs = view.has_needs || rows[i].min_capacity_bytes > 0;
        view.has_retries =
            view.has_retries || (rows[i].result != NULL && rows[i].result->retries > 0);
    }
    plim_table_column columns[PLIM_TABLE_COLUMNS_MAX];
    char at[48];
    (void)snprintf(at, sizeof at, "at %s%s", view.is_capacity_bound ? "least " : "",
                   plim_format_bytes(page->input->capacity_bytes).text);
    /* How wide settings may be is known when all else is there. On a narrow page what differs
     * least among rows makes room for them. */
    const bool has_retries = view.has_retries;
    for (int narrowness = 0; narrowness < 3; narrowness++) {
        view.has_allocated = narrowness == 0;
        view.has_calls = narrowness < 2;
        view.has_retries = has_retries && narrowness < 2;
        view.piece_columns = UINT32_MAX / 2;
        begin(&view, page, columns, at);
        fill(&view, page, rows, count, with_recording);
        if (view.table.cells.status == PLIM_OK) {
            view.piece_columns = find_room(&view, page->style);
        } else { /* it lost cells: what is written from here on is no page */
            page->out->status = view.table.cells.status;
        }
        plim_table_deinit(&view.table);
        if (view.piece_columns >= PIECE_COLUMNS_LEAST) {
            break;
        }
    }
    begin(&view, page, columns, at);
    fill(&view, page, rows, count, with_recording);
    plim_table_write(&view.table, page->out, page->style, INDENT);
    plim_table_deinit(&view.table);
}

/* ---- fates ----------------------------------------------------------------------------------- */

static void write_death(const plim_replay_page *page, const plim_replay_row *row)
{
    const plim_run_result *result = row->result;
    const uint64_t unused = result->failed_reserved_bytes > result->failed_allocated_bytes
                                ? result->failed_reserved_bytes - result->failed_allocated_bytes
                                : 0;
    const uint64_t capacity = page->input->capacity_bytes;
    const uint64_t left =
        capacity > result->failed_reserved_bytes ? capacity - result->failed_reserved_bytes : 0;
    const bool is_bound = plim_replay_is_capacity_bound(page->input);
    char lead[96] = "Runs out of memory";
    if (is_bound) {
        (void)snprintf(lead, sizeof lead,
                       "With %s, which is the least the device had, memory runs out",
                       plim_format_bytes(capacity).text);
    }
    plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_PLAIN,
                          "%s%s at %s: %s were asked for when %s were reserved, %s of that not in "
                          "use, and the device had %s left.%s%s",
                          lead, plim_replay_device_words(page->input, result->device).text,
                          plim_replay_event_words(page, result->device, result->failed_event).text,
                          plim_format_bytes(result->failed_bytes).text,
                          plim_format_bytes(result->failed_reserved_bytes).text,
                          plim_format_bytes(unused).text, plim_format_bytes(left).text,
                          result->was_oom ? " So it did when it was recorded." : "",
                          is_bound ? " With more it may survive." : "");
}

/* An allocator on a device so small would have given it back before. */
static void write_released(const plim_replay_page *page, const plim_run_result *result)
{
    if (result->start_released_bytes > 0) {
        plim_paragraph_format(
            page->out, page->style, 2, PLIM_TONE_PLAIN,
            "What stood before the first event fits without %s of cached memory%s, which is taken "
            "as given back.",
            plim_format_bytes(result->start_released_bytes).text,
            plim_replay_device_words(page->input, result->device).text);
    }
}

void plim_replay_row_write_fate(const plim_replay_page *page, const plim_replay_row *row)
{
    const bool is_served = row->result != NULL && row->result->ooms_survived > 0;
    const bool is_released = row->result != NULL && row->result->start_released_bytes > 0;
    if (row->result != NULL && row->result->survives && !is_served && !is_released) {
        return;
    }
    plim_replay_blank(page);
    plim_style endless = *page->style;
    endless.width = PLIM_CONF_TEXT_BYTES * 2;
    plim_line line = plim_line_begin(page->out, &endless, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, plim_replay_conf_words(row->conf));
    plim_line_add(&line, PLIM_TONE_FAINT, row->is_recorded ? " (as recorded)" : "");
    plim_line_end(&line);
    if (row->result == NULL) {
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_BAD, "",
                             row->failure != NULL ? row->failure : "The start does not fit.");
        return;
    }
    write_released(page, row->result);
    if (!row->result->survives) {
        write_death(page, row);
    }
    if (is_served) {
        plim_paragraph_format(
            page->out, page->style, 2, PLIM_TONE_PLAIN,
            "%s that failed in the recording %s served here. What the program would have asked "
            "for next is not recorded.",
            plim_counted(row->result->ooms_survived, "request").text,
            row->result->ooms_survived == 1 ? "is" : "are");
    }
}
