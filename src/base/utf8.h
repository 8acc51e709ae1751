/*
 * utf8.h - text one character at a time, by Unicode's strict rules.
 */
#ifndef PLIMSOLL_BASE_UTF8_H
#define PLIMSOLL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define PLIM_UTF8_INVALID     UINT32_MAX
#define PLIM_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for bytes that are not UTF-8 */

typedef struct plim_utf8 {
    uint32_t code; /* the code point, or PLIM_UTF8_INVALID */
    size_t bytes;  /* to go on by, at least 1; of what is invalid, what one U+FFFD stands for */
} plim_utf8;

/*
 * The character at the front of `left` bytes, at least 1. No overlong forms, no surrogates,
 * nothing beyond U+10FFFF. An invalid piece ends where no character could go on ("maximal
 * subpart": Unicode 15, section 3.9).
 */
plim_utf8 plim_utf8_next(const char *data, size_t left);

#endif
