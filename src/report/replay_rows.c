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

#include "base/size.h"
#include "report/counted.h"
#include "report/line.h"
#include "report/paragraph.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PIECE_COLUMNS_MIN 24u
#define INDENT            2u
#define FIGURES_COLUMNS   64u /* what the columns before the settings take, about */
#define RETRIES_COLUMNS   8u

/* What of the table there is. */
typedef struct row_view {
    plim_table table;
    bool has_capacity;
    bool has_needs;
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

/* How much of the words goes on this line: up to a comma, where one is near enough. */
static size_t piece_bytes(const char *words, size_t most)
{
    const size_t length = strlen(words);
    if (length <= most) {
        return length;
    }
    for (size_t i = most; i > most / 3; i--) {
        if (words[i - 1] == ',' || words[i - 1] == ' ') {
            return i;
        }
    }
    return most;
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
    if (row->result == NULL) {
        plim_table_add(&view->table, PLIM_TONE_BAD, "start too large");
    } else if (row->result->survives) {
        plim_table_add(&view->table, PLIM_TONE_IN_USE, "survives");
    } else {
        plim_table_format(&view->table, PLIM_TONE_BAD, "dies at %s",
                          plim_format_count(row->result->failed_event).text);
    }
}

static void add_figures(row_view *view, const plim_run_result *result)
{
    if (result == NULL) {
        add_empty(view, view->has_retries ? 6 : 5);
        return;
    }
    add_bytes(view, PLIM_TONE_PLAIN, result->peak_reserved_bytes, true);
    add_bytes(view, PLIM_TONE_PLAIN, result->peak_allocated_bytes, true);
    plim_table_add(&view->table, PLIM_TONE_PLAIN,
                   plim_format_percent(result->reserved_at_peak_bytes > 0 ? result->fragmentation
                                                                          : (double)NAN)
                       .text);
    plim_table_add(&view->table, PLIM_TONE_PLAIN,
                   plim_format_count(plim_replay_memory_calls(result)).text);
    const double us = result->driver_time_us > 0 ? result->driver_time_us : 0;
    plim_table_add(&view->table, PLIM_TONE_PLAIN,
                   plim_format_duration_us((uint64_t)llround(us)).text);
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
    char words[PLIM_CONF_TEXT_BYTES + 128];
    const plim_replay_phrase empties = plim_replay_empty_cache_words(row);
    (void)snprintf(words, sizeof words, "%s%s%s%s", plim_replay_conf_words(row->conf),
                   empties.text[0] != '\0' ? " " : "", empties.text,
                   row->is_recorded ? " (as recorded)" : "");
    add_words(view, tone, words);
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
    add_empty(view, view->has_retries ? 5 : 4);
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
    columns[count++] = (plim_table_column){ "allocated", PLIM_ALIGN_RIGHT };
    columns[count++] = (plim_table_column){ "fragm.", PLIM_ALIGN_RIGHT };
    columns[count++] = (plim_table_column){ "calls", PLIM_ALIGN_RIGHT };
    columns[count++] = (plim_table_column){ "time", PLIM_ALIGN_RIGHT };
    if (view->has_retries) {
        columns[count++] = (plim_table_column){ "retries", PLIM_ALIGN_RIGHT };
    }
    columns[count++] = (plim_table_column){ "settings", PLIM_ALIGN_LEFT };
    plim_table_init(&view->table, page->out->mem, columns, count);

    const uint32_t width = plim_style_width(page->style);
    const uint32_t taken = INDENT + FIGURES_COLUMNS + (view->has_retries ? RETRIES_COLUMNS : 0);
    view->piece_columns = width > taken + PIECE_COLUMNS_MIN ? width - taken : PIECE_COLUMNS_MIN;
}

void plim_replay_rows_write(const plim_replay_page *page, const plim_replay_row *rows, size_t count,
                            bool with_recording)
{
    row_view view = { .has_capacity = page->input->capacity_bytes != PLIM_UNLIMITED };
    for (size_t i = 0; i < count; i++) {
        view.has_needs = view.has_needs || rows[i].min_capacity_bytes > 0;
        view.has_retries =
            view.has_retries || (rows[i].result != NULL && rows[i].result->retries > 0);
    }
    plim_table_column columns[PLIM_TABLE_COLUMNS_MAX];
    char at[48];
    (void)snprintf(at, sizeof at, "at %s", plim_format_bytes(page->input->capacity_bytes).text);
    begin(&view, page, columns, at);
    if (with_recording) {
        add_recording(&view, page);
    }
    for (size_t i = 0; i < count; i++) {
        add_row(&view, &rows[i]);
    }
    add_floor(&view, page);
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
    plim_paragraph_format(
        page->out, page->style, 2, PLIM_TONE_PLAIN,
        "Runs out of memory%s at %s: %s were asked for when %s were reserved, %s of that not in "
        "use.%s",
        plim_replay_device_words(page->input, result->device).text,
        plim_replay_event_words(page, result->device, result->failed_event).text,
        plim_format_bytes(result->failed_bytes).text,
        plim_format_bytes(result->failed_reserved_bytes).text, plim_format_bytes(unused).text,
        result->was_oom ? " So it did when it was recorded." : "");
}

void plim_replay_row_write_fate(const plim_replay_page *page, const plim_replay_row *row)
{
    const bool is_served = row->result != NULL && row->result->ooms_survived > 0;
    if (row->result != NULL && row->result->survives && !is_served) {
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
