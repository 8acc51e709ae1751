/*
 * replay_head.c - the recording: what it is, what it had, what it could not do with less than.
 */
#include "report/replay_page.h"

#include "base/size.h"
#include "report/counted.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CONF_COLUMNS 4096u /* confs are there to be copied: they are never cut */

void plim_replay_blank(const plim_replay_page *page)
{
    plim_text_append_char(page->out, '\n');
}

void plim_replay_heading(const plim_replay_page *page, const char *words)
{
    plim_replay_blank(page);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, words);
    plim_line_end(&line);
}

/* "GPU 0: 2,234 events, 825 requests; earlier events are lost" */
static void write_device(const plim_replay_page *page, const plim_replay_facts *facts)
{
    char before[128] = "";
    if (facts->start_allocations > 0) {
        (void)snprintf(before, sizeof before, ", %s from before (%s)",
                       plim_counted(facts->start_allocations, "allocation").text,
                       plim_format_bytes(facts->start_live_bytes).text);
    }
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_FAINT, "GPU %" PRId32 ": %s, %s%s%s",
                          facts->device, plim_counted(facts->events, "event").text,
                          plim_counted(facts->requests, "request").text, before,
                          facts->is_torn ? "; earlier events are lost" : "");
}

static void write_asked(const plim_replay_page *page)
{
    if (page->input->has_range) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_FAINT, "",
                             "Not all events are replayed: what stood before is the start.");
    }
    for (size_t i = 0; i < page->input->scale_count; i++) {
        plim_line line = plim_line_begin(page->out, page->style, 0);
        plim_line_format(&line, PLIM_TONE_FAINT, "requests of %s times %g",
                         page->input->scales[i].what, page->input->scales[i].factor);
        plim_line_end(&line);
    }
}

void plim_replay_head_write(const plim_replay_page *page)
{
    const plim_replay_input *input = page->input;
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add_path(&line, PLIM_TONE_HEADING,
                       strcmp(input->path, "-") == 0 ? "standard input" : input->path);
    plim_line_end(&line);
    for (size_t i = 0; i < input->device_count; i++) {
        write_device(page, &input->facts[i]);
    }
    plim_style endless = *page->style;
    endless.width = CONF_COLUMNS;
    line = plim_line_begin(page->out, &endless, 0);
    plim_line_format(&line, PLIM_TONE_FAINT, "recorded under: %s",
                     plim_replay_conf_words(&input->facts[0].conf));
    plim_line_end(&line);
    write_asked(page);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static const char *say_source(const plim_replay_input *input)
{
    switch (input->capacity) {
    case PLIM_REPLAY_CAPACITY_ASKED:
        return "as asked for";
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

static void write_capacity(const plim_replay_page *page)
{
    const plim_replay_input *input = page->input;
    if (input->capacity_bytes == PLIM_UNLIMITED) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN,
                             plim_style_glyphs(page->style)->warning,
                             "Capacity unknown: the file does not tell what the device had, so "
                             "here nothing runs out. Give it with --capacity=24GiB or --gpu=h100.");
        return;
    }
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_PLAIN, "Capacity %s%s: %s%s%s.",
                          plim_replay_is_capacity_bound(input) ? "at least " : "",
                          plim_format_bytes(input->capacity_bytes).text,
                          input->capacity == PLIM_REPLAY_CAPACITY_GPU ? input->gpu->name : "",
                          input->capacity == PLIM_REPLAY_CAPACITY_GPU ? ", " : "",
                          say_source(input));
    if (has_other_capacities(input)) {
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_WARN,
                              "That is GPU %" PRId32
                              "; others had more. --device replays one at its own capacity.",
                              input->facts[input->capacity_device].device);
    }
}

static void write_floor(const plim_replay_page *page)
{
    const plim_replay_input *input = page->input;
    const plim_replay_facts *most = &input->facts[0];
    for (size_t i = 1; i < input->device_count; i++) {
        most = input->facts[i].floor_bytes > most->floor_bytes ? &input->facts[i] : most;
    }
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_PLAIN,
                          "Floor %s: what is live at the peak%s (%s), in pages. No allocator can "
                          "do with less.",
                          plim_format_bytes(most->floor_bytes).text,
                          plim_replay_device_words(input, most->device).text,
                          plim_replay_event_words(page, most->device, most->peak_event).text);
}

/* What led to a failure ends with it; what follows is what the program did about it. */
static void write_recorded_oom(const plim_replay_page *page, const plim_replay_facts *facts)
{
    if (facts->oom_event == PLIM_NO_EVENT) {
        return;
    }
    char after[160] = "Nothing follows.";
    if (facts->events_after_oom == 1) {
        (void)snprintf(after, sizeof after, "The event that follows is no part of what led to it.");
    } else if (facts->events_after_oom > 1) {
        (void)snprintf(after, sizeof after,
                       "The %s that follow are what came of it, not what led to it.",
                       plim_counted(facts->events_after_oom, "event").text);
    }
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_PLAIN,
                          "When it was recorded, memory ran out%s at %s. %s",
                          plim_replay_device_words(page->input, facts->device).text,
                          plim_replay_event_words(page, facts->device, facts->oom_event).text,
                          after);
}

void plim_replay_limits_write(const plim_replay_page *page)
{
    write_capacity(page);
    write_floor(page);
    for (size_t i = 0; i < page->input->device_count; i++) {
        write_recorded_oom(page, &page->input->facts[i]);
    }
}
