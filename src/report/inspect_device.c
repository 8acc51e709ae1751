/*
 * inspect_device.c - one device on the page: what was recorded, what is missing, the answer in one
 * sentence, and then the parts in the order of a reader's questions.
 */
#include "base/size.h"
#include "report/counted.h"
#include "report/inspect_page.h"
#include "report/line.h"
#include "report/paragraph.h"

#include <stdio.h>
#include <string.h>

#define OOMS_SHOWN 3u /* in words and as bars; the table of moments takes more */
#define OOM_TOP    5u

/* Rounding and cut-offs always leave a little of reserved memory. */
#define LITTLE_UNUSED 0.10

/* ---- what was recorded ---------------------------------------------------------------------- */

/* "1,062 alloc, 970 free_requested, …", as the file names them. */
static void write_actions(const plim_page *page, const plim_device_inspection *device)
{
    char words[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < device->action_count && used + 80 < sizeof words; i++) {
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s %.40s", i > 0 ? ", " : "",
                                 plim_format_count(device->actions[i].count).text,
                                 device->actions[i].action);
    }
    plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_FAINT, "", words);
}

static void write_head(const plim_page *page, const plim_device_inspection *device)
{
    char name[48];
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING,
                  plim_page_device_name(device->device, name, sizeof name));
    if (device->events == 0) {
        plim_line_add(&line, PLIM_TONE_PLAIN, ": no events, only the state at the end");
        plim_line_end(&line);
        return;
    }
    plim_line_format(&line, PLIM_TONE_PLAIN, ": %s", plim_counted(device->events, "event").text);
    if (device->has_times) {
        plim_line_format(&line, PLIM_TONE_PLAIN, " over %s",
                         plim_format_duration_us(device->duration_us).text);
    }
    plim_line_end(&line);
    write_actions(page, device);
}

/* What the share of reserved memory that is unused amounts to. */
static const char *judge(double unused)
{
    if (unused < 0.0) {
        return "the file contradicts itself";
    }
    return unused < LITTLE_UNUSED           ? "hardly any unused"
           : unused < PLIM_PAGE_MUCH_UNUSED ? "some unused"
                                            : "much unused";
}

/* The answer in one sentence: how much, and how much more was reserved for it. */
static void write_answer(const plim_page *page, const plim_device_inspection *device)
{
    const bool has_peak = device->events > 0;
    const uint64_t requested_bytes =
        has_peak ? device->peak.requested_bytes : device->end.requested_bytes;
    const uint64_t reserved_bytes =
        has_peak ? device->peak.reserved_bytes : device->end.reserved_bytes;
    const double unused = has_peak ? device->peak.fragmentation : device->end.fragmentation;
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_PLAIN, has_peak ? "Peak " : "In use ");
    plim_line_add(&line, PLIM_TONE_HEADING, plim_format_bytes(requested_bytes).text);
    if (has_peak) {
        plim_line_format(&line, PLIM_TONE_PLAIN, " in %s",
                         plim_counted(device->peak.live_count, "allocation").text);
    }
    if (reserved_bytes > 0) {
        const plim_tone tone =
            unused >= 0.0 && unused < PLIM_PAGE_MUCH_UNUSED ? PLIM_TONE_PLAIN : PLIM_TONE_WARN;
        plim_line_add(&line, PLIM_TONE_PLAIN, ", ");
        plim_line_add(&line, PLIM_TONE_HEADING, plim_format_bytes(reserved_bytes).text);
        plim_line_add(&line, PLIM_TONE_PLAIN, " reserved: ");
        plim_line_add(&line, tone, judge(unused));
        if (unused >= 0.0) {
            plim_line_format(&line, tone, " (%s)", plim_format_percent(unused).text);
        }
    } else {
        plim_line_add(&line, PLIM_TONE_WARN, "; the file has no segments");
    }
    plim_line_end(&line);
}

static void warn(const plim_page *page, const char *words)
{
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN,
                         plim_style_glyphs(page->style)->warning, words);
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

/* Whether it is one of ours: they have no ring buffer, and lack events in the middle if any. */
static bool is_recording(const plim_history *history)
{
    return strcmp(plim_history_source(history).format, "plim") == 0;
}

