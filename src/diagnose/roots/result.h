/*
 * result.h - is an allocation what a statement of the program ends with, or only on its way there?
 *
 * A variable, a list or a hook can hold what a statement or a call of a module returns. What a
 * statement makes in between only its history (autograd) can hold.
 */
#ifndef PLIMSOLL_DIAGNOSE_ROOTS_RESULT_H
#define PLIMSOLL_DIAGNOSE_ROOTS_RESULT_H

#include "diagnose/roots/lines.h"

/* A number: PyTorch's largest is complex128. */
#define PLIM_SCALAR_BYTES 16u
/* The allocator's smallest block: what is not larger is a number, or some. */
#define PLIM_SMALLEST_BLOCK 512u

/* Events that may still be looked at for one leak: with it, time stays linear however long
 * statements are. */
typedef struct plim_look {
    uint64_t left;
} plim_look;

/*
 * True if nothing that the statement of frame `level` makes later lives on when it ends. What the
 * same operation makes beside it does not count. False too where the budget is used up.
 */
bool plim_is_result(plim_case *one, const plim_allocation *kept, uint32_t level, plim_look *look);

/*
 * The number that a computation ends with: a scalar made after `last`, on the way from which
 * nothing is made that lives longer than the scalar's statement. Returns false where there is
 * none before the pass ends.
 */
bool plim_find_scalar(plim_case *one, const plim_allocation *last, plim_look *look,
                      plim_allocation *ret_scalar);

/* Index into the passes of the pass that an event lies in. */
size_t plim_pass_of(const plim_case *one, uint64_t event);

#endif
