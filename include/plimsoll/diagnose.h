/*
 * plimsoll/diagnose.h - what happened, from which evidence, and what helps how much.
 *
 *   history ──► plim_diagnose() ──► of each device   a verdict, its confidence
 *   error text (judged already) ┘                    findings, the verdict's first
 *                                                    what memory was made of, where it was lost
 *                                                    advice, what each would save at the peak
 *
 * Verdicts are those of verdict.h. Where several hold, the first of capped, other_process,
 * oversized, leak, fragmented, spike, first_step_growth, exhausted, healthy is the verdict, and the
 * rest are findings. What a finding rests on stands in it, as sentences with figures.
 */
#ifndef PLIMSOLL_DIAGNOSE_H
#define PLIMSOLL_DIAGNOSE_H

#include "plimsoll/holders.h"
#include "plimsoll/inspect.h"
#include "plimsoll/phases.h"
#include "plimsoll/verdict.h"

PLIM_BEGIN_DECLS

/* --- causes --- */

/*
 * The cause of a finding. In the list: enumerator, name, verdict that it speaks for, what it is.
 * Names are stable; docs/formats/diagnose-json.md lists them.
 */
#define PLIM_CAUSE_LIST(X)                                                                         \
    X(PLIM_CAUSE_UNKNOWN, "unknown", UNKNOWN, "the recording does not say why")                    \
    /* Leaks: what stays, step after step. */                                                      \
    X(PLIM_CAUSE_KEPT, "kept", LEAK, "tensors are kept, and nothing says by what")                 \
    X(PLIM_CAUSE_LOSS_KEPT, "loss_kept", LEAK, "a loss is kept, and its graph with it")            \
    X(PLIM_CAUSE_OUTPUTS_KEPT, "outputs_kept", LEAK, "outputs are collected on the device")        \
    X(PLIM_CAUSE_HOOK_KEPT, "hook_kept", LEAK, "a hook keeps activations")                         \
    X(PLIM_CAUSE_EVALUATION_WITH_GRAD, "evaluation_with_grad", LEAK,                               \
      "evaluation or generation records history for a backward pass that never comes")             \
    X(PLIM_CAUSE_HIDDEN_STATE_KEPT, "hidden_state_kept", LEAK,                                     \
      "a state is carried from step to step with the graph of all steps before")                   \
    X(PLIM_CAUSE_GRADIENTS_KEPT, "gradients_kept", LEAK, "gradients stay between steps")           \
    X(PLIM_CAUSE_OPTIMIZER_RECREATED, "optimizer_recreated", LEAK,                                 \
      "an optimizer or a parameter group is made again, and the old states stay")                  \
    X(PLIM_CAUSE_GROWING_CACHE, "growing_cache", LEAK, "a cache grows without a limit")            \
    X(PLIM_CAUSE_REPLAY_BUFFER, "replay_buffer", LEAK, "a buffer of batches has no limit")         \
    X(PLIM_CAUSE_GRAPHS_PER_SHAPE, "graphs_per_shape", LEAK,                                       \
      "each new shape leaves a captured graph or a compiled variant with memory of its own")       \
    X(PLIM_CAUSE_TRACEBACK_KEPT, "traceback_kept", LEAK, "an exception's traceback keeps frames")  \
    X(PLIM_CAUSE_REFERENCE_CYCLE, "reference_cycle", LEAK,                                         \
      "objects that refer to themselves wait for Python's collector")                              \
    X(PLIM_CAUSE_LOGGED_TENSORS, "logged_tensors", LEAK, "tensors are logged instead of numbers")  \
    X(PLIM_CAUSE_REGISTRY_BY_STEP, "registry_by_step", LEAK, "a table has a new entry each step")  \
    /* Fragmentation: what keeps free memory from use. */                                          \
    X(PLIM_CAUSE_VARYING_SIZES, "varying_sizes", FRAGMENTED, "requests of ever other sizes")       \
    X(PLIM_CAUSE_PINNED_SEGMENTS, "pinned_segments", FRAGMENTED,                                   \
      "a few blocks that live long keep segments that are otherwise free")                         \
    X(PLIM_CAUSE_STREAM_POOLS, "stream_pools", FRAGMENTED, "free memory belongs to other streams") \
    X(PLIM_CAUSE_PRIVATE_POOLS, "private_pools", FRAGMENTED,                                       \
      "private pools hold free memory that nothing else can use")                                  \
    X(PLIM_CAUSE_EXPANDABLE_PAGES, "expandable_pages", FRAGMENTED,                                 \
      "small blocks keep pages of expandable segments mapped")                                     \
    X(PLIM_CAUSE_ROUNDING, "rounding", FRAGMENTED, "blocks are much larger than their requests")   \
    X(PLIM_CAUSE_OVERSIZE_FILTER, "oversize_filter", FRAGMENTED,                                   \
      "max_split_size keeps large free blocks from smaller requests")                              \
    X(PLIM_CAUSE_SPURIOUS_FAILURE, "spurious_failure", FRAGMENTED,                                 \
      "the only block that fits waits for a stream: the same request succeeds a moment later")     \
    /* Spikes: a short burst far above the rest. */                                                \
    X(PLIM_CAUSE_LOGITS, "logits", SPIKE, "logits and what a loss makes of them")                  \
    X(PLIM_CAUSE_ATTENTION_SCORES, "attention_scores", SPIKE, "scores of attention as tensors")    \
    X(PLIM_CAUSE_EVALUATION_BATCH, "evaluation_batch", SPIKE,                                      \
      "evaluation takes more than a step of training")                                             \
    X(PLIM_CAUSE_GATHERED_WEIGHTS, "gathered_weights", SPIKE, "weights gathered from all ranks")   \
    X(PLIM_CAUSE_OPTIMIZER_TEMPORARIES, "optimizer_temporaries", SPIKE,                            \
      "temporary copies in an optimizer's step")                                                   \
    X(PLIM_CAUSE_LARGE_BATCH, "large_batch", SPIKE, "one batch is far larger than the others")     \
    X(PLIM_CAUSE_WORKSPACE, "workspace", SPIKE, "a library's workspace")                           \
    X(PLIM_CAUSE_BURST, "burst", SPIKE, "one short burst far above the rest")                      \
    /* Growth in the first steps. */                                                               \
    X(PLIM_CAUSE_OPTIMIZER_STATES, "optimizer_states", FIRST_STEP_GROWTH,                          \
      "the optimizer makes its states in its first step")                                          \
    /* Full. */                                                                                    \
    X(PLIM_CAUSE_ACTIVATIONS, "activations", EXHAUSTED, "activations take most of the peak")       \
    X(PLIM_CAUSE_PARAMETERS, "parameters", EXHAUSTED, "weights take most of the peak")             \
    X(PLIM_CAUSE_MODEL_STATE, "model_state", EXHAUSTED,                                            \
      "weights, gradients and optimizer states take most of the peak")                             \
    X(PLIM_CAUSE_KV_CACHE, "kv_cache", EXHAUSTED, "a cache of keys and values does not fit")       \
    X(PLIM_CAUSE_LIVE_DATA, "live_data", EXHAUSTED, "what is live and the request do not fit")     \
    /* Limits and others. */                                                                       \
    X(PLIM_CAUSE_LIMIT, "limit", CAPPED, "a limit that was set, not the device")                   \
    X(PLIM_CAUSE_OTHERS, "others", OTHER_PROCESS, "other processes hold the device")               \
    X(PLIM_CAUSE_REQUEST, "request", OVERSIZED, "one request exceeds the device")                  \
    X(PLIM_CAUSE_FILE_CACHE, "file_cache", OTHER_PROCESS,                                          \
      "the machine's file cache lies in the device's memory")                                      \
    X(PLIM_CAUSE_PINNED_HOST, "pinned_host", HOST, "pinned host memory")                           \
    /* Healthy, and yet worth a line. */                                                           \
    X(PLIM_CAUSE_NONE, "none", HEALTHY, "nothing is wrong")                                        \
    X(PLIM_CAUSE_BATCHES_AHEAD, "batches_ahead", HEALTHY,                                          \
      "batches lie on the device long before they are used")                                       \
    X(PLIM_CAUSE_CACHE_SETTLES, "cache_settles", HEALTHY, "a cache grew at first, and settled")    \
    X(PLIM_CAUSE_POOL_FILLS, "pool_fills", HEALTHY,                                                \
      "a buffer fills: whether it has a limit the recording ends too early to show")               \
    X(PLIM_CAUSE_FAILURE_CAUGHT, "failure_caught", HEALTHY,                                        \
      "requests failed, and the program went on")                                                  \
    X(PLIM_CAUSE_SETTINGS_IGNORED, "settings_ignored", HEALTHY, "a setting is not in force")       \
    X(PLIM_CAUSE_SETTINGS_CONFLICT, "settings_conflict", HEALTHY,                                  \
      "settings work against each other")                                                          \
    X(PLIM_CAUSE_COLLECTOR_LATE, "collector_late", HEALTHY,                                        \
      "Python's collector is off, or runs late")

