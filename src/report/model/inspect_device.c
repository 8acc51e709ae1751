/*
 * inspect_device.c - one device on the page: what was recorded, what is missing, the answer in one
 * sentence, and then the parts in the order of a reader's questions.
 */
#include "report/model/failure.h"
#include "report/model/inspect_parts.h"

#include "report/model/frame_text.h"
#include "report/model/stack_text.h"

#include <string.h>

#define OOMS_SHOWN 3u /* in words and as bars; the table of moments takes more */
#define OOM_TOP    5u

/* Rounding and cut-offs always leave a little of reserved memory. */
#define LITTLE_UNUSED 0.10

/* ---- what was recorded ---------------------------------------------------------------------- */

/* "1,062 alloc, 970 free_requested, …", as the file names them. */
static void say_actions(const plim_inspected *self, const plim_device_inspection *device)
{
    const char *words = "";
    for (size_t i = 0; i < device->action_count; i++) {
        words = plim_page_text(self->page, "{}{}{} {}",
                               PLIM_FACTS(plim_words(words), plim_words(i > 0 ? ", " : ""),
                                          plim_count(NULL, device->actions[i].count),
                                          plim_words(device->actions[i].action)));
    }
    plim_page_note(self->page, "events_by_action", PLIM_TONE_FAINT, "{}",
                   PLIM_FACTS(plim_words(words)));
}

static void say_head(const plim_inspected *self, const plim_device_inspection *device)
{
    const plim_fact name =
        plim_toned(PLIM_TONE_HEADING, plim_words(plim_device_name(self->page, device->device)));
    const plim_fact events = plim_count_of("events", device->events, "event");
    plim_page_gap(self->page);
    if (device->events == 0) {
        plim_page_say(self->page, "device", PLIM_TONE_PLAIN,
                      "{}: no events, only the state at the end", PLIM_FACTS(name));
        return;
    }
    if (device->has_times) {
        plim_page_say(self->page, "device", PLIM_TONE_PLAIN, "{}: {} over {}",
                      PLIM_FACTS(name, events, plim_duration("duration_us", device->duration_us)));
    } else {
        plim_page_say(self->page, "device", PLIM_TONE_PLAIN, "{}: {}", PLIM_FACTS(name, events));
    }
    say_actions(self, device);
}

/* A word for the share of reserved memory that is unused. */
static const char *judge(double unused)
{
    if (unused < 0.0) {
        return "the file contradicts itself";
    }
    return unused < LITTLE_UNUSED      ? "hardly any unused"
           : unused < PLIM_MUCH_UNUSED ? "some unused"
                                       : "much unused";
}

/* The answer in one sentence: how much, and how much more was reserved for it. */
static void say_answer(const plim_inspected *self, const plim_device_inspection *device)
{
    plim_page *page = self->page;
    const plim_moment *peak = &device->peak;
    const plim_end_state *end = &device->end;
    const bool has_peak = device->events > 0;
    const uint64_t requested = has_peak ? peak->requested_bytes : end->requested_bytes;
    const uint64_t reserved = has_peak ? peak->reserved_bytes : end->reserved_bytes;
    const double unused = has_peak ? peak->fragmentation : end->fragmentation;
    const plim_tone tone =
        unused >= 0.0 && unused < PLIM_MUCH_UNUSED ? PLIM_TONE_PLAIN : PLIM_TONE_WARN;
    plim_page_gap(page);
    plim_page_say(
        page, "answer", PLIM_TONE_PLAIN, has_peak ? "Peak {}" : "In use {}",
        PLIM_FACTS(plim_toned(PLIM_TONE_HEADING, plim_bytes("requested_bytes", requested))));
    if (has_peak) {
        plim_page_more(page, " in {}",
                       PLIM_FACTS(plim_count_of("live_count", peak->live_count, "allocation")));
    }
    if (reserved == 0) {
        plim_page_more(
            page, "{}",
            PLIM_FACTS(plim_toned(PLIM_TONE_WARN, plim_words("; the file has no segments"))));
        return;
    }
    plim_page_more(page, ", {} reserved: {}",
                   PLIM_FACTS(plim_toned(PLIM_TONE_HEADING, plim_bytes("reserved_bytes", reserved)),
                              plim_toned(tone, plim_words(judge(unused)))));
    if (unused >= 0.0) {
        plim_page_more(page, " ({})",
                       PLIM_FACTS(plim_toned(tone, plim_percent("fragmentation", unused))));
    }
}

