/*
 * plimsoll/rehearse.h - run a program over stand-ins for CUDA and learn what memory it needs.
 *
 *   prepare ──► a folder with facades, a stage, room for results; an environment
 *   (the caller runs the program in that environment, as it likes)
 *   finish  ──► what the program used, where it peaked, whether it ran out
 *   destroy ──► the folder is gone
 *
 * The program is the user's own, unchanged; its environment is all that leads it to the
 * stand-ins. Nothing is installed, and nothing outside the folder changes.
 * docs/commands/rehearse.md.
 */
#ifndef PLIMSOLL_REHEARSE_H
#define PLIMSOLL_REHEARSE_H

#include "plimsoll/gpu.h"
#include "plimsoll/launch.h"
#include "plimsoll/phases.h"

#include <stdbool.h>

PLIM_BEGIN_DECLS

/* A variable of the program's environment. */
typedef struct plim_rehearse_variable {
    const char *name;  /* NULL ends a list */
    const char *value; /* NULL: it is not set */
} plim_rehearse_variable;

/* All zero is valid. */
typedef struct plim_rehearse_options {
    const plim_mem *mem;
    const char *gpu;         /* a name plim_gpu_find() knows; NULL: "h100" */
    uint64_t capacity_bytes; /* of each device; 0: what the GPU has */
    uint64_t margin_bytes;   /* tight, unless so much of each device stays free; or: */
    double margin_share;     /* so much of its capacity, 0 to 1, where that is more */
    uint32_t device_count;   /* 0: one */
    uint64_t steps;          /* end after so many optimizer steps; 0: when the program ends */
    const char *settings;    /* for PYTORCH_CUDA_ALLOC_CONF; NULL: as the environment has it */
    const char *techniques;  /* to switch on, one a line, as plim_technique_find() takes them */
    const char *python;      /* the program's Python; NULL: found from the program */
    const char *in_python;   /* another Python that the program is to run in; NULL: its own */
    const char *home;        /* folder of the stand-ins; NULL: beside the library */
    /* Write the whole history of each process: FILE.plim, or FILE.pickle as PyTorch does; NULL: no
     */
    const char *record_path;
    uint64_t seed;        /* of values */
    uint32_t world_size;  /* run one representative rank of so many; 0: run what there is */
    uint32_t rank;        /* which */
    bool keeps_snapshots; /* as for record_path, but left at each process's snapshot_path */
    bool gives_values;    /* what is read from devices is noise, not zeros */
    bool ends_late;       /* work on streams, as late as on a GPU: the most that is reserved */
    uint32_t counts_step; /* count the work of a step, plim_rehearsed_process.work: of the first two
                             the last (1), of the second alone (2); 0: of none */
    bool prints_calls;    /* functions name themselves on stderr when first called */
    const plim_rehearse_variable *variables; /* more for the program's environment; NULL: none */
} plim_rehearse_options;

/* ---- what became of it ----------------------------------------------------------------------- */

/* A phase of the program. Steps count from 1; step 0 is what comes before the first. */
typedef struct plim_rehearsed_phase {
    const char *name; /* "setup", "forward", "backward", "optimizer" */
    uint64_t peak_allocated_bytes;
    uint64_t peak_reserved_bytes;
} plim_rehearsed_phase;

typedef struct plim_rehearsed_step {
    uint64_t step;
    uint64_t peak_allocated_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t end_allocated_bytes;
} plim_rehearsed_step;

/* PyTorch's own statistics of a device in one process. */
typedef struct plim_rehearsed_device {
    uint32_t device;
    uint64_t allocated_bytes; /* at the end */
    uint64_t reserved_bytes;
    uint64_t peak_allocated_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t peak_active_bytes;
    uint64_t peak_requested_bytes;
    uint64_t peak_step; /* where allocated bytes peaked */
    const char *peak_phase;
    uint64_t alloc_retries;
    uint64_t oom_count;
    const plim_rehearsed_phase *phases;
    size_t phase_count;
    const plim_rehearsed_step *steps; /* the first thousand */
    size_t step_count;
} plim_rehearsed_device;

typedef struct plim_rehearsed_oom {
    uint64_t step;
    const char *phase;
    plim_failed_request
        request;      /* as PyTorch's observers and statistics have it, for plim_judge() */
    const char *text; /* PyTorch's message; NULL: the program caught it */
    const char *const *stack;
    size_t stack_count;
} plim_rehearsed_oom;

