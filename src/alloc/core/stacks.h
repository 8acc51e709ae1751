/*
 * stacks.h - the stacks of an allocator: each distinct one stored once and named by a number.
 *
 * A stack is C return addresses and frames of the program's own language. Taking one that was
 * seen before costs the unwinding, a hash and a comparison; names are looked up when a reader
 * wants a history. Any number of threads may use one.
 */
#ifndef PLIMSOLL_ALLOC_STACKS_H
#define PLIMSOLL_ALLOC_STACKS_H

#include "history/builder.h"
#include "plimsoll/allocator.h"

typedef struct plim_stacks plim_stacks;

plim_status plim_stacks_create(const plim_mem *mem, plim_stacks **ret_stacks, plim_error *err);
/* NULL is allowed. */
void plim_stacks_destroy(plim_stacks *stacks);

/* The calling thread's stack without this library's own frames: its id, or PLIM_NONE when there is
 * no memory or nothing to take. *ret_is_new: the id is new. */
uint32_t plim_stacks_take(plim_stacks *stacks, bool has_c_frames, plim_foreign_frames *foreign,
                          void *foreign_ctx, bool *ret_is_new);

/* A stack as it was taken; valid until destroy. */
plim_stack_record plim_stacks_get(plim_stacks *stacks, uint32_t id);
uint64_t plim_stacks_bytes(plim_stacks *stacks); /* host bytes it holds */

/* Puts a stack into a history, foreign frames first (they are the innermost), then the C frames
 * with their names; the number it has there. PLIM_NONE gives PLIM_NONE. */
plim_status plim_stacks_to_history(plim_stacks *stacks, uint32_t id, plim_history *history,
                                   uint32_t *ret_stack, plim_error *err);

/* Keeps other threads out while the process forks, and lets them in. */
void plim_stacks_hold(plim_stacks *stacks);
void plim_stacks_let_go(plim_stacks *stacks);

#endif
