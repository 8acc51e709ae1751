/*
 * marks.h - what a program said it was doing, as ranges of a device's events.
 *
 * Annotations have a time and no event. An event belongs to what was open at its time, where the
 * clock of the events is taken to stand still when it steps back or is unknown.
 */
#ifndef PLIMSOLL_PHASES_MARKS_H
#define PLIMSOLL_PHASES_MARKS_H

#include "base/vec.h"
#include "plimsoll/history.h"

/* Meanings of a name. Later ones are tried later. */
typedef enum plim_mark_kind {
    PLIM_MARK_PROFILER,  /* ProfilerStep#7 */
    PLIM_MARK_STEP,      /* train_step, iteration 3, … */
    PLIM_MARK_OPTIMIZER, /* Optimizer.step#AdamW.step */
    PLIM_MARK_LOADER,    /* enumerate(DataLoader)#…: the next batch */
    PLIM_MARK_ZERO_GRAD, /* Optimizer.zero_grad#AdamW.zero_grad */
    PLIM_MARK_KIND_COUNT,
} plim_mark_kind;

/* The events [first, end) of one span; those inside another of its kind are left out. */
typedef struct plim_mark {
    uint64_t first;
    uint64_t end;
    bool is_ended; /* false: the recording ends inside */
} plim_mark;

typedef struct plim_marks {
    const plim_mem *mem;
    PLIM_VEC(plim_mark) of[PLIM_MARK_KIND_COUNT];
} plim_marks;

/* Finds the marks of a device. n log n in annotations, linear in events. */
plim_status plim_marks_init(plim_marks *ret_marks, const plim_history *history,
                            const plim_device_history *device, const plim_mem *mem,
                            plim_error *err);
/* Zeroed ones are allowed. */
void plim_marks_deinit(plim_marks *marks);

#endif
