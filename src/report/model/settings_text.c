/*
 * settings_text.c - the recorded settings that a program chose.
 */
#include "report/model/settings_text.h"

#include "base/size.h"
#include "history/setting_words.h"
#include "settings/recorded.h"

#include <string.h>

/* Settings in bytes say so in their name; those in MB end in _mb. */
static bool is_size(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, "_size") == 0;
}

static void add_setting(plim_text *out, const plim_setting *setting,
                        const plim_setting_words *words)
{
    const bool in_table = setting->group != PLIM_NONE;
    plim_text_append_string(out, in_table ? words->group : words->name);
    if (in_table) {
        plim_text_append_format(out, "[%s]", words->name);
    }
    const bool in_bytes = setting->kind == PLIM_SETTING_INTEGER && is_size(words->name);
    plim_text_append_format(out, "=%s",
                            in_bytes ? plim_format_bytes((uint64_t)setting->value.integer).text
                                     : words->value);
}

void plim_settings_text_add(plim_text *out, const plim_history *history)
{
    uint64_t count = 0;
    const plim_setting *settings = plim_history_settings(history, &count);
    const char *separator = "";
    for (uint64_t i = 0; i < count; i++) {
        plim_setting_words words;
        plim_setting_words_of(history, &settings[i], &words);
        if (!plim_recorded_setting_is_default(words.name, words.value)) {
            plim_text_append_string(out, separator);
            separator = ", ";
            add_setting(out, &settings[i], &words);
        }
    }
}
