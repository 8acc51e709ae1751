/*
 * what.c - the weights of stacks by name.
 */
#include "plimsoll/export.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
} whats[] = {
#define WHAT_ROW(code, name, text) [code] = { name, text },
    PLIM_EXPORT_WHAT_LIST(WHAT_ROW)
#undef WHAT_ROW
};

const char *plim_export_what_name(plim_export_what what)
{
    return whats[what].name;
}

const char *plim_export_what_text(plim_export_what what)
{
    return whats[what].text;
}

bool plim_export_what_find(const char *name, plim_export_what *ret_what)
{
    for (int i = 0; i < PLIM_EXPORT_WHAT_COUNT; i++) {
        if (strcmp(whats[i].name, name) == 0) {
            *ret_what = (plim_export_what)i;
            return true;
        }
    }
    return false;
}
