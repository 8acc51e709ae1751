/*
 * names.c - the words of causes and of bases.
 */
#include "plimsoll/diagnose.h"

static const struct {
    const char *name;
    const char *text;
    plim_verdict verdict;
} causes[] = {
#define PLIM_CAUSE_ROW(code, name, verdict, text) [code] = { name, text, PLIM_VERDICT_##verdict },
    PLIM_CAUSE_LIST(PLIM_CAUSE_ROW)
#undef PLIM_CAUSE_ROW
};

const char *plim_cause_name(plim_cause cause)
{
    return causes[(size_t)cause < PLIM_CAUSE_COUNT ? cause : PLIM_CAUSE_UNKNOWN].name;
}

const char *plim_cause_text(plim_cause cause)
{
    return causes[(size_t)cause < PLIM_CAUSE_COUNT ? cause : PLIM_CAUSE_UNKNOWN].text;
}

const char *plim_finding_cause_text(const plim_diagnosis_finding *finding)
{
    return finding->cause == PLIM_CAUSE_KEPT && finding->holder_count > 0
               ? "tensors are kept"
               : plim_cause_text(finding->cause);
}

plim_verdict plim_cause_verdict(plim_cause cause)
{
    return causes[(size_t)cause < PLIM_CAUSE_COUNT ? cause : PLIM_CAUSE_UNKNOWN].verdict;
}

const char *plim_saving_basis_name(plim_saving_basis basis)
{
    switch (basis) {
    case PLIM_BASIS_COMPUTED:
        return "computed";
    case PLIM_BASIS_REPLAYED:
        return "replayed";
    case PLIM_BASIS_BOUNDED:
        return "bounded";
    case PLIM_BASIS_UNKNOWN:
        break;
    }
    return "unknown";
}
