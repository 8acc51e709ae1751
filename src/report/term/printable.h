/*
 * printable.h - text from strangers, made fit for a terminal, one character at a time.
 *
 * File names, function names and settings come from files that anyone may have written. What
 * reaches the terminal is printable characters only: no control characters and hence no escape
 * sequences, nothing that turns the writing direction, no bytes that are not UTF-8.
 */
#ifndef PLIMSOLL_REPORT_TERM_PRINTABLE_H
#define PLIMSOLL_REPORT_TERM_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct plim_printable {
    char bytes[4]; /* what to write */
    uint8_t byte_count;
    uint8_t columns; /* 0 (combining), 1 or 2 (East Asian wide) */
} plim_printable;

/**
 * The first character of `data`, as it may be written.
 *
 * bytes    at least 1
 * utf8     false: everything beyond ASCII becomes '?', but the three signs that pages use
 * returns  how many bytes of data it stands for, at least 1. An invalid piece, as plim_utf8_next()
 * cuts it, becomes one replacement character, a control character too
 */
size_t plim_printable_next(const char *data, size_t bytes, bool utf8, plim_printable *ret);

/** Columns of a whole text, written so. */
uint32_t plim_printable_columns(const char *data, size_t bytes, bool utf8);

#endif
