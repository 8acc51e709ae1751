/*
 * plimsoll/replay.h - what if the allocator had behaved otherwise: a history, run again.
 *
 *   history ──► plim_replay ──► run under a conf, at a capacity ──► survives? peaks, driver calls
 *               (its requests)  verify: how far to believe that
 *                               tune: many confs, the smallest capacity each survives at
 *
 * A replay feeds the requests of a recording through the allocator of plimsoll/allocator.h on a
 * simulated device. What the program did is kept: its requests and frees in order, on their
 * streams and in their pools; how long freed memory waited for other streams; its calls of
 * empty_cache. What the allocator did is worked out anew.
 *
 * The state before the first event is rebuilt: under the recorded settings segments and blocks
 * lie as the recording has them, but for cached segments that the device has no room for; under
 * others the allocations from before are requested again, in order of their addresses.
 *
 * Determinism: the same history and options give the same results, whatever the machine or the
 * number of threads; but a budget of time may end a search earlier.
 */
#ifndef PLIMSOLL_REPLAY_H
#define PLIMSOLL_REPLAY_H

#include "plimsoll/allocator.h"
#include "plimsoll/device.h"
#include "plimsoll/history.h"
#include "plimsoll/release.h"
#include "plimsoll/settings.h"
#include "plimsoll/verdict.h"

PLIM_BEGIN_DECLS

#define PLIM_NO_EVENT        UINT64_MAX /* in place of an event's index: no event */
#define PLIM_ALL_DEVICES     INT32_MIN  /* in place of a device's index */
#define PLIM_CONF_TEXT_BYTES (PLIM_SETTINGS_TEXT_BYTES + 128)

/* --- what it is run under --- */

/*
 * A conf: PyTorch's settings, and which allocator. As text it is what PYTORCH_CUDA_ALLOC_CONF
 * says, or names another policy:
 *
 *   conf    := "" | "default" | policy [ "," pair … ] | pair { "," pair }
 *   policy  := one of plim_policy_name(); those but "torch" are sketches (plimsoll/allocator.h)
 *   pair    := PyTorch's (plimsoll/settings.h) | "release_threshold:" SIZE
 *
 * "backend:cudaMallocAsync" is the policy "async" with a threshold that keeps everything, as
 * PyTorch sets it. A plain value.
 */
typedef struct plim_conf {
    plim_settings settings;
    plim_policy_kind policy;
    uint64_t release_threshold_bytes; /* async: kept at synchronisations; 0 by default */
    char text[PLIM_CONF_TEXT_BYTES];  /* as a user would write it; "" is the default */
} plim_conf;

/**
 * Read a conf.
 *
 * ret_conf  text is what was given, without white space
 * err       offset: the character that is wrong
 * errors    those of plim_settings_parse(), PLIM_LIMIT (longer than PLIM_CONF_TEXT_BYTES)
 */
PLIM_API PLIM_MUST_USE plim_status plim_conf_parse(const char *text, plim_conf *ret_conf,
                                                   plim_error *err);

/* --- preparing --- */

/* Requests multiplied: `--scale activations=2`. Later rules win. */
typedef struct plim_scale {
    const char *what; /* a category (plim_category_name), "all", or "stack:TEXT": any frame whose
                       * "file:line name" contains TEXT */
    double factor;    /* above 0; sizes are rounded up to whole bytes */
} plim_scale;

/* All zero but `device` is a valid default. */
typedef struct plim_replay_options {
    const plim_mem *mem; /* borrowed until destroy; NULL: the C heap */
    int32_t device;      /* PyTorch's index, or PLIM_ALL_DEVICES: those with anything to replay */
    /* Events of each device that are replayed, [from, to); to 0: all. Allocations from before
     * `from` are the start. */
    uint64_t from_event;
    uint64_t to_event;
    /* In their place the first event of a step, from 1; one more than there are is the end of the
     * last. 0: not given. Each device has steps of its own: `device` chooses one. */
    uint64_t from_step;
    uint64_t to_step;
    const plim_scale *scales;
    size_t scale_count;
} plim_replay_options;

typedef struct plim_replay plim_replay;

/**
 * Take a history's requests out of it. Read-only afterwards: any number of threads may run one.
 *
 * history      borrowed: it must outlive the replay
 * ret_replay   the caller's, until plim_replay_destroy()
 * errors       PLIM_UNSUPPORTED (no events to replay, or not of this device: the message says
 *              what the history has), PLIM_INVALID_ARGUMENT (a range that is empty, a step that is
 *              not there, an unknown category), PLIM_LIMIT (2^32 events), PLIM_OUT_OF_HOST_MEMORY
 * time         linear in events, n log n in segment events
 * memory       about 14 bytes an event
 */