/* A line of the program where requests failed. */
typedef struct plim_rehearsed_oom_place {
    const char *where; /* "train.py:55 main" */
    uint64_t count;
} plim_rehearsed_oom_place;

/* A place where the host reads what a device computed, which here it never did. */
typedef struct plim_rehearsed_read {
    const char *where; /* "train.py:55 main" */
    const char *what;
    uint64_t count;
    const char *const *stack;
    size_t stack_count;
    const char *why; /* how sizes or the program's way hang on the value; NULL: they do not */
} plim_rehearsed_read;

/* Something that decides how much memory a program needs, or a technique that it switched on. */
typedef struct plim_rehearsed_fact {
    const char *kind;     /* "decides", "technique" */
    const char *name;     /* "attention", "gradient checkpointing" */
    const char *value;    /* "flash", "24 blocks" */
    const char *effect;   /* of a technique: "yes", "no", "unknown"; else NULL */
    const char *evidence; /* a sentence; may be NULL */
} plim_rehearsed_fact;

/* A place of the user's code that a technique changes. */
typedef struct plim_rehearsed_place {
    const char *what; /* "optimizer", "backward", "loader", … */
    const char *file;
    uint64_t line;
} plim_rehearsed_place;

/* For those who write a technique down as a change of the program. */
typedef struct plim_rehearsed_detail {
    const char *name;
    const char *value; /* of a number, its digits */
} plim_rehearsed_detail;

/* A technique that was switched on from outside, in one process: docs/formats/with.md. */
typedef struct plim_rehearsed_technique {
    const char *name;  /* "checkpoint" */
    const char *value; /* "every:2"; "" */
    const char *state; /* "applied", "refused", "no_effect", "waiting" */
    const char *text;  /* the evidence or the reason; NULL: none */
    const char *label; /* where it is not the table's: "same", "in_expectation", "changed"; NULL */
    const char *label_text;
    const plim_rehearsed_place *places;
    size_t place_count;
    const plim_rehearsed_detail *details; /* the report's "facts" */
    size_t detail_count;
} plim_rehearsed_technique;

/* Operations of one step that are alike. */
typedef struct plim_rehearsed_operation {
    const char *name;      /* "aten::mm" */
    const char *precision; /* of a product: "float32", "tf32", "bfloat16", …; "" of all others */
    double flops;          /* of one; 0: nothing is multiplied */
    double bytes;          /* that one reads and writes on the device */
    uint64_t count;
} plim_rehearsed_operation;

/* The work of one step, counted: docs/design/fit-cost.md. */
typedef struct plim_rehearsed_work {
    const char *why_unknown; /* half a sentence; the rest then has no meaning. NULL: it is known */
    const char *why_partial; /* half a sentence: work is missing. NULL: all was seen */
    uint64_t step;           /* 0: the whole program, which has no steps */
    const plim_rehearsed_operation *operations;
    size_t operation_count;
    uint64_t launches;      /* operations that PyTorch dispatched to the device */
    uint64_t to_host_bytes; /* copied */
    uint64_t to_device_bytes;
    uint64_t aside_to_host_bytes; /* of those, on streams beside the default one */
    uint64_t aside_to_device_bytes;
    uint64_t host_bytes;   /* read and written by operations on the host */
    uint64_t driver_calls; /* cudaMalloc and cudaFree, by PyTorch's allocator */
} plim_rehearsed_work;

typedef struct plim_rehearsed_process {
    int64_t pid;
    uint64_t rank;
    uint64_t world_size;
    const char *torch; /* its version */
    const char *ended; /* "exit", "oom", "steps", "error", "stopped", "running" (it was killed) */
    const char *stop_reason; /* of "stopped": "endless_loop", "no_kernels"; else NULL */
    const char *stop_text;   /* the same as a sentence */
    const char *exception;
    uint64_t steps;
    double import_seconds;
    double total_seconds;
    const char *settings; /* PYTORCH_CUDA_ALLOC_CONF */
    const plim_rehearsed_device *devices;
    size_t device_count;
    const plim_rehearsed_oom *ooms; /* the first 20 */
    size_t oom_count;
    uint64_t oom_total; /* requests that failed, those that the program caught too */
    const plim_rehearsed_oom_place *oom_places; /* the most frequent first */
    size_t oom_place_count;
    const char *no_gpu_text; /* why it used no GPU, as far as is known; NULL: it did */
    const plim_rehearsed_read *reads;
    size_t read_count;
    const plim_rehearsed_fact *facts;
    size_t fact_count;
    const char *const *warnings;
    size_t warning_count;
    const char *snapshot_path;                  /* NULL: none; gone with the rehearsal */
    const plim_rehearsed_technique *techniques; /* in the order of the options */
    size_t technique_count;
    const char *with_report; /* the document that says so, docs/formats/with.md; NULL: none */
    const plim_rehearsed_work *work; /* NULL: it was not to be counted */
} plim_rehearsed_process;

