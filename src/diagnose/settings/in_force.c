/*
 * in_force.c - settings that are not in force, or work against each other; Python's collector.
 *
 * A recording has settings twice: the string that the program asked with, and values that were in
 * force. None of these findings decides: what they cost, other detectors measure.
 */
#include "diagnose/case/case.h"

#include "base/error.h"
#include "history/setting_words.h"
#include "settings/parse.h"
#include "settings/recorded.h"
#include "settings/table.h"

#include <string.h>

static const plim_code_place nowhere = { .stack = PLIM_NONE, .frame = PLIM_NONE };

/* Adds a finding of one sentence. False: no memory. */
static bool add(plim_case *one, plim_cause cause, bool is_warning, const plim_evidence_line *line)
{
    plim_diagnosis_finding *const finding = plim_case_add(one, PLIM_VERDICT_HEALTHY, cause);
    if (finding == NULL) {
        return false;
    }
    finding->finding.severity = is_warning ? PLIM_SEVERITY_WARNING : PLIM_SEVERITY_NOTE;
    finding->confidence = is_warning ? 0.9 : 0.6;
    finding->finding.certainty = plim_certainty_of(finding->confidence, !is_warning);
    finding->root = nowhere;
    return plim_case_say(one, finding, line);
}

/* --- asked for, and in force --- */

typedef struct recorded_both {
    plim_recorded_settings recorded;
    plim_settings asked; /* by the string */
    bool has_string;
} recorded_both;

static recorded_both read_both(const plim_history *history)
{
    recorded_both both = { .recorded = { .conf = "" }, .asked = plim_settings_default() };
    plim_setting_words_each(history, plim_recorded_setting_add, &both.recorded);
    both.has_string = both.recorded.conf[0] != '\0' &&
                      plim_settings_parse(both.recorded.conf, &both.asked, NULL) == PLIM_OK;
    return both;
}

/* Lists and fractions are left out: files have them in other forms, and not to the last digit. */
static bool is_comparable(plim_setting_key key)
{
    return plim_setting_rows[key].type == PLIM_TYPE_BOOL ||
           plim_setting_rows[key].type == PLIM_TYPE_MB;
}

/* A key that the string names, and whose value in force is another. */
static bool find_ignored(plim_case *one, const recorded_both *both)
{
    for (size_t i = 0; both->has_string && i < PLIM_SETTING_KEY_COUNT; i++) {
        const plim_setting_key key = (plim_setting_key)i;
        if (!is_comparable(key) || !plim_setting_is_given(&both->asked, key) ||
            !plim_recorded_settings_have(&both->recorded, key) ||
            plim_setting_equal(&both->asked, &both->recorded.values, &plim_setting_rows[i])) {
            continue;
        }
        const plim_evidence_line line = {
            .id = "other_value",
            .text = "The settings string sets {}, and the value in force was another",
            .figures = { plim_say_word("setting", plim_setting_key_name(key)) },
            .figure_count = 1,
        };
        if (!add(one, PLIM_CAUSE_SETTINGS_IGNORED, true, &line)) {
            return false;
        }
    }
    return true;
}

/* --- what the recording shows of them --- */

/* Segments of the default pools: private ones may have an allocator of their own. */
static bool has_expandable(const plim_device_history *device, uint64_t *ret_plain)
{
    *ret_plain = 0;
    for (uint64_t i = 0; i < device->segment_count; i++) {
        if (device->segments[i].is_expandable) {
            return true;
        }
        *ret_plain += plim_pool_is_default(device->segments[i].pool);
    }
    return false;
}

static bool find_without_effect(plim_case *one)
{
    const plim_settings *const settings = &one->view.rule.settings;
    uint64_t plain = 0;
    if (settings->expandable_segments && !has_expandable(one->device, &plain) && plain > 0) {
        const plim_evidence_line line = {
            .id = "none_expandable",
            .text = "expandable_segments is on, and none of the {} segments at the end is "
                    "expandable: the platform may not support them, or they were taken before it "
                    "was set",
            .figures = { plim_say_amount("segments", plain) },
            .figure_count = 1,
        };
        if (!add(one, PLIM_CAUSE_SETTINGS_IGNORED, true, &line)) {
            return false;
        }
    }
    if (settings->garbage_collection_threshold > 0 && settings->per_process_memory_fraction >= 1) {
        const plim_evidence_line line = {
            .id = "threshold_alone",
            .text = "garbage_collection_threshold is set to {}: without a memory fraction "
                    "(set_per_process_memory_fraction) it does nothing, and the recording has "
                    "none",
            .figures = { plim_say_share("threshold", settings->garbage_collection_threshold) },
            .figure_count = 1,
        };
        return add(one, PLIM_CAUSE_SETTINGS_IGNORED, false, &line);
    }
    return true;
}

