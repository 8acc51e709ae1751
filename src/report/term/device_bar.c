/*
 * device_bar.c - parts to scale, the request where it would have begun, marks below.
 */
#include "report/term/device_bar.h"

#include "base/numbers.h"
#include "report/term/bars.h"

#define INDENT     2u
#define END_LEAST  8u /* "23.7 GiB" */
#define AIR        3u /* after it */
#define LEGEND_GAP 3u

/* A bar while it is drawn. */
typedef struct bar_drawing {
    plim_text *out;
    const plim_style *style;
    const plim_device_bar *bar;
    uint64_t scale_bytes; /* what all columns together stand for */
    uint32_t columns;
    uint32_t parts[PLIM_BAR_PARTS]; /* their columns */
    bool is_request_cut;
} bar_drawing;

/* Scale bar and request so that both are seen whole; a request beyond twice the bar is cut, and
 * says so. */
static void choose_scale(bar_drawing *draw)
{
    const plim_device_bar *bar = draw->bar;
    const uint64_t before =
        plim_plus(bar->parts[PLIM_BAR_ELSEWHERE].bytes, bar->parts[PLIM_BAR_LIVE].bytes);
    uint64_t end = 0;
    if (bar->request != NULL) {
        end = plim_plus(bar->is_request_placed ? before : 0, bar->request_bytes);
        draw->is_request_cut = end / 2 > bar->end_bytes;
        end = draw->is_request_cut ? plim_plus(bar->end_bytes, bar->end_bytes) : end;
    }
    draw->scale_bytes = plim_max(end, bar->end_bytes);
}

static void lay_out(bar_drawing *draw)
{
    uint64_t before = 0;
    int widest = 0;
    for (int i = 0; i < PLIM_BAR_PARTS; i++) {
        const uint32_t start = plim_bar_steps(before, draw->scale_bytes, draw->columns);
        before = plim_plus(before, draw->bar->parts[i].bytes);
        draw->parts[i] = plim_bar_steps(before, draw->scale_bytes, draw->columns) - start;
        widest = draw->parts[i] > draw->parts[widest] ? i : widest;
    }
    for (int i = 0; i < PLIM_BAR_PARTS; i++) { /* what is there is seen */
        if (draw->bar->parts[i].bytes > 0 && draw->parts[i] == 0 && draw->parts[widest] > 1) {
            draw->parts[i] = 1;
            draw->parts[widest]--;
        }
    }
}

static const char *glyph_of(const plim_style *style, int part)
{
    const plim_glyphs *glyphs = plim_style_glyphs(style);
    const char *const of[PLIM_BAR_PARTS] = { glyphs->dense, glyphs->eighths[8], glyphs->shade,
                                             " " };
    return of[part];
}

static plim_tone tone_of(int part)
{
    static const plim_tone of[PLIM_BAR_PARTS] = { PLIM_TONE_WARN, PLIM_TONE_IN_USE,
                                                  PLIM_TONE_UNUSED, PLIM_TONE_PLAIN };
    return of[part];
}

static void draw_bar(const bar_drawing *draw)
{
    const char *axis = plim_style_glyphs(draw->style)->axis;
    plim_term_line line = plim_term_line_begin(draw->out, draw->style, INDENT);
    plim_term_line_add(&line, PLIM_TONE_FAINT, axis);
    for (int i = 0; i < PLIM_BAR_PARTS; i++) {
        plim_term_line_repeat(&line, tone_of(i), glyph_of(draw->style, i), draw->parts[i]);
    }
    plim_term_line_to(
        &line, INDENT + 1 + plim_bar_steps(draw->bar->end_bytes, draw->scale_bytes, draw->columns));
    plim_term_line_add(&line, PLIM_TONE_FAINT, axis);
    plim_term_line_add(&line, PLIM_TONE_PLAIN, " ");
    plim_term_line_add(&line, PLIM_TONE_PLAIN, draw->bar->end);
    plim_term_line_end(&line);
}

