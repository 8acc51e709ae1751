/*
 * device_bar.h - a device as one bar, and the request that failed below it.
 *
 *   |▒▒▒▒▒████████████████████████████████░░░░░░      | 23.7 GiB
 *                     requested 4.00 GiB  ━━━━━━━━━━━━━━━━━━
 */
#ifndef PLIMSOLL_REPORT_TERM_DEVICE_BAR_H
#define PLIMSOLL_REPORT_TERM_DEVICE_BAR_H

#include "report/term/line.h"

void plim_device_bar_draw(plim_text *out, const plim_style *style, const plim_device_bar *bar);

#endif
