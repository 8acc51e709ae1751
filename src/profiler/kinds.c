/*
 * kinds.c - see kinds.h.
 *
 * Traces, timelines and snapshots are all JSON. The first key decides: snapshots begin with keys of
 * their own, and those of PyTorch 1.x are arrays of segments.
 */
#include "profiler/kinds.h"

#include "base/ascii.h"

#include <stdbool.h>
#include <string.h>

#define PICTURE_TITLE "GPU Memory Timeline HTML" /* torch/profiler/_memory_profiler.py */

/* The keys of a trace: kineto's libkineto/src/output_json.cpp, and what PyTorch adds to them. */
static const char *const trace_keys[] = {
    "schemaVersion",
    "traceEvents",
    "deviceProperties",
    "baseTimeNanoseconds",
    "displayTimeUnit",
    "traceName",
    "trace_id",
    "with_stack",
    "with_flops",
    "with_modules",
    "profile_memory",
    "record_shapes",
    "cuda_driver_version",
    "cuda_runtime_version",
    "cupti_version",
    "hip_driver_version",
    "hip_runtime_version",
    "distributedInfo",
    "systemTraceEvents",
    "otherData",
    "metadata",
};

/* The keys of an event. */
static const char *const event_keys[] = { "ph", "cat", "name", "pid", "tid",
                                          "ts", "dur", "args", "s",   "id" };

static bool is_one_of(const char *text, size_t bytes, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == bytes && memcmp(words[i], text, bytes) == 0) {
            return true;
        }
    }
    return false;
}

static size_t skip_space(const char *text, size_t bytes, size_t at)
{
    while (at < bytes && plim_is_space(text[at])) {
        at++;
    }
    return at;
}

/* True if a string at `at` is one of the words. */
static bool has_key(const char *text, size_t bytes, size_t at, const char *const *words,
                    size_t count)
{
    if (at >= bytes || text[at] != '"') {
        return false;
    }
    const char *const end = memchr(text + at + 1, '"', bytes - at - 1);
    return end != NULL && is_one_of(text + at + 1, (size_t)(end - text) - at - 1, words, count);
}

static bool holds(const char *text, size_t bytes, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (size_t at = 0; at + length <= bytes; at++) {
        if (memcmp(text + at, wanted, length) == 0) {
            return true;
        }
    }
    return false;
}

plim_profiler_kind plim_profiler_kind_of(const uint8_t *data, size_t bytes)
{
    const char *const text = (const char *)data;
    const size_t first = skip_space(text, bytes, 0);
    const size_t second = skip_space(text, bytes, first + 1);
    const size_t third = skip_space(text, bytes, second + 1);
    if (second >= bytes) {
        return PLIM_PROFILER_OTHER;
    }
    if (text[first] == '<' && holds(text, bytes, PICTURE_TITLE)) {
        return PLIM_PROFILER_PICTURE;
    }
    if (text[first] == '{' &&
        has_key(text, bytes, second, trace_keys, sizeof trace_keys / sizeof trace_keys[0])) {
        return PLIM_PROFILER_TRACE;
    }
    if (text[first] != '[') {
        return PLIM_PROFILER_OTHER;
    }
    if (text[second] == '{' &&
        has_key(text, bytes, third, event_keys, sizeof event_keys / sizeof event_keys[0])) {
        return PLIM_PROFILER_TRACE;
    }
    return text[second] == '[' ? PLIM_PROFILER_TIMELINE : PLIM_PROFILER_OTHER;
}