PLIM_API PLIM_MUST_USE plim_status plim_replay_create(const plim_history *history,
                                                      const plim_replay_options *options,
                                                      plim_replay **ret_replay, plim_error *err);
PLIM_API void plim_replay_destroy(plim_replay *replay);

/* The source of the capacity of a device. */
typedef enum plim_capacity_source {
    PLIM_CAPACITY_UNKNOWN, /* the file does not say, and nothing failed */
    PLIM_CAPACITY_OOM,     /* reserved and free bytes at an oom event */
    PLIM_CAPACITY_RETRIES, /* it follows from when cached memory was given back for a request */
} plim_capacity_source;

/* The facts of a device before it is replayed. Bytes. */
typedef struct plim_replay_facts {
    int32_t device;  /* PyTorch's index */
    uint64_t events; /* that are replayed */
    uint64_t requests;
    uint64_t start_allocations; /* from before the first event */
    uint64_t start_reserved_bytes;
    uint64_t start_live_bytes;
    uint64_t floor_bytes; /* peak of live requests in units of 512 bytes, in whole 2 MiB: no
                           * allocator can do with less */
    uint64_t peak_event;  /* of the floor: when live requests were highest */
    uint64_t recorded_peak_reserved_bytes;
    uint64_t capacity_bytes; /* what the driver would have given this process, at most */
    plim_capacity_source capacity_source;
    uint64_t oom_event;        /* the first oom the recording has, or PLIM_NO_EVENT */
    uint64_t events_after_oom; /* events after it: what led to it ends there */
    uint64_t cache_releases;   /* calls of empty_cache that the recording shows */
    bool is_torn;              /* the start is reconstructed from a ring that wrapped */
    plim_conf conf;            /* the settings in force when it was recorded */
} plim_replay_facts;

PLIM_API size_t plim_replay_device_count(const plim_replay *replay);
PLIM_API const plim_replay_facts *plim_replay_device(const plim_replay *replay, size_t index);

/* --- running --- */

/* Public measurements (docs/design/replay.md has table and sources). */
PLIM_API plim_driver_costs plim_driver_costs_default(void);

/* Says how far work is; false asks to stop, and the call returns PLIM_CANCELLED. Called from one
 * thread at a time, not always the caller's. */
typedef bool plim_replay_progress(void *ctx, uint64_t done, uint64_t total);

typedef struct plim_run_options {
    uint64_t capacity_bytes;        /* of each device; PLIM_UNLIMITED: every request is served */
    uint64_t total_bytes;           /* what the whole device has: fractions are of it; 0: no more
                                     * than the capacity */
    const plim_driver_costs *costs; /* NULL: the default ones */
    plim_replay_progress *progress; /* done and total are events; may be NULL */
    void *progress_ctx;
} plim_run_options;

/* The outcome of one device. Bytes unless the name says otherwise. */
typedef struct plim_run_result {
    int32_t device;
    bool survives;         /* no request failed, those that failed in the recording included */
    uint64_t failed_event; /* the first request that found no memory, or PLIM_NO_EVENT */
    uint64_t failed_bytes; /* of it, as requested */
    uint64_t failed_reserved_bytes; /* held then, after all that could be released was */
    uint64_t failed_allocated_bytes;
    plim_failed_request failure; /* the same request for plim_judge(); its total is the capacity of
                                  * the run. Of interest where failed_event is one */
    bool was_oom;                /* it failed in the recording too */
    uint64_t events;             /* up to the one that failed, or all */
    uint64_t peak_reserved_bytes;
    uint64_t peak_allocated_bytes;
    uint64_t peak_requested_bytes;
    uint64_t reserved_at_peak_bytes; /* at facts.peak_event; these two are 0 if it failed before */
    uint64_t allocated_at_peak_bytes;
    double fragmentation; /* 1 - allocated/reserved then */
    uint64_t end_reserved_bytes;
    uint64_t driver_calls[PLIM_DEVICE_CALL_COUNT]; /* after the start was rebuilt */
    double driver_time_us;
    uint64_t retries;              /* requests that made the allocator give its cache back */
    uint64_t ooms_survived;        /* requests that failed in the recording and were served here */
    uint64_t start_released_bytes; /* of segments that were cached at the start, and given back so
                                    * that the rest of it fits */
} plim_run_result;

