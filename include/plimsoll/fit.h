/*
 * plimsoll/fit.h - the cheapest stack of techniques under which a program fits, by rehearsing it.
 *
 *   the program as it is ──► each technique alone ──► stacks, bounded by what single ones showed
 *        rehearsals, two at a time, each with the figures of its memory and the model of its time
 *   ──► the cheapest stack that fits, and the cheapest with a tenth to spare
 *
 * docs/commands/fit.md, docs/design/fit.md.
 */
#ifndef PLIMSOLL_FIT_H
#define PLIMSOLL_FIT_H

#include "plimsoll/gpu.h"
#include "plimsoll/rehearse.h"
#include "plimsoll/technique.h"

PLIM_BEGIN_DECLS

#define PLIM_FIT_TRIALS_MAX 40

/* The time and the work of one step on the GPU, by a model: docs/design/fit-cost.md. */
typedef struct plim_fit_cost {
    double seconds;          /* 0: not known; the rest then has no meaning */
    double flops;            /* of products and convolutions */
    double bytes;            /* read and written on the device */
    double host_bytes;       /* copied to the host and back */
    double overlapped_share; /* of those copies' time that work of the GPU hides */
    double device_seconds;   /* of the GPU's own work */
    double issue_seconds;    /* that Python and PyTorch take to launch it, meanwhile */
    double copy_seconds;     /* of copies that nothing hides */
    double step_seconds;     /* of work on the host: states that are kept there */
    double driver_seconds;   /* of cudaMalloc and cudaFree, which steady steps do not call */
    bool is_partial;         /* some of the work was not seen: a lower bound */
} plim_fit_cost;

/* A technique in one trial, all processes together. */
typedef struct plim_fit_use {
    const char *text; /* "checkpoint=every:2" */
    const plim_technique *technique;
    plim_technique_label label; /* in this program */
    const char *state;          /* as plim_rehearsed_technique */
    const char *reason;         /* the evidence, or why not; may be NULL */
} plim_fit_use;

typedef enum plim_fit_answer {
    PLIM_FIT_FITS,
    PLIM_FIT_SHORT,     /* it needs more than there is, of the device or of the host */
    PLIM_FIT_REFUSED,   /* a technique could not take hold */
    PLIM_FIT_NO_EFFECT, /* a technique changed nothing */
    PLIM_FIT_BROKEN,    /* the program failed with it, and not without */
    PLIM_FIT_UNKNOWN,   /* the rehearsal failed for a reason of its own */
} plim_fit_answer;

/* One stack, rehearsed. */
typedef struct plim_fit_trial {
    const plim_fit_use *uses; /* none: the program as it is */
    size_t use_count;
    const char *settings; /* of the allocator; NULL: as the program has them */
    plim_fit_answer answer;
    const char *reason; /* of all answers but FITS: a sentence without its stop; else NULL */
    plim_technique_label label; /* the worst of its techniques */
    plim_rehearsed_verdict verdict;
    plim_rehearsed_peak peak; /* what it needs, with as much memory as it likes */
    plim_rehearsed_bar bar;   /* of device use */
    uint64_t host_bytes;      /* pinned, rounded as PyTorch does, and states on the host */
    plim_fit_cost cost;
    double
        slowdown; /* of the step beside the program as it is, by the model; 1: equal; 0: unknown */
    bool is_confirmed; /* rehearsed again with the GPU's own capacity */
    bool is_predicted; /* not rehearsed: bounded from other trials */
    bool is_also;      /* of options->also */
    double seconds;    /* that the rehearsal took */
} plim_fit_trial;

/* The change of a technique of the chosen stack, written down. Texts end without a line feed. */
typedef struct plim_fit_change {
    const char *text;      /* of the technique */
    const char *pytorch;   /* the change in plain PyTorch: lines of code */
    const char *arguments; /* as transformers' TrainingArguments; NULL: the program has none */
    const char *framework; /* as Lightning's Trainer(…) or accelerate's Accelerator(…); NULL */
    const char *diff;      /* unified, of the user's file; NULL: the place is not known */
    const char *note;      /* why there is no diff, or what goes with it; NULL */
    bool is_left_out;      /* of the diff of all: the other changes leave no place for it */
} plim_fit_change;

/* The largest batch of one kind of loader, under the techniques of the cheapest stack but for
 * accumulation, which divides a batch. */
typedef struct plim_fit_batch {
    const char *why_unknown;  /* a sentence without its stop. NULL: all that follows is known */
    uint64_t now;             /* as the program has it; 0: not known */
    uint64_t largest;         /* that fits; 0: not even one row does */
    const char *why_not_more; /* where that is not the GPU's memory: a sentence without its stop */
    const char *stack;        /* techniques with blanks between; "": none */
    plim_rehearsed_peak peak; /* with the largest, on the GPU */
    size_t rehearsals;        /* that it took */
} plim_fit_batch;

