/*
 * fuzz_settings.c - any text as settings, over others: parse, write, parse again.
 */
#include "base/assert.h"
#include "settings/recorded.h"

#include <stdlib.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writing what was parsed and parsing that writes the same again. */
static void check_round_trip(const plim_settings *settings)
{
    char text[4096];
    char again[4096];
    const size_t length = plim_settings_format(settings, text, sizeof text);
    PLIM_ASSERT(length < sizeof text);
    plim_settings back = plim_settings_default();
    PLIM_ASSERT(plim_settings_parse(text, &back, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_settings_format(&back, again, sizeof again) == length);
    PLIM_ASSERT(strcmp(text, again) == 0);
    PLIM_ASSERT(memcmp(back.roundup_power2_divisions, settings->roundup_power2_divisions,
                       sizeof back.roundup_power2_divisions) == 0);
}

static void check_rounding(const plim_settings *settings)
{
    for (uint64_t bytes = 1; bytes < (uint64_t)1 << 60; bytes = bytes * 5 + 1) {
        const uint64_t rounded = plim_round_size(settings, bytes);
        PLIM_ASSERT(rounded >= bytes);
        PLIM_ASSERT(rounded % 512 == 0);
        PLIM_ASSERT(plim_segment_size(settings, rounded) >= rounded);
    }
}

/* The pairs of a line as a file's rows: what they say is a string that parses. */
static void check_recorded(char *line)
{
    plim_recorded_settings recorded = { .conf = "" };
    for (char *at = strtok(line, ","); at != NULL; at = strtok(NULL, ",")) {
        char *const value = strchr(at, ':');
        char *const slash = strchr(at, '/');
        if (value != NULL) {
            *value = '\0';
        }
        const bool in_table = slash != NULL && (value == NULL || slash < value);
        if (in_table) {
            *slash = '\0';
        }
        const char *const name = in_table ? slash + 1 : at;
        plim_recorded_setting_add(&recorded, in_table ? at : "", name,
                                  value != NULL ? value + 1 : "");
        (void)plim_recorded_setting_is_default(name, value != NULL ? value + 1 : "");
    }
    plim_settings settings = plim_settings_default();
    plim_recorded_settings_apply(&recorded, &settings);
    check_round_trip(&settings);
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1); /* no longer than the input, so that overruns are caught */
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    plim_settings settings = plim_settings_default();
    plim_error err;
    const char *at = text;
    for (bool more = true; more;) { /* lines are parsed over each other */
        const size_t length = strcspn(at, "\n");
        more = at[length] == '\n';
        text[(size_t)(at - text) + length] = '\0';
        const plim_settings before = settings;
        if (plim_settings_parse(at, &settings, &err) == PLIM_OK) {
            check_round_trip(&settings);
            check_rounding(&settings);
        } else {
            PLIM_ASSERT(err.status == PLIM_CORRUPT || err.status == PLIM_INVALID_ARGUMENT);
            PLIM_ASSERT(err.offset <= length);
            PLIM_ASSERT(settings.max_split_bytes == before.max_split_bytes);
            PLIM_ASSERT(settings.large_segment_bytes == before.large_segment_bytes);
            PLIM_ASSERT(settings.given == before.given);
        }
        check_recorded(text + (size_t)(at - text));
        at += length + 1;
    }
    free(text);
    return 0;
}
