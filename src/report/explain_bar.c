/*
 * explain_bar.c - the device as one bar, and the request that failed below it.
 *
 *   |▒▒▒▒▒████████████████████████████████░░░░░░      | 23.7 GiB
 *                     requested 4.00 GiB  ━━━━━━━━━━━━━━━━━━
 *
 *   elsewhere, allocated, cached, free: in this order, so that what the request could have had, if
 *   all of it were one piece, is one stretch. The request begins where it begins; what reaches
 *   beyond the bar is what was missing.
 *
 * Nothing is drawn that the text does not say: without a size of the device (or of a limit in its
 * place) there is no bar, only the figures.
 */
#include "base/numbers.h"
#include "base/size.h"
#include "report/explain_page.h"
#include "report/explain_words.h"
#include "report/term/bars.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <stdio.h>

#define INDENT        2u
#define LABEL_COLUMNS 12u /* " 23.7 GiB" behind the bar, and a little air */

enum { PART_ELSEWHERE, PART_LIVE, PART_CACHED, PART_FREE, PART_COUNT };

typedef struct bar_part {
    const char *name; /* NULL: there is none */
    uint64_t bytes;
    uint32_t columns;
} bar_part;

typedef struct device_bar {
    bar_part parts[PART_COUNT];
    uint64_t total_bytes;   /* of the device, or of the limit that takes its place */
    uint64_t request_bytes; /* PLIM_BYTES_UNKNOWN: not known */
    uint64_t limit_bytes;   /* below the device; or PLIM_BYTES_UNKNOWN */
    uint64_t end_bytes;     /* where the bar ends: its total, or more where a device spilled */
    bool is_limit;          /* the bar is a limit, not a device */
    bool is_free_known;
    bool is_request_cut;
    uint64_t scale_bytes; /* what all columns together stand for */
    uint32_t columns;
} device_bar;

static bool has(const plim_oom_message *message, plim_figure_id id)
{
    return message->request.figures[id].bytes != PLIM_BYTES_UNKNOWN;
}

static uint64_t figure(const plim_oom_message *message, plim_figure_id id)
{
    return message->request.figures[id].bytes;
}

/* ---- what the parts are --------------------------------------------------------------------- */

/* What the allocator holds: live and cached, or as much of it as the text tells. */
static void fill_held(const plim_oom_message *message, device_bar *bar)
{
    bar_part *live = &bar->parts[PART_LIVE];
    bar_part *cached = &bar->parts[PART_CACHED];
    const uint64_t reserved = figure(message, PLIM_FIGURE_RESERVED);
    const uint64_t unused = figure(message, PLIM_FIGURE_RESERVED_UNALLOCATED);
    if (has(message, PLIM_FIGURE_ALLOCATED)) {
        *live = (bar_part){ .name = "allocated", .bytes = figure(message, PLIM_FIGURE_ALLOCATED) };
    } else if (reserved != PLIM_BYTES_UNKNOWN && unused != PLIM_BYTES_UNKNOWN) {
        *live = (bar_part){ .name = "allocated", .bytes = plim_minus(reserved, unused) };
    } else if (reserved != PLIM_BYTES_UNKNOWN) {
        *live = (bar_part){ .name = "reserved", .bytes = reserved };
        return;
    } else if (has(message, PLIM_FIGURE_PROCESS)) {
        *live = (bar_part){ .name = "this process", .bytes = figure(message, PLIM_FIGURE_PROCESS) };
        return;
    }
    if (unused != PLIM_BYTES_UNKNOWN) {
        *cached = (bar_part){ .name = "cached, unused", .bytes = unused };
    } else if (reserved != PLIM_BYTES_UNKNOWN) {
        *cached =
            (bar_part){ .name = "cached, unused", .bytes = plim_minus(reserved, live->bytes) };
    }
}

/* Other processes that the text names, without the one that is this very process. */
static uint64_t sum_of_others(const plim_oom_message *message)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < message->request.process_count; i++) {
        const plim_process_figure *process = &message->request.processes[i];
        if (!process->is_this && process->bytes != PLIM_BYTES_UNKNOWN) {
            sum = plim_plus(sum, process->bytes);
        }
    }
    return sum;
}

