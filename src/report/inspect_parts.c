/*
 * inspect_parts.c - what held the memory at one moment: a bar for each part, adding up to all of
 * it.
 *
 *    195 MiB   21%  ████████▌           8x  softmax.py:14 in forward
 *                                           <- attention.py:37 in forward <- model.py:47 in forward
 */
#include "base/size.h"
#include "report/bars.h"
#include "report/composition.h"
#include "report/counted.h"
#include "report/frame_text.h"
#include "report/inspect_page.h"
#include "report/line.h"
#include "report/stack_text.h"

#include <stdio.h>
#include <string.h>

#define INDENT        2u
#define SIZE_COLUMNS  8u
#define SHARE_COLUMNS 6u
#define COUNT_COLUMNS 4u /* at least */
#define FRAME_INDENT  6u
#define CALLERS_SHOWN 3u

/* One composition while it is drawn. */
typedef struct drawing {
    const plim_page *page;
    plim_text scratch;    /* a frame's text, which may hold any bytes, zeros too */
    uint64_t total_bytes; /* a full bar */
    bool marks_before;    /* say what is older than the recording: not where all of it is */
    uint32_t bar_columns;
    uint32_t count_columns;
    uint32_t label_column; /* where words begin */
} drawing;

/* Narrow pages have shorter bars: whose line it was matters more. */
static uint32_t choose_bar_columns(uint32_t width)
{
    return width >= 90 ? 16 : width >= 75 ? 12 : 6;
}

static void measure(drawing *draw, const plim_composition *whole)
{
    draw->bar_columns = choose_bar_columns(plim_style_width(draw->page->style));
    draw->count_columns = COUNT_COLUMNS;
    for (size_t i = 0; i < whole->part_count; i++) {
        const uint32_t columns =
            (uint32_t)strlen(plim_format_count(whole->parts[i].count).text) + 1;
        draw->count_columns = columns > draw->count_columns ? columns : draw->count_columns;
    }
    draw->label_column = INDENT + SIZE_COLUMNS + 1 + SHARE_COLUMNS + 2 + draw->bar_columns + 1 +
                         draw->count_columns + 2;
}

/* The frame's text, in the scratch until the next call. */
static void make_frame(drawing *draw, uint32_t frame)
{
    const plim_page *page = draw->page;
    plim_text_reset(&draw->scratch);
    plim_frame_text_add(&draw->scratch, page->file->history, frame, page->view->full_paths);
    if (draw->scratch.status == PLIM_OUT_OF_HOST_MEMORY) { /* PLIM_LIMIT: no line is that long */
        page->out->status = PLIM_OUT_OF_HOST_MEMORY;
    }
}

static void add_frame(drawing *draw, plim_line *line, plim_tone tone, uint32_t frame)
{
    make_frame(draw, frame);
    plim_line_add_bytes(line, tone, plim_text_string(&draw->scratch), draw->scratch.length);
}

static plim_tone frame_tone(const plim_page *page, uint32_t frame)
{
    return plim_stack_frame_is_user(page->file->history, frame) ? PLIM_TONE_USER : PLIM_TONE_FAINT;
}

/* "(12 from before, 3 stacks)": what one frame cannot say of a part. */
static void add_remarks(const drawing *draw, plim_line *line, const plim_part *part)
{
    char stacks[80] = "";
    char before[80] = "";
    if (part->group_count > 1) {
        snprintf(stacks, sizeof stacks, "%s", plim_counted(part->group_count, "stack").text);
    }
    if (draw->marks_before && part->before_count == part->count) {
        snprintf(before, sizeof before, "from before");
    } else if (draw->marks_before && part->before_count > 0) {
        snprintf(before, sizeof before, "%s from before",
                 plim_format_count(part->before_count).text);
    }
    if (stacks[0] != '\0' || before[0] != '\0') {
        plim_line_format(line, PLIM_TONE_FAINT, " (%s%s%s)", before,
                         stacks[0] != '\0' && before[0] != '\0' ? ", " : "", stacks);
    }
}

static void add_label(drawing *draw, plim_line *line, const plim_part *part)
{
    const uint32_t frame = plim_stack_label_frame(draw->page->file->history, part->group);
    if (frame == PLIM_NONE) {
        plim_line_add(line, PLIM_TONE_FAINT, "no stack recorded");
    } else {
        if (part->by_free_count == part->count) {
            plim_line_add(line, PLIM_TONE_FAINT, "freed at ");
        }
        add_frame(draw, line, frame_tone(draw->page, frame), frame);
    }
    add_remarks(draw, line, part);
}

static void add_description(drawing *draw, plim_line *line, const plim_part *part)
{
    switch (part->kind) {
    case PLIM_PART_STACKS:
        add_label(draw, line, part);
        break;
    case PLIM_PART_OTHERS:
        plim_line_format(line, PLIM_TONE_PLAIN, "%s more",
                         plim_counted(part->group_count, "stack").text);
        break;
    case PLIM_PART_ROUNDING:
        plim_line_add(line, PLIM_TONE_FAINT, "rounding up to block sizes");
        break;
    case PLIM_PART_PENDING:
        plim_line_add(line, PLIM_TONE_FAINT, "freed, waiting for another stream");
        break;
    case PLIM_PART_FREE:
        plim_line_add(line, PLIM_TONE_FAINT, "reserved, not in use");
        break;
    }
}

