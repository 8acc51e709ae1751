/*
 * style.h - how a page for the terminal may look: its width, its colours, its characters.
 *
 * Each tone of a page (report/model/page.h) has a colour, where there is colour.
 * Glyphs come in two sets, UTF-8 and ASCII, one cell wide each.
 */
#ifndef PLIMSOLL_REPORT_TERM_STYLE_H
#define PLIMSOLL_REPORT_TERM_STYLE_H

#include "report/model/page.h"

#define PLIM_STYLE_WIDTH_MIN     60u
#define PLIM_STYLE_WIDTH_MAX     400u
#define PLIM_STYLE_WIDTH_DEFAULT 96u  /* by default: files and pipes */
#define PLIM_STYLE_WIDTH_READ    100u /* wider terminals are not filled: lines stay readable */

typedef struct plim_glyphs {
    const char *eighths[9]; /* a cell filled from the left: 0 … 8 eighths */
    const char *levels[9];  /* a cell filled from below: 0 … 8 eighths */
    const char *shade;      /* reserved but not in use */
    const char *dense;      /* in use, but not by whom the page is about */
    const char *beam;       /* the failed request, drawn against the device */
    const char *rule;       /* a horizontal line */
    const char *axis;       /* a vertical one */
    const char *corner;     /* where both meet, below left */
    const char *marker;     /* points up at a moment of a chart */
    const char *ellipsis;   /* something was left out */
} plim_glyphs;

/* All zero is a valid style: no colour, ASCII, the default width. */
typedef struct plim_style {
    bool color;
    bool utf8;
    uint32_t width; /* columns; 0 means PLIM_STYLE_WIDTH_DEFAULT */
} plim_style;

typedef enum plim_color_choice {
    PLIM_COLOR_AUTO,
    PLIM_COLOR_ALWAYS,
    PLIM_COLOR_NEVER,
} plim_color_choice;

/* The environment; strings may be NULL, as from getenv(). */
typedef struct plim_terminal {
    bool is_terminal;
    uint32_t columns; /* 0: unknown */
    const char *no_color;
    const char *term;
    const char *lc_all;
    const char *lc_ctype;
    const char *lang;
} plim_terminal;

/**
 * The style for a terminal, or for what takes its place.
 *
 * width  as the user chose it, 0 for none
 * color  AUTO is: on a terminal that is not "dumb", unless NO_COLOR is set and not empty
 * utf8   when the locale names UTF-8 (LC_ALL before LC_CTYPE before LANG), or none is set at all
 *        and the output is no terminal; never on a "dumb" terminal
 */
plim_style plim_style_decide(const plim_terminal *terminal, plim_color_choice color,
                             uint32_t width);

uint32_t plim_style_width(const plim_style *style);
const plim_glyphs *plim_style_glyphs(const plim_style *style);
/* Escape sequences that begin and end a tone; "" without colour. */
const char *plim_style_on(const plim_style *style, plim_tone tone);
const char *plim_style_off(const plim_style *style, plim_tone tone);

#endif
