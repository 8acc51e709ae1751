/*
 * bars.c - dividing a length into cells and eighths of cells.
 */
#include "report/term/bars.h"

uint32_t plim_bar_steps(uint64_t value, uint64_t total, uint32_t steps)
{
    if (value == 0 || total == 0 || steps == 0) {
        return 0;
    }
    if (value >= total) {
        return steps;
    }
    /* Doubles: sizes may use all 64 bits, and half a step of error is not to be seen. */
    const double exact = (double)value / (double)total * (double)steps;
    const uint32_t rounded = (uint32_t)(exact + 0.5);
    return rounded > 0 ? rounded : 1;
}

void plim_bar_add(plim_term_line *line, plim_term_fill fill, uint64_t value, uint64_t total,
                  uint32_t columns)
{
    const plim_glyphs *glyphs = plim_style_glyphs(line->style);
    const uint32_t end = line->used + columns;
    if (fill == PLIM_TERM_SHADE) {
        plim_term_line_repeat(line, PLIM_TONE_UNUSED, glyphs->shade,
                              plim_bar_steps(value, total, columns));
    } else {
        const uint32_t eighths = plim_bar_steps(value, total, columns * 8);
        plim_term_line_repeat(line, PLIM_TONE_IN_USE, glyphs->eighths[8], eighths / 8);
        if (eighths % 8 > 0) {
            plim_term_line_repeat(line, PLIM_TONE_IN_USE, glyphs->eighths[eighths % 8], 1);
        }
    }
    plim_term_line_to(line, end);
}
