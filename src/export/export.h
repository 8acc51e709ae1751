/*
 * export.h - what a writer of a format is given, and what it owes.
 *
 * formats.c has a row for each format. A format whose bytes come in order is a function that
 * writes to a sink: the framework opens the file, puts gzip before it where the format or the
 * name wants that, and gives it its name when all is written. A format that is written by a
 * library of its own takes the name of a file instead.
 */
#ifndef PLIMSOLL_EXPORT_EXPORT_H
#define PLIMSOLL_EXPORT_EXPORT_H

#include "base/sink.h"
#include "export/names.h"
#include "export/weights.h"

#include "plimsoll/export.h"

/* The stacks of one device at one moment, or over a span, weighed. */
typedef struct plim_export_profile {
    plim_device_view *view;
    plim_export_part *part; /* of the result */
    plim_weights weights;
    const char *name; /* "GPU 0, live at the peak (event 497)": in the job's arena */
} plim_export_profile;

typedef struct plim_export_job {
    const plim_mem *mem;
    const plim_history *history;
    const plim_export_options *options;
    plim_arena arena;
    /* Formats of stacks get profiles, worked out; formats of the whole get the views alone. */
    plim_device_view *views;
    size_t view_count;
    plim_export_profile *profiles;
    size_t profile_count;
} plim_export_job;

/* The sink is buffered: small pieces are fine. It need not be asked whether it failed: the
 * framework does. */
typedef plim_status plim_export_write(plim_export_job *job, plim_sink sink, plim_error *err);
/* `path` is that of an empty file. */
typedef plim_status plim_export_save(plim_export_job *job, const char *path, plim_error *err);

/* A row of the table: `write` or `save`. */
typedef struct plim_export_writer {
    plim_export_format format;
    plim_export_write *write;
    plim_export_save *save;
    bool needs_views; /* of a format that holds the whole history */
} plim_export_writer;

const plim_export_writer *plim_export_writer_of(const plim_export_format *format);

#define PLIM_EXPORT_NO_FRAMES "[a stack without frames]"

/* The writers, by format; in files of their names. */
plim_export_write plim_export_chrome;
plim_export_write plim_export_csv;
plim_export_write plim_export_folded;
plim_export_write plim_export_perfetto;
plim_export_write plim_export_pprof;
plim_export_write plim_export_speedscope;
plim_export_write plim_export_snapshot;
plim_export_save plim_export_recording;
plim_export_save plim_export_sqlite;

#endif
