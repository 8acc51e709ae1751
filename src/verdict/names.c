/*
 * names.c - verdicts, figures, severities and certainties as pages and documents call them.
 */
#include "plimsoll/verdict.h"

#define NAME(code, name) name,

const char *plim_verdict_name(plim_verdict verdict)
{
    static const char *const names[] = { PLIM_VERDICT_LIST(NAME) };
    return (size_t)verdict < PLIM_VERDICT_COUNT ? names[verdict] : "unknown";
}

const char *plim_figure_name(plim_figure_id id)
{
    static const char *const names[] = { PLIM_FIGURE_LIST(NAME) };
    return (size_t)id < PLIM_FIGURE_COUNT ? names[id] : "";
}

const char *plim_severity_name(plim_severity severity)
{
    static const char *const names[] = { PLIM_SEVERITY_LIST(NAME) };
    return (size_t)severity <= PLIM_SEVERITY_FAILURE ? names[severity] : "";
}

const char *plim_certainty_name(plim_certainty certainty)
{
    static const char *const names[] = { PLIM_CERTAINTY_LIST(NAME) };
    return (size_t)certainty <= PLIM_CERTAINTY_CERTAIN ? names[certainty] : "";
}
