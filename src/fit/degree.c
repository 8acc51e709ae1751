/*
 * degree.c - see degree.h.
 */
#include "fit/degree.h"

#include <stdlib.h>
#include <string.h>

static const char accumulate[] = "accumulate=";
static const char batch[] = "batch=";
static const char checkpoint[] = "checkpoint=";

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

bool plim_fit_is_accumulation(const char *text)
{
    return begins_with(text, accumulate);
}

bool plim_fit_decides_rows(const char *text)
{
    return plim_fit_is_accumulation(text) || begins_with(text, batch);
}

double plim_fit_pieces(const char *text)
{
    return plim_fit_is_accumulation(text) ? strtod(text + strlen(accumulate), NULL) : 1;
}

double plim_fit_blocks(const char *text)
{
    const char *const colon = strchr(text, ':');
    if (!begins_with(text, checkpoint) || colon == NULL) {
        return 1;
    }
    const double value = strtod(colon + 1, NULL); /* every:2, fraction:0.75 */
    return value > 1 ? 1 / value : value;
}
