/*
 * scale.h - requests multiplied, by what they are for or where they were made.
 */
#ifndef PLIMSOLL_REPLAY_PROGRAM_SCALE_H
#define PLIMSOLL_REPLAY_PROGRAM_SCALE_H

#include "plimsoll/phases.h"
#include "replay/program/program.h"

#define PLIM_SCALES_MAX 254

/* Which rule holds for what: its index + 1, or 0. All zero: nothing is scaled. */
typedef struct plim_scaling {
    const plim_mem *mem;
    const plim_scale *scales; /* borrowed */
    uint8_t by_category[PLIM_CATEGORY_COUNT];
    uint8_t *by_stack;
    uint32_t stack_count;
} plim_scaling;

/* Errors: PLIM_INVALID_ARGUMENT (an unknown category, an impossible factor), PLIM_LIMIT,
 * PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_scaling_init(plim_scaling *scaling, const plim_history *history,
                              const plim_program_options *options, const plim_mem *mem,
                              plim_error *err);
/* A zeroed one is allowed. */
void plim_scaling_deinit(plim_scaling *scaling);

/* The factor of requests of a category and a stack (or PLIM_NONE); later rules win. */
double plim_scaling_factor(const plim_scaling *scaling, uint8_t category, uint32_t stack);
uint64_t plim_scaled_bytes(uint64_t bytes, double factor);

#endif
