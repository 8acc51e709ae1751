/*
 * names.c - verdicts and figures as the documents call them.
 */
#include "plimsoll/verdict.h"

const char *plim_verdict_name(plim_verdict verdict)
{
    static const char *const names[] = {
#define PLIM_VERDICT_NAME(code, name) name,
        PLIM_VERDICT_LIST(PLIM_VERDICT_NAME)
#undef PLIM_VERDICT_NAME
    };
    return (size_t)verdict < PLIM_VERDICT_COUNT ? names[verdict] : "unknown";
}

const char *plim_figure_name(plim_figure_id id)
{
    static const char *const names[] = {
#define PLIM_FIGURE_NAME(code, name) name,
        PLIM_FIGURE_LIST(PLIM_FIGURE_NAME)
#undef PLIM_FIGURE_NAME
    };
    return (size_t)id < PLIM_FIGURE_COUNT ? names[id] : "";
}
