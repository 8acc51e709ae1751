/*
 * replay_fidelity.c - how far predictions are to be believed: the replay under the recorded
 * settings, beside the recording.
 *
 * A line or two on a page. A prediction of what was recorded
 * that fails here and there may still be good for others; how wrong it was says how good.
 */
#include "report/model/replay.h"

#include "base/numbers.h"

#include <math.h>

#define CAVEATS_SHOWN 2u

/* No driver calls, on either side. */
static bool is_nothing(const plim_fidelity *fidelity)
{
    return fidelity->segment_events_recorded == 0 && fidelity->segment_events_predicted == 0;
}

static uint64_t mean_difference(const plim_fidelity *fidelity)
{
    return (uint64_t)llround(fidelity->reserved_bytes_mean_difference);
}

static double peak_error(const plim_fidelity *fidelity)
{
    const double recorded = (double)fidelity->recorded_peak_reserved_bytes;
    const double predicted = (double)fidelity->predicted_peak_reserved_bytes;
    return recorded > 0 ? fabs(predicted - recorded) / recorded : (double)NAN;
}

/* "Fidelity 100.0%:", of one of several devices "Fidelity 100.0% on GPU 1:". */
static void say_lead(const plim_replayed *self, const plim_fidelity *fidelity, plim_tone tone)
{
    plim_page_say(self->page, "fidelity", tone, "Fidelity {}{}:",
                  PLIM_FACTS(plim_percent("share", fidelity->share),
                             plim_words(plim_replayed_device(self, fidelity->device))));
}

/* Places may be compared where driver calls cannot. */
static void more_placements(const plim_replayed *self, const plim_fidelity *fidelity)
{
    plim_page_more(self->page, " {} of {} lie where they were.",
                   PLIM_FACTS(plim_count("placements_matched", fidelity->placements_matched),
                              plim_count_of("placements", fidelity->placements, "request")));
}

static void say_nothing(const plim_replayed *self, const plim_fidelity *fidelity)
{
    plim_page_say(
        self->page, "fidelity_unknown", PLIM_TONE_WARN,
        "Fidelity unknown{}: the recording shows no driver call to compare with, and none "
        "was predicted.",
        PLIM_FACTS(plim_words(plim_replayed_device(self, fidelity->device))));
    more_placements(self, fidelity);
}

/* Some recorders leave driver calls out. */
static void say_unrecorded(const plim_replayed *self, const plim_fidelity *fidelity)
{
    say_lead(self, fidelity, PLIM_TONE_WARN);
    plim_page_more(self->page,
                   " the recording shows no driver call, where {} are predicted: what was reserved "
                   "cannot be compared.",
                   PLIM_FACTS(plim_count("predicted", fidelity->segment_events_predicted)));
    more_placements(self, fidelity);
}

static void say_exact(const plim_replayed *self, const plim_fidelity *fidelity)
{
    say_lead(self, fidelity, PLIM_TONE_PLAIN);
    plim_page_more(
        self->page, " {} of {} predicted as recorded, reserved bytes equal at every event.",
        PLIM_FACTS(plim_count("matched", fidelity->segment_events_matched),
                   plim_count_of("recorded", fidelity->segment_events_recorded, "driver call")));
}

static void say_different(const plim_replayed *self, const plim_fidelity *fidelity)
{
    say_lead(self, fidelity, PLIM_TONE_WARN);
    plim_page_more(
        self->page, " {} of {} predicted as recorded, {} predicted in all.",
        PLIM_FACTS(plim_count("matched", fidelity->segment_events_matched),
                   plim_count_of("recorded", fidelity->segment_events_recorded, "driver call"),
                   plim_count("predicted", fidelity->segment_events_predicted)));
    plim_page_more(
        self->page,
        " Reserved bytes differ by {} at most, {} on average; their peak was {} and is predicted "
        "as "
        "{} ({} off).",
        PLIM_FACTS(plim_bytes("max_difference_bytes", fidelity->reserved_bytes_max_difference),
                   plim_bytes("mean_difference_bytes", mean_difference(fidelity)),
                   plim_bytes("recorded_peak_bytes", fidelity->recorded_peak_reserved_bytes),
                   plim_bytes("predicted_peak_bytes", fidelity->predicted_peak_reserved_bytes),
                   plim_percent("peak_error", peak_error(fidelity))));
    if (fidelity->diverges_at_event != PLIM_NO_EVENT) {
        plim_page_note(self->page, "divergence", PLIM_TONE_PLAIN, "First at {}.",
                       PLIM_FACTS(plim_words(fidelity->divergence)));
    }
}

/* The most frequent ones of those not shown yet; PLIM_CAVEAT_COUNT: none is left. */
static int next_caveat(const plim_fidelity *fidelity, const bool *is_shown)
{
    int most = PLIM_CAVEAT_COUNT;
    for (int i = 0; i < PLIM_CAVEAT_COUNT; i++) {
        if (fidelity->caveats[i] > 0 && !is_shown[i] &&
            (most == PLIM_CAVEAT_COUNT || fidelity->caveats[i] > fidelity->caveats[most])) {
            most = i;
        }
    }
    return most;
}

