/*
 * plimsoll/diff.h - what grew between two histories, or between two moments of one.
 *
 *   before ─┐
 *           ├─► plim_diff() ──► of each device, at the peak, at the end and per step:
 *   after ──┘                   figures, categories, groups of stacks that are matched
 *
 * Stacks of two runs are matched across small changes of code. A match is sure where the stacks
 * are equal, or differ in nothing but line numbers of lines that are equal otherwise or in names
 * that stand in the same place; it is likely where more differs. Stacks that are matched form one
 * group at every moment and on every device. What a recording has no stack of is one group, but for
 * what the autograd engine requests, which is a group for each call of backward.
 */
#ifndef PLIMSOLL_DIFF_H
#define PLIMSOLL_DIFF_H

#include "plimsoll/inspect.h"
#include "plimsoll/phases.h"

PLIM_BEGIN_DECLS

/* The moments that are compared. In the list: enumerator, name, meaning. */
#define PLIM_DIFF_MOMENT_LIST(X)                                     \
    X(PLIM_DIFF_PEAK, "peak", "at the highest moment of each")       \
    X(PLIM_DIFF_END, "end", "after the last event of each")          \
    X(PLIM_DIFF_STEP, "step", "what stays of each step, on average") \
    X(PLIM_DIFF_CHOSEN, "chosen", "at the moments that the user has chosen")

typedef enum plim_diff_moment_kind {
#define PLIM_DIFF_MOMENT_ENUM(code, name, text) code,
    PLIM_DIFF_MOMENT_LIST(PLIM_DIFF_MOMENT_ENUM)
#undef PLIM_DIFF_MOMENT_ENUM
        PLIM_DIFF_MOMENT_COUNT
} plim_diff_moment_kind;

/* The counterpart of a group on the other side. In the list: enumerator, name, meaning. */
#define PLIM_DIFF_MATCH_LIST(X)                                                               \
    X(PLIM_DIFF_SURE, "sure", "the same code, perhaps on other lines")                        \
    X(PLIM_DIFF_LIKELY, "likely", "code that does the same, under another name or elsewhere") \
    X(PLIM_DIFF_NEW, "new", "only after")                                                     \
    X(PLIM_DIFF_GONE, "gone", "only before")

typedef enum plim_diff_match {
#define PLIM_DIFF_MATCH_ENUM(code, name, text) code,
    PLIM_DIFF_MATCH_LIST(PLIM_DIFF_MATCH_ENUM)
#undef PLIM_DIFF_MATCH_ENUM
        PLIM_DIFF_MATCH_COUNT
} plim_diff_match;

/** Stable names and meanings; constant strings. */
PLIM_API const char *plim_diff_moment_name(plim_diff_moment_kind kind);
PLIM_API const char *plim_diff_moment_text(plim_diff_moment_kind kind);
PLIM_API const char *plim_diff_match_name(plim_diff_match match);
PLIM_API const char *plim_diff_match_text(plim_diff_match match);

/* One side of a group: what one stack, or several that are matched as one, hold. */
typedef struct plim_diff_share {
    uint64_t bytes;           /* requested; of PLIM_DIFF_STEP what stays of a step, rounded */
    uint64_t count;           /* allocations */
    uint32_t stack;           /* of the largest part: index into that side's stacks, or PLIM_NONE */
    uint32_t user_frame;      /* as in plim_stack_group */
    uint32_t model_frame;     /* of a request within a module's call: which frame is the user's line
                               * that called the outermost module, or PLIM_NONE */
    uint32_t differing_frame; /* which of its frames is the innermost that the other side has no
                               * counterpart of, or PLIM_NONE */
} plim_diff_share;

/* Memory of one piece of code on both sides. */
typedef struct plim_diff_group {
    plim_diff_match match;
    plim_diff_share before; /* zeroed, its stack PLIM_NONE, where the group is new */
    plim_diff_share after;  /* likewise where it is gone */
    int64_t change_bytes;   /* after - before, cut off at both ends of int64_t */
    plim_category category; /* of most of its bytes, after where there are any */
    const char *because;    /* of a likely match and of a sure one with differences: a constant,
                             * "lines moved", "renamed in place", "file moved" …; else NULL */
    bool is_by_engine; /* the autograd engine requested it in a thread of its own, without a stack:
                        * the stacks are those of the calls of backward that it did so for */
    const char *package; /* whose code requested it: "torch", "transformers", "" for the user's
                          * own */
} plim_diff_group;

typedef struct plim_diff_amount {
    uint64_t before_bytes;
    uint64_t after_bytes;
} plim_diff_amount;

typedef struct plim_diff_moment {
    bool is_known;               /* false: a side has no such moment */
    const char *unknown_because; /* a constant, where it is not known; else NULL */
    plim_moment before;          /* without groups; of PLIM_DIFF_STEP the last event that counts */
    plim_moment after;
    bool is_same;                  /* each group and category holds as many bytes on both sides */
    const plim_diff_group *groups; /* most growth first, the largest shrinkage last */
    size_t group_count;
    plim_diff_amount categories[PLIM_CATEGORY_COUNT];
} plim_diff_moment;

/* A device of both sides, or of one. */
typedef struct plim_diff_device {
    int32_t device;
    bool in_before;
    bool in_after;
    uint64_t before_steps; /* 0: none were found */
    uint64_t after_steps;
    plim_steps_source before_steps_source;
    plim_steps_source after_steps_source;
    plim_diff_moment_kind lead; /* the moment that shows best what changed */
    plim_diff_moment moments[PLIM_DIFF_MOMENT_COUNT];
} plim_diff_device;

/* All zero is a valid default. */
typedef struct plim_diff_options {
    const plim_mem *mem;                 /* borrowed until destroy; NULL: the C heap */
    const plim_moment_choice *before_at; /* both or neither: PLIM_DIFF_CHOSEN compares them */
    const plim_moment_choice *after_at;
} plim_diff_options;

typedef struct plim_diff_result plim_diff_result;

/**
 * Compare two histories, device by device in order of their numbers.
 *
 * before, after  borrowed: they must outlive the result; one history may be both, to compare two
 *                moments of it
 * ret_result     the caller's, until plim_diff_destroy()
 * errors         PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT (a device of 2^32 events),
 *                PLIM_INVALID_ARGUMENT: a device has no such moment
 * threads        any number may compare the same histories
 * time           linear in events; n log n in stacks and frames
 */
PLIM_API PLIM_MUST_USE plim_status plim_diff(const plim_history *before, const plim_history *after,
                                             const plim_diff_options *options,
                                             plim_diff_result **ret_result, plim_error *err);
/** NULL is allowed. */
PLIM_API void plim_diff_destroy(plim_diff_result *result);

PLIM_API size_t plim_diff_device_count(const plim_diff_result *result);
PLIM_API const plim_diff_device *plim_diff_device_at(const plim_diff_result *result, size_t index);

PLIM_END_DECLS

#endif
