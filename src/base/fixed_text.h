/*
 * fixed_text.h - a bounded text writer, with the semantics of snprintf(): text that does not fit is
 * cut off, and the length is that of the whole text. It allocates nothing.
 */
#ifndef PLIMSOLL_BASE_FIXED_TEXT_H
#define PLIMSOLL_BASE_FIXED_TEXT_H

#include "plimsoll/status.h"

#include <stddef.h>

typedef struct plim_fixed_text {
    char *text;    /* may be NULL when there is no room at all */
    size_t bytes;  /* room, with the final zero */
    size_t length; /* of all that was put, whether or not it fitted */
} plim_fixed_text;

/* Empty; ends in a zero from the start wherever there is room for one. */
plim_fixed_text plim_fixed_text_begin(char *text, size_t bytes);
void plim_fixed_text_put(plim_fixed_text *out, const char *format, ...) PLIM_PRINTF(2, 3);

#endif
