/*
 * replay_rows.c - the table of confs: what becomes of the run under each.
 *
 *   needs     at 2.00 GiB  reserved  allocated  fragm.  calls     time  settings
 *   1.74 GiB  survives     1.73 GiB   1.72 GiB    0.4%     41  2.10 ms  expandable_segments:True
 *   1.72 GiB                                                            the floor
 *
 * Settings stand last, because they are long and never cut: what does not fit goes on below.
 */
#include "report/model/failure.h"
#include "report/model/replay.h"

#include "base/numbers.h"

#include <math.h>

/* What of the table there is. */
typedef struct row_view {
    plim_page *page;
    const plim_replay_input *input;
    bool has_capacity;
    bool is_capacity_bound; /* what fails may survive */
    bool has_needs;
    bool has_retries;
    uint32_t figure_count; /* cells before the settings */
} row_view;

static void add_empty(const row_view *view, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        plim_page_cell_text(view->page, PLIM_TONE_PLAIN, "", NULL);
    }
}

static void add_settings(const row_view *view, plim_tone tone, const plim_replay_row *row)
{
    const char *remark = "";
    const char *empties = "";
    if (row->is_recorded && row->empty_cache == PLIM_EMPTY_NEVER) {
        remark = row->is_start_requested ? " (as recorded, start anew)" : " (as recorded)";
    } else if (row->wants_torch != 0) {
        remark = plim_page_text(view->page, " (needs PyTorch {})",
                                PLIM_FACTS(plim_words(plim_release_text(row->wants_torch).text)));
    }
    if (row->empty_cache == PLIM_EMPTY_AT_EVENT) {
        empties = plim_page_text(view->page, " + empty_cache() at {}",
                                 PLIM_FACTS(plim_count(NULL, row->empty_cache_event)));
    } else if (row->empty_cache == PLIM_EMPTY_AFTER_STEPS) {
        empties = " + empty_cache() each step";
    }
    plim_page_cell_text(view->page, tone, "{}{}{}",
                        PLIM_FACTS(plim_apart(plim_words(plim_replayed_conf(row->conf))),
                                   plim_apart(plim_words(remark)),
                                   plim_apart(plim_words(empties))));
}

static void add_needs(const row_view *view, plim_tone tone, const plim_replay_row *row)
{
    if (row->min_capacity_bytes > 0) {
        plim_page_cell_text(view->page, tone, row->is_min_capacity_bound ? ">{}" : "{}",
                            PLIM_FACTS(plim_bytes(NULL, row->min_capacity_bytes)));
    } else {
        plim_page_cell_text(view->page, tone, "-", NULL);
    }
}

static void add_outcome(const row_view *view, const plim_replay_row *row)
{
    if (row->result != NULL && row->result->survives) {
        plim_page_cell_text(view->page, PLIM_TONE_IN_USE, "survives", NULL);
    } else if (view->is_capacity_bound) {
        plim_page_cell_text(view->page, PLIM_TONE_WARN, "may survive", NULL);
    } else if (row->result == NULL) {
        plim_page_cell_text(view->page, PLIM_TONE_BAD, "start too large", NULL);
    } else {
        plim_page_cell_text(view->page, PLIM_TONE_BAD, "dies at {}",
                            PLIM_FACTS(plim_count("event", row->result->failed_event)));
    }
}

static void add_figures(const row_view *view, const plim_run_result *result)
{
    plim_page *page = view->page;
    if (result == NULL) {
        add_empty(view, view->figure_count - view->has_needs - view->has_capacity);
        return;
    }
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, result->peak_reserved_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, result->peak_allocated_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_percent(NULL, plim_replay_fragmentation(result)));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, plim_replay_memory_calls(result)));
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_duration(NULL, (uint64_t)llround(fmax(result->driver_time_us, 0))));
    if (view->has_retries) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, result->retries));
    }
}

static void add_row(const row_view *view, const plim_replay_row *row)
{
    const plim_tone tone = row->is_winner ? PLIM_TONE_HEADING : PLIM_TONE_PLAIN;
    if (view->has_needs) {
        add_needs(view, tone, row);
    }
    if (view->has_capacity) {
        add_outcome(view, row);
    }
    add_figures(view, row->result);
    add_settings(view, tone, row);
}