typedef enum plim_cause {
#define PLIM_CAUSE_ENUM(code, name, verdict, text) code,
    PLIM_CAUSE_LIST(PLIM_CAUSE_ENUM)
#undef PLIM_CAUSE_ENUM
        PLIM_CAUSE_COUNT
} plim_cause;

/** "loss_kept", …; what it is, as half a sentence; the verdict it speaks for. Never NULL. */
PLIM_API const char *plim_cause_name(plim_cause cause);
PLIM_API const char *plim_cause_text(plim_cause cause);
PLIM_API plim_verdict plim_cause_verdict(plim_cause cause);

/* --- findings --- */

typedef enum plim_figure_unit {
    PLIM_FIGURE_BYTES,
    PLIM_FIGURE_BYTES_PER_STEP,
    PLIM_FIGURE_AMOUNT, /* a whole number of things */
    PLIM_FIGURE_STEP,   /* a step's number */
    PLIM_FIGURE_STEPS,  /* a number of steps, perhaps not whole */
    PLIM_FIGURE_SHARE,  /* of one */
    PLIM_FIGURE_WORD,   /* a constant string, or one that lives in the diagnosis */
    PLIM_FIGURE_FRAME,  /* a place in the program: the value is an index into frames */
} plim_figure_unit;

typedef struct plim_evidence_figure {
    const char *name; /* stable: "kept_bytes" */
    plim_figure_unit unit;
    double value;
    const char *word;
} plim_evidence_figure;

