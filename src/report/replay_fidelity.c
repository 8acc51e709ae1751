/*
 * replay_fidelity.c - how far predictions are to be believed: the replay under the recorded
 * settings, beside the recording.
 *
 * It comes before everything else on a page, in a line or two. A prediction of what was recorded
 * that fails here and there may still be good for others; how wrong it was says how good.
 */
#include "report/replay_page.h"

#include "base/size.h"
#include "report/counted.h"
#include "report/table.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define DOUBTS_SHOWN 2u

static plim_short_text share_of(uint64_t matched, uint64_t all)
{
    return plim_format_percent(all > 0 ? (double)matched / (double)all : 1.0);
}

/* No driver calls, on either side. */
static bool is_nothing(const plim_fidelity *fidelity)
{
    return fidelity->segment_events_recorded == 0 && fidelity->segment_events_predicted == 0;
}

/* "Fidelity 100.0%:", of one of several devices "Fidelity 100.0% on GPU 1:". */
static plim_replay_phrase lead_words(const plim_replay_page *page, const plim_fidelity *fidelity)
{
    plim_replay_phrase words;
    (void)snprintf(words.text, sizeof words.text,
                   "Fidelity %s%.40s:", plim_format_percent(fidelity->share).text,
                   plim_replay_device_words(page->input, fidelity->device).text);
    return words;
}

/* Places may be compared where driver calls cannot. */
static void write_nothing(const plim_replay_page *page, const plim_fidelity *fidelity)
{
    char words[512];
    (void)snprintf(words, sizeof words,
                   "Fidelity unknown%s: the recording shows no driver call to compare with, and "
                   "none was predicted. %s of %s lie where they were.",
                   plim_replay_device_words(page->input, fidelity->device).text,
                   plim_format_count(fidelity->placements_matched).text,
                   plim_counted(fidelity->placements, "request").text);
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN, "", words);
}

static void write_exact(const plim_replay_page *page, const plim_fidelity *fidelity)
{
    char words[512];
    (void)snprintf(words, sizeof words,
                   "%s %s of %s predicted as recorded, reserved bytes equal at every event.",
                   lead_words(page, fidelity).text,
                   plim_format_count(fidelity->segment_events_matched).text,
                   plim_counted(fidelity->segment_events_recorded, "driver call").text);
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_PLAIN, "", words);
}

static plim_short_text peak_error(const plim_fidelity *fidelity)
{
    const double recorded = (double)fidelity->recorded_peak_reserved_bytes;
    const double predicted = (double)fidelity->predicted_peak_reserved_bytes;
    return plim_format_percent(recorded > 0 ? fabs(predicted - recorded) / recorded : (double)NAN);
}

/* Some recorders leave driver calls out. */
static void write_unrecorded(const plim_replay_page *page, const plim_fidelity *fidelity)
{
    char words[512];
    (void)snprintf(
        words, sizeof words,
        "%s the recording shows no driver call, where %s are predicted: what was reserved "
        "cannot be compared. %s of %s lie where they were.",
        lead_words(page, fidelity).text, plim_format_count(fidelity->segment_events_predicted).text,
        plim_format_count(fidelity->placements_matched).text,
        plim_counted(fidelity->placements, "request").text);
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN, "", words);
}

static void write_different(const plim_replay_page *page, const plim_fidelity *fidelity)
{
    char words[768];
    (void)snprintf(
        words, sizeof words,
        "%s %s of %s predicted as recorded, %s predicted in all. Reserved bytes differ by "
        "%s at most, %s on average; their peak was %s and is predicted as %s (%s off).",
        lead_words(page, fidelity).text, plim_format_count(fidelity->segment_events_matched).text,
        plim_counted(fidelity->segment_events_recorded, "driver call").text,
        plim_format_count(fidelity->segment_events_predicted).text,
        plim_format_bytes(fidelity->reserved_bytes_max_difference).text,
        plim_format_bytes((uint64_t)llround(fidelity->reserved_bytes_mean_difference)).text,
        plim_format_bytes(fidelity->recorded_peak_reserved_bytes).text,
        plim_format_bytes(fidelity->predicted_peak_reserved_bytes).text, peak_error(fidelity).text);
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN, "", words);
    if (fidelity->diverges_at_event != PLIM_NO_EVENT) {
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_PLAIN, "First at %s.",
                              fidelity->divergence);
    }
}

/* The most frequent ones of those not shown yet; PLIM_DOUBT_COUNT: none is left. */
static int next_doubt(const plim_fidelity *fidelity, const bool *is_shown)
{
    int most = PLIM_DOUBT_COUNT;
    for (int i = 0; i < PLIM_DOUBT_COUNT; i++) {
        if (fidelity->doubts[i] > 0 && !is_shown[i] &&
            (most == PLIM_DOUBT_COUNT || fidelity->doubts[i] > fidelity->doubts[most])) {
            most = i;
        }
    }
    return most;
}

