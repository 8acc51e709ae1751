/*
 * space.h - the stacks among which is searched.
 *
 * An axis is a set of choices of which a stack has one or none: "autocast=bf16"; "accumulate=2",
 * "=4", "=8". Of a graded axis later choices save more and cost more. A stack is a place on each
 * axis, 0 where it has nothing of it.
 */
#ifndef PLIMSOLL_FIT_SPACE_H
#define PLIMSOLL_FIT_SPACE_H

#include "fit/sample.h"

#define PLIM_FIT_AXES    14
#define PLIM_FIT_CHOICES 9 /* on an axis, the first is nothing */

typedef struct plim_fit_stack {
    uint8_t at[PLIM_FIT_AXES];
} plim_fit_stack;

typedef struct plim_fit_choice {
    char text[48];
    const plim_technique *technique;
    uint8_t alone; /* the choice of the axis whose rehearsal alone stands for this one */
    double share;  /* of the saving of the axis's marked choice: two pieces, all blocks */
    /* From the rehearsals of single techniques: */
    bool is_open;        /* it may be part of a stack */
    uint64_t host_bytes; /* beside those of the program as it is */
    double slowdown;
    uint64_t saved_bytes[PLIM_FIT_PHASES_MAX];
    uint64_t saved_end_bytes; /* of what is allocated as a step ends: weights, gradients, states */
    uint8_t better;           /* a choice of the axis that saves as much and costs less; 0: none */
} plim_fit_choice;

/* The effect of a technique on activations, for an expectation of stacks. */
typedef enum plim_fit_part {
    PLIM_FIT_OF_NOTHING, /* it saves elsewhere */
    PLIM_FIT_OF_WHOLE,   /* makes all of them smaller: half the batch, half the bytes of each */
    PLIM_FIT_OF_PIECE,   /* takes some of them away: blocks, logits */
} plim_fit_part;

typedef struct plim_fit_space {
    plim_fit_choice choices[PLIM_FIT_AXES][PLIM_FIT_CHOICES];
    uint8_t counts[PLIM_FIT_AXES];
    bool is_graded[PLIM_FIT_AXES];
    plim_fit_part parts[PLIM_FIT_AXES];
    bool excludes[PLIM_FIT_AXES][PLIM_FIT_CHOICES][PLIM_FIT_AXES][PLIM_FIT_CHOICES];
} plim_fit_space;

/* All that options allow on a GPU. */
void plim_fit_space_init(plim_fit_space *space, const plim_fit_options *options,
                         const plim_gpu *gpu);

/* True if a text is of settings that make segments expandable. */
bool plim_fit_is_expandable(const char *text);

size_t plim_fit_stack_size(const plim_fit_stack *stack);
/* True if `whole` has all that `part` has, or more of it on graded axes. */
bool plim_fit_stack_covers(const plim_fit_space *space, const plim_fit_stack *whole,
                           const plim_fit_stack *part);
/*
 * Adds a technique to a text of several that has room for `bytes`. Returns the text's length, which
 * is beyond that where it was cut: nothing more is then added.
 */
size_t plim_fit_add_technique(char *text, size_t bytes, size_t length, char separator,
                              const char *one);
/* Its techniques, with a separator between. */
void plim_fit_stack_write(const plim_fit_space *space, const plim_fit_stack *stack, char separator,
                          char *text, size_t bytes);
/* True if a choice goes together with what a stack has on other axes. */
bool plim_fit_stack_takes(const plim_fit_space *space, const plim_fit_stack *stack, size_t axis,
                          uint8_t choice);
/* The stack of a line "autocast=bf16 checkpoint"; false: it has something that is on no axis. */
bool plim_fit_stack_read(const plim_fit_space *space, const char *line, plim_fit_stack *ret);
plim_technique_label plim_fit_stack_label(const plim_fit_space *space, const plim_fit_stack *stack);

#endif