static uint64_t count_stackable(const plim_device_inspection *device)
{
    static const char *const with_stack[] = { "alloc", "free", "free_requested", "free_completed" };
    uint64_t count = 0;
    for (size_t i = 0; i < device->action_count; i++) {
        for (size_t j = 0; j < sizeof with_stack / sizeof with_stack[0]; j++) {
            if (strcmp(device->actions[i].action, with_stack[j]) == 0) {
                count += device->actions[i].count;
            }
        }
    }
    return count;
}

static bool knows_any_stack(const plim_moment *moment)
{
    for (size_t i = 0; i < moment->group_count; i++) {
        if (moment->groups[i].stack != PLIM_NONE) {
            return true;
        }
    }
    return false;
}

/* True for recordings of Plimsoll: they have no ring buffer, and lack events in the middle if any.
 */
static bool is_recording(const plim_history *history)
{
    return strcmp(plim_history_source(history).format, "plim") == 0;
}

/* The gaps of the recording, and their effect on the figures below. */
static void say_missing(const plim_inspected *self, const plim_device_inspection *device)
{
    const char *because = device->truncated_because;
    const plim_fact reason = plim_words(because != NULL ? because : "");
    if (device->truncated && is_recording(self->file->history)) {
        plim_page_warn(self->page, "events_missing",
                       "Events are missing{}{}. What they did is worked out from what followed.",
                       PLIM_FACTS(plim_words(because != NULL ? ": " : ""), reason));
    } else if (device->truncated) {
        plim_page_warn(
            self->page, "events_lost",
            "Earlier events are lost: the recorder's buffer was full{}{}. Memory allocated "
            "before has no history here.",
            PLIM_FACTS(plim_words(because != NULL ? "; " : ""), reason));
    } else if (device->late_start) {
        plim_page_warn(
            self->page, "late_start",
            "Recording began late: {} in {} were live before the first event.",
            PLIM_FACTS(plim_bytes("start_requested_bytes", device->start_requested_bytes),
                       plim_count_of("start_live_count", device->start_live_count, "allocation")));
    }
    const uint64_t stackable = count_stackable(device);
    if (device->events_without_stack > 0 && device->events_without_stack >= stackable) {
        plim_page_warn(self->page, "no_stacks",
                       knows_any_stack(&device->peak)
                           ? "No event has a stack; only blocks that stood at the end do."
                           : "No stacks were recorded, so the code that allocated is not known.",
                       NULL);
    } else if (device->events_without_stack > 0) {
        plim_page_warn(self->page, "stacks_missing",
                       "{} of {} alloc and free events have no stack.",
                       PLIM_FACTS(plim_count("events_without_stack", device->events_without_stack),
                                  plim_count("events_with_place_for_one", stackable)));
    }
}

/* ---- failures ------------------------------------------------------------------------------- */

/* The line that asked: "requested by model.py:47 in forward". */
static void say_oom_line(const plim_inspected *self, const plim_oom_moment *oom)
{
    const plim_history *history = self->file->history;
    const plim_stack_group group = { .stack = oom->stack, .user_frame = oom->user_frame };
    const uint32_t frame =
        oom->stack == PLIM_NONE ? PLIM_NONE : plim_stack_label_frame(history, &group);
    if (frame == PLIM_NONE) {
        return;
    }
    plim_page_note(
        self->page, "requested_by", PLIM_TONE_PLAIN, "Requested by {}.",
        PLIM_FACTS(plim_toned(PLIM_TONE_USER, plim_frame_words(self->page, "", history, frame,
                                                               self->view->full_paths))));
}

