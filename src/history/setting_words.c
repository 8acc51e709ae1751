/*
 * setting_words.c - see setting_words.h.
 */
#include "history/setting_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void plim_setting_words_of(const plim_history *history, const plim_setting *setting,
                           plim_setting_words *ret_words)
{
    ret_words->group = plim_history_string(history, setting->group, NULL);
    ret_words->name = plim_history_string(history, setting->name, NULL);
    char *const number = ret_words->number.text;
    ret_words->value = number;
    switch (setting->kind) {
    case PLIM_SETTING_NONE:
        number[0] = '\0';
        break;
    case PLIM_SETTING_INTEGER:
        (void)snprintf(number, sizeof ret_words->number.text, "%" PRId64, setting->value.integer);
        break;
    case PLIM_SETTING_REAL:
        if (isfinite(setting->value.real)) {
            ret_words->number = plim_format_decimal(setting->value.real);
        } else {
            (void)snprintf(number, sizeof ret_words->number.text, "%f", setting->value.real);
        }
        break;
    case PLIM_SETTING_BOOLEAN:
        ret_words->value = setting->value.boolean ? "True" : "False";
        break;
    case PLIM_SETTING_TEXT:
        ret_words->value = plim_history_string(history, setting->value.text, NULL);
        break;
    }
}

void plim_setting_words_each(const plim_history *history,
                             void (*take)(void *ctx, const char *group, const char *name,
                                          const char *value),
                             void *ctx)
{
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(history, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_setting_words words;
        plim_setting_words_of(history, &settings[i], &words);
        take(ctx, words.group, words.name, words.value);
    }
}
