/*
 * phrases.h - everything the scanner looks for, folded, and the forms and marks it may mean.
 */
#ifndef PLIMSOLL_OOMTEXT_PHRASES_H
#define PLIMSOLL_OOMTEXT_PHRASES_H

#include "base/arena.h"
#include "oomtext/table.h"

/* One phrase. Forms are listed by their place in the table, rising. */
typedef struct plim_phrase {
    const char *folded;
    const uint16_t *forms;
    uint16_t form_count;
    bool is_plain;              /* a form that yields to others has it */
    bool is_prose;              /* a form that people's words fit too has it */
    bool is_report;             /* all its forms are reports */
    bool is_head;               /* it heads messages and is not one alone */
    const plim_text_mark *mark; /* or NULL */
} plim_phrase;

typedef struct plim_phrases {
    plim_phrase *items;
    const char **folded; /* the same, as the scanner takes them */
    size_t count;
} plim_phrases;

/** Collect them from the table; false when there is no memory. All of it lives in the arena. */
bool plim_phrases_collect(const plim_message_table *table, plim_arena *arena, plim_phrases *ret);

#endif
