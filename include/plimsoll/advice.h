/*
 * plimsoll/advice.h - what helps, chosen by the finding that it answers.
 */
#ifndef PLIMSOLL_ADVICE_H
#define PLIMSOLL_ADVICE_H

#include "plimsoll/api.h"

PLIM_BEGIN_DECLS

/* One thing to do. Strings live as long as what they were returned with. */
typedef struct plim_advice {
    const char *id;      /* stable: "expandable-segments" */
    const char *text;    /* one or two sentences */
    const char *command; /* the exact line to run or change, or NULL */
    const char *source;  /* where the claim comes from */
} plim_advice;

PLIM_END_DECLS

#endif