/* "requested 4.00 GiB ━━━━━━", its words where there is room: before, after, above. */
static void draw_request(const bar_drawing *draw)
{
    const plim_glyphs *glyphs = plim_style_glyphs(draw->style);
    const char *words = draw->bar->request;
    uint32_t start = draw->bar->is_request_placed
                         ? draw->parts[PLIM_BAR_ELSEWHERE] + draw->parts[PLIM_BAR_LIVE]
                         : 0;
    uint32_t columns = plim_bar_steps(draw->bar->request_bytes, draw->scale_bytes, draw->columns);
    columns = columns > 0 ? columns : 1; /* a request of nothing is still one */
    start = start + columns > draw->columns ? draw->columns - columns : start;
    const uint32_t words_columns = plim_style_columns(draw->style, words);
    const uint32_t room = plim_style_width(draw->style) - INDENT - 1 - start;
    const bool is_left = start > words_columns;
    const bool is_right = !is_left && columns + words_columns + 2 <= room;
    plim_term_line line = plim_term_line_begin(draw->out, draw->style, INDENT + 1);
    plim_term_line_to(&line, INDENT + 1 + (is_left ? start - words_columns - 1 : start));
    if (!is_right) {
        plim_term_line_add(&line, PLIM_TONE_BAD, words);
    }
    if (is_left) {
        plim_term_line_add(&line, PLIM_TONE_PLAIN, " ");
    } else if (!is_right) { /* above its beam */
        plim_term_line_end(&line);
        line = plim_term_line_begin(draw->out, draw->style, INDENT + 1 + start);
    }
    plim_term_line_repeat(&line, PLIM_TONE_BAD, glyphs->beam, columns);
    if (draw->is_request_cut) {
        plim_term_line_add(&line, PLIM_TONE_BAD, glyphs->ellipsis);
    }
    if (is_right) {
        plim_term_line_add(&line, PLIM_TONE_PLAIN, " ");
        plim_term_line_add(&line, PLIM_TONE_BAD, words);
    }
    plim_term_line_end(&line);
}

static void draw_mark(const bar_drawing *draw, const plim_bar_mark *mark)
{
    const uint32_t start = plim_bar_steps(mark->at_bytes, draw->scale_bytes, draw->columns);
    const char *marker = plim_style_glyphs(draw->style)->marker;
    const uint32_t column = INDENT + 1 + (start > 0 ? start - 1 : 0);
    const uint32_t words_columns = plim_style_columns(draw->style, mark->words);
    const bool is_left = column > INDENT + 1 + words_columns;
    plim_term_line line = plim_term_line_begin(draw->out, draw->style, INDENT + 1);
    plim_term_line_to(&line, is_left ? column - words_columns - 1 : column);
    plim_term_line_add(&line, PLIM_TONE_WARN, is_left ? mark->words : marker);
    plim_term_line_add(&line, PLIM_TONE_WARN, " ");
    plim_term_line_add(&line, PLIM_TONE_WARN, is_left ? marker : mark->words);
    plim_term_line_end(&line);
}

static void draw_legend(const bar_drawing *draw)
{
    plim_term_line line = plim_term_line_begin(draw->out, draw->style, INDENT);
    for (int i = 0; i < PLIM_BAR_PARTS; i++) {
        const char *words = draw->bar->parts[i].words;
        if (words == NULL) {
            continue;
        }
        const uint32_t wanted = plim_style_columns(draw->style, words) + LEGEND_GAP + 2;
        if (line.used > INDENT && plim_term_line_left(&line) < wanted) {
            plim_term_line_end(&line);
            line = plim_term_line_begin(draw->out, draw->style, INDENT);
        } else if (line.used > INDENT) {
            plim_term_line_to(&line, line.used + LEGEND_GAP);
        }
        if (i != PLIM_BAR_FREE) {
            plim_term_line_add(&line, tone_of(i), glyph_of(draw->style, i));
            plim_term_line_add(&line, PLIM_TONE_PLAIN, " ");
        }
        plim_term_line_add(&line, PLIM_TONE_PLAIN, words);
    }
    plim_term_line_end(&line);
}

void plim_device_bar_draw(plim_text *out, const plim_style *style, const plim_device_bar *bar)
{
    bar_drawing draw = { .out = out, .style = style, .bar = bar };
    const uint32_t end = plim_style_columns(style, bar->end);
    draw.columns = plim_style_width(style) - INDENT - 3 - AIR - (end > END_LEAST ? end : END_LEAST);
    choose_scale(&draw);
    lay_out(&draw);
    draw_bar(&draw);
    if (bar->request != NULL) {
        draw_request(&draw);
    }
    for (size_t i = 0; i < bar->mark_count; i++) {
        draw_mark(&draw, &bar->marks[i]);
    }
    draw_legend(&draw);
}