static bool find_conflicts(plim_case *one)
{
    const plim_settings *const settings = &one->view.rule.settings;
    if (settings->expandable_segments && settings->max_split_bytes != PLIM_UNLIMITED) {
        const plim_evidence_line line = {
            .id = "split_and_expandable",
            .text = "max_split_size_mb ({}) is set beside expandable_segments: free blocks of an "
                    "expandable segment above it serve no smaller request, and reserved memory "
                    "can grow up to the device's size",
            .figures = { plim_say_bytes("max_split_bytes", settings->max_split_bytes) },
            .figure_count = 1,
        };
        if (!add(one, PLIM_CAUSE_SETTINGS_CONFLICT, true, &line)) {
            return false;
        }
    }
    if (settings->backend == PLIM_BACKEND_CUDA_MALLOC_ASYNC &&
        (settings->expandable_segments || settings->max_split_bytes != PLIM_UNLIMITED)) {
        const plim_evidence_line line = {
            .id = "async_backend",
            .text = "The backend is cudaMallocAsync: expandable_segments and max_split_size_mb are "
                    "settings of the native one and do nothing",
        };
        return add(one, PLIM_CAUSE_SETTINGS_CONFLICT, true, &line);
    }
    return true;
}

/* --- the collector --- */

/* Words by which programs record that Python's collector is off: in spans that they name, and in
 * metadata that they attach to events. */
static const char *const collector_words[] = {
    "gc.disable",   "gc_disabled",           "gc_enabled=False",
    "gc_enabled=0", "\"gc_enabled\": false", "\"gc_enabled\":false",
};

static const char *word_in(const char *text)
{
    for (size_t i = 0; i < sizeof collector_words / sizeof collector_words[0]; i++) {
        if (strstr(text, collector_words[i]) != NULL) {
            return collector_words[i];
        }
    }
    return NULL;
}

static bool say_collector(plim_case *one, const char *word, bool is_metadata)
{
    const plim_evidence_line line = {
        .id = is_metadata ? "collector_in_metadata" : "collector_in_span",
        .text = is_metadata ? "Metadata of the recording has \"{}\": tensors in reference cycles "
                              "stay until the program collects them itself"
                            : "A span of the recording is named \"{}\": tensors in reference "
                              "cycles stay until the program collects them itself",
        .figures = { plim_say_word("word", word) },
        .figure_count = 1,
    };
    return add(one, PLIM_CAUSE_COLLECTOR_LATE, false, &line);
}

static bool find_collector(plim_case *one)
{
    uint64_t count = 0;
    const plim_annotation *const spans = plim_history_annotations(one->history, &count);
    uint32_t last = PLIM_NONE;
    for (uint64_t i = 0; i < count; i++) {
        if (spans[i].device != one->device->device || spans[i].name == last) {
            continue;
        }
        last = spans[i].name;
        const char *const word = word_in(plim_history_string(one->history, last, NULL));
        if (word != NULL) {
            return say_collector(one, word, false);
        }
    }
    const plim_events *const events = &one->device->events;
    last = PLIM_NONE;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->note[i] == last) {
            continue;
        }
        last = events->note[i];
        const uint32_t metadata = plim_history_note(one->history, last)->user_metadata;
        const char *const word = metadata == PLIM_NONE
                                     ? NULL
                                     : word_in(plim_history_string(one->history, metadata, NULL));
        if (word != NULL) {
            return say_collector(one, word, true);
        }
    }
    return true;
}

plim_status plim_find_settings(plim_case *one, plim_error *err)
{
    const recorded_both both = read_both(one->history);
    return find_ignored(one, &both) && find_without_effect(one) && find_conflicts(one) &&
                   find_collector(one)
               ? PLIM_OK
               : plim_fail_memory(err, "writing down settings");
}
