/*
 * techniques.h - what a program could do to need less, and what that would save of its peak.
 *
 * One row each: when it applies, how the history would differ, what it costs. A row that is in
 * force already, or that saves nothing, is not advised.
 */
#ifndef PLIMSOLL_DIAGNOSE_ADVICE_TECHNIQUES_H
#define PLIMSOLL_DIAGNOSE_ADVICE_TECHNIQUES_H

#include "diagnose/advice/program.h"

typedef struct plim_advised_technique {
    const char *name; /* stable */
    const char *text;
    const char *change;
    const char *cost; /* NULL: nothing */
    double cost_rank;
    plim_saving_basis basis;
    plim_cause answers; /* the cause of a finding that it ends; PLIM_CAUSE_UNKNOWN: of none */
    bool (*applies)(const plim_program_shape *shape);
    /* Changes the history as the technique would. False: no memory. */
    bool (*change_history)(const plim_program_shape *shape, plim_what_if *what_if);
} plim_advised_technique;

const plim_advised_technique *plim_techniques(size_t *ret_count);

/* --- how a history would differ --- */

bool plim_change_batch(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_micro_batches(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_evaluation_batch(const plim_program_shape *shape, plim_what_if *what_if);
/* Nothing of it stays. */
void plim_change_evaluation(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_checkpointing(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_half_checkpointing(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_loss(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_attention(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_activation_offload(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_autocast(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_half_weights(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_fused(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_foreach(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_no_states(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_one_state(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_eight_bit(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_adapters(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_in_backward(const plim_program_shape *shape, plim_what_if *what_if);
bool plim_change_set_to_none(const plim_program_shape *shape, plim_what_if *what_if);

#endif
