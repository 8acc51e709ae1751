/*
 * settings_format.c - settings as a string that says only what is not the default.
 */
#include "alloc/settings_divisions.h"
#include "alloc/settings_real.h"
#include "base/assert.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct output {
    char *text;
    size_t bytes;
    size_t length; /* of all that was put, whether it fits or not */
} output;

static void put(output *out, const char *string)
{
    for (; *string != '\0'; string++, out->length++) {
        if (out->length + 1 < out->bytes) {
            out->text[out->length] = *string;
        }
    }
}

static void put_pair(output *out, plim_setting_key key, const char *value)
{
    put(out, out->length == 0 ? "" : ",");
    put(out, plim_setting_key_name(key));
    put(out, ":");
    put(out, value);
}

static void put_bool(output *out, plim_setting_key key, bool value)
{
    if (value) { /* False is every one's default */
        put_pair(out, key, "True");
    }
}

static void put_number(output *out, plim_setting_key key, uint64_t value, uint64_t value_default)
{
    if (value != value_default) {
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, value);
        put_pair(out, key, text);
    }
}

static void put_mb(output *out, plim_setting_key key, uint64_t bytes, uint64_t bytes_default)
{
    if (bytes != bytes_default) {
        put_number(out, key, bytes / MIB, UINT64_MAX);
    }
}

static void put_real(output *out, plim_setting_key key, double value, double value_default)
{
    if (value < value_default || value > value_default) {
        put_pair(out, key, plim_settings_format_real(value).text);
    }
}

static void put_divisions(output *out, const plim_settings *settings)
{
    static const uint64_t none[PLIM_ROUNDUP_INTERVALS];
    const uint64_t *const divisions = settings->roundup_power2_divisions;
    if (memcmp(divisions, none, sizeof none) != 0) {
        char text[PLIM_DIVISIONS_TEXT_BYTES];
        plim_settings_format_divisions(divisions, text);
        put_pair(out, PLIM_KEY_ROUNDUP_POWER2_DIVISIONS, text);
    }
}

static void put_reserve(output *out, const plim_settings *settings)
{
    const plim_setting_key key = PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE;
    if (settings->expandable_segments_reserve_bytes == 0) {
        put_real(out, key, settings->expandable_segments_reserve_fraction, 0);
        return;
    }
    const double gib = (double)settings->expandable_segments_reserve_bytes / (double)GIB;
    put_pair(out, key, plim_settings_format_real(gib).text);
    put(out, "G");
}

static void put_pinned(output *out, const plim_settings *s, const plim_settings *d)
{
    put_bool(out, PLIM_KEY_PINNED_USE_CUDA_HOST_REGISTER, s->pinned_use_cuda_host_register);
    put_number(out, PLIM_KEY_PINNED_NUM_REGISTER_THREADS, s->pinned_num_register_threads,
               d->pinned_num_register_threads);
    put_bool(out, PLIM_KEY_PINNED_USE_BACKGROUND_THREADS, s->pinned_use_background_threads);
    put_mb(out, PLIM_KEY_PINNED_RESERVE_SEGMENT_SIZE_MB, s->pinned_reserve_segment_bytes,
           d->pinned_reserve_segment_bytes);
    put_mb(out, PLIM_KEY_PINNED_MAX_ROUND_THRESHOLD_MB, s->pinned_max_round_threshold_bytes,
           d->pinned_max_round_threshold_bytes);
    put_mb(out, PLIM_KEY_PINNED_MAX_CACHED_SIZE_MB, s->pinned_max_cached_bytes,
           d->pinned_max_cached_bytes);
    put_bool(out, PLIM_KEY_PINNED_FREE_CATCH_ALL, s->pinned_free_catch_all);
}

size_t plim_settings_format(const plim_settings *settings, char *text, size_t bytes)
{
    PLIM_ASSERT(text != NULL || bytes == 0);

    const plim_settings *const s = settings;
    const plim_settings d = plim_settings_default();
    output out = { .text = text, .bytes = bytes };
    if (s->backend == PLIM_BACKEND_CUDA_MALLOC_ASYNC) {
        put_pair(&out, PLIM_KEY_BACKEND, "cudaMallocAsync");
    }
    put_mb(&out, PLIM_KEY_MAX_SPLIT_SIZE_MB, s->max_split_bytes, d.max_split_bytes);
    /* A parse sets it to the large segment's size before it looks for the key. */
    put_mb(&out, PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB, s->max_non_split_rounding_bytes,
           s->large_segment_bytes);
    put_real(&out, PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD, s->garbage_collection_threshold,
             d.garbage_collection_threshold);
    put_divisions(&out, s);
    put_bool(&out, PLIM_KEY_EXPANDABLE_SEGMENTS, s->expandable_segments);
    put_bool(&out, PLIM_KEY_RELEASE_LOCK_ON_CUDAMALLOC, s->release_lock_on_cudamalloc);
    put_pinned(&out, s, &d);
    put_bool(&out, PLIM_KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE,
             s->graph_capture_record_stream_reuse);
    put_real(&out, PLIM_KEY_PER_PROCESS_MEMORY_FRACTION, s->per_process_memory_fraction,
             d.per_process_memory_fraction);
    put_mb(&out, PLIM_KEY_LARGE_SEGMENT_SIZE_MB, s->large_segment_bytes, d.large_segment_bytes);
    put_bool(&out, PLIM_KEY_THROW_ON_CUDAMALLOC_OOM, s->throw_on_cudamalloc_oom);
    put_reserve(&out, s);
    if (bytes > 0) {
        text[out.length < bytes ? out.length : bytes - 1] = '\0';
    }
    return out.length;
}
