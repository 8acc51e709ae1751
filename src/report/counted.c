/*
 * counted.c - numbers with their nouns.
 */
#include "report/counted.h"

#include "base/size.h"

#include <stdio.h>

plim_counted_text plim_counted(uint64_t count, const char *noun)
{
    plim_counted_text counted;
    snprintf(counted.text, sizeof counted.text, "%s %.30s%s", plim_format_count(count).text, noun,
             count == 1 ? "" : "s");
    return counted;
}
