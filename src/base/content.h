/*
 * content.h - what kind of file some first bytes belong to, for pointing to the right command.
 */
#ifndef PLIMSOLL_BASE_CONTENT_H
#define PLIMSOLL_BASE_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#define PLIM_CONTENT_BYTES 64u /* that are looked at */

typedef enum plim_content {
    PLIM_CONTENT_UNKNOWN,
    PLIM_CONTENT_TEXT,      /* ASCII or a superset; JSON is not counted */
    PLIM_CONTENT_PICKLE,    /* of protocol 2 or later, which opens with its number */
    PLIM_CONTENT_RECORDING, /* .plim */
} plim_content;

/* By the first PLIM_CONTENT_BYTES, or fewer where the file ends. */
plim_content plim_content_of(const uint8_t *data, size_t bytes);

#endif
