/*
 * plimsoll/phases.h - what a program was doing: its steps, and what its memory is for.
 *
 * Both are read off a history: off annotations where the program named what it did, else off the
 * stacks of its requests and how long they lived. Each says how sure that is.
 */
#ifndef PLIMSOLL_PHASES_H
#define PLIMSOLL_PHASES_H

#include "plimsoll/history.h"

PLIM_BEGIN_DECLS

/* --- steps --- */

/* The source of steps, the surest first. */
typedef enum plim_steps_source {
    PLIM_STEPS_NONE,      /* no steps were found */
    PLIM_STEPS_ANNOTATED, /* the program named them: ProfilerStep#7, … */
    PLIM_STEPS_OPTIMIZER, /* a step ends with the last event of an optimizer's step */
    PLIM_STEPS_PERIOD,    /* the sequence of requests repeats */
    PLIM_STEPS_BACKWARD,  /* a step ends after the call of backward that ends the loop's turn */
} plim_steps_source;

/* The steps of one device: step i is the events [first_events[i], first_events[i + 1]). The last
 * entry ends the last step; what comes before the first belongs to none. */
typedef struct plim_steps {
    const plim_mem *mem;
    uint64_t *first_events; /* count + 1 of them; NULL when count is 0 */
    size_t count;
    plim_steps_source source;
} plim_steps;

/**
 * Find the steps of a device.
 *
 * device      of `history`
 * ret_steps   the caller's, until plim_steps_deinit()
 * errors      PLIM_OUT_OF_HOST_MEMORY
 * time        linear in events
 */
PLIM_API PLIM_MUST_USE plim_status plim_steps_init(plim_steps *ret_steps,
                                                   const plim_history *history,
                                                   const plim_device_history *device,
                                                   const plim_mem *mem, plim_error *err);
/** A zeroed one is allowed. */
PLIM_API void plim_steps_deinit(plim_steps *steps);

#define PLIM_NO_STEP UINT64_MAX /* in place of a step's number, from 0 */

/** The step that an event lies in, or PLIM_NO_STEP: before the first, after the last, no steps.
 * Logarithmic. */
PLIM_API uint64_t plim_steps_at(const plim_steps *steps, uint64_t event);

/* --- categories --- */

/* The purpose of an allocation. In the list: enumerator, name, meaning. */
#define PLIM_CATEGORY_LIST(X)                                                                    \
    X(PLIM_CATEGORY_OTHER, "other", "nothing says what it is for")                               \
    X(PLIM_CATEGORY_PARAMETERS, "parameters", "weights and buffers of the model")                \
    X(PLIM_CATEGORY_GRADIENTS, "gradients", "made by backward, kept until the optimizer's step") \
    X(PLIM_CATEGORY_OPTIMIZER_STATE, "optimizer_state", "kept by the optimizer")                 \
    X(PLIM_CATEGORY_ACTIVATIONS, "activations", "made by forward, freed by backward")            \
    X(PLIM_CATEGORY_TEMPORARY, "temporary", "freed soon after")                                  \
    X(PLIM_CATEGORY_INPUTS, "inputs", "batches of data")

typedef enum plim_category {
#define PLIM_CATEGORY_ENUM(code, name, text) code,
    PLIM_CATEGORY_LIST(PLIM_CATEGORY_ENUM)
#undef PLIM_CATEGORY_ENUM
        PLIM_CATEGORY_COUNT
} plim_category;

PLIM_API const char *plim_category_name(plim_category category);
PLIM_API const char *plim_category_text(plim_category category);
/** The category of a name. returns false: unknown name */
PLIM_API bool plim_category_find(const char *name, plim_category *ret_category);

/* The rule that gave an allocation its category. In the list: enumerator, name, what it reads. */
#define PLIM_CATEGORY_RULE_LIST(X)                                                              \
    X(PLIM_CATEGORY_RULE_NONE, "none", "no rule applied")                                       \
    X(PLIM_CATEGORY_RULE_SOURCE, "source", "the recording names it")                            \
    X(PLIM_CATEGORY_RULE_STACK, "stack", "the code that requested it, and how long it lived")   \
    X(PLIM_CATEGORY_RULE_LIFETIME, "lifetime", "the passes of the program that it lived in")    \
    X(PLIM_CATEGORY_RULE_SIZE, "size", "it stood before the recording and is as large as such") \
    X(PLIM_CATEGORY_RULE_USER, "user", "a rule of the user's file")                             \
    X(PLIM_CATEGORY_RULE_HOLDERS, "holders", "the object that held it, as the program had it")

typedef enum plim_category_rule {
#define PLIM_CATEGORY_RULE_ENUM(code, name, text) code,
    PLIM_CATEGORY_RULE_LIST(PLIM_CATEGORY_RULE_ENUM)
#undef PLIM_CATEGORY_RULE_ENUM
        PLIM_CATEGORY_RULE_COUNT
} plim_category_rule;

/** "source", …; what it reads. Constant strings, never NULL. */
PLIM_API const char *plim_category_rule_name(plim_category_rule rule);
PLIM_API const char *plim_category_rule_text(plim_category_rule rule);

PLIM_END_DECLS

#endif
