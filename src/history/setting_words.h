/*
 * setting_words.h - one recorded setting as words, as a settings string would say it.
 */
#ifndef PLIMSOLL_HISTORY_SETTING_WORDS_H
#define PLIMSOLL_HISTORY_SETTING_WORDS_H

#include "base/decimal.h"

#include "plimsoll/history.h"

/* Names and texts are as untrusted as the history; zero bytes end them. */
typedef struct plim_setting_words {
    const char *group; /* "" outside tables */
    const char *name;
    const char *value; /* True, 67108864, 0.8, a text; "" for none */
    plim_decimal_text number;
} plim_setting_words;

/* `ret_words` may not be moved: value may lie in it. */
void plim_setting_words_of(const plim_history *history, const plim_setting *setting,
                           plim_setting_words *ret_words);

/* Hands out the settings of a history, in order. */
void plim_setting_words_each(const plim_history *history,
                             void (*take)(void *ctx, const char *group, const char *name,
                                          const char *value),
                             void *ctx);

#endif