/* Who holds most of it: other processes, or this one's own context and libraries. */
static const char *name_elsewhere(const plim_oom_message *message, uint64_t elsewhere,
                                  uint64_t held)
{
    const double named = (double)sum_of_others(message);
    double others = named;
    if (has(message, PLIM_FIGURE_PROCESS)) {
        const uint64_t outside = plim_minus(figure(message, PLIM_FIGURE_PROCESS), held);
        const double derived = (double)plim_minus(elsewhere, outside);
        others = derived > named ? derived : named;
    }
    return others >= 0.75 * (double)elsewhere ? "other processes" : "elsewhere";
}

/* What is neither held here nor free. */
static void fill_elsewhere(const plim_oom_message *message, device_bar *bar)
{
    const uint64_t held = plim_plus(bar->parts[PART_LIVE].bytes, bar->parts[PART_CACHED].bytes);
    const uint64_t others = sum_of_others(message);
    bar_part *elsewhere = &bar->parts[PART_ELSEWHERE];
    if (has(message, PLIM_FIGURE_OTHER_ALLOCATIONS)) {
        *elsewhere = (bar_part){ .name = "other allocations",
                                 .bytes = figure(message, PLIM_FIGURE_OTHER_ALLOCATIONS) };
    } else if (bar->is_free_known && !bar->is_limit) {
        const uint64_t free_bytes = bar->parts[PART_FREE].bytes;
        elsewhere->bytes = plim_minus(plim_minus(bar->total_bytes, free_bytes), held);
        elsewhere->name = bar->parts[PART_LIVE].name == NULL
                              ? "in use"
                              : name_elsewhere(message, elsewhere->bytes, held);
    } else if (others > 0 && !bar->is_limit) {
        *elsewhere = (bar_part){ .name = "other processes", .bytes = others };
    }
}

static void fill_free(const plim_oom_message *message, device_bar *bar)
{
    bar_part *rest = &bar->parts[PART_FREE];
    bar->is_free_known = has(message, PLIM_FIGURE_FREE);
    if (bar->is_free_known) {
        *rest = (bar_part){ .name = "free", .bytes = figure(message, PLIM_FIGURE_FREE) };
    }
}

/* The rest of a device is free or somebody's; of a limit it is what was left of it. */
static void fill_rest(device_bar *bar)
{
    if (bar->is_free_known) {
        return;
    }
    uint64_t used = 0;
    for (int i = 0; i < PART_FREE; i++) {
        used = plim_plus(used, bar->parts[i].bytes);
    }
    bar->parts[PART_FREE] = (bar_part){ .name = bar->is_limit ? "left" : "free or elsewhere",
                                        .bytes = plim_minus(bar->total_bytes, used) };
    bar->is_free_known = bar->is_limit;
}

static bool fill(const plim_oom_message *message, device_bar *bar)
{
    *bar = (device_bar){ .limit_bytes = PLIM_BYTES_UNKNOWN };
    bar->is_limit = !has(message, PLIM_FIGURE_TOTAL);
    bar->total_bytes = figure(message, bar->is_limit ? PLIM_FIGURE_LIMIT : PLIM_FIGURE_TOTAL);
    if (bar->total_bytes == PLIM_BYTES_UNKNOWN || bar->total_bytes == 0) {
        return false;
    }
    if (!bar->is_limit && figure(message, PLIM_FIGURE_LIMIT) < bar->total_bytes) {
        bar->limit_bytes = figure(message, PLIM_FIGURE_LIMIT);
    }
    bar->request_bytes =
        figure(message, has(message, PLIM_FIGURE_REQUESTED) ? PLIM_FIGURE_REQUESTED
                                                            : PLIM_FIGURE_REQUESTED_FROM_SHAPE);
    fill_held(message, bar);
    fill_free(message, bar);
    fill_elsewhere(message, bar);
    fill_rest(bar);
    bool is_anything_known = bar->is_free_known || bar->request_bytes != PLIM_BYTES_UNKNOWN;
    for (int i = 0; i < PART_FREE; i++) {
        is_anything_known = is_anything_known || bar->parts[i].name != NULL;
    }
    return is_anything_known;
}

/* ---- columns -------------------------------------------------------------------------------- */

static uint64_t used_before_request(const device_bar *bar)
{
    return bar->is_free_known
               ? plim_plus(bar->parts[PART_ELSEWHERE].bytes, bar->parts[PART_LIVE].bytes)
               : 0; /* nobody knows where it would have gone: only its size */
}

/*
 * Scale bar and request so that both are seen whole; a request beyond twice the bar is cut, and
 * says so.
 */