/* What the recording lacks, and what that means for the figures below. */
static void write_missing(const plim_page *page, const plim_device_inspection *device)
{
    char words[512];
    if (device->truncated && is_recording(page->file->history)) {
        snprintf(words, sizeof words,
                 "Events are missing%s%.200s. What they did is worked out from what followed.",
                 device->truncated_because != NULL ? ": " : "",
                 device->truncated_because != NULL ? device->truncated_because : "");
        warn(page, words);
    } else if (device->truncated) {
        snprintf(words, sizeof words,
                 "Earlier events are lost: the recorder's buffer was full%s%.200s. Memory "
                 "allocated before has no history here.",
                 device->truncated_because != NULL ? "; " : "",
                 device->truncated_because != NULL ? device->truncated_because : "");
        warn(page, words);
    } else if (device->late_start) {
        snprintf(words, sizeof words,
                 "Recording began late: %s in %s were live before the first event.",
                 plim_format_bytes(device->start_requested_bytes).text,
                 plim_counted(device->start_live_count, "allocation").text);
        warn(page, words);
    }
    const uint64_t stackable = count_stackable(device);
    if (device->events_without_stack > 0 && device->events_without_stack >= stackable) {
        warn(page, knows_any_stack(&device->peak)
                       ? "No event has a stack; only blocks that stood at the end do."
                       : "No stacks were recorded: who allocated what cannot be told.");
    } else if (device->events_without_stack > 0) {
        snprintf(words, sizeof words, "%s of %s alloc and free events have no stack.",
                 plim_format_count(device->events_without_stack).text,
                 plim_format_count(stackable).text);
        warn(page, words);
    }
}

/* ---- the device ----------------------------------------------------------------------------- */

/* Two moments with the same live memory: one list of stacks tells both. */
static bool is_same_memory(const plim_moment *a, const plim_moment *b)
{
    return a->requested_bytes == b->requested_bytes && a->live_count == b->live_count &&
           a->reserved_bytes == b->reserved_bytes;
}

static void write_ooms(const plim_page *page, const plim_device_inspection *device, size_t first)
{
    if (first > 0) {
        plim_text_append_char(page->out, '\n');
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_BAD,
                              "%zu requests failed; the last %u:", device->oom_count, OOMS_SHOWN);
    }
    for (size_t i = first; i < device->oom_count; i++) {
        plim_text_append_char(page->out, '\n');
        plim_page_oom(page, device, &device->ooms[i]);
    }
    /* Unwinding frees for a while; a program that caught the error goes on. */
    const plim_oom_moment *last =
        device->oom_count > 0 ? &device->ooms[device->oom_count - 1] : NULL;
    if (last != NULL && last->event + 1 < device->events) {
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_FAINT, "%s came after.",
                              plim_counted(device->events - 1 - last->event, "event").text);
    }
}

/* The same bars at each failure, shorter: who called whom was said at the peak. */
static void write_oom_parts(const plim_page *page, const plim_device_inspection *device,
                            size_t first)
{
    plim_inspect_view view = *page->view;
    view.top = view.top != 0 ? view.top : OOM_TOP;
    view.no_callers = true;
    plim_page brief = *page;
    brief.view = &view;
    for (size_t i = first; i < device->oom_count; i++) {
        const plim_moment *moment = &device->ooms[i].moment;
        char when[64] = "When memory ran out";
        if (is_same_memory(&device->peak, moment) ||
            (moment->group_count == 0 && moment->live_count > 0)) { /* PLIM_OOM_GROUPS_MAX */
            continue;
        }
        if (device->oom_count > 1) {
            snprintf(when, sizeof when, "When memory ran out (OOM %zu)", i + 1);
        }
        plim_page_parts(&brief, moment, when);
    }
}

void plim_page_device(const plim_page *page, const plim_device_inspection *device)
{
    const size_t first = device->oom_count > OOMS_SHOWN ? device->oom_count - OOMS_SHOWN : 0;
    write_head(page, device);
    write_missing(page, device);
    write_ooms(page, device, first);
    write_answer(page, device);
    plim_page_chart(page, device);
    plim_page_moments(page, device);
    plim_page_parts(page, &device->peak, device->events > 0 ? "At the peak" : "At the end");
    write_oom_parts(page, device, first);
    plim_page_pools(page, device);
}