/* One quantity with its error bar. */
typedef struct plim_rehearsed_bar {
    uint64_t low_bytes;
    uint64_t expected_bytes;
    uint64_t high_bytes;
} plim_rehearsed_bar;

/* The largest part of an error bar above the expected figure. */
typedef enum plim_rehearsed_doubt {
    PLIM_REHEARSED_DOUBT_NOTHING,
    PLIM_REHEARSED_DOUBT_REQUESTS, /* what the program asks for hangs on a real device's choices */
    PLIM_REHEARSED_DOUBT_CONTEXT,
    PLIM_REHEARSED_DOUBT_MODULES, /* kernels that are loaded eagerly */
    PLIM_REHEARSED_DOUBT_GRAPHS,  /* CUDA graphs */
    PLIM_REHEARSED_DOUBT_LIBRARIES,
    PLIM_REHEARSED_DOUBT_NCCL,
} plim_rehearsed_doubt;

/* A device as the driver sees it, all processes together. */
typedef struct plim_rehearsed_gpu {
    uint64_t peak_bytes;      /* of what can be allocated, and at that moment: */
    uint64_t program_bytes;   /* requested by programs */
    uint64_t context_bytes;   /* taken by the driver for processes: modelled */
    uint64_t libraries_bytes; /* taken by libraries for themselves: modelled */
    plim_rehearsed_bar peak;  /* expected_bytes is peak_bytes */
    plim_rehearsed_doubt doubt;
    uint64_t wait_count; /* freed blocks that would wait for other streams on a GPU: they may add */
    uint64_t waiting_bytes; /* so much, which peak.high_bytes includes */
} plim_rehearsed_gpu;

typedef struct plim_rehearsed_call {
    const char *name;
    const char *kind; /* "answered", "nothing", "modelled", "declined", "refused", "unknown" */
    const char *note; /* why, or what is modelled; may be empty */
    uint64_t count;
} plim_rehearsed_call;

typedef struct plim_rehearsal_outcome {
    const plim_gpu *gpu;
    uint64_t capacity_bytes;
    uint64_t margin_bytes; /* to be kept free of it */
    uint32_t device_count;
    const plim_rehearsed_gpu *gpus; /* device_count of them */
    const plim_rehearsed_process *processes;
    size_t process_count; /* those that used PyTorch, by rank and pid */
    const plim_rehearsed_call *calls;
    size_t call_count;
    /* In the order of the options, all processes together: the entry of one in which it was
     * applied; else refused; else without effect. */
    const plim_rehearsed_technique *techniques;
    size_t technique_count;
    uint64_t host_bytes;     /* of the host, pinned, at most at a time: all processes together */
    bool ends_late;          /* as the options asked */
    size_t unanswered_count; /* of calls, refused or unknown: the figures do not count */
    const char *const *warnings;
    size_t warning_count;
} plim_rehearsal_outcome;

/* ---- running one ----------------------------------------------------------------------------- */

typedef struct plim_rehearsal plim_rehearsal;

/**
 * Make ready to run a program.
 *
 * argv    its name, searched for in PATH, and arguments; ends in NULL; copied
 * ret     the caller's, until plim_rehearsal_destroy()
 * errors  PLIM_INVALID_ARGUMENT: unknown GPU, impossible options; PLIM_UNSUPPORTED: the program
 *         does not use CUDA; those of plim_settings_parse(); PLIM_CORRUPT: the description of
 * Python's packages is malformed; PLIM_IO; PLIM_LIMIT; PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearsal_prepare(const char *const *argv,
                                                          const plim_rehearse_options *options,
                                                          plim_rehearsal **ret, plim_error *err);

/** For execve(); the rehearsal's. */
PLIM_API char *const *plim_rehearsal_argv(const plim_rehearsal *rehearsal);
PLIM_API char *const *plim_rehearsal_environment(const plim_rehearsal *rehearsal);

