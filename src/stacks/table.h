/*
 * table.h - the text of frames.tsv, and how its rows are read.
 *
 * The text becomes part of the library as it is built (cmake/EmbedLines.cmake) and is read on
 * first use; docs/formats/frames.md describes it. What is read lies in arrays of the caller's, so
 * that nothing here needs a heap.
 */
#ifndef PLIMSOLL_STACKS_TABLE_H
#define PLIMSOLL_STACKS_TABLE_H

#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLIM_FRAME_ROWS_MAX   256 /* of each kind of class */
#define PLIM_FRAME_TEXT_BYTES 16384

/* The kinds of classes, in the order of the table's column. */
typedef enum plim_frame_class_kind {
    PLIM_CLASS_OWNER,
    PLIM_CLASS_ROLE,
    PLIM_CLASS_LABEL,
    PLIM_CLASS_TECHNIQUE,
    PLIM_CLASS_KINDS
} plim_frame_class_kind;

/* A pattern without its anchors. A path's '*' meets no '/'. */
typedef struct plim_frame_pattern {
    const char *text;
    size_t bytes; /* 0: meets anything */
    bool begins;  /* where what it is held against does */
    bool ends;    /* likewise */
    bool has_star;
} plim_frame_pattern;

typedef struct plim_frame_row {
    plim_frame_pattern file;
    plim_frame_pattern function;
    bool without_line; /* only frames whose line is not known */
    uint8_t class;     /* a plim_frame_owner, role, label or technique */
} plim_frame_row;

typedef struct plim_frame_table {
    plim_frame_row rows[PLIM_CLASS_KINDS][PLIM_FRAME_ROWS_MAX];
    size_t counts[PLIM_CLASS_KINDS];
    char text[PLIM_FRAME_TEXT_BYTES]; /* of the patterns */
} plim_frame_table;

/* The lines of frames.tsv without their ends, NULL after the last: a generated file. */
extern const char *const plim_frames_lines[];

/*
 * Reads lines into a table that is all zeros. PLIM_CORRUPT with the number of the line for
 * anything that is not as described, a row that stands twice included.
 */
PLIM_MUST_USE plim_status plim_frame_table_read(const char *const *lines, plim_frame_table *table,
                                                plim_error *err);

#endif
