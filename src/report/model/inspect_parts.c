/*
 * inspect_parts.c - what pages of an inspection are made of: names and times, and what held the
 * memory at one moment, a bar for each part, adding up to all of it.
 *
 *   195 MiB 21.0% ████████▌        8× softmax.py:14 in forward
 *                                     ← attention.py:37 in forward ← model.py:47 in forward
 */
#include "report/model/inspect_parts.h"

#include "report/model/composition.h"
#include "report/model/frame_text.h"
#include "report/model/stack_text.h"

#include <string.h>

#define FRAME_INDENT  6u
#define CALLERS_SHOWN 3u

/* ---- facts ---------------------------------------------------------------------------------- */

int64_t plim_inspect_oom_time(const plim_inspect_file *file, const plim_device_inspection *device,
                              const plim_oom_moment *oom)
{
    const plim_events *events = plim_events_of(file->history, device->device);
    return events != NULL && oom->event < events->count ? events->time_us[oom->event]
                                                        : oom->moment.time_us;
}

bool plim_inspect_shows(const plim_inspect_view *view, const plim_device_inspection *device)
{
    return !view->one_device || device->device == view->device;
}

bool plim_inspect_has_memory(const plim_device_inspection *device)
{
    return device->events > 0 || device->end.segments > 0;
}

const char *plim_device_name(plim_page *page, int32_t device)
{
    return device == PLIM_HOST_DEVICE
               ? "Pinned host memory"
               : plim_page_text(page, "GPU {}", PLIM_FACTS(plim_id("device", device)));
}

const char *plim_inspected_at(const plim_inspected *self)
{
    static const char *const plain[] = { "peak", "start", "end" };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(self->view->at, plain[i]) == 0) {
            return plim_page_text(self->page, "the {}", PLIM_FACTS(plim_words(plain[i])));
        }
    }
    return self->view->at;
}

const char *plim_inspected_event(const plim_inspected *self, int32_t device, uint64_t event,
                                 int64_t time_us, const char *at)
{
    const plim_events *events = plim_events_of(self->file->history, device);
    if (events == NULL || events->count == 0 || time_us == PLIM_TIME_UNKNOWN ||
        events->time_us[0] == PLIM_TIME_UNKNOWN || time_us < events->time_us[0]) {
        return plim_page_text(self->page, "event {}", PLIM_FACTS(plim_count(NULL, event)));
    }
    const uint64_t since_us = (uint64_t)time_us - (uint64_t)events->time_us[0];
    return plim_page_text(
        self->page, "event {}, {}{}",
        PLIM_FACTS(plim_count(NULL, event), plim_words(at), plim_duration(NULL, since_us)));
}

/* ---- what a moment is made of ---------------------------------------------------------------- */

/* One composition while it is written. */
typedef struct telling {
    const plim_inspected *self;
    plim_page *page;
    uint64_t total_bytes; /* a full bar */
    bool marks_before;    /* say what is older than the recording: not where all of it is */
    const plim_device_inspection *births_of; /* say when a part was allocated; NULL: not */
} telling;

static plim_fact frame_after(const telling *tell, const char *words, uint32_t frame)
{
    return plim_frame_words(tell->page, words, tell->self->file->history, frame,
                            tell->self->view->full_paths);
}

static plim_tone frame_tone(const telling *tell, uint32_t frame)
{
    return plim_stack_frame_is_user(tell->self->file->history, frame) ? PLIM_TONE_USER
                                                                      : PLIM_TONE_FAINT;
}

/* " (12 from before, 3 stacks)": what one frame cannot say of a part. */
static const char *remarks_on(const telling *tell, const plim_composition_part *part)
{
    const char *stacks = "";
    const char *before = "";
    if (part->group_count > 1) {
        stacks = plim_page_text(tell->page, "{}",
                                PLIM_FACTS(plim_count_of(NULL, part->group_count, "stack")));
    }
    if (tell->marks_before && part->before_count == part->count) {
        before = "from before";
    } else if (tell->marks_before && part->before_count > 0) {
        before = plim_page_text(tell->page, "{} from before",
                                PLIM_FACTS(plim_count(NULL, part->before_count)));
    }
    if (*stacks == '\0' && *before == '\0') {
        return "";
    }
    return plim_page_text(tell->page, " ({}{}{})",
                          PLIM_FACTS(plim_words(before),
                                     plim_words(*stacks != '\0' && *before != '\0' ? ", " : ""),
                                     plim_words(stacks)));
}

