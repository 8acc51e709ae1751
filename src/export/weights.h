/*
 * weights.h - stacks weighed in bytes: what is live at a moment, what grew over a span, what was
 * allocated in it.
 */
#ifndef PLIMSOLL_EXPORT_WEIGHTS_H
#define PLIMSOLL_EXPORT_WEIGHTS_H

#include "base/arena.h"
#include "inspect/device_view.h"

#include "plimsoll/export.h"

/* The source of a stack. In the list: enumerator, the frame that says so at its root, or "". */
#define PLIM_WEIGHT_ORIGIN_LIST(X)                                                      \
    X(PLIM_WEIGHT_RECORDED, "")                                                         \
    X(PLIM_WEIGHT_NO_STACK, "[no stack was recorded]")                                  \
    X(PLIM_WEIGHT_NO_STACK_BEFORE, "[allocated before the recording, without a stack]") \
    X(PLIM_WEIGHT_OF_FREE, "[allocated before the recording; freed by this stack]")     \
    X(PLIM_WEIGHT_OF_FREE_PARTLY,                                                       \
      "[allocated before the recording; part of it freed by this stack]")

typedef enum plim_weight_origin {
#define PLIM_WEIGHT_ORIGIN_ENUM(code, text) code,
    PLIM_WEIGHT_ORIGIN_LIST(PLIM_WEIGHT_ORIGIN_ENUM)
#undef PLIM_WEIGHT_ORIGIN_ENUM
        PLIM_WEIGHT_ORIGIN_COUNT
} plim_weight_origin;

/* The frame at the root of a stack of this origin, or "". */
const char *plim_weight_origin_frame(plim_weight_origin origin);

typedef struct plim_weight {
    uint32_t stack; /* or PLIM_NONE */
    plim_weight_origin origin;
    uint64_t bytes;        /* at the moment, at the end of the span, or allocated in it */
    uint64_t count;        /* allocations */
    uint64_t before_bytes; /* of a difference: before the span */
    uint64_t before_count;
} plim_weight;

/* Largest first; a stack and origin have one row. The rows lie in the arena that was given. */
typedef struct plim_weights {
    plim_weight *rows;
    size_t count;
} plim_weights;

/* All of them: linear in events, n log n in stacks. Errors: PLIM_OUT_OF_HOST_MEMORY. */

/* The allocations live after `event`. The bytes add up to the figure of that moment. */
plim_status plim_weights_live(plim_device_view *view, plim_arena *arena, int64_t event,
                              plim_weights *ret_weights, plim_error *err);

/* From the moment `from` to the moment `until`. */
typedef struct plim_weights_span {
    int64_t from;
    int64_t until;
} plim_weights_span;

/* Those live at both ends of a span, side by side: all stacks of either. */
plim_status plim_weights_difference(plim_device_view *view, plim_arena *arena,
                                    plim_weights_span span, plim_weights *ret_weights,
                                    plim_error *err);
/* Of that, the stacks that hold more at its end, by how much; `ret_shrunk_bytes` is the sum of
 * what others hold less. */
plim_status plim_weights_growth(plim_device_view *view, plim_arena *arena, plim_weights_span span,
                                plim_weights *ret_weights, uint64_t *ret_shrunk_bytes,
                                plim_error *err);
/* Those allocated after `from`, up to and with `until`; `category`: only that, or NULL. */
plim_status plim_weights_allocated(plim_device_view *view, plim_arena *arena,
                                   plim_weights_span span, const plim_category *category,
                                   plim_weights *ret_weights, plim_error *err);

#endif