/**
 * After the program has ended: what it left.
 *
 * ret     the rehearsal's
 * errors  PLIM_OUT_OF_HOST_MEMORY; results that cannot be read become warnings
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearsal_finish(plim_rehearsal *rehearsal,
                                                         const plim_rehearsal_outcome **ret,
                                                         plim_error *err);

/** Removes the folder and frees everything. NULL is allowed. */
PLIM_API void plim_rehearsal_destroy(plim_rehearsal *rehearsal);

/* ---- all of that in one call ----------------------------------------------------------------- */

typedef enum plim_rehearsed_verdict {
    PLIM_REHEARSED_FITS,
    PLIM_REHEARSED_TIGHT, /* it ended well, but the error bar of device use ends beyond capacity */
    PLIM_REHEARSED_AT_LEAST, /* it ended well, but sizes hang on values that were not computed */
    PLIM_REHEARSED_OUT_OF_MEMORY,
    PLIM_REHEARSED_FAILED,     /* it failed for another reason, was stopped, or used no GPU */
    PLIM_REHEARSED_UNANSWERED, /* it called a function that has no stand-in */
} plim_rehearsed_verdict;

/* The highest of all processes and devices. */
typedef struct plim_rehearsed_peak {
    uint64_t allocated_bytes;
    uint64_t reserved_bytes;
    uint64_t device_bytes; /* as nvidia-smi would show it */
} plim_rehearsed_peak;

/* Why a verdict is PLIM_REHEARSED_FAILED. */
typedef struct plim_rehearsed_reason {
    const char *word; /* "no_kernels", "signal", "program", "no_gpu_used"; NULL: it did not fail */
    const char *text; /* a sentence without its stop; NULL without a word */
} plim_rehearsed_reason;

/* The need of a program that ran out of memory, from a second run without the limit. */
typedef struct plim_rehearsed_need {
    const char *why_unknown;  /* half a sentence; the rest then has no meaning. NULL: it is known */
    const char *why_at_least; /* half a sentence: figures are lower bounds. NULL: they are not */
    plim_rehearsed_peak peak;
    plim_rehearsed_bar bar; /* of device use */
    uint64_t step;          /* where allocated bytes peaked */
    const char *phase;
    uint64_t steps; /* finished in the second run; where it was ended for that, has_all is false */
    bool has_all;
    uint64_t growth_bytes; /* what stays after a step grows by so much with each; 0: it does not */
    bool asks_for_free; /* it asks how much memory is free, and may take more where there is more */
    bool has_backward;  /* it trains, */
    bool has_optimizer; /* and updates weights */
    bool has_categories;
    uint64_t category_bytes[PLIM_CATEGORY_COUNT]; /* live at the peak of one device */
} plim_rehearsed_need;

/* A setting of the allocator that was advised, and what became of the program with it. */
typedef struct plim_rehearsed_tried {
    const char *settings; /* for PYTORCH_CUDA_ALLOC_CONF, with those that were in force */
    plim_rehearsed_verdict verdict;
    plim_rehearsed_peak peak;
    uint64_t steps; /* finished; where it was ended for that, has_all is false */
    bool has_all;
} plim_rehearsed_tried;

/* Of a program that is tight only by blocks that wait for other streams: a second run in which they
 * waited as late as on a GPU at the latest. */
typedef struct plim_rehearsed_late {
    const char *why_unknown; /* half a sentence; the rest then has no meaning. NULL: it is known */
    bool ran_out; /* of memory; bars are those of the first run. Else they are narrowed */
    plim_rehearsed_peak peak;
} plim_rehearsed_late;