static void lay_out(device_bar *bar, uint32_t columns)
{
    uint64_t sum = 0;
    for (int i = 0; i < PART_COUNT; i++) {
        sum = plim_plus(sum, bar->parts[i].bytes);
    }
    const uint64_t base = sum > bar->total_bytes ? sum : bar->total_bytes;
    bar->end_bytes = base;
    uint64_t end = 0;
    if (bar->request_bytes != PLIM_BYTES_UNKNOWN) {
        end = plim_plus(used_before_request(bar), bar->request_bytes);
        bar->is_request_cut = end / 2 > base;
        end = bar->is_request_cut ? plim_plus(base, base) : end;
    }
    bar->scale_bytes = end > base ? end : base;
    bar->columns = columns;
    uint64_t before = 0;
    uint32_t widest = 0;
    for (int i = 0; i < PART_COUNT; i++) {
        bar_part *part = &bar->parts[i];
        const uint32_t start = plim_bar_steps(before, bar->scale_bytes, columns);
        before = plim_plus(before, part->bytes);
        const uint32_t behind = plim_bar_steps(before, bar->scale_bytes, columns);
        part->columns = behind - start;
        widest = part->columns > bar->parts[widest].columns ? (uint32_t)i : widest;
    }
    for (int i = 0; i < PART_COUNT; i++) { /* what is there is seen */
        bar_part *part = &bar->parts[i];
        if (part->bytes > 0 && part->columns == 0 && bar->parts[widest].columns > 1) {
            part->columns = 1;
            bar->parts[widest].columns--;
        }
    }
}

static const char *glyph_of(const plim_style *style, int part)
{
    const plim_glyphs *glyphs = plim_style_glyphs(style);
    const char *const of[PART_COUNT] = { glyphs->dense, glyphs->eighths[8], glyphs->shade, " " };
    return of[part];
}

static plim_tone tone_of(int part)
{
    static const plim_tone of[PART_COUNT] = { PLIM_TONE_WARN, PLIM_TONE_IN_USE, PLIM_TONE_UNUSED,
                                              PLIM_TONE_PLAIN };
    return of[part];
}

static void write_bar(const plim_explain_page *page, const device_bar *bar)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    const uint32_t end =
        INDENT + 1 + plim_bar_steps(bar->end_bytes, bar->scale_bytes, bar->columns);
    plim_line line = plim_line_begin(page->out, page->style, INDENT);
    plim_line_add(&line, PLIM_TONE_FAINT, glyphs->axis);
    for (int i = 0; i < PART_COUNT; i++) {
        plim_line_repeat(&line, tone_of(i), glyph_of(page->style, i), bar->parts[i].columns);
    }
    plim_line_to(&line, end);
    plim_line_add(&line, PLIM_TONE_FAINT, glyphs->axis);
    plim_line_format(&line, PLIM_TONE_PLAIN, " %s%s", plim_format_bytes(bar->end_bytes).text,
                     bar->is_limit ? " limit" : "");
    plim_line_end(&line);
}

/* "requested 4.00 GiB ━━━━━━", its words where there is room: before, behind, above. */
static void write_request(const plim_explain_page *page, const device_bar *bar)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    if (bar->request_bytes == PLIM_BYTES_UNKNOWN) {
        return;
    }
    char words[64];
    snprintf(words, sizeof words, "requested %s", plim_format_bytes(bar->request_bytes).text);
    uint32_t start = 0;
    for (int i = 0; bar->is_free_known && i < PART_CACHED; i++) {
        start += bar->parts[i].columns;
    }
    uint32_t columns = plim_bar_steps(bar->request_bytes, bar->scale_bytes, bar->columns);
    columns = columns > 0 ? columns : 1; /* a request of nothing is still one */
    if (start + columns > bar->columns) {
        start = bar->columns - columns;
    }
    const uint32_t words_columns = plim_style_columns(page->style, words);
    const uint32_t room = plim_style_width(page->style) - INDENT - 1 - start;
    const bool is_left = start > words_columns;
    const bool is_right = !is_left && columns + words_columns + 2 <= room;
    plim_line line = plim_line_begin(page->out, page->style, INDENT + 1);
    plim_line_to(&line, INDENT + 1 + (is_left ? start - words_columns - 1 : start));
    if (is_left) {
        plim_line_format(&line, PLIM_TONE_BAD, "%s ", words);
    } else if (!is_right) { /* above its beam */
        plim_line_add(&line, PLIM_TONE_BAD, words);
        plim_line_end(&line);
        line = plim_line_begin(page->out, page->style, INDENT + 1 + start);
    }
    plim_line_repeat(&line, PLIM_TONE_BAD, glyphs->beam, columns);
    if (bar->is_request_cut) {
        plim_line_add(&line, PLIM_TONE_BAD, glyphs->ellipsis);
    }
    if (is_right) {
        plim_line_format(&line, PLIM_TONE_BAD, " %s", words);
    }
    plim_line_end(&line);
}

