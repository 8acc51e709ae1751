/*
 * search.h - the state of a search, for the files of this room.
 *
 *   space.c     the stacks that there are
 *   trial.c     one rehearsal, as a sample      workers.c   two at a time, each in a process
 *   record.c    a sample as a trial: its answer, its label, its cost
 *   singles.c   each technique alone
 *   bound.c     what the trials say of a stack that was not rehearsed
 *   search.c    which stacks are rehearsed next, until none can be cheaper
 *   confirm.c   the answers, rehearsed with the GPU's own memory
 *   batch.c     the largest batch under the answer
 *   cards.c     what the program needs on cards of 8 to 141 GB
 *   gpus.c      the smallest GPU that is enough
 *   written.c   the answer as changes of the program
 *   host.c      memory of this machine
 *   cost.c      the time of a step
 */
#ifndef PLIMSOLL_FIT_SEARCH_H
#define PLIMSOLL_FIT_SEARCH_H

#include "base/arena.h"
#include "fit/space.h"

#define PLIM_FIT_KEPT_MAX  160 /* trials, with those that are only predicted */
#define PLIM_FIT_ROUND_MAX 8   /* rehearsals at a time */
#define PLIM_FIT_LEAVES    2   /* rehearsals that a search leaves for confirmations */

/* A trial, as the search knows it. */
typedef struct plim_fit_known {
    plim_fit_stack stack;
    bool is_of_space;         /* `stack` has a meaning */
    bool is_measured;         /* the program ran to its end, with all memory that it wanted */
    bool is_bad;              /* a technique was refused, had no effect, or broke the program */
    bool is_refuted;          /* with the GPU's own memory it ran out */
    uint64_t high_bytes;      /* of device use, without what waits for streams */
    uint64_t allocated_bytes; /* at the peak */
    uint64_t beside_bytes;    /* of the device, beside what PyTorch reserves */
    uint64_t phase_bytes[PLIM_FIT_PHASES_MAX];
    uint64_t end_bytes;                  /* as plim_fit_sample */
    double card_seconds[PLIM_FIT_CARDS]; /* as plim_fit_sample, and the next */
    uint64_t piece_rows;                 /* that go through at a time; 0: not known */
    const char *documents;               /* of the agents, as plim_fit_sample */
    size_t documents_bytes;
    double began;
} plim_fit_known;

typedef struct plim_fit_search {
    const plim_fit_options *options;
    const plim_fit_runner *runner;
    plim_arena *arena;
    const plim_gpu *gpu;
    uint64_t capacity_bytes;
    uint64_t far_bytes; /* capacity of the trials */
    uint64_t margin_bytes;
    uint64_t host_bytes; /* that may be used; 0: not known */
    double until;        /* seconds, of plim_clock; 0: no limit */
    size_t made;         /* rehearsals */
    size_t made_max;     /* for stacks, and in the end for all */
    size_t expected;
    double seconds_max; /* of one */
    plim_fit_space space;
    plim_fit_trial *trials; /* PLIM_FIT_KEPT_MAX, as the next */
    plim_fit_known *known;
    size_t count;
    char phase_names[PLIM_FIT_PHASES_MAX][24];
    size_t phase_count;
    /* Of the program as it is, by phase: what shrinks with the batch, and what a second piece of a
     * batch finds there, which are gradients. learn_choice() reads both. */
    uint64_t activation_bytes[PLIM_FIT_PHASES_MAX];
    uint64_t gradient_bytes[PLIM_FIT_PHASES_MAX];
    plim_fit_sample *samples; /* PLIM_FIT_ROUND_MAX */
    uint64_t steps;
    bool is_enough_rehearsed; /* of the last plim_fit_enough() */
    uint64_t batch_rows;      /* as the program has them; 0: not known */
    /* Cached memory that did not go back where the GPU's own memory was short, as refuted answers
     * show: without expandable segments, and with them. */
    uint64_t stuck_bytes[2];
    const char *stopped;
} plim_fit_search;

/* A bound of device use. */
typedef struct plim_fit_limit {
    uint64_t capacity_bytes; /* a bar that ends below it fits */
    bool is_own;             /* giving cached memory back may make it fit, too */
} plim_fit_limit;

/* ---- record.c -------------------------------------------------------------------------------- */

/*
 * Adds a trial. `techniques` are those of the request and `stack` its place, NULL: it is outside
 * the space. PLIM_OUT_OF_HOST_MEMORY.
 */