#define PLIM_EVIDENCE_FIGURES_MAX 6

/* One sentence. Each {} in the text takes the next figure. */
typedef struct plim_evidence_line {
    const char *id;   /* stable, constant */
    const char *text; /* constant: "{} of {} made here in steps {} to {} are still live" */
    plim_evidence_figure figures[PLIM_EVIDENCE_FIGURES_MAX];
    size_t figure_count;
} plim_evidence_line;

/* A place in the program that requested memory. */
typedef struct plim_code_place {
    uint32_t stack; /* index into the history's stacks, or PLIM_NONE */
    uint32_t frame; /* the line that speaks for it: index into the history's frames, or PLIM_NONE */
} plim_code_place;

/* One stack of those that a finding groups. */
typedef struct plim_finding_member {
    plim_code_place place;
    uint64_t bytes; /* its share of the finding's */
    uint64_t count; /* allocations */
} plim_finding_member;

#define PLIM_FINDING_HOLDERS_MAX 3

/* An object of the program that keeps blocks of a finding alive. Texts are NULL where they are not
 * known. */
typedef struct plim_finding_holder {
    plim_holder_kind kind;
    const char *text; /* "list `losses` in train (train.py:41)"; never NULL */
    const char *name;
    const char *type;
    const char *file; /* the place of its root */
    uint64_t line;
    const char *function;
    uint64_t blocks; /* that it holds of the finding's, and their requested bytes */
    uint64_t bytes;
    uint64_t of_blocks; /* the finding's at that moment */
    uint64_t of_bytes;
} plim_finding_holder;

