/*
 * program.h - what a technique needs to know of a program: its rounds, its repeated blocks, and the
 * role of each allocation in them.
 *
 *   forward          backward         optimizer
 *   start ──────► turn ──────────► back ────────► the next round's start
 *     a block a block │ loss │ block   block
 *
 * A round is one batch: forward, backward and the optimizer's step, if one follows. Inference is
 * one round without a backward pass.
 */
#ifndef PLIMSOLL_DIAGNOSE_ADVICE_PROGRAM_H
#define PLIMSOLL_DIAGNOSE_ADVICE_PROGRAM_H

#include "diagnose/advice/what_if.h"
#include "diagnose/case/case.h"
#include "stacks/frames.h"

/* Roles of an allocation, as bits. */
enum {
    PLIM_PLAYS_BATCH = 1,       /* its size goes with the batch */
    PLIM_PLAYS_COPY = 2,        /* as large as a weight, or half or twice as large: a copy of it */
    PLIM_PLAYS_LOGITS = 4,      /* logits, and what the loss makes of them */
    PLIM_PLAYS_SCORES = 8,      /* attention's scores, and what is made of them */
    PLIM_PLAYS_OPTIMIZING = 16, /* a temporary of the optimizer's step */
};

typedef struct plim_training_round {
    uint32_t start;
    uint32_t forward; /* the forward pass that the backward pass follows begins here */
    uint32_t turn;    /* the backward pass begins; the same as back if it never does */
    uint32_t back;    /* it is over */
    uint32_t end;     /* the optimizer's step is over, if one follows; else the same as back */
} plim_training_round;

/* One of several parts of a forward pass that request the same in the same order. */
typedef struct plim_block_span {
    uint32_t first;       /* event of its first request */
    uint32_t end;         /* of the first one after it */
    uint32_t again;       /* the event before which its backward pass begins; PLIM_NONE: never */
    uint32_t output;      /* event of what it hands on, or PLIM_NONE */
    uint32_t round;       /* index */
    uint32_t number;      /* in its round, from 0 */
    uint64_t extra_bytes; /* its highest moment above what stays of it */
} plim_block_span;

/* The bit of a plim_frame_technique, in what the stacks show. */
#define PLIM_SEEN(technique) (UINT32_C(1) << (technique))

typedef struct plim_program_shape {
    plim_case *one;
    const plim_mem *mem;
    uint8_t *plays; /* roles by id */
    uint64_t ids;
    uint8_t *is_gathered; /* by stack: it gathers what ranks share */
    size_t stack_count;
    PLIM_VEC(plim_training_round) rounds;
    PLIM_VEC(plim_block_span) blocks; /* of all rounds, in order */
    uint32_t seen;
    int64_t peak_event;
    bool has_backward;
    bool has_optimizer;
    bool keeps_graph; /* a request failed in the first forward pass, whose blocks leave more than
                       * an output: it is one that a backward pass would follow */
    bool has_half_copies; /* weights have copies of half their size: mixed precision */
    uint32_t item_bytes;  /* of a weight's element, or 0: not known */
    uint64_t parameter_bytes;
    uint64_t state_bytes;  /* of all states that the optimizer made */
    uint64_t output_bytes; /* of a block; 0 without blocks */
    bool is_whole; /* some round has both passes, and the peak lies before its end: what would have
                    * come after the peak is known */
} plim_program_shape;

/* Errors: PLIM_OUT_OF_HOST_MEMORY. Linear in events. */
plim_status plim_program_shape_init(plim_program_shape *shape, plim_case *one,
                                    const plim_what_if *what_if, plim_error *err);
/* A zeroed one is allowed. */
void plim_program_shape_deinit(plim_program_shape *shape);

static inline plim_what_if_walk plim_program_lives(const plim_program_shape *shape)
{
    return plim_what_if_lives(&shape->one->view.timeline, &shape->one->view.categories,
                              &shape->one->passes);
}

/* The first round from `round` on that ends after an event, or the count of rounds. */
static inline size_t plim_program_round_at(const plim_program_shape *shape, int64_t event,
                                           size_t round)
{
    while (round < shape->rounds.count && event >= (int64_t)shape->rounds.items[round].end) {
        round++;
    }
    return round;
}

/* Finds the blocks of all rounds, for plim_program_shape_init(). False: no memory. */
bool plim_program_find_blocks(plim_program_shape *shape);
/* Gives allocations their roles; after the blocks. False: no memory. */
bool plim_program_find_roles(plim_program_shape *shape, int64_t peak_event);

#endif