static void add_stacks(const telling *tell, const plim_composition_part *part)
{
    const plim_fact remarks = plim_words(remarks_on(tell, part));
    const uint32_t frame = plim_stack_label_frame(tell->self->file->history, part->group);
    if (frame == PLIM_NONE) {
        plim_page_cell_text(tell->page, PLIM_TONE_FAINT, "no stack recorded{}",
                            PLIM_FACTS(remarks));
        return;
    }
    const bool is_freed = part->by_free_count == part->count;
    plim_page_cell_text(
        tell->page, PLIM_TONE_FAINT, is_freed ? "freed at {}{}" : "{}{}",
        PLIM_FACTS(plim_toned(frame_tone(tell, frame), frame_after(tell, "", frame)), remarks));
}

static void add_description(const telling *tell, const plim_composition_part *part)
{
    static const char *const words[] = {
        [PLIM_PART_FILTERED] = "stacks that do not match, or no stack",
        [PLIM_PART_ROUNDING] = "rounding up to block sizes",
        [PLIM_PART_PENDING] = "freed, waiting for another stream",
        [PLIM_PART_FREE] = "reserved, not in use",
    };
    switch (part->kind) {
    case PLIM_PART_STACKS:
        add_stacks(tell, part);
        break;
    case PLIM_PART_OTHERS:
        plim_page_cell_text(tell->page, PLIM_TONE_PLAIN, "{} more",
                            PLIM_FACTS(plim_count_of("stacks", part->group_count, "stack")));
        break;
    case PLIM_PART_FILTERED:
    case PLIM_PART_ROUNDING:
    case PLIM_PART_PENDING:
    case PLIM_PART_FREE:
        plim_page_cell_text(tell->page, PLIM_TONE_FAINT, words[part->kind], NULL);
        break;
    }
}

static void add_part(const telling *tell, const plim_composition_part *part)
{
    const bool is_free = part->kind == PLIM_PART_FREE;
    const double total = (double)tell->total_bytes;
    plim_page_cell(tell->page, PLIM_TONE_HEADING, plim_bytes(NULL, part->bytes));
    plim_page_cell(tell->page, PLIM_TONE_PLAIN,
                   plim_percent(NULL, total > 0 ? (double)part->bytes / total : 0));
    plim_page_cell_bar(tell->page, is_free ? PLIM_TONE_UNUSED : PLIM_TONE_IN_USE, part->bytes,
                       tell->total_bytes);
    if (part->count > 0) {
        plim_page_cell_text(tell->page, PLIM_TONE_FAINT, "{}×",
                            PLIM_FACTS(plim_count(NULL, part->count)));
    } else {
        plim_page_cell_text(tell->page, PLIM_TONE_FAINT, "", NULL);
    }
    add_description(tell, part);
}

void plim_page_callers(plim_page *page, const plim_history *history, const plim_stack_group *group,
                       bool full)
{
    uint32_t places[PLIM_STACK_CONTEXT_MAX];
    const uint32_t count = plim_stack_callers(history, group, CALLERS_SHOWN, places);
    if (count == 0) {
        return;
    }
    const plim_stack stack = plim_history_stack(history, group->stack);
    plim_fact callers[CALLERS_SHOWN] = { { 0 } };
    for (uint32_t i = 0; i < count; i++) {
        callers[i] = plim_apart(
            plim_frame_words(page, i > 0 ? " ← " : "← ", history, stack.frames[places[i]], full));
    }
    plim_item *line = plim_page_below(page, PLIM_TONE_FAINT, "{}{}{}",
                                      PLIM_FACTS(callers[0], callers[1], callers[2]));
    line->indent = PLIM_INDENT_LAST;
    line->layout = PLIM_LAYOUT_FIT;
}

/* The requested frames, a line each, innermost first; the window contains the label. */
static void add_frames(const telling *tell, const plim_composition_part *part)
{
    const plim_history *history = tell->self->file->history;
    const plim_stack stack = plim_history_stack(history, part->group->stack);
    const uint32_t label = plim_stack_label_place(history, part->group);
    const uint32_t wanted = tell->self->view->frames;
    const uint32_t shown = wanted < stack.frame_count ? wanted : stack.frame_count;
    /* A third of the frames within the label's line, the others outside, where the story is. */
    uint32_t first = label == PLIM_NONE || label < shown / 3 ? 0 : label - shown / 3;
    first = first > stack.frame_count - shown ? stack.frame_count - shown : first;
    for (uint32_t i = first; i < first + shown; i++) {
        plim_page_below(tell->page, frame_tone(tell, stack.frames[i]), "{}",
                        PLIM_FACTS(frame_after(tell, "", stack.frames[i])))
            ->indent = FRAME_INDENT;
    }
    if (shown < stack.frame_count) {
        plim_page_below(tell->page, PLIM_TONE_FAINT, "({} more)",
                        PLIM_FACTS(plim_count_of(NULL, stack.frame_count - shown, "frame")))
            ->indent = FRAME_INDENT;
    }
}