static void say_caveats(const plim_replayed *self, const plim_fidelity *fidelity, uint32_t most)
{
    bool is_shown[PLIM_CAVEAT_COUNT] = { false };
    is_shown[PLIM_CAVEAT_NO_DRIVER_CALLS] = is_nothing(fidelity); /* that was said */
    for (uint32_t shown = 0; shown < most; shown++) {
        const int caveat = next_caveat(fidelity, is_shown);
        if (caveat == PLIM_CAVEAT_COUNT) {
            return;
        }
        is_shown[caveat] = true;
        plim_page_warn(self->page, "doubt", "{}: {}.",
                       PLIM_FACTS(plim_count_of(plim_caveat_name((plim_caveat)caveat),
                                                fidelity->caveats[caveat], "time"),
                                  plim_words(plim_caveat_text((plim_caveat)caveat))));
    }
    if (next_caveat(fidelity, is_shown) != PLIM_CAVEAT_COUNT) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT,
                       "(more kinds: replay --verify lists them)", NULL);
    }
}

static void say_brief(const plim_replayed *self, const plim_fidelity *fidelity)
{
    if (is_nothing(fidelity)) {
        say_nothing(self, fidelity);
    } else if (fidelity->segment_events_recorded == 0) {
        say_unrecorded(self, fidelity);
    } else if (plim_replay_is_exact(fidelity)) {
        say_exact(self, fidelity);
    } else {
        say_different(self, fidelity);
    }
    say_caveats(self, fidelity, CAVEATS_SHOWN);
}

/* ---- whole ----------------------------------------------------------------------------------- */

static void add_counts(plim_page *page, const char *label, uint64_t recorded, uint64_t predicted,
                       uint64_t alike)
{
    const uint64_t most = plim_max(recorded, predicted);
    plim_page_cell_text(page, PLIM_TONE_PLAIN, label, NULL);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, recorded));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, predicted));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, alike));
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_percent(NULL, most > 0 ? (double)alike / (double)most : 1.0));
}

static void say_figures(plim_page *page, const plim_fidelity *fidelity)
{
    static const plim_column columns[] = {
        { "", PLIM_ALIGN_LEFT, 0, 0 },           { "recorded", PLIM_ALIGN_RIGHT, 0, 0 },
        { "predicted", PLIM_ALIGN_RIGHT, 0, 0 }, { "alike", PLIM_ALIGN_RIGHT, 0, 0 },
        { "", PLIM_ALIGN_RIGHT, 0, 0 },
    };
    plim_page_table(page, "fidelity", columns, sizeof columns / sizeof columns[0]);
    add_counts(page, "driver calls", fidelity->segment_events_recorded,
               fidelity->segment_events_predicted, fidelity->segment_events_matched);
    add_counts(page, "requests by address", fidelity->placements, fidelity->placements,
               fidelity->placements_matched);
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "peak reserved", NULL);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, fidelity->recorded_peak_reserved_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_bytes(NULL, fidelity->predicted_peak_reserved_bytes));
}

static void say_whole(const plim_replayed *self, const plim_fidelity *fidelity)
{
    plim_page *page = self->page;
    if (is_nothing(fidelity)) {
        say_nothing(self, fidelity);
    } else {
        say_lead(self, fidelity, plim_replay_is_exact(fidelity) ? PLIM_TONE_PLAIN : PLIM_TONE_WARN);
    }
    say_figures(page, fidelity);
    plim_page_note(
        page, "reserved_difference", PLIM_TONE_PLAIN,
        "Reserved bytes, over all events, differ by {} at most and {} on average.",
        PLIM_FACTS(plim_bytes("max_difference_bytes", fidelity->reserved_bytes_max_difference),
                   plim_bytes("mean_difference_bytes", mean_difference(fidelity))));
    if (fidelity->diverges_at_event == PLIM_NO_EVENT) {
        plim_page_note(page, "no_divergence", PLIM_TONE_PLAIN,
                       "No driver call differs in kind, size, order or place in the run.", NULL);
    } else {
        plim_page_note(page, "divergence", PLIM_TONE_PLAIN, "They part at {} (event {}{}).",
                       PLIM_FACTS(plim_words(fidelity->divergence),
                                  plim_count("diverges_at_event", fidelity->diverges_at_event),
                                  plim_words(plim_replayed_place(self, fidelity->device,
                                                                 fidelity->diverges_at_event))));
    }
    say_caveats(self, fidelity, PLIM_CAVEAT_COUNT);
}

void plim_replayed_caution(const plim_replayed *self)
{
    const plim_fidelity all = plim_replay_fidelity_of_all(self->input);
    if (!plim_replay_is_exact(&all)) {
        plim_page_gap(self->page);
        plim_page_say(self->page, "caution", PLIM_TONE_WARN,
                      "Read this with care: the replay of the recording itself has a fidelity of "
                      "{}.",
                      PLIM_FACTS(plim_percent("share", all.share)));
    }
}

void plim_replayed_fidelity(const plim_replayed *self, bool whole)
{
    for (size_t i = 0; i < self->input->device_count; i++) {
        if (i == 0 || whole) {
            plim_page_gap(self->page);
        }
        (whole ? say_whole : say_brief)(self, &self->input->fidelity[i]);
    }
}
