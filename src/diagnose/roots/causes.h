/*
 * causes.h - the signatures of the causes of leaks.
 */
#ifndef PLIMSOLL_DIAGNOSE_ROOTS_CAUSES_H
#define PLIMSOLL_DIAGNOSE_ROOTS_CAUSES_H

#include "diagnose/roots/kept.h"

/* A leak that wants a cause. */
typedef struct plim_root_question {
    plim_case *one;
    const plim_leak *leak;
    const plim_leak_content *kept;
    plim_look *look;
    plim_diagnosis_finding *finding;
} plim_root_question;

/* Gives the finding its cause, root and evidence. False: no memory. */
bool plim_judge_cause(plim_root_question *asked);

/* Sets the root alone: the line of the stack that keeps most. */
void plim_root_largest(const plim_root_question *asked);

/* The line that called the backward pass which an event lies in: that of the first request of the
 * pass that has a line of the user's. Its frame is PLIM_NONE where no line is recorded. */
plim_code_place plim_backward_place(plim_case *one, uint64_t event);

#endif
