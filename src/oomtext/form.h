/*
 * form.h - the forms of messages: who prints them, what gives them away, what they may say.
 */
#ifndef PLIMSOLL_OOMTEXT_FORM_H
#define PLIMSOLL_OOMTEXT_FORM_H

#include "oomtext/clause.h"
#include "plimsoll/verdict.h"

enum {
    PLIM_FORM_PLAIN = 1,    /* words that any program might use: yields to every other form near */
    PLIM_FORM_PROSE = 2,    /* … and people too: only where it reads like an error */
    PLIM_FORM_REPORT = 4,   /* no error at all: told only to who asks about nothing else */
    PLIM_FORM_GLUED = 256,  /* the phrase is written as one word */
    PLIM_FORM_LINE = 8,     /* the phrase has to begin its line, prefixes apart */
    PLIM_FORM_ALONE = 16,   /* … and to be all of it */
    PLIM_FORM_SIGNAL = 128, /* the number at its end is a signal's: a minus before it, or 137 */
    PLIM_FORM_NONE = 512,   /* the number after the phrase is 0, or negative, */
    PLIM_FORM_SOME = 1024,  /* or it is neither */
    PLIM_FORM_DUMP = 32,    /* belongs to the failure of the same pool before it */
    PLIM_FORM_HEAD = 64,    /* a status that heads messages: what follows it belongs to it */
};

typedef struct plim_form {
    const char *name;
    const char *framework;
    const char *versions; /* of the framework; "" where that says nothing */
    plim_oom_family family;
    plim_oom_topic topic;
    const char *anchors; /* phrases, by '|': any of them gives the form away */
    const char *with;    /* phrases, by '|': one of them has to be near; NULL */
    const char *also;    /* and one of these; NULL */
    const char *without; /* none of these; NULL */
    uint32_t sets;       /* PLIM_CLAUSES_ it may have */
    uint32_t needs;      /* PLIM_SAYS_ figures it has to say, */
    uint32_t lacks;      /* and must not */
    uint16_t before;     /* bytes before the anchor that may belong to it, */
    uint16_t after;      /* and behind it */
    unsigned flags;
} plim_form;

#define PLIM_SAYS(figure) ((uint32_t)1 << (figure))

/** The table, the more telling form before the less telling one. */
const plim_form *plim_forms(size_t *ret_count);

#endif