static void write_mark(const plim_explain_page *page, const device_bar *bar, uint64_t place,
                       const char *words)
{
    const uint32_t start = plim_bar_steps(place, bar->scale_bytes, bar->columns);
    const char *marker = plim_style_glyphs(page->style)->marker;
    const uint32_t column = INDENT + 1 + (start > 0 ? start - 1 : 0);
    const uint32_t words_columns = plim_style_columns(page->style, words);
    const bool is_left = column > INDENT + 1 + words_columns;
    plim_line line = plim_line_begin(page->out, page->style, INDENT + 1);
    plim_line_to(&line, is_left ? column - words_columns - 1 : column);
    if (is_left) {
        plim_line_format(&line, PLIM_TONE_WARN, "%s %s", words, marker);
    } else {
        plim_line_format(&line, PLIM_TONE_WARN, "%s %s", marker, words);
    }
    plim_line_end(&line);
}

/* A limit below the device: how far this process might have gone. And where a device that spilled
 * into the host's memory ends. */
static void write_marks(const plim_explain_page *page, const device_bar *bar)
{
    char words[64];
    if (bar->limit_bytes != PLIM_BYTES_UNKNOWN) {
        snprintf(words, sizeof words, "limit %s", plim_format_bytes(bar->limit_bytes).text);
        write_mark(page, bar, plim_plus(bar->parts[PART_ELSEWHERE].bytes, bar->limit_bytes), words);
    }
    if (plim_minus(bar->end_bytes, bar->total_bytes) >
        bar->total_bytes / 100) { /* not for rounding */
        snprintf(words, sizeof words, "%s ends: %s", bar->is_limit ? "the limit" : "the device",
                 plim_format_bytes(bar->total_bytes).text);
        write_mark(page, bar, bar->total_bytes, words);
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

static void write_legend(const plim_explain_page *page, const device_bar *bar)
{
    plim_line line = plim_line_begin(page->out, page->style, INDENT);
    for (int i = 0; i < PART_COUNT; i++) {
        const bar_part *part = &bar->parts[i];
        if (part->name == NULL || (part->bytes == 0 && i != PART_FREE && i != PART_LIVE)) {
            continue;
        }
        char words[64];
        snprintf(words, sizeof words, "%s %s", part->name, plim_format_bytes(part->bytes).text);
        const bool is_first = line.used == INDENT;
        if (!is_first && plim_line_left(&line) < plim_style_columns(page->style, words) + 5) {
            plim_line_end(&line);
            line = plim_line_begin(page->out, page->style, INDENT);
        } else if (!is_first) {
            plim_line_add(&line, PLIM_TONE_PLAIN, "   ");
        }
        if (i != PART_FREE) {
            plim_line_add(&line, tone_of(i), glyph_of(page->style, i));
            plim_line_add(&line, PLIM_TONE_PLAIN, " ");
        }
        plim_line_add(&line, PLIM_TONE_PLAIN, words);
    }
    plim_line_end(&line);
}

/* "The text says: requested 512 MiB, free 3.20 GiB." */
static void write_figures(const plim_explain_page *page, const plim_oom_message *message)
{
    char words[768] = "";
    size_t used = 0;
    for (int i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        if (has(message, (plim_figure_id)i)) {
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s %s",
                                     used > 0 ? ", " : "", plim_explain_figure((plim_figure_id)i),
                                     plim_format_bytes(message->request.figures[i].bytes).text);
        }
    }
    if (used > 0) {
        plim_paragraph_write(page->out, page->style, INDENT, PLIM_TONE_PLAIN,
                             "The text says:", words);
    }
}

void plim_explain_bar(const plim_explain_page *page, const plim_oom_message *message)
{
    device_bar bar;
    if (!fill(message, &bar)) {
        write_figures(page, message);
        return;
    }
    const uint32_t width = plim_style_width(page->style);
    lay_out(&bar, width - INDENT - 2 - LABEL_COLUMNS - (bar.is_limit ? 6 : 0));
    write_bar(page, &bar);
    write_request(page, &bar);
    write_marks(page, &bar);
    write_legend(page, &bar);
}
