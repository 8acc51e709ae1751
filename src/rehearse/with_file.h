/*
 * with_file.h - what became of techniques that were switched on from outside, as each process of a
 * rehearsal or a run has reported it. The format: docs/formats/with.md.
 */
#ifndef PLIMSOLL_REHEARSE_WITH_FILE_H
#define PLIMSOLL_REHEARSE_WITH_FILE_H

#include "base/arena.h"
#include "json/document.h"

#include "plimsoll/rehearse.h"

/* Of one process. */
typedef struct plim_with_report {
    int64_t pid;
    const plim_rehearsed_technique *techniques;
    size_t technique_count;
    const char *const *warnings; /* failures of the agent */
    size_t warning_count;
    const char *text; /* the document itself; NULL: it was not read from a file */
} plim_with_report;

typedef struct plim_with_reports {
    const plim_with_report *items; /* by pid */
    size_t count;
    const char *const *unread; /* why a file could not be read: a line each */
    size_t unread_count;
} plim_with_reports;

/*
 * The report in a document; all that it has is copied to the arena. Items of another type than the
 * format's are left out.
 *
 * name    of the document, for errors
 * errors  PLIM_UNSUPPORTED: another version; PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_with_take(yajl_val root, const char *name, plim_arena *arena,
                                         plim_with_report *ret, plim_error *err);

/* The reports in the folder `with` of a rehearsal's or run's folder. None is no error. */
PLIM_MUST_USE plim_status plim_with_read(const char *folder, plim_arena *arena,
                                         plim_with_reports *ret, plim_error *err);

/*
 * All processes together: see plim_rehearsal_outcome.techniques.
 *
 * lines  the techniques as the options name them, one a line; those that no process reported are
 *        "waiting". NULL: those of the reports
 */
PLIM_MUST_USE plim_status plim_with_join(const char *lines, const plim_with_reports *reports,
                                         plim_arena *arena, const plim_rehearsed_technique **ret,
                                         size_t *ret_count, plim_error *err);

#endif
