/*
 * documents.h - the documents of `--json`, for programs: `inspect/1`, `diagnose/1`, `diff/1`,
 * `dump/1`, `enable/1`, `explain/1`, `export/1`, `fit/1`, `rehearse/1`, `replay/1`, `run/1` and
 * `tune/1`.
 *
 * The promise and every member are in docs/formats, a page for each: members may be added, none is
 * removed or changes its meaning. All write to a sink; `page` is what the terminal would show, and
 * becomes the member "says". Errors: PLIM_IO, the sink refused; those of plim_page_status(), before
 * anything is written.
 */
#ifndef PLIMSOLL_REPORT_JSON_DOCUMENTS_H
#define PLIMSOLL_REPORT_JSON_DOCUMENTS_H

#include "base/sink.h"
#include "report/model/diagnose_ranks.h"
#include "report/model/diff_ranks.h"
#include "report/model/dump.h"
#include "report/model/enable.h"
#include "report/model/explain.h"
#include "report/model/export.h"
#include "report/model/fit.h"
#include "report/model/inspect.h"
#include "report/model/rehearse.h"
#include "report/model/rehearse_upgrade.h"
#include "report/model/replay.h"
#include "report/model/run.h"

PLIM_MUST_USE plim_status plim_enable_json_write(plim_sink sink, const plim_enabled *enabled,
                                                 const plim_page *page, plim_error *err);

PLIM_MUST_USE plim_status plim_dump_json_write(plim_sink sink, const plim_dumped *dumps,
                                               size_t count, const plim_page *page,
                                               plim_error *err);

PLIM_MUST_USE plim_status plim_explain_json_write(plim_sink sink, const plim_explained *files,
                                                  size_t count, const plim_page *page,
                                                  plim_error *err);

PLIM_MUST_USE plim_status plim_export_json_write(plim_sink sink, const plim_exported *exported,
                                                 const plim_page *page, plim_error *err);

PLIM_MUST_USE plim_status plim_fit_json_write(plim_sink sink, const char *const *argv,
                                              const plim_fitted *fitted, const plim_page *page,
                                              plim_error *err);

/** The devices of a file that has been diagnosed, to be given to plim_diagnose_json_write().
 *
 * file      its sentences are made if they are missing
 * ret_part  the caller's: each device a line's end after the other
 * errors    PLIM_OUT_OF_HOST_MEMORY */
PLIM_MUST_USE plim_status plim_diagnose_json_part(plim_diagnosed *file, plim_text *ret_part,
                                                  plim_error *err);
/** job  files that were read have their parts */
PLIM_MUST_USE plim_status plim_diagnose_json_write(plim_sink sink, const plim_diagnosed_job *job,
                                                   const plim_page *page, plim_error *err);

/** The part of a pair of files that were compared, to be given to plim_diff_json_write().
 *
 * ret_part  the caller's
 * errors    PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT */
PLIM_MUST_USE plim_status plim_diff_json_part(const plim_diff_view *view, const plim_diffed *diffed,
                                              plim_text *ret_part, plim_error *err);
/** job  pairs that were compared have their parts */
PLIM_MUST_USE plim_status plim_diff_json_write(plim_sink sink, const plim_diff_job *job,
                                               const plim_page *page, plim_error *err);

/** view  only its device counts: a document is never cut */
PLIM_MUST_USE plim_status plim_inspect_json_write(plim_sink sink, const plim_inspect_view *view,
                                                  const plim_inspect_file *files, size_t count,
                                                  const plim_page *page, plim_error *err);

PLIM_MUST_USE plim_status plim_rehearse_json_write(plim_sink sink, const plim_rehearsed *rehearsed,
                                                   const plim_page *page, plim_error *err);
/** The document of a search or a sweep. */
PLIM_MUST_USE plim_status plim_rehearse_json_write_tries(plim_sink sink,
                                                         const plim_rehearse_tries *tries,
                                                         const plim_page *page, plim_error *err);

/** The document of a program in two environments. page  gets names of environments */
PLIM_MUST_USE plim_status plim_rehearse_json_write_against(plim_sink sink,
                                                           const plim_rehearsed_pair *pair,
                                                           plim_page *page, plim_error *err);
/** The document of a search for a release; the pair is that of its neighbours. */
PLIM_MUST_USE plim_status plim_rehearse_json_write_bisect(plim_sink sink, const char *package,
                                                          const plim_bisected *bisected,
                                                          const plim_rehearsed_pair *pair,
                                                          plim_page *page, plim_error *err);

/** found  zeroed: nothing */
PLIM_MUST_USE plim_status plim_run_json_write(plim_sink sink, const plim_ran *ran,
                                              const plim_run_found *found, const plim_page *page,
                                              plim_error *err);

/* The confs of a replay, the recorded settings first. */
typedef struct plim_replay_rows {
    const plim_replay_row *items;
    size_t count;
    size_t asked; /* index of the row whose members the document itself has */
} plim_replay_rows;

PLIM_MUST_USE plim_status plim_replay_json_write(plim_sink sink, const plim_replay_input *input,
                                                 const plim_replay_rows *rows,
                                                 const plim_page *page, plim_error *err);
PLIM_MUST_USE plim_status plim_tune_json_write(plim_sink sink, const plim_replay_input *input,
                                               const plim_tuning *tuning, const plim_page *page,
                                               plim_error *err);

#endif