typedef struct plim_rehearsed {
    const plim_rehearsal_outcome *outcome;
    const char *const *argv; /* borrowed from the caller */
    int exit_status;         /* the program's, or 128 + signal */
    bool ran_out;            /* a device's memory ran out, and that ended the program */
    plim_rehearsed_reason reason;
    const plim_oom_message *message;   /* the main message about memory that it printed, or NULL */
    const plim_rehearsed_need *need;   /* NULL: plim_rehearse_need() was not called */
    const plim_rehearsed_late *late;   /* NULL: it was not run late, see plim_rehearse_late() */
    const plim_rehearsed_tried *tried; /* by plim_rehearse_advised(), in the order of advice */
    size_t tried_count;
    const char *const *recordings; /* the files that were written for record_path */
    size_t recording_count;
    plim_launched launched;
    plim_rehearsal *rehearsal; /* owns the outcome and recordings */
} plim_rehearsed;

/**
 * Rehearse a program: prepare, launch, finish, record.
 *
 * argv     as for plim_rehearsal_prepare(); borrowed until plim_rehearsed_deinit()
 * options  may be NULL
 * launch   where the program's output goes; NULL: to the caller's. Its environment is replaced
 * ret      the caller's on success, until plim_rehearsed_deinit()
 * errors   those of plim_rehearsal_prepare(), plim_launch(), plim_history_load() and
 *          plim_history_save(); PLIM_CANCELLED: INT, TERM, HUP or QUIT came while results were read
 * signals  see plim_launch(). Those four are held until the folder is removed or the results are
 *          read
 * threads  one call at a time in a process
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearse(const char *const *argv,
                                                 const plim_rehearse_options *options,
                                                 const plim_launch_options *launch,
                                                 plim_rehearsed *ret, plim_error *err);

/* The second run of plim_rehearse_need(): the memory of each device, in multiples of the first
 * run's and at least; and the time that it may take, in multiples of the first run's and at least.
 */
#define PLIM_NEED_CAPACITY_TIMES 16
#define PLIM_NEED_CAPACITY_LEAST (UINT64_C(256) << 30)
#define PLIM_NEED_SECONDS_TIMES  10
#define PLIM_NEED_SECONDS_LEAST  120

/**
 * After PLIM_REHEARSED_OUT_OF_MEMORY: rehearse the program once more, without the limit and without
 * its output, and fill rehearsed->need. It ends two steps after the one in which memory ran out,
 * not before the sixth, and where options->steps say so.
 *
 * options  as for plim_rehearse(); nothing is recorded for record_path
 * errors   PLIM_OUT_OF_HOST_MEMORY; whatever else goes wrong is need->why_unknown
 * signals  as for plim_rehearse(), but INT, TERM, HUP and QUIT end the second run only
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearse_need(plim_rehearsed *rehearsed,
                                                      const plim_rehearse_options *options,
                                                      plim_error *err);

#define PLIM_TRIED_MAX 2

/**
 * After plim_rehearse_need(), where what must be allocated at once fits: rehearse the program with
 * settings of the allocator that the advice names, each in its turn and PLIM_TRIED_MAX at most, and
 * fill rehearsed->tried. Limits of steps and time are those of plim_rehearse_need(). What comes to
 * no answer, and a program that has settings of its own instead, is left out.
 *
 * options  as for plim_rehearse(); nothing is recorded for record_path
 * errors   PLIM_OUT_OF_HOST_MEMORY
 * signals  as for plim_rehearse_need(); after one, no more are tried
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearse_advised(plim_rehearsed *rehearsed,
                                                         const plim_rehearse_options *options,
                                                         plim_error *err);

/**
 * After PLIM_REHEARSED_TIGHT: if only the bound of blocks that wait for other streams makes it
 * that, rehearse the program once more, without its output, with work that ends late. Its peak
 * takes the place of the bound, and the verdict may be PLIM_REHEARSED_FITS. Does nothing for other
 * verdicts.
 *
 * options, signals  as for plim_rehearse_need()
 * errors            PLIM_OUT_OF_HOST_MEMORY; whatever else goes wrong is late->why_unknown
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearse_late(plim_rehearsed *rehearsed,
                                                      const plim_rehearse_options *options,
                                                      plim_error *err);

/** A zeroed one is allowed. */
PLIM_API void plim_rehearsed_deinit(plim_rehearsed *rehearsed);

PLIM_API plim_rehearsed_verdict plim_rehearsed_judge(const plim_rehearsed *rehearsed);
/** True if the need is known and what must be allocated at once fits beside context and libraries:
 * only what is reserved and not in use is in the way. */
