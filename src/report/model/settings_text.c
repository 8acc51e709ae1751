/*
 * settings_text.c - the recorded settings that a program chose.
 */
#include "report/model/settings_text.h"

#include "base/size.h"
#include "history/setting_words.h"
#include "settings/recorded.h"

#include <string.h>

/* Of each history: PyTorch records some thirty, and comparing all with all has to end. */
#define SETTINGS_COMPARED 256u

/* Settings in bytes say so in their name; those in MB end in _mb. */
static bool is_size(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, "_size") == 0;
}

/* True if it is a string that names another allocator than PyTorch's: "bfc", "rmm". */
static bool names_other(const plim_setting_words *words)
{
    plim_recorded_settings recorded = { .conf = "" };
    plim_recorded_setting_add(&recorded, words->group, words->name, words->value);
    return plim_recorded_settings_name_other(&recorded);
}

static void add_setting(plim_text *out, const plim_setting *setting,
                        const plim_setting_words *words)
{
    if (names_other(words)) {
        plim_text_append_format(out, "allocator=%s", words->value);
        return;
    }
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

/* True if `history` has a setting of this name, and value where `with_value`. */
static bool has_setting(const plim_history *history, const plim_setting_words *wanted,
                        bool with_value)
{
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(history, &count);
    for (uint64_t i = 0; i < count && i < SETTINGS_COMPARED; i++) {
        plim_setting_words words;
        plim_setting_words_of(history, &settings[i], &words);
        if (strcmp(words.group, wanted->group) == 0 && strcmp(words.name, wanted->name) == 0 &&
            (!with_value || strcmp(words.value, wanted->value) == 0)) {
            return true;
        }
    }
    return false;
}

void plim_settings_text_add_other(plim_text *out, const plim_history *history,
                                  const plim_history *other)
{
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(history, &count);
    const char *separator = "";
    for (uint64_t i = 0; i < count && i < SETTINGS_COMPARED; i++) {
        plim_setting_words words;
        plim_setting_words_of(history, &settings[i], &words);
        const bool is_default = plim_recorded_setting_is_default(words.name, words.value);
        if (*words.value != '\0' && !has_setting(other, &words, true) &&
            (!is_default || has_setting(other, &words, false))) {
            plim_text_append_string(out, separator);
            separator = ", ";
            add_setting(out, &settings[i], &words);
        }
    }
}
