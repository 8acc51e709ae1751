/*
 * test_style.c - what a style is decided to be, from every kind of environment.
 */
#include "harness.h"

#include "report/term/printable.h"
#include "report/term/style.h"

static const struct {
    const char *name;
    plim_terminal terminal;
    plim_color_choice choice;
    uint32_t width;
    bool color;
    bool utf8;
    uint32_t columns;
} cases[] = {
    { "a terminal in UTF-8 gets everything",
      { true, 90, NULL, "xterm", NULL, NULL, "en_US.UTF-8" },
      PLIM_COLOR_AUTO,
      0,
      true,
      true,
      90 },
    { "a wide terminal is not filled",
      { true, 250, NULL, "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      0,
      true,
      true,
      100 },
    { "unless somebody asks",
      { true, 250, NULL, "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      200,
      true,
      true,
      200 },
    { "a tiny terminal wraps",
      { true, 20, NULL, "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      0,
      true,
      true,
      60 },
    { "a terminal that does not know its size",
      { true, 0, NULL, "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      0,
      true,
      true,
      96 },
    { "a pipe has no colour",
      { false, 0, NULL, "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      0,
      false,
      true,
      96 },
    { "unless somebody asks for it",
      { false, 0, "1", "dumb", NULL, NULL, "C.utf8" },
      PLIM_COLOR_ALWAYS,
      0,
      true,
      true,
      96 },
    { "NO_COLOR is honoured",
      { true, 90, "1", "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      0,
      false,
      true,
      90 },
    { "an empty NO_COLOR is none",
      { true, 90, "", "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      0,
      true,
      true,
      90 },
    { "never is never",
      { true, 90, NULL, "xterm", NULL, NULL, "C.utf8" },
      PLIM_COLOR_NEVER,
      0,
      false,
      true,
      90 },
    { "a dumb terminal has neither",
      { true, 90, NULL, "dumb", NULL, NULL, "C.utf8" },
      PLIM_COLOR_AUTO,
      0,
      false,
      false,
      90 },
    { "LC_ALL wins over LANG",
      { false, 0, NULL, NULL, "C", NULL, "en_US.UTF-8" },
      PLIM_COLOR_AUTO,
      0,
      false,
      false,
      96 },
    { "LC_CTYPE wins over LANG",
      { false, 0, NULL, NULL, "", "de_DE.UTF-8", "C" },
      PLIM_COLOR_AUTO,
      0,
      false,
      true,
      96 },
    { "no locale in a job's log is UTF-8",
      { false, 0, NULL, NULL, NULL, NULL, NULL },
      PLIM_COLOR_AUTO,
      0,
      false,
      true,
      96 },
    { "no locale on a terminal is ASCII",
      { true, 90, NULL, "xterm", NULL, NULL, NULL },
      PLIM_COLOR_AUTO,
      0,
      true,
      false,
      90 },
};

static void follows_the_environment(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        const plim_style style =
            plim_style_decide(&cases[i].terminal, cases[i].choice, cases[i].width);
        T_EQ_U64(style.color, cases[i].color);
        T_EQ_U64(style.utf8, cases[i].utf8);
        T_EQ_U64(plim_style_width(&style), cases[i].columns);
    }
}

static void a_zeroed_style_is_plain(void)
{
    const plim_style style = { 0 };
    T_EQ_U64(plim_style_width(&style), PLIM_STYLE_WIDTH_DEFAULT);
    for (int tone = 0; tone < PLIM_TONE_COUNT; tone++) {
        T_EQ_STR(plim_style_on(&style, (plim_tone)tone), "");
        T_EQ_STR(plim_style_off(&style, (plim_tone)tone), "");
    }
}

/* Bars and charts count on it. */
static void chart_glyphs_fill_one_cell(void)
{
    for (int utf8 = 0; utf8 < 2; utf8++) {
        const plim_style style = { .utf8 = utf8 != 0 };
        const plim_glyphs *glyphs = plim_style_glyphs(&style);
        for (size_t i = 0; i < T_COUNT(glyphs->eighths); i++) {
            const char *both[] = { glyphs->eighths[i], glyphs->levels[i] };
            T_EQ_U64(plim_printable_columns(both[0], strlen(both[0]), true), 1);
            T_EQ_U64(plim_printable_columns(both[1], strlen(both[1]), true), 1);
        }
        const char *others[] = { glyphs->shade,  glyphs->rule,   glyphs->axis,
                                 glyphs->corner, glyphs->marker, glyphs->ellipsis };
        for (size_t i = 0; i < T_COUNT(others); i++) {
            T_EQ_U64(plim_printable_columns(others[i], strlen(others[i]), true), 1);
        }
    }
}

T_MAIN(T_TEST(follows_the_environment), T_TEST(a_zeroed_style_is_plain),
       T_TEST(chart_glyphs_fill_one_cell))
