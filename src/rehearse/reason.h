/*
 * reason.h - why a rehearsal has no answer: the program failed, or used no GPU.
 */
#ifndef PLIMSOLL_REHEARSE_REASON_H
#define PLIMSOLL_REHEARSE_REASON_H

#include "base/arena.h"
#include "plimsoll/rehearse.h"

/* Words of plim_rehearsed_reason. */
#define PLIM_REASON_NO_KERNELS "no_kernels"
#define PLIM_REASON_SIGNAL     "signal"
#define PLIM_REASON_PROGRAM    "program"
#define PLIM_REASON_NO_GPU     "no_gpu_used"

/* The end of what the program prints, on its way to the caller's own callback. */
typedef struct plim_output_end {
    void (*output)(void *ctx, int stream, const char *data, size_t bytes); /* NULL: none */
    void *output_ctx;
    char bytes[PLIM_REHEARSE_OUTPUT_BYTES];
    size_t count;
} plim_output_end;

/** For plim_launch_options.output; `ctx` is a plim_output_end. */
void plim_output_end_take(void *ctx, int stream, const char *data, size_t bytes);

/** The process whose exception ended the program; NULL: none has one. */
const plim_rehearsed_process *plim_reason_process(const plim_rehearsal_outcome *outcome);

/**
 * Why a rehearsal failed. It has to have its outcome, exit status and `ran_out`.
 *
 * arena   takes the text
 * ret     without a word where the rehearsal did not fail
 * errors  PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_reason_find(const plim_rehearsed *rehearsed,
                                           const plim_output_end *end, plim_arena *arena,
                                           plim_rehearsed_reason *ret, plim_error *err);

#endif
