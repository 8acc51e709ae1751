/*
 * tsv.h - reader of the data files that are built into the library: tables of tab-separated lines.
 *
 *   # a comment; empty lines mean nothing either
 *   [gpus]                          a section's title, where a file has more than one table
 *   key	name	memory_mib         the header: every column, in this order
 *   t4	Tesla T4	14913              rows
 *
 * A caller describes its sections and columns and gives a function that takes each row. Every
 * error names the file and the line. The reader needs no heap: rows are read into one record of
 * the caller's, texts into a buffer of the caller's.
 *
 * cmake/EmbedLines.cmake makes the array of lines; docs/formats has a page for each file.
 */
#ifndef PLIMSOLL_BASE_TSV_H
#define PLIMSOLL_BASE_TSV_H

#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a line: not zero-terminated, valid as long as the line. */
typedef struct plim_tsv_field {
    const char *text;
    size_t bytes;
} plim_tsv_field;

/* A file that is being read. The caller sets the first group. */
typedef struct plim_tsv {
    const char *name;         /* "gpus.tsv", for messages */
    const char *const *lines; /* without their ends; NULL after the last */
    void *row;                /* where each row is read; zeroed before */
    size_t row_bytes;
    char *texts; /* where the texts of PLIM_TSV_TEXT go; may be NULL without such columns */
    size_t texts_bytes;
    void *ctx; /* of the caller's functions */
    plim_error *err;

    unsigned line; /* the current one, from 1 */
    size_t texts_used;
} plim_tsv;

typedef enum plim_tsv_kind {
    PLIM_TSV_NOTE,  /* for people, not read */
    PLIM_TSV_CHARS, /* to a char[limit], zero-terminated */
    PLIM_TSV_TEXT,  /* to a const char *, a zero-terminated copy in `texts` */
    PLIM_TSV_U32,   /* a number from 1 to `limit`, times `unit`, to a uint32_t */
    PLIM_TSV_U64,   /* likewise, to a uint64_t */
    PLIM_TSV_WORD,  /* one of `words`: its index, to a uint32_t */
    PLIM_TSV_OTHER, /* whatever `read` makes of it */
} plim_tsv_kind;

/* Reads one field into file->row; an error by plim_tsv_fail(). */
typedef plim_status plim_tsv_read_field(plim_tsv *file, plim_tsv_field field);

typedef struct plim_tsv_column {
    const char *name;
    plim_tsv_kind kind;
    bool may_be_empty; /* leaves zeros, and "" for texts; PLIM_TSV_OTHER is called all the same */
    size_t offset;     /* in the row */
    uint64_t limit;
    uint64_t unit;
    const char *const *words; /* NULL after the last */
    plim_tsv_read_field *read;
} plim_tsv_column;

typedef struct plim_tsv_section {
    const char *title; /* "[gpus]"; NULL in a file of one table */
    const plim_tsv_column *columns;
    size_t column_count;
    plim_status (*add)(plim_tsv *file); /* takes file->row, once it is complete */
} plim_tsv_section;

/*
 * Reads all lines. Sections may stand in any order, and more than once; a file without a single
 * row is an error.
 *
 * errors  PLIM_CORRUPT with file, line and what is wrong; those of `add` and `read`
 */
PLIM_MUST_USE plim_status plim_tsv_read(plim_tsv *file, const plim_tsv_section *sections,
                                        size_t section_count);

/* PLIM_CORRUPT, "<name>:<line>: ..." */
plim_status plim_tsv_fail(const plim_tsv *file, const char *format, ...) PLIM_PRINTF(2, 3);

/* Takes the piece up to the next `separator` off the front of *rest. False: nothing is left, which
 * a rest with a NULL text says. "a,,b" has three pieces, "" has one. */
bool plim_tsv_cut(plim_tsv_field *rest, char separator, plim_tsv_field *ret_piece);
bool plim_tsv_is(plim_tsv_field field, const char *text);
/* Digits and nothing else, at most `limit`. */
bool plim_tsv_number(plim_tsv_field field, uint64_t limit, uint64_t *ret_number);
/* A zero-terminated copy in file->texts. */
PLIM_MUST_USE plim_status plim_tsv_keep(plim_tsv *file, plim_tsv_field field,
                                        const char **ret_text);

#endif