typedef struct plim_diagnosis_finding {
    plim_finding finding; /* id "leak.outputs_kept", severity, certainty, subject (a stack, a pool,
                           * an event, steps), and figures */
    plim_verdict kind;
    plim_cause cause;
    bool decides;      /* it is bad enough to be the verdict; else it is only worth knowing */
    double confidence; /* 0 … 1 */
    uint64_t bytes;    /* at stake: held in vain, lost, or above the rest; at the peak or the end */
    /* Leaks, and what grows and settles. 0 or PLIM_NO_STEP where it is not known. */
    double growth_bytes_per_step; /* with the 95 % interval */
    double growth_low_bytes_per_step;
    double growth_high_bytes_per_step;
    double period_steps; /* it grows once in so many steps */
    uint64_t first_step; /* from where to where it is seen, in steps of the device, from 0 */
    uint64_t last_step;
    bool has_full_step;     /* the capacity is known, and growth reaches it */
    double full_at_step;    /* from 0, as first_step */
    plim_code_place root;   /* what is kept, or holds the others, and the line that made it */
    plim_code_place keeper; /* the line that keeps it, where that is another and known */
    double keeper_confidence;
    const plim_finding_holder *holders; /* largest first; of a history without holders none */
    size_t holder_count;                /* at most PLIM_FINDING_HOLDERS_MAX */
    const plim_finding_member *members; /* largest first */
    size_t member_count;
    const plim_evidence_line *evidence; /* what proves most first */
    size_t evidence_count;
} plim_diagnosis_finding;

/** The cause of a finding as half a sentence: that of plim_cause_text(), but for what its holders
 * prove. */
PLIM_API const char *plim_finding_cause_text(const plim_diagnosis_finding *finding);

/* --- what memory was made of --- */

/* Bytes of one category at one moment. */
typedef struct plim_category_sum {
    const char *name; /* of phases.h, or of a user's rules */
    uint64_t bytes;   /* requested */
    uint64_t count;   /* allocations */
    const char *rule; /* what decided for most of it: "stack", "lifetime", "source", "user" … */
} plim_category_sum;

typedef struct plim_device_composition {
    int64_t event;                 /* after this event, or PLIM_AT_START of timeline.h */
    uint64_t step;                 /* or PLIM_NO_STEP */
    uint64_t requested_bytes;      /* of all that is live */
    uint64_t unknown_bytes;        /* of that, nothing says what it is for */
    const plim_category_sum *sums; /* largest first */
    size_t sum_count;
} plim_device_composition;

/* The place of the peak in its step, and what would be left of it. */
typedef struct plim_peak_place {
    uint64_t step;            /* or PLIM_NO_STEP */
    const char *pass;         /* "forward", "backward", "optimizer", …; NULL: not known */
    double position;          /* in the step, 0 … 1 */
    uint64_t next_peak_bytes; /* requested: the highest moment that has nothing of the burst
                               * that makes this one; 0: not known */
    int64_t next_peak_event;
} plim_peak_place;

/* --- fragmentation --- */

/* Bytes of reserved memory that are not live, by cause. */
typedef struct plim_loss {
    uint64_t split_bytes;        /* free rests of segments that are partly used */
    uint64_t rounding_bytes;     /* of blocks beyond their requests */
    uint64_t other_stream_bytes; /* free, in pools of other streams than the request's */
    uint64_t private_pool_bytes; /* free, in private pools */
    uint64_t oversize_bytes;     /* free blocks that max_split_size keeps from the request */
    uint64_t page_bytes;         /* free, on pages of expandable segments that small blocks pin */
    uint64_t free_segment_bytes; /* wholly free segments: harmless, they can be given back */
    uint64_t pending_bytes;      /* freed, and waiting for a stream */
} plim_loss;

/* A block that lives long in the wrong place. */
typedef struct plim_pin {
    plim_code_place place;
    uint64_t bytes;         /* its own */
    uint64_t blocked_bytes; /* free around it, which its segment could give back without it */
    uint64_t count;         /* such blocks of this place */
    int64_t born;           /* event of the first */
} plim_pin;

#define PLIM_HOLE_CLASSES 48 /* class i has holes of [2^i, 2^(i+1)) bytes */

typedef struct plim_fragmentation_facts {
    int64_t event; /* the moment: an oom, the peak of reserved memory, or the end */
    bool is_oom;
    uint64_t reserved_bytes;
    uint64_t allocated_bytes;
    uint64_t request_bytes; /* that failed; 0: none */
    uint64_t largest_hole_bytes;
    plim_loss loss;
    uint64_t hole_bytes[PLIM_HOLE_CLASSES];
    uint64_t hole_counts[PLIM_HOLE_CLASSES];
    const plim_pin *pins; /* the most harmful first */
    size_t pin_count;
} plim_fragmentation_facts;

/* --- advice --- */

