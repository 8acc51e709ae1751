/*
 * trace.h - memory histories that no recording is at hand for: a program is made up, seeded, and
 * played on the real allocator over a sim device, and what happened is the history.
 *
 *   kind + seed ──► requests ──► plim_malloc, plim_free, … ──► plim_history
 *                                under the settings given
 *
 * The requests are what the kind, the seed and the number of events say, whatever the settings: so
 * two histories of one program under two settings are each other's ground truth. What the shapes
 * are calibrated to stands in docs/design/traces.md. They are generated: reports that use them say
 * so.
 *
 * Determinism: the same spec gives the same history, on any machine.
 */
#ifndef PLIMSOLL_BENCH_TRACES_TRACE_H
#define PLIMSOLL_BENCH_TRACES_TRACE_H

#include "plimsoll/history.h"
#include "plimsoll/mem.h"

/* In the list: enumerator, name, what it is. */
#define PLIM_TRACE_KIND_LIST(X)                                                               \
    X(PLIM_TRACE_TRAINING, "training", "a transformer is trained, gradients are accumulated") \
    X(PLIM_TRACE_FINETUNE, "finetune", "one is tuned with recomputation, on padded batches")  \
    X(PLIM_TRACE_MOE, "moe", "experts get another number of tokens in each step")             \
    X(PLIM_TRACE_UNET, "unet", "a diffusion UNet is trained on buckets of resolutions")       \
    X(PLIM_TRACE_DIT, "dit", "a diffusion transformer samples images of many sizes")          \
    X(PLIM_TRACE_PAGED, "paged", "an LLM is served from one pool of pages")                   \
    X(PLIM_TRACE_CONTIGUOUS, "contiguous",                                                    \
      "an LLM is served with caches that grow token by token")                                \
    X(PLIM_TRACE_RL, "rl", "rollout and training take turns")                                 \
    X(PLIM_TRACE_EVALUATION, "evaluation", "a training stops now and then to be evaluated")   \
    X(PLIM_TRACE_VISION, "vision", "a detector is trained on images of changing size")        \
    X(PLIM_TRACE_STREAMS, "streams",                                                          \
      "sharded training: parameters come and go on a second stream")                          \
    X(PLIM_TRACE_GRAPHS, "graphs", "graphs are captured into private pools, and replayed")

typedef enum plim_trace_kind {
#define PLIM_TRACE_ENUM(code, name, text) code,
    PLIM_TRACE_KIND_LIST(PLIM_TRACE_ENUM)
#undef PLIM_TRACE_ENUM
        PLIM_TRACE_KIND_COUNT
} plim_trace_kind;

const char *plim_trace_kind_name(plim_trace_kind kind);
const char *plim_trace_kind_text(plim_trace_kind kind);
/* false: none of this name. */
bool plim_trace_kind_find(const char *name, plim_trace_kind *ret_kind);

#define PLIM_TRACE_EVENTS_MAX ((uint64_t)1 << 31)

/* All zero but `events` is a valid default. */
typedef struct plim_trace_spec {
    plim_trace_kind kind;
    uint64_t seed;
    uint64_t events;         /* of the program: 1 an allocation, 2 a free. What the allocator and
                              * the driver do comes on top */
    const char *conf;        /* PyTorch's settings; NULL: none */
    uint64_t capacity_bytes; /* of the device; 0: 80 GiB */
    uint64_t keep_events;    /* torn: only the last so many events are kept; 0: all of them */
    bool goes_on_after_oom;  /* the program does without what it could not get; else it ends */
    bool annotates_steps;    /* ProfilerStep#0, … */
    bool leaves_out_pools;   /* events do not name their pool, as before PyTorch 2.12 */
    bool leaves_out_stacks;
    const plim_mem *mem; /* borrowed until the history is destroyed; NULL: the C heap */
} plim_trace_spec;

/* What the allocator itself said when the program was over. */
typedef struct plim_trace_outcome {
    uint64_t events; /* all of them, also those a torn ring lost */
    uint64_t requests;
    uint64_t steps;
    uint64_t peak_reserved_bytes;
    uint64_t peak_allocated_bytes;
    uint64_t end_reserved_bytes;
    uint64_t retries;
    uint64_t ooms;
} plim_trace_outcome;

/*
 * Makes a history.
 *
 * ret_history  the caller's, until plim_history_destroy()
 * ret_outcome  may be NULL
 * errors       PLIM_INVALID_ARGUMENT (no such kind, no or too many events), those of the
 *              settings, PLIM_OUT_OF_HOST_MEMORY. Being out of device memory is part of a history
 * time         linear in events; twice that for a torn one
 * memory       41 bytes an event, up to 62 while it grows, and the stacks
 */
plim_status plim_trace_make(const plim_trace_spec *spec, plim_history **ret_history,
                            plim_trace_outcome *ret_outcome, plim_error *err);

#endif