static void write_part(drawing *draw, const plim_part *part)
{
    const plim_page *page = draw->page;
    const uint64_t total_bytes = draw->total_bytes;
    const bool is_free = part->kind == PLIM_PART_FREE;
    const double share = total_bytes > 0 ? (double)part->bytes / (double)total_bytes : 0.0;
    plim_line line = plim_line_begin(page->out, page->style, INDENT);
    plim_line_add_cell(&line, PLIM_TONE_HEADING, plim_format_bytes(part->bytes).text, SIZE_COLUMNS,
                       PLIM_ALIGN_RIGHT);
    plim_line_to(&line, line.used + 1);
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, plim_format_percent(share).text, SHARE_COLUMNS,
                       PLIM_ALIGN_RIGHT);
    plim_line_to(&line, line.used + 2);
    plim_bar_add(&line, is_free ? PLIM_BAR_SHADE : PLIM_BAR_SOLID, part->bytes, total_bytes,
                 draw->bar_columns);
    plim_line_to(&line, line.used + 1);
    if (part->count > 0) {
        char count[48];
        snprintf(count, sizeof count, "%s%s", plim_format_count(part->count).text,
                 plim_style_glyphs(page->style)->times);
        plim_line_add_cell(&line, PLIM_TONE_FAINT, count, draw->count_columns, PLIM_ALIGN_RIGHT);
    }
    plim_line_to(&line, draw->label_column);
    add_description(draw, &line, part);
    plim_line_end(&line);
}

/* One line: who called the line that speaks for the stack. */
static void write_callers(drawing *draw, const plim_part *part)
{
    uint32_t places[PLIM_STACK_CONTEXT_MAX];
    const plim_page *page = draw->page;
    const uint32_t count =
        plim_stack_callers(page->file->history, part->group, CALLERS_SHOWN, places);
    if (count == 0) {
        return;
    }
    const plim_stack stack = plim_history_stack(page->file->history, part->group->stack);
    const char *from = plim_style_glyphs(page->style)->from;
    plim_line line = plim_line_begin(page->out, page->style, draw->label_column);
    for (uint32_t i = 0; i < count; i++) {
        make_frame(draw, stack.frames[places[i]]);
        const char *text = plim_text_string(&draw->scratch);
        const uint32_t needed =
            plim_style_columns(page->style, text) + plim_style_columns(page->style, from) + 2;
        /* The first caller is cut if it must be; more are named only where they fit. */
        if (i > 0 && needed > plim_line_left(&line)) {
            break;
        }
        plim_line_format(&line, PLIM_TONE_FAINT, "%s%s ", i > 0 ? " " : "", from);
        plim_line_add_bytes(&line, PLIM_TONE_FAINT, text, draw->scratch.length);
    }
    plim_line_end(&line);
}

/* The frames asked for, a line each, innermost first; the window contains the label. */
static void write_frames(drawing *draw, const plim_part *part)
{
    const plim_page *page = draw->page;
    const plim_history *history = page->file->history;
    const plim_stack stack = plim_history_stack(history, part->group->stack);
    const uint32_t label = plim_stack_label_place(history, part->group);
    const uint32_t shown =
        page->view->frames < stack.frame_count ? page->view->frames : stack.frame_count;
    /* A third of the frames within the label's line, the others outside, where the story is. */
    uint32_t first = label == PLIM_NONE || label < shown / 3 ? 0 : label - shown / 3;
    first = first > stack.frame_count - shown ? stack.frame_count - shown : first;
    for (uint32_t i = first; i < first + shown; i++) {
        plim_line line = plim_line_begin(page->out, page->style, FRAME_INDENT);
        add_frame(draw, &line, frame_tone(page, stack.frames[i]), stack.frames[i]);
        plim_line_end(&line);
    }
    if (shown < stack.frame_count) {
        plim_line line = plim_line_begin(page->out, page->style, FRAME_INDENT);
        plim_line_format(&line, PLIM_TONE_FAINT, "(%s more)",
                         plim_counted(stack.frame_count - shown, "frame").text);
        plim_line_end(&line);
    }
}

void plim_page_parts(const plim_page *page, const plim_moment *moment, const char *when)
{
    if (moment->reserved_bytes == 0 && moment->requested_bytes == 0) {
        return;
    }
    const plim_inspect_view *view = page->view;
    plim_composition whole;
    if (!plim_composition_init(page->mem, page->file->history, moment,
                               view->top != 0 ? view->top : PLIM_INSPECT_TOP_DEFAULT,
                               view->frames == 0, &whole)) {
        page->out->status = PLIM_OUT_OF_HOST_MEMORY;
        return;
    }
    char heading[96];
    const bool is_reserved = moment->reserved_bytes > 0; /* a file may have no segments */
    snprintf(heading, sizeof heading, "%s, %s %s", when,
             plim_format_bytes(is_reserved ? moment->reserved_bytes : whole.total_bytes).text,
             is_reserved ? "reserved" : "in use");
    plim_page_heading(page, heading);

    drawing draw = { .page = page,
                     .total_bytes = whole.total_bytes,
                     .marks_before = moment->event >= 0 };
    measure(&draw, &whole);
    plim_text_init(&draw.scratch, page->mem, PLIM_PAGE_SCRATCH_BYTES_MAX);
    for (size_t i = 0; i < whole.part_count; i++) {
        const plim_part *part = &whole.parts[i];
        write_part(&draw, part);
        if (part->kind != PLIM_PART_STACKS) {
            continue;
        }
        if (view->frames > 0) {
            write_frames(&draw, part);
        } else if (!view->no_callers) {
            write_callers(&draw, part);
        }
    }
    plim_text_deinit(&draw.scratch);
    plim_composition_deinit(&whole);
}
