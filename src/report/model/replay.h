/*
 * replay.h - what `plimsoll replay` and `plimsoll tune` have in hand, and the pages they make.
 *
 * All is borrowed plain data: the commands, or a test, own it.
 *   replay.c, tune.c   the pages
 *   replay_basis.c     what the answer rests on: the recording, the capacity, the floor
 *   replay_fidelity.c  how far predictions are to be believed
 *   replay_rows.c      the table: a row for each conf; and what becomes of each
 *   replay_facts.c     sums and choices that pages and documents share
 */
#ifndef PLIMSOLL_REPORT_MODEL_REPLAY_H
#define PLIMSOLL_REPORT_MODEL_REPLAY_H

#include "base/size.h"
#include "report/model/page.h"

#include "plimsoll/gpu.h"
#include "plimsoll/replay.h"

/* The source of the capacity. */
typedef enum plim_replay_capacity {
    PLIM_REPLAY_CAPACITY_FILE,  /* facts.capacity_source says how; it may be unknown */
    PLIM_REPLAY_CAPACITY_ASKED, /* the user's */
    PLIM_REPLAY_CAPACITY_GPU,   /* that of a GPU, less what a process takes of it */
} plim_replay_capacity;

/* The recording, what of it is replayed, and how far that is to be believed. */
typedef struct plim_replay_input {
    const char *path; /* as the user named it; "-" is standard input */
    const plim_history *history;
    const plim_replay_facts *facts; /* by device */
    const plim_fidelity *fidelity;  /* by device */
    size_t device_count;
    uint64_t capacity_bytes; /* of each device; PLIM_UNLIMITED: unknown */
    plim_replay_capacity capacity;
    size_t capacity_device; /* FILE: index of the device whose capacity it is */
    const plim_gpu *gpu;    /* GPU */
    const plim_scale *scales;
    size_t scale_count;
    bool has_range; /* not all events are replayed */
} plim_replay_input;

/* The fate of the recording under one conf: a row of a table, a result of a document. */
typedef struct plim_replay_row {
    const plim_conf *conf;
    bool is_recorded;        /* the settings of the recording */
    uint32_t wants_torch;    /* a release newer than the recording's, as PLIM_TORCH(2, 11), or 0 */
    bool is_start_requested; /* and yet its start was requested anew */
    bool is_winner;          /* tune's */
    const plim_run_result
        *result; /* of the device that fares worst; NULL: the start does not fit */
    const plim_run_result *results; /* of each device, or NULL */
    const char *failure;            /* what the start needs, where it does not fit; else NULL */
    uint64_t min_capacity_bytes;    /* 0: was not requested */
    bool is_min_capacity_bound;
    plim_empty_cache_when empty_cache;
    uint64_t empty_cache_event;
} plim_replay_row;

typedef struct plim_replay_view {
    bool shows_fidelity_whole;
    const char *predicted_path; /* where the predicted history was written, or NULL */
} plim_replay_view;

#define PLIM_TUNE_TOP_DEFAULT 12u

typedef struct plim_tune_view {
    uint32_t top;    /* rows shown; 0: PLIM_TUNE_TOP_DEFAULT. The recorded settings and the
                      * caller's own are shown besides */
    double budget_s; /* that was given; 0: none */
} plim_tune_view;

/** The page of a replay. rows  the recorded settings first */
void plim_replay_page(plim_page *page, const plim_replay_view *view, const plim_replay_input *input,
                      const plim_replay_row *rows, size_t count);
/** The page of a search: the table, the winner as a line to paste, what it saves. */
void plim_tune_page(plim_page *page, const plim_tune_view *view, const plim_replay_input *input,
                    const plim_tuning *tuning);

/** A numbered fix of a run that settings save: the line to paste. tuning  with is_saved */
void plim_tune_saved(plim_page *page, size_t number, const plim_replay_input *input,
                     const plim_tuning *tuning);

/* ---- facts ---- */

/** A row of a search, as tables and documents take it. */
plim_replay_row plim_tune_row_of(const plim_tuning *tuning, size_t index);
/** A release as people write it, "2.6"; "" for 0. */
plim_short_text plim_release_text(uint32_t release);
/** The frame of the user's own code that an event comes from, or PLIM_NONE. */
uint32_t plim_replay_event_frame(const plim_replay_input *input, int32_t device, uint64_t event);
/** The highest floor and the highest recorded peak of any device. */
uint64_t plim_replay_floor_bytes(const plim_replay_input *input);
uint64_t plim_replay_recorded_peak_bytes(const plim_replay_input *input);
/** The share of reserved memory that is not allocated: when most is live, or where the run dies
 * before that, when it dies. NaN: nothing was reserved. */
double plim_replay_fragmentation(const plim_run_result *result);
/** Calls that move memory; events and the like cost next to nothing. */
uint64_t plim_replay_memory_calls(const plim_run_result *result);
/** True if the device had the capacity or more: what fails there may survive. */
bool plim_replay_is_capacity_bound(const plim_replay_input *input);
/** The capacity's source, a stable name: "given", "gpu", "oom", "retries", "unknown". */
const char *plim_replay_capacity_name(const plim_replay_input *input);
/** Of several results the one that fares worst: the first that fails, else the highest peak. */
const plim_run_result *plim_replay_worst(const plim_run_result *results, size_t count);
/** Of all devices together: counts added up, differences the largest, the first divergence. */
plim_fidelity plim_replay_fidelity_of_all(const plim_replay_input *input);
/** True if recording and prediction agree in every driver call. */
bool plim_replay_is_exact(const plim_fidelity *fidelity);

/* ---- parts of a page ---- */

/* A page while it is made. */
typedef struct plim_replayed {
    plim_page *page;
    const plim_replay_input *input;
} plim_replayed;

/** " on GPU 1" where there are several devices, else "". */
const char *plim_replayed_device(const plim_replayed *self, int32_t device);
/** The origin of an event, ", train.py:42 in forward", or ""; as untrusted as the history. */
const char *plim_replayed_place(const plim_replayed *self, int32_t device, uint64_t event);
/** A conf as a user would write it, "default" where that is nothing. */
const char *plim_replayed_conf(const plim_conf *conf);

/** What the answer rests on, after it: the recording, its settings, how exactly it replays, the
 * capacity, the floor, and what failed when it was recorded. */
void plim_replayed_basis(const plim_replayed *self, bool with_fidelity);
/** With the answer: a line where the replay is not exact. */
void plim_replayed_caution(const plim_replayed *self);
/** How far to believe the rest: a line or two for each device; whole: all of it. */
void plim_replayed_fidelity(const plim_replayed *self, bool whole);
/** A row for each conf, then what the recording itself had, and the floor. */
void plim_replayed_rows(const plim_replayed *self, const plim_replay_row *rows, size_t count);
/** The row's settings, as the heading of what is said of it. */
void plim_replayed_head_row(const plim_replayed *self, const plim_replay_row *row);
/** What failed, for what, and where; nothing for a row that survives what failed before. */
void plim_replayed_outcome(const plim_replayed *self, const plim_replay_row *row);

#endif
