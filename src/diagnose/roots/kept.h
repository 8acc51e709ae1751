/*
 * kept.h - what a leak keeps, by stack and by round: the evidence that causes are judged by.
 *
 * A round is what one turn of the program's loop adds. Rounds are distinguished by the lines of the
 * function in which the stacks of what is kept part: a line before the last one begins a round.
 */
#ifndef PLIMSOLL_DIAGNOSE_ROOTS_KEPT_H
#define PLIMSOLL_DIAGNOSE_ROOTS_KEPT_H

#include "diagnose/roots/leak.h"
#include "diagnose/roots/result.h"

/* The allocations of one stack among those. */
typedef struct plim_kept_stack {
    plim_stack_kind kind;
    uint32_t stack;
    uint32_t line; /* level of the line that speaks for it, or PLIM_NONE */
    uint64_t bytes;
    uint64_t count;
    uint64_t inputs;   /* how many of them are batches by category */
    uint64_t graded;   /* likewise, gradients */
    uint64_t largest;  /* bytes of the largest */
    uint64_t sampled;  /* of those looked at closely, */
    uint64_t results;  /* these are what their statement ends with, */
    uint64_t returned; /* these what the call of a module ends with, */
    uint64_t open;     /* of these the statement goes on, to what no variable need hold */
    uint64_t outputs;  /* these a call of the whole model ends with */
    uint64_t last;     /* in so many rounds it is made last, of those made in forward passes */
    uint64_t in_pool;  /* bytes in private pools */
    uint32_t part;     /* frame in the function where stacks part, or PLIM_NONE */
} plim_kept_stack;

typedef struct plim_leak_content {
    const plim_mem *mem;
    plim_kept_stack *stacks; /* in order of birth */
    size_t stack_count;
    size_t stack_capacity;
    size_t id_count;
    uint32_t *stack_of; /* by index of the leak's ids */
    size_t *round_ends; /* indices into the leak's ids, one beyond each round's last */
    size_t round_count;
    size_t *last_of; /* by round: the last kept of its forward pass */
    uint64_t bytes;
    uint64_t sampled_rounds;
    uint64_t
        computed; /* requests of their forward passes, from the first that is kept to the last, */
    uint64_t computed_kept;        /* and how many of these are kept */
    uint64_t rounds_with_backward; /* of these a backward pass follows in so many, */
    uint64_t rounds_released;      /* and frees what was computed before the last that is kept, */
    uint64_t rounds_passed_by;     /* or only what was computed after it; */
    uint64_t rounds_carried;       /* in so many, that outlives the backward pass, and is freed */
    uint64_t backward_passes;      /* that begin between a round's last and the next one's */
} plim_leak_content;

plim_allocation plim_kept_allocation(const plim_case *one, const plim_leak *leak, size_t index);

/* Linear in the ids. False: no memory. plim_kept_deinit() frees it, after a failure too. */
bool plim_kept_find(plim_case *one, const plim_leak *leak, plim_look *look,
                    plim_leak_content *ret_kept);
void plim_kept_deinit(plim_leak_content *kept);

#endif
