/*
 * bars.h - a horizontal bar, to an eighth of a cell.
 */
#ifndef PLIMSOLL_REPORT_TERM_BARS_H
#define PLIMSOLL_REPORT_TERM_BARS_H

#include "report/term/line.h"

typedef enum plim_term_fill {
    PLIM_TERM_SOLID, /* memory in use */
    PLIM_TERM_SHADE, /* memory reserved and free */
} plim_term_fill;

/**
 * Add a bar of `value` out of `total` in exactly `columns` columns.
 *
 * value  more than total counts as total; anything above zero shows at least the thinnest sliver
 */
void plim_bar_add(plim_term_line *line, plim_term_fill fill, uint64_t value, uint64_t total,
                  uint32_t columns);

/** value out of total in steps 0 … steps, rounded; at least 1 for what is not zero. */
uint32_t plim_bar_steps(uint64_t value, uint64_t total, uint32_t steps);

#endif
