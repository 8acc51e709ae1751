/*
 * text.h - a string that grows, up to a stated maximum.
 *
 * Appending returns nothing: a failure sticks, later appends do nothing, and the caller asks once
 * at the end with plim_text_status(). The text is always one that may be printed: it ends in a
 * zero, and after a failure it is what came before.
 */
#ifndef PLIMSOLL_BASE_TEXT_H
#define PLIMSOLL_BASE_TEXT_H

#include "base/memory.h"

#include "plimsoll/status.h"

typedef struct plim_text {
    const plim_mem *mem;
    char *data;      /* NULL until something is appended */
    size_t length;   /* without the final zero */
    size_t capacity; /* with it */
    size_t length_max;
    plim_status status; /* PLIM_OK, PLIM_OUT_OF_HOST_MEMORY or PLIM_LIMIT */
} plim_text;

/* At most `length_max` bytes, below SIZE_MAX / 2; nothing is allocated yet. */
void plim_text_init(plim_text *text, const plim_mem *mem, size_t length_max);

/* `data` is not part of the text itself. */
void plim_text_append(plim_text *text, const void *data, size_t length);
void plim_text_append_string(plim_text *text, const char *string);
void plim_text_append_char(plim_text *text, char c);
void plim_text_append_format(plim_text *text, const char *format, ...) PLIM_PRINTF(2, 3);

/* The text so far, "" if nothing was appended; valid until the next append. */
const char *plim_text_string(const plim_text *text);
/* PLIM_OK if all was appended; else fails with "… while <doing>". */
PLIM_MUST_USE plim_status plim_text_status(const plim_text *text, const char *doing,
                                           plim_error *err);

/* Empty again and without failure; the memory is kept. */
void plim_text_reset(plim_text *text);
void plim_text_deinit(plim_text *text);

#endif