static void write_doubts(const plim_replay_page *page, const plim_fidelity *fidelity, uint32_t most)
{
    bool is_shown[PLIM_DOUBT_COUNT] = { false };
    is_shown[PLIM_DOUBT_NO_DRIVER_CALLS] = is_nothing(fidelity); /* that was said */
    uint32_t shown = 0;
    for (int doubt = 0; shown < most; shown++) {
        doubt = next_doubt(fidelity, is_shown);
        if (doubt == PLIM_DOUBT_COUNT) {
            return;
        }
        is_shown[doubt] = true;
        char words[256];
        (void)snprintf(words, sizeof words, "%s: %s.",
                       plim_counted(fidelity->doubts[doubt], "time").text,
                       plim_doubt_text((plim_doubt)doubt));
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN,
                             plim_style_glyphs(page->style)->warning, words);
    }
    if (next_doubt(fidelity, is_shown) != PLIM_DOUBT_COUNT) {
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_FAINT, "",
                             "(more kinds: replay --verify lists them)");
    }
}

void plim_replay_fidelity_write(const plim_replay_page *page)
{
    plim_replay_blank(page);
    for (size_t i = 0; i < page->input->device_count; i++) {
        const plim_fidelity *fidelity = &page->input->fidelity[i];
        if (is_nothing(fidelity)) {
            write_nothing(page, fidelity);
        } else if (fidelity->segment_events_recorded == 0) {
            write_unrecorded(page, fidelity);
        } else if (plim_replay_is_exact(fidelity)) {
            write_exact(page, fidelity);
        } else {
            write_different(page, fidelity);
        }
        write_doubts(page, fidelity, DOUBTS_SHOWN);
    }
}

/* ---- whole ----------------------------------------------------------------------------------- */

static void add_counts(plim_table *table, const char *label, const uint64_t *values)
{
    plim_table_add(table, PLIM_TONE_PLAIN, label);
    for (size_t i = 0; i < 3; i++) {
        plim_table_add(table, PLIM_TONE_PLAIN, plim_format_count(values[i]).text);
    }
    const uint64_t most = values[0] > values[1] ? values[0] : values[1];
    plim_table_add(table, PLIM_TONE_PLAIN, share_of(values[2], most).text);
}

static void write_figures(const plim_replay_page *page, const plim_fidelity *fidelity)
{
    static const plim_table_column columns[] = {
        { "", PLIM_ALIGN_LEFT },           { "recorded", PLIM_ALIGN_RIGHT },
        { "predicted", PLIM_ALIGN_RIGHT }, { "alike", PLIM_ALIGN_RIGHT },
        { "", PLIM_ALIGN_RIGHT },
    };
    plim_table table;
    plim_table_init(&table, page->out->mem, columns, sizeof columns / sizeof columns[0]);
    add_counts(&table, "driver calls",
               (const uint64_t[]){ fidelity->segment_events_recorded,
                                   fidelity->segment_events_predicted,
                                   fidelity->segment_events_matched });
    add_counts(&table, "requests by address",
               (const uint64_t[]){ fidelity->placements, fidelity->placements,
                                   fidelity->placements_matched });
    plim_table_add(&table, PLIM_TONE_PLAIN, "peak reserved");
    plim_table_add(&table, PLIM_TONE_PLAIN,
                   plim_format_bytes(fidelity->recorded_peak_reserved_bytes).text);
    plim_table_add(&table, PLIM_TONE_PLAIN,
                   plim_format_bytes(fidelity->predicted_peak_reserved_bytes).text);
    plim_table_add(&table, PLIM_TONE_PLAIN, "");
    plim_table_add(&table, PLIM_TONE_PLAIN, "");
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
}

static void write_one_whole(const plim_replay_page *page, const plim_fidelity *fidelity)
{
    if (is_nothing(fidelity)) {
        write_nothing(page, fidelity);
    } else {
        plim_paragraph_write(page->out, page->style, 0,
                             plim_replay_is_exact(fidelity) ? PLIM_TONE_PLAIN : PLIM_TONE_WARN, "",
                             lead_words(page, fidelity).text);
    }
    write_figures(page, fidelity);
    plim_paragraph_format(
        page->out, page->style, 2, PLIM_TONE_PLAIN,
        "Reserved bytes, over all events, differ by %s at most and %s on average.",
        plim_format_bytes(fidelity->reserved_bytes_max_difference).text,
        plim_format_bytes((uint64_t)llround(fidelity->reserved_bytes_mean_difference)).text);
    if (fidelity->diverges_at_event == PLIM_NO_EVENT) {
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_PLAIN, "",
                             "No driver call differs in kind, size, order or place in the run.");
    } else {
        plim_paragraph_format(
            page->out, page->style, 2, PLIM_TONE_PLAIN, "They part at %s (%s).",
            fidelity->divergence,
            plim_replay_event_words(page, fidelity->device, fidelity->diverges_at_event).text);
    }
    write_doubts(page, fidelity, PLIM_DOUBT_COUNT);
}

void plim_replay_fidelity_write_whole(const plim_replay_page *page)
{
    for (size_t i = 0; i < page->input->device_count; i++) {
        plim_replay_blank(page);
        write_one_whole(page, &page->input->fidelity[i]);
    }
}
