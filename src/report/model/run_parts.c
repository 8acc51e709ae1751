/*
 * run_parts.c - see run_parts.h.
 */
#include "report/model/run_parts.h"

#include <string.h>

plim_fact plim_ran_line(plim_page *page, const char *where)
{
    const char *const blank = strrchr(where, ' ');
    const size_t place_bytes = blank != NULL ? (size_t)(blank - where) : strlen(where);
    const char *const place = plim_page_copy(page, where, place_bytes);
    const char *const slash = place != NULL ? strrchr(place, '/') : NULL;
    const plim_fact file = plim_words(slash != NULL ? slash + 1 : place != NULL ? place : "");
    return plim_toned(PLIM_TONE_USER,
                      blank == NULL
                          ? file
                          : plim_words(plim_page_text(page, "{} in {}",
                                                      PLIM_FACTS(file, plim_words(blank + 1)))));
}
