/*
 * replay_page.h - what `plimsoll replay` and `plimsoll tune` have in hand when they print.
 *
 * All is borrowed plain data: whoever has it (the commands, a test) points to it here. Their
 * pages are written in parts, which both share:
 *   replay_head.c      the recording: what it is, what it had, the capacity, the floor
 *   replay_fidelity.c  how far predictions are to be believed
 *   replay_rows.c      the table: a row for each conf
 *   replay_words.c     confs, events and stacks in words
 *   replay_parts.c     the members that both documents have
 *   replay_text.c, replay_json.c   page and document of replay
 *   tune_text.c, tune_json.c       page and document of tune
 */
#ifndef PLIMSOLL_REPORT_REPLAY_PAGE_H
#define PLIMSOLL_REPORT_REPLAY_PAGE_H

#include "base/json_out.h"
#include "base/text.h"
#include "report/term/style.h"

#include "plimsoll/gpu.h"
#include "plimsoll/replay.h"

/* A page has a screen or a few; a table may have a row for every setting tried. */
#define PLIM_REPLAY_TEXT_BYTES_MAX ((size_t)1 << 26)

/* Whose word the capacity is. */
typedef enum plim_replay_capacity {
    PLIM_REPLAY_CAPACITY_FILE,  /* facts.capacity_source says how; it may be unknown */
    PLIM_REPLAY_CAPACITY_ASKED, /* the user's */
    PLIM_REPLAY_CAPACITY_GPU,   /* that of a GPU, less what a process's context takes */
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

/* What became of the recording under one conf: a row of a table, a result of a document. */
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
    uint64_t min_capacity_bytes;    /* 0: was not asked for */
    bool is_min_capacity_bound;
    plim_empty_cache_when empty_cache;
    uint64_t empty_cache_event;
} plim_replay_row;

/* Where a page is being written. */
typedef struct plim_replay_page {
    plim_text *out;
    const plim_style *style;
    const plim_replay_input *input;
} plim_replay_page;

/* ---- words ---- */

/* A short text by value, for use in a call. */
typedef struct plim_replay_phrase {
    char text[256];
} plim_replay_phrase;

/** " on GPU 1" where there are several devices, else "". */
plim_replay_phrase plim_replay_device_words(const plim_replay_input *input, int32_t device);
/** The frame of the user's own code that an event comes from, or PLIM_NONE. */
uint32_t plim_replay_event_frame(const plim_replay_input *input, int32_t device, uint64_t event);
/** "event 2,233, train.py:42 in forward"; the place is as untrusted as the history. */
plim_replay_phrase plim_replay_event_words(const plim_replay_page *page, int32_t device,
                                           uint64_t event);
/** A conf as a user would write it, "default" where that is nothing. */
const char *plim_replay_conf_words(const plim_conf *conf);
/** "+ empty_cache() at 2,109", or "". */
plim_replay_phrase plim_replay_empty_cache_words(const plim_replay_row *row);
/** The highest floor and the highest recorded peak of any device. */
uint64_t plim_replay_floor_bytes(const plim_replay_input *input);
uint64_t plim_replay_recorded_peak_bytes(const plim_replay_input *input);
/** The share of reserved memory that is not allocated: when most is live, or where the run dies
 * before that, when it dies. NaN: nothing was reserved. */
double plim_replay_fragmentation(const plim_run_result *result);
/** Calls that move memory; events and the like cost next to nothing. */
uint64_t plim_replay_memory_calls(const plim_run_result *result);
/** Whether the device had the capacity or more: what fails there may survive. */
bool plim_replay_is_capacity_bound(const plim_replay_input *input);
/** How the capacity is known, a stable name: "given", "gpu", "oom", "retries", "unknown". */
const char *plim_replay_capacity_name(const plim_replay_input *input);
/** Of several results the one that fares worst: the first that fails, else the highest peak. */
const plim_run_result *plim_replay_worst(const plim_run_result *results, size_t count);
/** Of all devices together: counts added up, differences the largest, the first divergence. */
plim_fidelity plim_replay_fidelity_of_all(const plim_replay_input *input);
/** Whether recording and prediction agree in every driver call. */
bool plim_replay_is_exact(const plim_fidelity *fidelity);

/* ---- parts of a page ---- */

void plim_replay_blank(const plim_replay_page *page);
void plim_replay_heading(const plim_replay_page *page, const char *words);
/** The file, its devices, the settings they had. */
void plim_replay_head_write(const plim_replay_page *page);
/** How far to believe the rest: a line or two for each device. */
void plim_replay_fidelity_write(const plim_replay_page *page);
/** All of it. */
void plim_replay_fidelity_write_whole(const plim_replay_page *page);
/** Capacity, floor, and what failed when it was recorded. */
void plim_replay_limits_write(const plim_replay_page *page);
/** with_recording  a first row says what the recording itself had */
void plim_replay_rows_write(const plim_replay_page *page, const plim_replay_row *rows, size_t count,
                            bool with_recording);
/** What failed, for what, and where; nothing for a row that survives what failed before. */
void plim_replay_row_write_fate(const plim_replay_page *page, const plim_replay_row *row);

/* ---- parts of a document ---- */

/** "file" to "fidelity": all that is known before anything is run under another conf. */
void plim_replay_json_input(plim_json *json, const plim_replay_input *input);
/** The members of a result, within an object that is open. */
void plim_replay_json_row(plim_json *json, const plim_replay_input *input,
                          const plim_replay_row *row);

#endif