#define PLIM_FIT_CARDS 8

/* A card of a folk table, and what this program needs on it. */
typedef struct plim_fit_row {
    uint64_t nominal_bytes;      /* 24 GB are 24 GiB here, as vendors of cards mean it */
    const plim_gpu *gpu;         /* a GPU of that memory */
    const plim_fit_trial *trial; /* the cheapest that fits by its peak; NULL: none does */
    uint64_t device_bytes;       /* that it needs there; of the smallest where none fits */
    uint64_t missing_bytes;      /* of the smallest; 0: one fits */
    uint64_t rows;               /* of a batch that go through at a time; 0: not known */
    uint64_t rows_most;          /* by a line through two rehearsals; 0: not known */
    double slowdown;             /* beside the program as it is on that GPU; 0: not known */
    double step_seconds;         /* by the model of that GPU; 0: not known */
} plim_fit_row;

/* All zero is valid. */
typedef struct plim_fit_options {
    plim_rehearse_options rehearse; /* gpu, capacity, steps, settings, python … */
    bool finds_gpu;                 /* --gpu any: the smallest GPU that is enough */
    bool allows_changed;            /* techniques that change the result, too */
    uint64_t host_bytes;            /* that may be used; 0: what this machine has */
    double budget_seconds;          /* 0: no limit */
    uint32_t trials_max;            /* 0: PLIM_FIT_TRIALS_MAX */
    uint32_t parallel;              /* rehearsals at a time; 0: two */
    const char *only;               /* techniques to search in, one a line; NULL: all */
    /* Stacks that are rehearsed whatever the search thinks of them, one a line: techniques with
     * spaces between. Those that change the result are never the answer unless that is allowed. */
    const char *also;
    /* Fills plim_fitted.training and .evaluation. A command with {} has the training batch in its
     * place; the stack is then searched with a batch of one. */
    bool finds_batch;
    bool makes_table; /* fills plim_fitted.rows */
    /* After each trial, from the caller's thread; without a trial for rehearsals of batches. NULL:
     * not called. */
    void (*tried)(void *ctx, const plim_fit_trial *trial, size_t done, size_t expected);
    void *tried_ctx;
} plim_fit_options;

typedef struct plim_fitted {
    const plim_gpu *gpu; /* of the search, or the one that was found */
    uint64_t capacity_bytes;
    const plim_fit_trial *trials; /* in the order in which they were made; the first is plain */
    size_t trial_count;
    const plim_fit_trial *plain;
    const plim_fit_trial *cheapest; /* that fits; NULL: none does */
    const plim_fit_trial *roomy;    /* that leaves a tenth of the device; NULL: none does */
    const plim_fit_trial *smallest; /* that needs least, where none fits */
    uint64_t missing_bytes;         /* of the smallest; 0: one fits */
    /* The smallest GPU on which `smallest` fits, or with finds_gpu the program as it is; NULL: none
     * is known. */
    const plim_gpu *enough;
    bool is_enough_rehearsed; /* it was rehearsed on that one; else its memory is enough by figures
                               */
    const plim_fit_change *changes; /* for the cheapest, or where it is plain none */
    size_t change_count;
    const char *diff;        /* of all of them that have one, in one; NULL: none has */
    plim_fit_batch training; /* where options->finds_batch */
    plim_fit_batch evaluation;
    const plim_fit_row *rows; /* where options->makes_table, by memory */
    size_t row_count;
    const char *stopped; /* why the search ended early: "budget", "trials"; NULL: it did not */
    uint64_t steps;      /* that the longest rehearsal made */
    void *memory;        /* of all this */
} plim_fitted;

/**
 * Search.
 *
 * argv    as for plim_rehearse()
 * ret     the caller's on success, until plim_fitted_deinit()
 * errors  those of plim_rehearse() for the program as it is; PLIM_CANCELLED
 */
PLIM_API PLIM_MUST_USE plim_status plim_fit(const char *const *argv,
                                            const plim_fit_options *options, plim_fitted *ret,
                                            plim_error *err);
PLIM_API void plim_fitted_deinit(plim_fitted *fitted);

/** PLIM_INVALID_ARGUMENT: a line of options->only names nothing that the search would try. */
PLIM_API PLIM_MUST_USE plim_status plim_fit_check_only(const plim_fit_options *options,
                                                       plim_error *err);

PLIM_END_DECLS

#endif