PLIM_MUST_USE plim_status plim_fit_record(plim_fit_search *search, const plim_fit_sample *sample,
                                          const plim_fit_stack *stack, const char *techniques,
                                          bool is_also, plim_error *err);
/* Its time beside that of the program as it is. */
double plim_fit_trial_slowdown(const plim_fit_cost *plain, const plim_fit_cost *with,
                               const plim_fit_trial *trial);
/* The techniques of a trial that are wanted. */
typedef enum plim_fit_which {
    PLIM_FIT_ALL_USES,
    PLIM_FIT_ROWLESS_USES, /* without those that set how many rows go through at a time */
} plim_fit_which;

/* Its techniques, with a separator between. */
void plim_fit_trial_write(const plim_fit_trial *trial, plim_fit_which which, char separator,
                          char *text, size_t bytes);
/* True if the program fitted into the memory that it was given. */
bool plim_fit_sample_fits(const plim_fit_sample *sample);
/* True if it has no answer about memory. */
bool plim_fit_sample_failed(const plim_fit_sample *sample);
/* One that was not rehearsed, as `report` of another rehearsal says. */
PLIM_MUST_USE plim_status plim_fit_record_predicted(plim_fit_search *search,
                                                    const plim_fit_stack *stack,
                                                    plim_fit_answer answer, const char *reason,
                                                    plim_error *err);
/* Rehearses stacks with all memory that they want; search->samples are in their order. */
PLIM_MUST_USE plim_status plim_fit_run_stacks(plim_fit_search *search, const plim_fit_stack *stacks,
                                              size_t count, plim_error *err);
PLIM_MUST_USE plim_status plim_fit_record_stacks(plim_fit_search *search,
                                                 const plim_fit_stack *stacks,
                                                 const plim_fit_sample *samples, size_t count,
                                                 plim_error *err);
/* Both. */
PLIM_MUST_USE plim_status plim_fit_try(plim_fit_search *search, const plim_fit_stack *stacks,
                                       size_t count, plim_error *err);
/* Keeps a text in the arena; NULL: no memory. */
const char *plim_fit_keep(plim_fit_search *search, const char *text);
/* A request for techniques, one a line, with those that are on in every rehearsal. */
PLIM_MUST_USE plim_status plim_fit_request_make(plim_fit_search *search, const char *lines,
                                                uint64_t capacity_bytes, plim_fit_request *ret,
                                                plim_error *err);
/* Fills search->samples; PLIM_FIT_ROUND_MAX requests at most. */
PLIM_MUST_USE plim_status plim_fit_run(plim_fit_search *search, const plim_fit_request *requests,
                                       size_t count, plim_error *err);
/* False: rehearsals or time have run out, and search->stopped says which. `more` are to be left. */
bool plim_fit_may_go_on(plim_fit_search *search, size_t more);
/* True if the host may give so much. */
bool plim_fit_has_host(const plim_fit_search *search, uint64_t bytes);
/* True if a trial came to figures, with a result that is allowed. */
bool plim_fit_has_answer(const plim_fit_search *search, size_t index);
/* True if it may be an answer, but for its memory on the device. */
bool plim_fit_is_allowed(const plim_fit_search *search, size_t index);
/* True if it fits below a limit, as far as its rehearsal without one says. */
bool plim_fit_is_within(const plim_fit_search *search, size_t index, plim_fit_limit limit);
/* True if a trial may fit below the limit only because cached memory is given back. */
bool plim_fit_is_close(const plim_fit_search *search, size_t index, plim_fit_limit limit);
/* Compares by what users see: time in hundredths, then how many techniques, then labels, memory. */
int plim_fit_compare(const plim_fit_search *search, size_t a, size_t b);

/* ---- singles.c ------------------------------------------------------------------------------- */

/* Rehearses what is free together, then each technique alone that could help; fills the space. */
PLIM_MUST_USE plim_status plim_fit_singles(plim_fit_search *search, plim_error *err);
PLIM_MUST_USE plim_status plim_fit_also(plim_fit_search *search, plim_error *err);

/* ---- bound.c --------------------------------------------------------------------------------- */

/* The expectation of a stack. */
typedef struct plim_fit_guess {
    uint64_t least_bytes;  /* of the device: if each saves what it saved alone */
    uint64_t likely_bytes; /* the same, where techniques of one part save of what others leave */
    uint64_t cached_bytes; /* more, as in trials: it may be given back */
    uint64_t stuck_bytes;  /* of those, what does not go back as far as is known */
    uint64_t host_bytes;
    double slowdown;
} plim_fit_guess;