/**
 * Run under a conf: every device of the replay, each on a device of its own.
 *
 * A request that fails ends a device's run, unless it failed in the recording too: then the run
 * goes on as the program did. A request that failed in the recording and is served here is freed
 * at once: what the program would have done next is unknown.
 *
 * ret_results   room for plim_replay_device_count() results
 * errors        PLIM_OUT_OF_DEVICE_MEMORY (not even the start fits: the message says what it
 *               needs), PLIM_CANCELLED, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_replay_run(const plim_replay *replay, const plim_conf *conf,
                                                   const plim_run_options *options,
                                                   plim_run_result *ret_results, plim_error *err);

/**
 * Run, and give what happened as a history: the events of the recording with the addresses they
 * would have had, the driver calls they would have caused, the segments and blocks at the end.
 * Stacks, times, annotations and devices are the recording's.
 *
 * ret_history   the caller's, until plim_history_destroy()
 */
PLIM_API PLIM_MUST_USE plim_status plim_replay_predict(const plim_replay *replay,
                                                       const plim_conf *conf,
                                                       const plim_run_options *options,
                                                       plim_history **ret_history, plim_error *err);

/* --- how far to believe it --- */

/* In the list: enumerator, name in JSON, what it means. */
#define PLIM_CAVEAT_LIST(X)                                                                        \
    X(PLIM_CAVEAT_START_BLOCKS, "start_blocks",                                                    \
      "sizes of blocks from before the first event are worked out from their neighbours")          \
    X(PLIM_CAVEAT_START_OUTSIDE, "start_outside_segments",                                         \
      "allocations from before the first event lie in no known segment")                           \
    X(PLIM_CAVEAT_NO_SETTINGS, "settings_unknown",                                                 \
      "the file does not say which settings were in force")                                        \
    X(PLIM_CAVEAT_NO_DRIVER_CALLS, "no_driver_calls",                                              \
      "the recording shows no driver call, so there is nothing to compare")                        \
    X(PLIM_CAVEAT_CONTRADICTIONS, "contradictions",                                                \
      "events contradict each other or the state at the end")                                      \
    X(PLIM_CAVEAT_CAPACITY, "capacity_unknown",                                                    \
      "cached memory was given back for a request, at a capacity that the file does not record")   \
    X(PLIM_CAVEAT_POOLS, "pools", "requests of private pools cannot be distinguished from others") \
    X(PLIM_CAVEAT_PLACEMENT, "placement", "requests got other addresses than recorded")

typedef enum plim_caveat {
#define PLIM_CAVEAT_ENUM(code, name, text) code,
    PLIM_CAVEAT_LIST(PLIM_CAVEAT_ENUM)
#undef PLIM_CAVEAT_ENUM
        PLIM_CAVEAT_COUNT
} plim_caveat;

PLIM_API const char *plim_caveat_name(plim_caveat doubt);
PLIM_API const char *plim_caveat_text(plim_caveat doubt);

#define PLIM_DIVERGENCE_BYTES 256

/* A replay under the recorded settings, compared with the recording, for one device. */
typedef struct plim_fidelity {
    int32_t device;
    uint64_t segment_events_recorded;
    uint64_t segment_events_predicted;
    uint64_t segment_events_matched; /* same action, bytes, order, and between the same requests */
    double share;                    /* matched / the larger of the two; 1 when both are 0 */
    uint64_t placements;             /* requests served in both */
    uint64_t placements_matched;     /* at the recorded address */
    uint64_t reserved_bytes_max_difference; /* over all events */
    double reserved_bytes_mean_difference;  /* of the magnitudes */
    uint64_t recorded_peak_reserved_bytes;
    uint64_t predicted_peak_reserved_bytes;
    uint64_t diverges_at_event;             /* the first segment event that differs, or
                                             * PLIM_NO_EVENT */
    char divergence[PLIM_DIVERGENCE_BYTES]; /* what differs there, one line */
    uint64_t caveats[PLIM_CAVEAT_COUNT];    /* how often each has cause */
} plim_fidelity;

/**
 * Compare, for every device of the replay; without the scales, over the same range of events.
 *
 * ret_fidelity  room for plim_replay_device_count() of them
 */
PLIM_API PLIM_MUST_USE plim_status plim_replay_verify(const plim_replay *replay,
                                                      const plim_run_options *options,
                                                      plim_fidelity *ret_fidelity, plim_error *err);

/* --- searching --- */

/* When the cache is emptied besides what the recording shows. */
typedef enum plim_empty_cache_when {
    PLIM_EMPTY_NEVER,
    PLIM_EMPTY_AT_EVENT,    /* once, before an event */
    PLIM_EMPTY_AFTER_STEPS, /* after each step of the history */
} plim_empty_cache_when;