/* What the file itself shows, beside which predictions stand. */
static void add_recording(const row_view *view)
{
    const plim_replay_input *input = view->input;
    uint64_t oom_event = PLIM_NO_EVENT;
    for (size_t i = 0; i < input->device_count && oom_event == PLIM_NO_EVENT; i++) {
        oom_event = input->facts[i].oom_event;
    }
    add_empty(view, view->has_needs);
    if (view->has_capacity && oom_event != PLIM_NO_EVENT) {
        plim_page_cell_text(view->page, PLIM_TONE_FAINT, "died at {}",
                            PLIM_FACTS(plim_count("event", oom_event)));
    } else if (view->has_capacity) {
        plim_page_cell_text(view->page, PLIM_TONE_FAINT, "survived", NULL);
    }
    const uint64_t recorded = plim_replay_recorded_peak_bytes(input);
    if (recorded > 0) {
        plim_page_cell(view->page, PLIM_TONE_FAINT, plim_bytes(NULL, recorded));
    } else {
        plim_page_cell_text(view->page, PLIM_TONE_FAINT, "-", NULL); /* it shows no segments */
    }
    add_empty(view, view->figure_count - view->has_needs - view->has_capacity - 1);
    plim_page_cell_text(view->page, PLIM_TONE_FAINT, "the recording itself", NULL);
}

/* In the column of what is needed, else in that of what is reserved. */
static void add_floor(const row_view *view)
{
    const uint32_t at = !view->has_needs && view->has_capacity ? 1 : 0;
    add_empty(view, at);
    plim_page_cell(view->page, PLIM_TONE_FAINT,
                   plim_bytes(NULL, plim_replay_floor_bytes(view->input)));
    add_empty(view, view->figure_count - at - 1);
    plim_page_cell_text(view->page, PLIM_TONE_FAINT, "the floor", NULL);
}

/* On a narrow page what differs least among rows makes room for settings. */
static void begin(row_view *view)
{
    plim_page *page = view->page;
    const char *at = plim_page_text(page, view->is_capacity_bound ? "at least {}" : "at {}",
                                    PLIM_FACTS(plim_bytes(NULL, view->input->capacity_bytes)));
    const struct {
        bool is_there;
        plim_column column;
    } all[] = {
        { view->has_needs, { "needs", PLIM_ALIGN_RIGHT, 0, 0 } },
        { view->has_capacity, { at, PLIM_ALIGN_LEFT, 0, 0 } },
        { true, { "reserved", PLIM_ALIGN_RIGHT, 0, 0 } },
        { true, { "allocated", PLIM_ALIGN_RIGHT, 1, 0 } },
        { true, { "fragm.", PLIM_ALIGN_RIGHT, 0, 0 } },
        { true, { "calls", PLIM_ALIGN_RIGHT, 2, 0 } },
        { true, { "time", PLIM_ALIGN_RIGHT, 2, 0 } },
        { view->has_retries, { "retries", PLIM_ALIGN_RIGHT, 2, 0 } },
        { true, { "settings", PLIM_ALIGN_COPY, 0, 0 } },
    };
    const size_t most = sizeof all / sizeof all[0];
    plim_column *columns = plim_page_alloc(page, most, sizeof columns[0]);
    uint32_t count = 0;
    for (size_t i = 0; columns != NULL && i < most; i++) {
        if (all[i].is_there) {
            columns[count++] = all[i].column;
        }
    }
    view->figure_count = count > 0 ? count - 1 : 0;
    plim_page_table(page, "confs", columns, count);
}

/* The other allocators in the table are not those themselves (docs/design/policies.md). */
static void say_sketches(plim_page *page, const plim_replay_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].conf->policy != PLIM_POLICY_TORCH) {
            plim_page_note(
                page, "sketches", PLIM_TONE_FAINT,
                "Rows of other allocators (naive, bfc, async, arena) are sketches of them, "
                "written from their published rules.",
                NULL);
            return;
        }
    }
}