typedef enum plim_saving_basis {
    PLIM_BASIS_COMPUTED, /* from the categories at the peak */
    PLIM_BASIS_REPLAYED, /* the history was run again with it */
    PLIM_BASIS_BOUNDED,  /* it saves at most so much */
    PLIM_BASIS_UNKNOWN,  /* it helps; how much this recording does not say */
} plim_saving_basis;

/** "computed", "replayed", "bounded", "unknown" */
PLIM_API const char *plim_saving_basis_name(plim_saving_basis basis);

typedef struct plim_diagnosis_advice {
    const char *finding;   /* id of the finding that it answers; NULL: the peak as such */
    const char *technique; /* stable: "checkpointing", "expandable_segments" */
    const char *text;      /* what to do, and what it is worth, one or two sentences */
    bool has_saving;
    uint64_t saves_bytes; /* at the peak of this history */
    plim_saving_basis basis;
    const char *cost;   /* in words: "a third more time"; NULL: nothing */
    double cost_rank;   /* for the order: 0 nothing … 1 another result */
    const char *change; /* the line of code or shell, or NULL */
} plim_diagnosis_advice;

/* --- a device, and all of them --- */

typedef struct plim_device_diagnosis {
    int32_t device;
    plim_verdict verdict;
    double confidence;
    const plim_diagnosis_finding *findings; /* the one that decides first, then by severity */
    size_t finding_count;
    const plim_device_inspection *facts; /* peak, failures, end */
    uint64_t capacity_bytes;             /* 0: not known */
    const char *capacity_source;         /* "given", "gpu", "oom", "message"; NULL: not known */
    size_t step_count;
    plim_steps_source step_source;
    bool has_events; /* a request was recorded; false: the end state alone, and what needs events
                        cannot be concluded */
    bool has_stacks;
    plim_peak_place peak_place;
    plim_device_composition peak;
    const plim_device_composition *failures; /* of the first PLIM_OOM_GROUPS_MAX failures */
    size_t failure_count;
    const plim_device_composition
        *steps; /* at the peak of each step; of long recordings, of some */
    size_t composition_step_count;
    const plim_fragmentation_facts *fragmentation; /* at the failures and at the peak */
    size_t fragmentation_count;
    const plim_diagnosis_advice *advice; /* best first */
    size_t advice_count;
} plim_device_diagnosis;

typedef struct plim_diagnosis plim_diagnosis;

/* All zero is a valid default. */
typedef struct plim_diagnose_options {
    const plim_mem *mem;         /* borrowed until destroy; NULL: the C heap */
    uint64_t capacity_bytes;     /* of each device; 0: as the history shows */
    const char *capacity_source; /* constant; NULL: "given" */
    const char *rules;           /* text of a user's rules of categories; NULL: none */
    size_t rules_bytes;
    const plim_judgement *judgements; /* of error texts that belong to the history */
    size_t judgement_count;
    const plim_holders *holders; /* of this history, for the call; NULL: none */
    double budget_seconds;       /* of replays for advice; 0: none are made */
    bool findings_only;          /* nothing but verdict and findings: for many files */
} plim_diagnose_options;

/**
 * Diagnose the device of a history, or of several those that have events or segments.
 *
 * history        borrowed: it must outlive the diagnosis
 * ret_diagnosis  the caller's, until plim_diagnosis_destroy()
 * errors         PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT (a device of 2^32 events),
 *                PLIM_INVALID_ARGUMENT (rules: the error's offset is the line)
 * threads        any number may diagnose one history
 * time           linear in events, but for the budget
 */
PLIM_API PLIM_MUST_USE plim_status plim_diagnose(const plim_history *history,
                                                 const plim_diagnose_options *options,
                                                 plim_diagnosis **ret_diagnosis, plim_error *err);
/** NULL is allowed. */
PLIM_API void plim_diagnosis_destroy(plim_diagnosis *diagnosis);

PLIM_API size_t plim_diagnosis_device_count(const plim_diagnosis *diagnosis);
PLIM_API const plim_device_diagnosis *plim_diagnosis_device(const plim_diagnosis *diagnosis,
                                                            size_t index);
/** The verdict on the whole: the worst of the devices', in the order above. */
PLIM_API plim_verdict plim_diagnosis_verdict(const plim_diagnosis *diagnosis);
/** True if `left` comes before `right` in that order. */
PLIM_API bool plim_verdict_precedes(plim_verdict left, plim_verdict right);

PLIM_END_DECLS

#endif