PLIM_API bool plim_rehearsed_is_held_by_cache(const plim_rehearsed *rehearsed);
/** True if a process took memory of a device, its context included. */
PLIM_API bool plim_rehearsed_used_gpu(const plim_rehearsal_outcome *outcome);
/** "fits", "tight", "at_least", "out_of_memory", "failed", "unanswered"; a constant. */
PLIM_API const char *plim_rehearsed_verdict_name(plim_rehearsed_verdict verdict);
PLIM_API plim_rehearsed_peak plim_rehearsed_find_peak(const plim_rehearsal_outcome *outcome);
/** The bar of the device that is used most. */
PLIM_API plim_rehearsed_bar plim_rehearsed_find_bar(const plim_rehearsal_outcome *outcome);
/** The first technique that was to be switched on and that every process which came to it refused;
 * NULL: none. */
PLIM_API const plim_rehearsed_technique *
plim_rehearsal_refused(const plim_rehearsal_outcome *outcome);
/** True if the figures are lower bounds: a size, or where a loop ends, hangs on a value that was
 * not computed. */
PLIM_API bool plim_rehearsed_is_at_least(const plim_rehearsal_outcome *outcome);

/* ---- many rehearsals of one command ---------------------------------------------------------- */

#define PLIM_REHEARSE_TRIES_MAX    256
#define PLIM_REHEARSE_VALUE_MAX    (UINT64_C(1) << 30)
#define PLIM_REHEARSE_OUTPUT_BYTES 4096

/* One rehearsal of a search, with a value in the place of {}. */
typedef struct plim_rehearse_try {
    uint64_t value;
    plim_rehearsed_verdict verdict;
    plim_rehearsed_peak peak;
    double seconds;
} plim_rehearse_try;

typedef struct plim_rehearse_tries {
    plim_rehearse_try *items; /* by value */
    size_t count;
    uint64_t best;     /* the largest value that fits; 0: none does, or is_complete is false */
    bool is_complete;  /* no interruption and no failure ended the search before its answer */
    bool is_unbounded; /* PLIM_REHEARSE_VALUE_MAX fits: memory does not depend on the value */
    const plim_gpu *gpu;
    uint32_t device_count;
    uint64_t capacity_bytes; /* of each device */
    /* The end of the last program's output, where it failed for a reason other than memory. */
    char output[PLIM_REHEARSE_OUTPUT_BYTES];
    size_t output_bytes;
    const plim_mem *mem;
} plim_rehearse_tries;

typedef struct plim_rehearse_search_options {
    plim_rehearse_options rehearse; /* steps 0: two; without record_path */
    const uint64_t *values;         /* 1 to PLIM_REHEARSE_VALUE_MAX each */
    size_t value_count;             /* 0: search for the largest value that fits */
    bool accepts_tight;             /* PLIM_REHEARSED_TIGHT fits */
    bool accepts_at_least;          /* PLIM_REHEARSED_AT_LEAST fits */
    /* Called after each try that fits or runs out of memory; NULL: not. */
    void (*tried)(void *ctx, const plim_rehearse_try *one);
    void *tried_ctx;
} plim_rehearse_search_options;

/** True if a search with these options takes the verdict for one that fits. */
PLIM_API bool plim_rehearse_accepts(const plim_rehearse_search_options *options,
                                    plim_rehearsed_verdict verdict);

/** True if a word of the command has {} in it. */
PLIM_API bool plim_rehearse_has_place(const char *const *argv);

/**
 * Rehearse a command with each of some values in the place of {}, or with those that lead to the
 * largest that fits. That search assumes that a larger value needs no less memory.
 *
 * argv    a command with {} in it; ends in NULL
 * ret     always filled, after an error with the tries before it; the caller's, until
 *         plim_rehearse_tries_deinit()
 * errors  those of plim_rehearse(); PLIM_CANCELLED: INT, TERM, HUP or QUIT ended a program;
 *         PLIM_UNSUPPORTED: a rehearsal failed for a reason other than
 *         memory (see ret->output); PLIM_LIMIT: more than PLIM_REHEARSE_TRIES_MAX
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearse_search(const char *const *argv,
                                                        const plim_rehearse_search_options *options,
                                                        plim_rehearse_tries *ret, plim_error *err);

/** A zeroed one is allowed. */
PLIM_API void plim_rehearse_tries_deinit(plim_rehearse_tries *tries);

PLIM_END_DECLS

#endif