/* False: it would be refused, or has no effect. */
bool plim_fit_guess_at(const plim_fit_search *search, const plim_fit_stack *stack,
                       plim_fit_guess *ret);
/* Time alone: quick. */
double plim_fit_guess_slowdown(const plim_fit_search *search, const plim_fit_stack *stack);

/* ---- search.c -------------------------------------------------------------------------------- */

/* Index of the cheapest trial that fits below a limit, or SIZE_MAX: none does. */
size_t plim_fit_best(const plim_fit_search *search, plim_fit_limit limit);
/* Trials beyond expectation, made for one answer. */
typedef struct plim_fit_beyond {
    size_t deep;
    size_t near;
    size_t closer;
} plim_fit_beyond;

/* Rehearses until no stack below the limit can be cheaper than the best, or trials end but for
 * some that it leaves; or until the best is to be confirmed first. */
PLIM_MUST_USE plim_status plim_fit_look(plim_fit_search *search, plim_fit_limit limit,
                                        size_t leaves, plim_fit_beyond *made, plim_error *err);
/* The stack that is expected to be cheaper than a trial below the limit; false: none is. */
bool plim_fit_cheaper(const plim_fit_search *search, plim_fit_limit limit, size_t best,
                      plim_fit_stack *ret);
/* The trial that needs least. */
size_t plim_fit_smallest(const plim_fit_search *search);

/* ---- confirm.c ------------------------------------------------------------------------------- */

/* The cheapest below a limit, confirmed with the GPU's own memory; NULL: none is. */
PLIM_MUST_USE plim_status plim_fit_answer_for(plim_fit_search *search, plim_fit_limit limit,
                                              size_t *ret, plim_error *err);

/* ---- batch.c --------------------------------------------------------------------------------- */

/* The largest batches of training and evaluation with the techniques of a trial. */
PLIM_MUST_USE plim_status plim_fit_find_batches(plim_fit_search *search, size_t trial,
                                                plim_fitted *ret, plim_error *err);

/* ---- cards.c --------------------------------------------------------------------------------- */

/* A card of the table, by memory; below PLIM_FIT_CARDS. */
const plim_gpu *plim_fit_card(size_t index);
/* Searches for each of them, and fills the rows. */
PLIM_MUST_USE plim_status plim_fit_fill_cards(plim_fit_search *search, plim_fitted *ret,
                                              plim_error *err);

/* ---- gpus.c ---------------------------------------------------------------------------------- */

/* The need of a trial on another GPU: its context beside the same blocks, and the margin. */
uint64_t plim_fit_need_on(const plim_fit_search *search, size_t index, const plim_gpu *gpu);
/* The one with most memory of those that are candidates. */
const plim_gpu *plim_fit_largest_gpu(const plim_fit_search *search);
/* The smallest GPU on which a trial fits; confirmed by a rehearsal, where there is one left. */
PLIM_MUST_USE plim_status plim_fit_enough(plim_fit_search *search, size_t trial,
                                          const plim_gpu **ret, plim_error *err);

/* ---- written.c ------------------------------------------------------------------------------- */

/* The changes of a trial, in the arena; where they cannot be had, none. */
PLIM_MUST_USE plim_status plim_fit_write_changes(plim_fit_search *search, size_t trial,
                                                 plim_fitted *ret, plim_error *err);

/* ---- host.c, workers.c ----------------------------------------------------------------------- */

/* Memory that this machine has for programs; 0: not known. */
uint64_t plim_fit_host_available(void);

typedef struct plim_fit_workers {
    const char *const *argv;
    const plim_fit_options *options;
    uint64_t trial_steps; /* of trials; 0: as the options have it */
    size_t parallel;
} plim_fit_workers;

/* Rehearses in processes; ctx is a plim_fit_workers. */
plim_status plim_fit_workers_run(void *ctx, const plim_fit_request *requests, size_t count,
                                 plim_fit_sample *ret, plim_error *err);
/* In a worker: one rehearsal. */
void plim_fit_rehearse(const plim_fit_workers *workers, const plim_fit_request *request,
                       plim_fit_sample *ret);

/* ---- fit.c ----------------------------------------------------------------------------------- */

/* plim_fit() by something that rehearses. */
PLIM_MUST_USE plim_status plim_fit_with(const plim_fit_runner *runner,
                                        const plim_fit_options *options, plim_fitted *ret,
                                        plim_error *err);

#endif