void plim_replayed_rows(const plim_replayed *self, const plim_replay_row *rows, size_t count)
{
    row_view view = { .page = self->page,
                      .input = self->input,
                      .has_capacity = self->input->capacity_bytes != PLIM_UNLIMITED,
                      .is_capacity_bound = plim_replay_is_capacity_bound(self->input) };
    for (size_t i = 0; i < count; i++) {
        view.has_needs = view.has_needs || rows[i].min_capacity_bytes > 0;
        view.has_retries =
            view.has_retries || (rows[i].result != NULL && rows[i].result->retries > 0);
    }
    begin(&view);
    if (self->page->status != PLIM_OK) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        add_row(&view, &rows[i]);
    }
    add_recording(&view);
    add_floor(&view);
    say_sketches(self->page, rows, count);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static void say_death(const plim_replayed *self, const plim_run_result *result)
{
    plim_page *page = self->page;
    const uint64_t capacity = self->input->capacity_bytes;
    const bool is_bound = plim_replay_is_capacity_bound(self->input);
    const plim_fact device = plim_words(plim_replayed_device(self, result->device));
    if (is_bound) {
        plim_page_note(page, "may_survive", PLIM_TONE_PLAIN,
                       "With {}, which is the least the device had, memory runs out{}",
                       PLIM_FACTS(plim_bytes("capacity_bytes", capacity), device));
    } else {
        plim_page_note(page, "out_of_memory", PLIM_TONE_PLAIN, "Runs out of memory{}",
                       PLIM_FACTS(device));
    }
    const plim_failure failure = plim_failure_of(&result->failure);
    plim_page_more(
        page, " at event {}{}: {}, {}.",
        PLIM_FACTS(plim_count("event", result->failed_event),
                   plim_words(plim_replayed_place(self, result->device, result->failed_event)),
                   plim_words(plim_verdict_name(failure.judgement.verdict)),
                   plim_words(plim_certainty_name(failure.judgement.finding.certainty))));
    plim_page_more(page, result->was_oom ? " So it did when it was recorded." : "", NULL);
    plim_page_more(page, is_bound ? " With more it may survive." : "", NULL);
    plim_page_note(page, "why", PLIM_TONE_PLAIN, "{}", PLIM_FACTS(plim_words(failure.why)));
}

void plim_replayed_head_row(const plim_replayed *self, const plim_replay_row *row)
{
    plim_page_gap(self->page);
    plim_page_say(self->page, "conf", PLIM_TONE_HEADING, "{}{}",
                  PLIM_FACTS(plim_words(plim_replayed_conf(row->conf)),
                             plim_toned(PLIM_TONE_FAINT,
                                        plim_words(row->is_recorded ? " (as recorded)" : ""))))
        ->layout = PLIM_LAYOUT_COPY;
}

void plim_replayed_outcome(const plim_replayed *self, const plim_replay_row *row)
{
    const plim_run_result *result = row->result;
    if (result != NULL && result->survives && result->ooms_survived == 0 &&
        result->start_released_bytes == 0) {
        return;
    }
    plim_replayed_head_row(self, row);
    if (result == NULL) {
        plim_page_note(self->page, "start_too_large", PLIM_TONE_BAD, "{}",
                       PLIM_FACTS(plim_words(row->failure != NULL ? row->failure
                                                                  : "The start does not fit.")));
        return;
    }
    if (result->start_released_bytes > 0) { /* on a device so small it would have gone before */
        plim_page_note(self->page, "start_released", PLIM_TONE_PLAIN,
                       "What stood before the first event fits without {} of cached memory{}, "
                       "which is taken as given back.",
                       PLIM_FACTS(plim_bytes("start_released_bytes", result->start_released_bytes),
                                  plim_words(plim_replayed_device(self, result->device))));
    }
    if (!result->survives) {
        say_death(self, result);
    }
    if (result->ooms_survived > 0) {
        plim_page_note(self->page, "ooms_survived", PLIM_TONE_PLAIN,
                       "{} that failed in the recording {} served here. What the program would "
                       "have requested next is not recorded.",
                       PLIM_FACTS(plim_count_of("ooms_survived", result->ooms_survived, "request"),
                                  plim_words(result->ooms_survived == 1 ? "is" : "are")));
    }
}