typedef struct plim_tune_row {
    plim_conf conf;
    plim_empty_cache_when empty_cache;
    uint64_t empty_cache_event; /* for PLIM_EMPTY_AT_EVENT */
    bool is_recorded;           /* the settings of the recording */
    bool is_given;              /* the caller named it */
    uint32_t needs_torch; /* the first release that knows these settings, as PLIM_TORCH(2, 11); 0:
                           * any that has settings */
    bool is_too_new;      /* the recording is from an older release: it never wins */
    /* Allocations from before the first event were requested anew, and the driver gave what
     * addresses it liked. False: both as recorded, which only the recorded settings can have; rows
     * are compared with those that start alike. */
    bool is_start_requested;
    /* At the capacity asked about; of several devices the first that fails, else the one with the
     * highest peak. Where not even the start fits: survives is false, failed_event is
     * PLIM_NO_EVENT. */
    plim_run_result result;
    uint64_t min_capacity_bytes;    /* it survives with this and not with 2 MiB less */
    bool is_min_capacity_bound;     /* not searched further: it needs at least so much */
    const char *failure;            /* what the start needs, where it does not fit; else NULL */
    const plim_run_result *results; /* plim_replay_compare(): of each device, where it fits */
} plim_tune_row;

/* All zero but capacity_bytes is a valid default. */
typedef struct plim_tune_options {
    uint64_t capacity_bytes;  /* PLIM_UNLIMITED: only minimal capacities are of interest */
    bool is_capacity_bound;   /* the device has so much or more: that a row fails there says
                               * nothing of the device */
    uint64_t total_bytes;     /* as in plim_run_options; of smaller devices, as much smaller */
    const char *const *confs; /* to be tried besides the search's own */
    size_t conf_count;
    bool only_given;                /* nothing but these and the recorded settings */
    bool has_all_policies;          /* other allocators too, for comparison; they never win */
    uint32_t threads;               /* 0: all cores */
    double budget_s;                /* 0: none. Ends the search early; the results say so */
    const plim_driver_costs *costs; /* NULL: the default ones */
    plim_replay_progress *progress; /* done and total are runs; may be NULL */
    void *progress_ctx;
    const plim_mem *mem;
} plim_tune_options;

typedef struct plim_tuning {
    /* The best first, then survivors by what they cost (min capacity and peak reserved bytes,
     * added up), then the others by what they need. */
    const plim_tune_row *rows;
    size_t row_count;
    size_t recorded; /* index of the row of the recorded settings, its start as recorded */
    /* The recorded settings with start and addresses as the other rows have them. The same as
     * `recorded` where there were no allocations before and it makes no difference. */
    size_t baseline;
    size_t reference; /* of these two the one that fares better: savings are measured against it */
    /* Index of the winner: of the recorded settings where nothing costs 1 % less. Where no row
     * survives, the one that needs least; its result says that it does not survive. */
    size_t best;
    size_t hardly_better; /* the best row, or where that is the recorded settings the best of the
                           * others, if it costs less than they by less than 1 %; else SIZE_MAX */
    double gain;          /* of `best`, or of `hardly_better`: what it costs less than the
                           * reference, as a share; 0: nothing, or unknown */
    bool is_saved;        /* the winner survives and the recorded settings do not */
    bool is_hopeless;     /* the floor is above the capacity: no allocator survives */
    bool is_incomplete;   /* the budget ended the search */
    uint64_t floor_bytes;
    uint64_t runs; /* replays made */
} plim_tuning;

/**
 * Search the settings under which the history needs the smallest device.
 *
 * ret_tuning   the caller's, until plim_tuning_destroy()
 * errors       PLIM_OUT_OF_DEVICE_MEMORY (under no settings the start fits the capacity), those of
 *              a conf given by the caller, PLIM_CANCELLED, PLIM_OUT_OF_HOST_MEMORY
 * threads      runs are made by several: the plim_mem of the replay is called from all of them
 * returns      PLIM_OK; the winner is among PyTorch's own settings (docs/design/replay.md: ties)
 */
PLIM_API PLIM_MUST_USE plim_status plim_replay_tune(const plim_replay *replay,
                                                    const plim_tune_options *options,
                                                    plim_tuning **ret_tuning, plim_error *err);
PLIM_API void plim_tuning_destroy(plim_tuning *tuning);

/**
 * Run under the recorded settings and the confs of the options, as plim_replay_run() does, and find
 * the smallest capacity of each. Nothing is ranked.
 *
 * is_quick     smallest capacities are not searched: they are 0
 * ret_tuning   the recorded settings, and the confs in their order; of the other members runs,
 *              is_hopeless and floor_bytes are there. The caller's, until plim_tuning_destroy()
 * errors       as of plim_replay_tune()
 */
PLIM_API PLIM_MUST_USE plim_status plim_replay_compare(const plim_replay *replay,
                                                       const plim_tune_options *options,
                                                       bool is_quick, plim_tuning **ret_tuning,
                                                       plim_error *err);

PLIM_END_DECLS

#endif
