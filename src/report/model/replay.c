/*
 * replay.c - the page of a replay.
 *
 * The answer comes first: a row for each conf, and what ends a run that dies. What the answer rests
 * on follows: the recording, how exactly it replays, the capacity of the device.
 */
#include "report/model/replay.h"

/* Only the recorded settings can have the start as it was. */
static void say_start(const plim_replayed *self, size_t count)
{
    bool has_start = false;
    for (size_t i = 0; i < self->input->device_count; i++) {
        has_start = has_start || self->input->facts[i].start_allocations > 0;
    }
    if (has_start && count > 1) {
        plim_page_note(self->page, "start", PLIM_TONE_FAINT,
                       "What stood before the first event lies as recorded under the recorded "
                       "settings and is requested anew under others, which may save some by "
                       "itself: plimsoll tune compares on equal terms.",
                       NULL);
    }
}

static void say_device(const plim_replayed *self, const plim_run_result *result)
{
    plim_page *page = self->page;
    plim_page_note(page, "device", result->survives ? PLIM_TONE_PLAIN : PLIM_TONE_BAD,
                   "GPU {}: ", PLIM_FACTS(plim_id("device", result->device)));
    if (self->input->capacity_bytes == PLIM_UNLIMITED) { /* nothing is known to run out */
    } else if (result->survives) {
        plim_page_more(page, "survives, ", NULL);
    } else if (plim_replay_is_capacity_bound(self->input)) {
        plim_page_more(page, "may survive, ", NULL);
    } else {
        plim_page_more(page, "dies at event {}, ",
                       PLIM_FACTS(plim_count("failed_event", result->failed_event)));
    }
    plim_page_more(
        page, "{} reserved at most, {} allocated, {}",
        PLIM_FACTS(plim_bytes("peak_reserved_bytes", result->peak_reserved_bytes),
                   plim_bytes("peak_allocated_bytes", result->peak_allocated_bytes),
                   plim_count_of("memory_calls", plim_replay_memory_calls(result), "driver call")));
}

/* Of several devices each has a row in what follows; the table above has the one that fares
 * worst. */
static void say_devices(const plim_replayed *self, const plim_replay_row *row)
{
    if (row->results == NULL || self->input->device_count < 2) {
        return;
    }
    plim_replayed_head_row(self, row);
    for (size_t i = 0; i < self->input->device_count; i++) {
        say_device(self, &row->results[i]);
    }
}

void plim_replay_page(plim_page *page, const plim_replay_view *view, const plim_replay_input *input,
                      const plim_replay_row *rows, size_t count)
{
    const plim_replayed self = { .page = page, .input = input };
    plim_page_file(page, input->path);
    if (view->shows_fidelity_whole) { /* that is what was asked */
        plim_replayed_fidelity(&self, true);
    }
    plim_page_gap(page);
    if (plim_replay_floor_bytes(input) > input->capacity_bytes &&
        !plim_replay_is_capacity_bound(input)) {
        plim_page_say(page, "hopeless", PLIM_TONE_BAD,
                      "More is live than the device has: no allocator setting can help.", NULL);
    }
    plim_replayed_rows(&self, rows, count);
    say_start(&self, count);
    if (!view->shows_fidelity_whole) {
        plim_replayed_caution(&self);
    }
    for (size_t i = 0; i < count; i++) {
        say_devices(&self, &rows[i]);
        plim_replayed_outcome(&self, &rows[i]);
    }
    if (view->predicted_path != NULL) {
        plim_page_gap(page);
        plim_page_say(page, "predicted", PLIM_TONE_FAINT, "The predicted history: {}",
                      PLIM_FACTS(plim_words(view->predicted_path)));
    }
    plim_replayed_basis(&self, !view->shows_fidelity_whole);
}
