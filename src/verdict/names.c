/*
 * names.c - enumerations of this room as pages, documents and data files call them.
 */
#include "verdict/names.h"

#include <string.h>

#define NAME(code, name) name,
#define NAMES_OF(array)                           \
    {                                             \
        array, sizeof(array) / sizeof((array)[0]) \
    }

static const char *const verdicts[] = { PLIM_VERDICT_LIST(NAME) };
static const char *const families[] = { PLIM_FAMILY_LIST(NAME) };
static const char *const topics[] = { PLIM_TOPIC_LIST(NAME) };
static const char *const in_force[] = { PLIM_IN_FORCE_LIST(NAME) };
static const char *const reasons[] = { PLIM_REASON_LIST(NAME) };

const plim_names plim_names_of_verdicts = NAMES_OF(verdicts);
const plim_names plim_names_of_families = NAMES_OF(families);
const plim_names plim_names_of_topics = NAMES_OF(topics);
const plim_names plim_names_in_force = NAMES_OF(in_force);
const plim_names plim_names_of_reasons = NAMES_OF(reasons);

size_t plim_names_find(const plim_names *names, const char *name, size_t bytes)
{
    for (size_t i = 0; i < names->count; i++) {
        const char *const other = names->names[i];
        if (other[0] == name[0] && strncmp(other, name, bytes) == 0 && other[bytes] == '\0') {
            return i;
        }
    }
    return SIZE_MAX;
}

const char *plim_verdict_name(plim_verdict verdict)
{
    return (size_t)verdict < PLIM_VERDICT_COUNT ? verdicts[verdict] : "unknown";
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