static void say_oom(const plim_inspected *self, const plim_device_inspection *device, size_t index)
{
    const plim_oom_moment *const oom = &device->ooms[index];
    const plim_failed_request request = plim_oom_request(device, index);
    const plim_failure failure = plim_failure_of(&request);
    const int64_t time_us = plim_inspect_oom_time(self->file, device, oom);
    const char *certainty = plim_certainty_name(failure.judgement.finding.certainty);
    char headline[PLIM_HEADLINE_BYTES];
    plim_verdict_headline(failure.judgement.verdict, plim_device_name(self->page, device->device),
                          headline, sizeof headline);
    plim_page_gap(self->page);
    plim_page_say(self->page, "out_of_memory", PLIM_TONE_FAINT, "{} ({}, {})",
                  PLIM_FACTS(plim_toned(PLIM_TONE_BAD, plim_words(headline)),
                             plim_words(plim_inspected_event(self, device->device, oom->event,
                                                             time_us, "at ")),
                             plim_words(certainty)));
    plim_page_note(self->page, "why", PLIM_TONE_PLAIN, "{}", PLIM_FACTS(plim_words(failure.why)));
    say_oom_line(self, oom);
}

static void say_ooms(const plim_inspected *self, const plim_device_inspection *device, size_t first)
{
    if (first > 0) {
        plim_page_gap(self->page);
        plim_page_say(self->page, "ooms", PLIM_TONE_BAD, "{} requests failed; the last {}:",
                      PLIM_FACTS(plim_count("oom_count", device->oom_count),
                                 plim_count("shown", OOMS_SHOWN)));
    }
    for (size_t i = first; i < device->oom_count; i++) {
        say_oom(self, device, i);
    }
    /* Unwinding frees for a while; a program that caught the error goes on. */
    const plim_oom_moment *last =
        device->oom_count > 0 ? &device->ooms[device->oom_count - 1] : NULL;
    if (last != NULL && last->event + 1 < device->events) {
        plim_page_note(
            self->page, "events_after", PLIM_TONE_FAINT, "{} came after.",
            PLIM_FACTS(plim_count_of("events_after", device->events - 1 - last->event, "event")));
    }
}

/* Two moments with the same live memory: one list of stacks serves both. */
static bool is_same_memory(const plim_moment *a, const plim_moment *b)
{
    return a->requested_bytes == b->requested_bytes && a->live_count == b->live_count &&
           a->reserved_bytes == b->reserved_bytes;
}

/* The same bars at each failure, shorter: who called whom was said at the peak. */
static void say_oom_parts(const plim_inspected *self, const plim_device_inspection *device,
                          size_t first)
{
    plim_inspect_view view = *self->view;
    view.top = view.top != 0 ? view.top : OOM_TOP;
    view.no_callers = true;
    plim_inspected brief = *self;
    brief.view = &view;
    for (size_t i = first; i < device->oom_count; i++) {
        const plim_moment *moment = &device->ooms[i].moment;
        const char *when = "When memory ran out";
        if (is_same_memory(&device->peak, moment) ||
            (moment->group_count == 0 && moment->live_count > 0)) { /* PLIM_OOM_GROUPS_MAX */
            continue;
        }
        if (device->oom_count > 1) {
            when = plim_page_text(self->page, "When memory ran out (OOM {})",
                                  PLIM_FACTS(plim_count(NULL, i + 1)));
        }
        plim_inspected_parts(&brief, moment, when);
    }
}

/* ---- a moment of one's choice, and what a filter lets pass ------------------------------------
 */

