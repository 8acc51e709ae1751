/*
 * finding.c - the figures of a finding, by name.
 */
#include "plimsoll/finding.h"

#include <string.h>

plim_certainty plim_certainty_of(double confidence, bool has_alternative)
{
    return confidence >= 0.9 && !has_alternative ? PLIM_CERTAINTY_CERTAIN
           : confidence >= 0.6                   ? PLIM_CERTAINTY_LIKELY
                                                 : PLIM_CERTAINTY_POSSIBLE;
}

plim_subject plim_subject_unknown(void)
{
    return (plim_subject){ .device = PLIM_DEVICE_UNKNOWN, .stack = PLIM_STACK_UNKNOWN };
}

void plim_finding_add(plim_finding *finding, const char *name, uint64_t value)
{
    if (value != UINT64_MAX && finding->figure_count < PLIM_MEASURES_MAX) {
        finding->figures[finding->figure_count++] = (plim_measure){ name, value };
    }
}

uint64_t plim_finding_figure(const plim_finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->figure_count; i++) {
        if (strcmp(finding->figures[i].name, name) == 0) {
            return finding->figures[i].value;
        }
    }
    return UINT64_MAX;
}
