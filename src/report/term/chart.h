/*
 * chart.h - memory over time, drawn small: what was in use, and what was reserved above it.
 *
 *   38.9 GiB │      ░░░░░████░░
 *            │   ░▃▅██████████░     the extremes of each run of points, so that no
 *            │ ▂▅█████████████▆     spike is lost between two columns
 *          0 └─────────────────
 *                       ▲           moments worth a mark
 */
#ifndef PLIMSOLL_REPORT_TERM_CHART_H
#define PLIMSOLL_REPORT_TERM_CHART_H

#include "report/term/line.h"

void plim_chart_draw(plim_text *out, const plim_style *style, const plim_chart *chart);

#endif
