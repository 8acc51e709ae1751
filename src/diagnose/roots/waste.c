/*
 * waste.c - see waste.h.
 */
#include "diagnose/roots/waste.h"

#include "diagnose/roots/leak.h"

plim_diagnosis_finding *plim_add_waste(plim_case *one, plim_cause cause, double confidence,
                                       uint64_t bytes)
{
    plim_diagnosis_finding *const finding = plim_case_add(one, PLIM_VERDICT_HEALTHY, cause);
    if (finding != NULL) {
        finding->confidence = confidence;
        finding->bytes = bytes;
        finding->finding.severity = PLIM_SEVERITY_WARNING;
        finding->finding.certainty = plim_certainty_of(confidence, true);
    }
    return finding;
}

plim_status plim_waste_root(plim_case *one, const uint64_t *ids, size_t count,
                            plim_diagnosis_finding *finding, plim_error *err)
{
    const plim_leak leak = { .ids = ids, .id_count = count };
    return plim_leak_locate(one, &leak, finding, err);
}
