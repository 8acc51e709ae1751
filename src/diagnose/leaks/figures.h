/*
 * figures.h - a leak as a finding: how much it grows, how often, from where, until when.
 */
#ifndef PLIMSOLL_DIAGNOSE_LEAKS_FIGURES_H
#define PLIMSOLL_DIAGNOSE_LEAKS_FIGURES_H

#include "diagnose/leaks/clusters.h"

/* Adds the finding of one cluster, and lets roots explain it. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_report_leak(plim_case *one, const plim_levels *levels,
                             const plim_clusters *clusters, const plim_growers *growers,
                             size_t cluster, plim_error *err);

#endif
