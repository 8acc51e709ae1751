/*
 * prose.h - whether words that people use too read like an error where they stand.
 */
#ifndef PLIMSOLL_OOMTEXT_PROSE_H
#define PLIMSOLL_OOMTEXT_PROSE_H

#include "oomtext/flat.h"

/**
 * True if words [begin, end) state that something failed: not "to avoid running out of memory",
 * not `except OutOfMemoryError:`, not "she ran out of memory cards".
 */
bool plim_prose_states_error(const plim_flat *flat, size_t begin, size_t end);

/**
 * True if the line around an offset of the stretch is one of a program's source: what it has in
 * quotes has not happened. Only for messages without figures: programs have placeholders there.
 */
bool plim_prose_is_source(const char *text, size_t bytes, size_t offset);

/** True if a name of an exception goes on after the words: "OutOfMemory" + "Error". */
bool plim_prose_is_class_name(const plim_flat *flat, size_t end);

/** True if only prefixes of a log stand before words[begin] on its line. */
bool plim_prose_begins_line(const plim_flat *flat, size_t begin);

/** True if words [begin, end) are what a shell says of a killed process, and all it says. */
bool plim_prose_is_shell_line(const plim_flat *flat, size_t begin, size_t end);

/** The number after the words, as what it says: 0 and less say that nothing is left. */
typedef enum plim_prose_count {
    PLIM_COUNT_UNSAID, /* there is no number */
    PLIM_COUNT_NONE,
    PLIM_COUNT_SOME,
} plim_prose_count;

plim_prose_count plim_prose_counts(const plim_flat *flat, size_t end);

/** True if the number that ends the words is a signal's: "-9", "137", "SIGKILL: 9". */
bool plim_prose_is_signal(const plim_flat *flat, size_t end);

#endif