static void say_chosen(const plim_inspected *self, const plim_device_inspection *device)
{
    plim_page *const page = self->page;
    const plim_moment *const chosen = &device->chosen;
    if (device->no_chosen_because != NULL) {
        plim_page_warn(
            page, "no_such_moment", "--at {}: {}.",
            PLIM_FACTS(plim_words(self->view->at), plim_words(device->no_chosen_because)));
        return;
    }
    if (!device->has_chosen) {
        return;
    }
    const char *const when =
        chosen->event < 0 ? "before the first event"
                          : plim_inspected_event(self, device->device, (uint64_t)chosen->event,
                                                 chosen->time_us, "");
    plim_page_say(page, "chosen", PLIM_TONE_PLAIN, "At {} ({}{}",
                  PLIM_FACTS(plim_toned(PLIM_TONE_HEADING, plim_words(plim_inspected_at(self))),
                             plim_words(when),
                             plim_words(device->chosen_step != PLIM_NO_STEP ? ", in step " : "")));
    if (device->chosen_step != PLIM_NO_STEP) {
        plim_page_more(page, "{}", PLIM_FACTS(plim_plain("step", device->chosen_step)));
    }
    plim_page_more(page, "): {} in {}, {} reserved",
                   PLIM_FACTS(plim_toned(PLIM_TONE_HEADING,
                                         plim_bytes("requested_bytes", chosen->requested_bytes)),
                              plim_count_of("live_count", chosen->live_count, "allocation"),
                              plim_bytes("reserved_bytes", chosen->reserved_bytes)));
}

static const plim_moment *shown_moment(const plim_device_inspection *device)
{
    return device->has_chosen ? &device->chosen : &device->peak;
}

static const char *shown_name(const plim_inspected *self, const plim_device_inspection *device)
{
    if (device->has_chosen) {
        return plim_page_text(self->page, "At {}", PLIM_FACTS(plim_words(plim_inspected_at(self))));
    }
    return device->events > 0 ? "At the peak" : "At the end";
}

/* "Stacks with "forward": 3.10 of 7.20 GiB at the peak …". */
static void say_filter(const plim_inspected *self, const plim_device_inspection *device)
{
    const plim_moment *const moment = shown_moment(device);
    if (self->view->stack_pattern == NULL) {
        return;
    }
    plim_page_say(
        self->page, "stack_filter", PLIM_TONE_PLAIN,
        "Only stacks with \"{}\": {} of {} ({}) in {} of {} {}",
        PLIM_FACTS(
            plim_words(self->view->stack_pattern),
            plim_toned(PLIM_TONE_HEADING, plim_bytes("grouped_bytes", moment->grouped_bytes)),
            plim_bytes("requested_bytes", moment->requested_bytes),
            plim_percent("grouped_share",
                         plim_inspected_share(moment->grouped_bytes, moment->requested_bytes)),
            plim_count("grouped_count", moment->grouped_count),
            plim_count_of("live_count", moment->live_count, "allocation"),
            plim_words(device->has_chosen   ? "then"
                       : device->events > 0 ? "at the peak"
                                            : "at the end")));
}

void plim_inspected_device(const plim_inspected *self, const plim_device_inspection *device)
{
    const size_t first = device->oom_count > OOMS_SHOWN ? device->oom_count - OOMS_SHOWN : 0;
    say_head(self, device);
    say_missing(self, device);
    say_ooms(self, device, first);
    say_answer(self, device);
    say_chosen(self, device);
    say_filter(self, device);
    plim_inspected_end(self, device);
    plim_inspected_chart(self, device);
    plim_inspected_moments(self, device);
    plim_inspected_parts(self, shown_moment(device), shown_name(self, device));
    plim_inspected_categories(self, shown_moment(device), shown_name(self, device));
    if (!device->has_chosen) {
        say_oom_parts(self, device, first);
    }
    plim_inspected_never_freed(self, device);
    plim_inspected_pools(self, device);
}
