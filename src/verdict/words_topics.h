/*
 * words_topics.h - what can be said of a topic without, or nearly without, figures.
 */
#ifndef PLIMSOLL_VERDICT_WORDS_TOPICS_H
#define PLIMSOLL_VERDICT_WORDS_TOPICS_H

#include "plimsoll/verdict.h"

/* Parts of sentences, without the point at their end. */
typedef struct plim_topic_words {
    const char *first;         /* where the topic decides: the first sentence without a size; of a
                                * process that was killed: why; NULL where figures decide */
    const char *before_wanted; /* else: these words, the size, */
    const char *with_wanted;   /* and these; NULL: the size is never said */
    const char *with_bound;    /* then ", and ", a bound below it, and these; NULL: never */
    plim_figure_id bound;
    bool wanted_shared; /* the size is a kernel's shared memory */
    const char *second; /* what follows where the topic decides, or figures are too few */
    const char *full; /* … where memory was full, and no figure says by how much it fell short */
} plim_topic_words;

const plim_topic_words *plim_words_of_topic(plim_oom_topic topic);

#endif
