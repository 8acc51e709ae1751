/*
 * style.c - width, colours and characters, decided once from what the environment says.
 *
 * The locale is read from its variables, not with setlocale(): that needs memory and files, and
 * the one thing asked here is whether the terminal takes UTF-8.
 */
#include "report/term/style.h"

#include "base/assert.h"

#include <string.h>
#include <strings.h>

static const plim_glyphs glyphs_utf8 = {
    .eighths = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" },
    .levels = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
    .shade = "░",
    .dense = "▒",
    .beam = "━",
    .rule = "─",
    .axis = "│",
    .corner = "└",
    .marker = "▲",
    .ellipsis = "…",
};

/* Half a cell is the least ASCII can show; anything that is there shows at least that. */
static const plim_glyphs glyphs_ascii = {
    .eighths = { " ", "-", "-", "-", "-", "=", "=", "#", "#" },
    .levels = { " ", "_", "_", "_", "=", "=", "=", "#", "#" },
    .shade = ".",
    .dense = ":",
    .beam = "=",
    .rule = "-",
    .axis = "|",
    .corner = "+",
    .marker = "^",
    .ellipsis = "~",
};

/* The sixteen colours every terminal lets its owner choose; no background is assumed. */
static const char *const tones[PLIM_TONE_COUNT] = {
    [PLIM_TONE_PLAIN] = "",          [PLIM_TONE_HEADING] = "\033[1m",
    [PLIM_TONE_FAINT] = "\033[2m",   [PLIM_TONE_USER] = "\033[36m",
    [PLIM_TONE_WARN] = "\033[33m",   [PLIM_TONE_BAD] = "\033[1;31m",
    [PLIM_TONE_IN_USE] = "\033[34m", [PLIM_TONE_UNUSED] = "\033[2m",
};

static bool is_set(const char *value)
{
    return value != NULL && value[0] != '\0';
}

/* "de_DE.UTF-8", "C.utf8", "en_US.UTF8@euro". */
static bool names_utf8(const char *locale)
{
    const char *dot = strchr(locale, '.');
    return dot != NULL &&
           (strncasecmp(dot + 1, "utf-8", 5) == 0 || strncasecmp(dot + 1, "utf8", 4) == 0);
}

static bool takes_utf8(const plim_terminal *terminal)
{
    const char *const locales[] = { terminal->lc_all, terminal->lc_ctype, terminal->lang };
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        if (is_set(locales[i])) {
            return names_utf8(locales[i]);
        }
    }
    /* Jobs and containers set no locale at all; what they write is read elsewhere, as UTF-8. */
    return !terminal->is_terminal;
}

static uint32_t choose_width(const plim_terminal *terminal, uint32_t width)
{
    uint32_t chosen = width;
    if (chosen == 0) {
        chosen = terminal->is_terminal ? terminal->columns : 0;
        chosen = chosen > PLIM_STYLE_WIDTH_READ ? PLIM_STYLE_WIDTH_READ : chosen;
    }
    if (chosen == 0) {
        return PLIM_STYLE_WIDTH_DEFAULT;
    }
    chosen = chosen < PLIM_STYLE_WIDTH_MIN ? PLIM_STYLE_WIDTH_MIN : chosen;
    return chosen > PLIM_STYLE_WIDTH_MAX ? PLIM_STYLE_WIDTH_MAX : chosen;
}

plim_style plim_style_decide(const plim_terminal *terminal, plim_color_choice color, uint32_t width)
{
    const bool is_dumb = is_set(terminal->term) && strcmp(terminal->term, "dumb") == 0;
    bool colored = color == PLIM_COLOR_ALWAYS;
    if (color == PLIM_COLOR_AUTO) {
        colored = terminal->is_terminal && !is_dumb && !is_set(terminal->no_color);
    }
    return (plim_style){
        .color = colored,
        .utf8 = takes_utf8(terminal) && !(terminal->is_terminal && is_dumb),
        .width = choose_width(terminal, width),
    };
}

uint32_t plim_style_width(const plim_style *style)
{
    return style->width != 0 ? style->width : PLIM_STYLE_WIDTH_DEFAULT;
}

const plim_glyphs *plim_style_glyphs(const plim_style *style)
{
    return style->utf8 ? &glyphs_utf8 : &glyphs_ascii;
}

const char *plim_style_on(const plim_style *style, plim_tone tone)
{
    PLIM_ASSERT((unsigned)tone < PLIM_TONE_COUNT);
    return style->color ? tones[tone] : "";
}

const char *plim_style_off(const plim_style *style, plim_tone tone)
{
    PLIM_ASSERT((unsigned)tone < PLIM_TONE_COUNT);
    return style->color && tones[tone][0] != '\0' ? "\033[0m" : "";
}
