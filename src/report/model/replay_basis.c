/*
 * replay_basis.c - what an answer rests on: the recording, the device's capacity, the floor.
 */
#include "report/model/replay.h"

/* "GPU 0: 2,234 events, 825 requests; earlier events are lost" */
static void say_device(plim_page *page, const plim_replay_facts *facts)
{
    plim_page_say(page, "device", PLIM_TONE_FAINT, "GPU {}: {}, {}",
                  PLIM_FACTS(plim_id("device", facts->device),
                             plim_count_of("events", facts->events, "event"),
                             plim_count_of("requests", facts->requests, "request")));
    if (facts->start_allocations > 0) {
        plim_page_more(
            page, ", {} from before ({})",
            PLIM_FACTS(plim_count_of("start_allocations", facts->start_allocations, "allocation"),
                       plim_bytes("start_live_bytes", facts->start_live_bytes)));
    }
    if (facts->is_torn) {
        plim_page_more(page, "; earlier events are lost", NULL);
    }
}

static void say_recording(const plim_replayed *self)
{
    plim_page *page = self->page;
    const plim_replay_input *input = self->input;
    for (size_t i = 0; i < input->device_count; i++) {
        say_device(page, &input->facts[i]);
    }
    plim_page_say(page, "recorded_conf", PLIM_TONE_FAINT, "recorded under: {}",
                  PLIM_FACTS(plim_words(plim_replayed_conf(&input->facts[0].conf))))
        ->layout = PLIM_LAYOUT_COPY;
    if (input->has_range) {
        plim_page_say(page, "range", PLIM_TONE_FAINT,
                      "Not all events are replayed: what stood before is the start.", NULL);
    }
    for (size_t i = 0; i < input->scale_count; i++) {
        plim_page_say(page, "scale", PLIM_TONE_FAINT, "requests of {} times {}",
                      PLIM_FACTS(plim_words(input->scales[i].what),
                                 plim_number("factor", input->scales[i].factor)));
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

static const char *source_of(const plim_replay_input *input)
{
    switch (input->capacity) {
    case PLIM_REPLAY_CAPACITY_ASKED:
        return "as given";
    case PLIM_REPLAY_CAPACITY_GPU:
        return "less what a process takes of it to start with";
    case PLIM_REPLAY_CAPACITY_FILE:
        break;
    }
    return input->facts[input->capacity_device].capacity_source == PLIM_CAPACITY_OOM
               ? "what was reserved and what was free when memory ran out"
               : "so much was reserved when cached memory was given back for a request";
}

static bool has_other_capacities(const plim_replay_input *input)
{
    bool found = false;
    for (size_t i = 0; i < input->device_count; i++) {
        const plim_replay_facts *facts = &input->facts[i];
        found = found || (facts->capacity_source != PLIM_CAPACITY_UNKNOWN &&
                          facts->capacity_bytes != input->capacity_bytes);
    }
    return found && input->capacity == PLIM_REPLAY_CAPACITY_FILE;
}

static void say_capacity(const plim_replayed *self)
{
    const plim_replay_input *input = self->input;
    if (input->capacity_bytes == PLIM_UNLIMITED) {
        plim_page_warn(self->page, "capacity_unknown",
                       "Capacity unknown: the file does not record what the device had, so here "
                       "nothing runs out. Give it with --capacity=24GiB or --gpu=h100.",
                       NULL);
        return;
    }
    const bool is_gpu = input->capacity == PLIM_REPLAY_CAPACITY_GPU;
    plim_page_say(self->page, "capacity", PLIM_TONE_PLAIN, "Capacity {}{}: {}{}{}.",
                  PLIM_FACTS(plim_words(plim_replay_is_capacity_bound(input) ? "at least " : ""),
                             plim_bytes("capacity_bytes", input->capacity_bytes),
                             plim_words(is_gpu ? input->gpu->name : ""),
                             plim_words(is_gpu ? ", " : ""), plim_words(source_of(input))));
    if (has_other_capacities(input)) {
        plim_page_say(self->page, "capacities_differ", PLIM_TONE_WARN,
                      "That is GPU {}; others had more. --device replays one at its own capacity.",
                      PLIM_FACTS(plim_id("device", input->facts[input->capacity_device].device)));
    }
}

static void say_floor(const plim_replayed *self)
{
    const plim_replay_input *input = self->input;
    const plim_replay_facts *most = &input->facts[0];
    for (size_t i = 1; i < input->device_count; i++) {
        most = input->facts[i].floor_bytes > most->floor_bytes ? &input->facts[i] : most;
    }
    plim_page_say(
        self->page, "floor", PLIM_TONE_PLAIN,
        "Floor {}: what is live at the peak{} (event {}{}), in pages. No allocator can do "
        "with less.",
        PLIM_FACTS(plim_bytes("floor_bytes", most->floor_bytes),
                   plim_words(plim_replayed_device(self, most->device)),
                   plim_count("peak_event", most->peak_event),
                   plim_words(plim_replayed_place(self, most->device, most->peak_event))));
}

/* What led to a failure ends with it; what follows is what the program did about it. */
static void say_recorded_oom(const plim_replayed *self, const plim_replay_facts *facts)
{
    if (facts->oom_event == PLIM_NO_EVENT) {
        return;
    }
    plim_page_say(
        self->page, "recorded_oom", PLIM_TONE_PLAIN,
        "When it was recorded, memory ran out{} at event {}{}. ",
        PLIM_FACTS(plim_words(plim_replayed_device(self, facts->device)),
                   plim_count("oom_event", facts->oom_event),
                   plim_words(plim_replayed_place(self, facts->device, facts->oom_event))));
    if (facts->events_after_oom == 0) {
        plim_page_more(self->page, "Nothing follows.", NULL);
    } else if (facts->events_after_oom == 1) {
        plim_page_more(self->page, "The event that follows is no part of what led to it.", NULL);
    } else {
        plim_page_more(
            self->page, "The {} that follow are what came of it, not what led to it.",
            PLIM_FACTS(plim_count_of("events_after_oom", facts->events_after_oom, "event")));
    }
}

void plim_replayed_basis(const plim_replayed *self, bool with_fidelity)
{
    plim_page_heading(self->page, "What this rests on", NULL);
    say_recording(self);
    if (with_fidelity) {
        plim_replayed_fidelity(self, false);
    }
    plim_page_gap(self->page);
    say_capacity(self);
    say_floor(self);
    for (size_t i = 0; i < self->input->device_count; i++) {
        say_recorded_oom(self, &self->input->facts[i]);
    }
}
