/*
 * pattern.h - what stands beside a clause's phrase: literal characters and numbers with a meaning.
 *
 *   {free}      a size with its unit        {free:b}  an integer of bytes, "bytes" may follow
 *   {free:a}    either                      {free:u}  a number that shares the next one's unit
 *   {free:k}    a number of KiB, unless     {device:i} an integer
 *               its unit follows; :m, :g    {:s}      any number, not kept (also {:b} {:a} {:u})
 *   {shape}     [64,128] and its type       {name}    the name of a process
 *   ~           anything but digits         [abc]     may be there or not (figures too)
 *
 * Everything else stands for itself; blanks mean nothing.
 */
#ifndef PLIMSOLL_OOMTEXT_PATTERN_H
#define PLIMSOLL_OOMTEXT_PATTERN_H

#include "oomtext/amount.h"

#include "plimsoll/verdict.h"

typedef enum plim_place {
    PLIM_PLACE_NONE, /* no slot has this name */
    PLIM_PLACE_FIGURE,
    PLIM_PLACE_DEVICE,
    PLIM_PLACE_PID,     /* of the process whose bytes follow, */
    PLIM_PLACE_PROCESS, /* and they */
    PLIM_PLACE_SHAPE,
    PLIM_PLACE_VICTIM, /* the process that was killed: its number */
    PLIM_PLACE_NAME,   /* and its name */
    PLIM_PLACE_NOWHERE,
} plim_place;

typedef struct plim_pattern_piece {
    plim_place where;
    plim_figure_id figure;
    plim_amount_kind kind;
    int log2; /* of the unit that a bare number has; 0: as kind says */
} plim_pattern_piece;

typedef struct plim_caught {
    plim_pattern_piece in;
    plim_amount amount;
    size_t begin; /* index in full */
} plim_caught;

#define PLIM_CAUGHT_MAX 8u

/* A pattern while it is matched: what it caught so far. */
typedef struct plim_reading {
    const plim_flat *flat;
    size_t i; /* index in full */
    plim_caught caught[PLIM_CAUGHT_MAX];
    size_t count;
} plim_reading;

/** Read "{name:kind}" at *pattern and step over it. */
plim_pattern_piece plim_pattern_slot(const char **pattern);

/** Match a pattern at r->i. False when something of it is missing; what was caught stays. */
bool plim_pattern_match(plim_reading *r, const char *pattern);

/** True if full[later] may go on with what ends at full[i]: not beyond an empty line. */
bool plim_pattern_continues(const plim_flat *flat, size_t i, size_t later);

/** Where a pattern is malformed; NULL: nowhere. */
const char *plim_pattern_fault(const char *pattern);

/** The figure of a slot's name; PLIM_FIGURE_COUNT for any other name. */
plim_figure_id plim_pattern_figure(const char *name, size_t bytes);

#endif
