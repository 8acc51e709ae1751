/*
 * plain.h - text of logs: colours and blanks beyond ASCII, which readers of words do not know.
 */
#ifndef PLIMSOLL_BASE_PLAIN_H
#define PLIMSOLL_BASE_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#define PLIM_PLAIN_MARK_BYTES_MAX ((size_t)512)

/**
 * Put blanks in place of colours and of blanks beyond ASCII, byte for byte. Marks that begin
 * before `limit` go; none is longer than PLIM_PLAIN_MARK_BYTES_MAX.
 */
void plim_plain_blank(char *text, size_t bytes, size_t limit);

/** Bytes of the terminal's escape sequence that begins with the ESC at text[0]. */
size_t plim_plain_escape_bytes(const char *text, size_t bytes);

/** Bytes of a sequence whose ESC was printed as text ("x1b[0m", "u001b[0m"), or 0. */
size_t plim_plain_written_escape_bytes(const char *text, size_t bytes);

/** Bytes of a blank beyond ASCII (no-break, ideographic, zero width), or 0. */
size_t plim_plain_wide_blank_bytes(const unsigned char *text, size_t bytes);

/** Line feeds of a text. */
size_t plim_plain_line_count(const char *text, size_t bytes);

#endif