/* One line: the first and the last alloc of a part. */
static void add_births(const telling *tell, const plim_composition_part *part)
{
    const int32_t device = tell->births_of->device;
    const plim_events *const events = plim_events_of(tell->self->file->history, device);
    if (part->first_born < 0 || events == NULL || (uint64_t)part->last_born >= events->count) {
        return;
    }
    const char *words = plim_inspected_event(tell->self, device, (uint64_t)part->first_born,
                                             events->time_us[part->first_born], "");
    if (part->last_born > part->first_born) {
        words = plim_page_text(
            tell->page, "from {} to {}",
            PLIM_FACTS(plim_words(words), plim_words(plim_inspected_event(
                                              tell->self, device, (uint64_t)part->last_born,
                                              events->time_us[part->last_born], ""))));
    }
    plim_item *const line = plim_page_below(tell->page, PLIM_TONE_FAINT,
                                            part->last_born > part->first_born ? "{}" : "at {}",
                                            PLIM_FACTS(plim_words(words)));
    line->indent = PLIM_INDENT_LAST;
}

static void tell_parts(const telling *tell, const plim_composition *whole)
{
    static const plim_column columns[] = {
        { "size", PLIM_ALIGN_RIGHT, 0, 8 }, { "share", PLIM_ALIGN_RIGHT, 0, 5 },
        { "bar", PLIM_ALIGN_BAR, 0, 16 },   { "times", PLIM_ALIGN_RIGHT, 0, 3 },
        { "what", PLIM_ALIGN_REST, 0, 0 },
    };
    plim_page_table(tell->page, "parts", columns, sizeof columns / sizeof columns[0])
        ->table.hides_titles = true;
    for (size_t i = 0; i < whole->part_count; i++) {
        const plim_composition_part *part = &whole->parts[i];
        add_part(tell, part);
        if (part->kind == PLIM_PART_STACKS && tell->self->view->frames > 0) {
            add_frames(tell, part);
        } else if (part->kind == PLIM_PART_STACKS && !tell->self->view->no_callers) {
            plim_page_callers(tell->page, tell->self->file->history, part->group,
                              tell->self->view->full_paths);
        }
        if (part->kind == PLIM_PART_STACKS && tell->births_of != NULL) {
            add_births(tell, part);
        }
    }
}

/* False: no memory, and the page has failed. */
static bool take_apart(const plim_inspected *self, const plim_moment *moment, plim_composition *ret)
{
    const plim_inspect_view *const view = self->view;
    const bool done = plim_composition_init(self->page->arena.mem, self->file->history, moment,
                                            view->top != 0 ? view->top : PLIM_INSPECT_TOP_DEFAULT,
                                            view->frames == 0, ret);
    if (!done) {
        self->page->status = PLIM_OUT_OF_HOST_MEMORY;
    }
    return done;
}

void plim_inspected_parts(const plim_inspected *self, const plim_moment *moment, const char *when)
{
    if (moment->reserved_bytes == 0 && moment->requested_bytes == 0) {
        return;
    }
    plim_composition whole;
    if (!take_apart(self, moment, &whole)) {
        return;
    }
    const bool is_reserved = moment->reserved_bytes > 0; /* a file may have no segments */
    plim_page_heading(
        self->page, is_reserved ? "{}, {} reserved" : "{}, {} in use",
        PLIM_FACTS(plim_words(when),
                   plim_bytes(is_reserved ? "reserved_bytes" : "in_use_bytes",
                              is_reserved ? moment->reserved_bytes : whole.total_bytes)));
    telling tell = { .self = self,
                     .page = self->page,
                     .total_bytes = whole.total_bytes,
                     .marks_before = moment->event >= 0 };
    tell_parts(&tell, &whole);
    plim_composition_deinit(&whole);
}

void plim_inspected_births(const plim_inspected *self, const plim_device_inspection *device,
                           const plim_moment *moment)
{
    plim_composition whole;
    if (!take_apart(self, moment, &whole)) {
        return;
    }
    const telling tell = {
        .self = self, .page = self->page, .total_bytes = whole.total_bytes, .births_of = device
    };
    tell_parts(&tell, &whole);
    plim_composition_deinit(&whole);
}
