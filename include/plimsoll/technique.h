/*
 * plimsoll/technique.h - techniques that make a program need less memory, as the program itself is
 * changed by them from outside.
 *
 *   "checkpoint=every:2" ──► plim_technique_find() ──► a row: its label, its tier, what it does
 *
 * The agent switches them on (src/agent/plimsoll_agent/switches); docs/commands/techniques.md.
 */
#ifndef PLIMSOLL_TECHNIQUE_H
#define PLIMSOLL_TECHNIQUE_H

#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>

PLIM_BEGIN_DECLS

/* The result of the program with it. */
typedef enum plim_technique_label {
    PLIM_TECHNIQUE_SAME,           /* equal, but for the order of sums */
    PLIM_TECHNIQUE_IN_EXPECTATION, /* rounded or drawn otherwise, around the same values */
    PLIM_TECHNIQUE_CHANGED,        /* another update, model, batch or precision of what is kept */
} plim_technique_label;

/* Its place in a search. */
typedef enum plim_technique_tier {
    PLIM_TECHNIQUE_FREE,
    PLIM_TECHNIQUE_CHEAP, /* a few per cent of time */
    PLIM_TECHNIQUE_DEAR,
} plim_technique_tier;

/* A technique with one kind of value. */
typedef struct plim_technique {
    const char *name; /* "checkpoint" */
    const char *form; /* "every:K": "" none; a word in capitals at its end stands for what varies */
    plim_technique_label label;
    plim_technique_tier tier;
    const char *purpose; /* "recomputes blocks in the backward pass" */
} plim_technique;

PLIM_API size_t plim_technique_count(void);
/** A row of the table; NULL beyond it. */
PLIM_API const plim_technique *plim_technique_at(size_t index);

/**
 * The row of a technique as a command line names it.
 *
 * text    "checkpoint", "accumulate=4", "conf=expandable_segments:True"
 * errors  PLIM_INVALID_ARGUMENT: no such technique or value; the message names what there is
 */
PLIM_API PLIM_MUST_USE plim_status plim_technique_find(const char *text, const plim_technique **ret,
                                                       plim_error *err);

/** The value after "="; "" without one. */
PLIM_API const char *plim_technique_value(const char *text);

/** Why two techniques cannot go together: half a sentence; NULL: they can. */
PLIM_API const char *plim_technique_excludes(const char *text, const char *other);

/** "same result", "same in expectation", "changed". */
PLIM_API const char *plim_technique_label_name(plim_technique_label label);

PLIM_END_DECLS

#endif
