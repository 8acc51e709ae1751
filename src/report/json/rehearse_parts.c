/*
 * rehearse_parts.c - members that the documents `rehearse/1` share. See rehearse_parts.h.
 */
#include "report/json/rehearse_parts.h"

void plim_json_strings(plim_json *json, const char *key, const char *const *items, size_t count)
{
    plim_json_member_array(json, key);
    for (size_t i = 0; i < count; i++) {
        plim_json_string(json, items[i]);
    }
    plim_json_end_array(json);
}

void plim_json_rehearsed_gpu(plim_json *json, const plim_gpu *gpu, uint64_t capacity_bytes,
                             uint32_t count)
{
    plim_json_member_object(json, "gpu");
    plim_json_member_string(json, "key", gpu->key);
    plim_json_member_string(json, "name", gpu->name);
    plim_json_member_u64(json, "capacity_bytes", capacity_bytes);
    plim_json_member_u64(json, "count", count);
    plim_json_end_object(json);
}

void plim_json_rehearsed_peak(plim_json *json, const plim_rehearsed_peak *peak)
{
    plim_json_member_u64(json, "peak_allocated_bytes", peak->allocated_bytes);
    plim_json_member_u64(json, "peak_reserved_bytes", peak->reserved_bytes);
    plim_json_member_u64(json, "peak_device_bytes", peak->device_bytes);
}

void plim_json_rehearsed_bar(plim_json *json, const char *key, const plim_rehearsed_bar *bar)
{
    plim_json_member_object(json, key);
    plim_json_member_u64(json, "low_bytes", bar->low_bytes);
    plim_json_member_u64(json, "expected_bytes", bar->expected_bytes);
    plim_json_member_u64(json, "high_bytes", bar->high_bytes);
    plim_json_end_object(json);
}

/* Null where the rehearsal has an answer. */
void plim_json_rehearsed_reason(plim_json *json, const plim_rehearsed_reason *reason)
{
    if (reason->word == NULL) {
        plim_json_key(json, "reason");
        plim_json_null(json);
        return;
    }
    plim_json_member_object(json, "reason");
    plim_json_member_string(json, "word", reason->word);
    plim_json_member_optional_string(json, "text", reason->text);
    plim_json_end_object(json);
}

/* The need of a program that ran out; null where it was not asked. */
void plim_json_rehearsed_need(plim_json *json, const plim_rehearsed_need *need)
{
    plim_json_key(json, "need");
    if (need == NULL) {
        plim_json_null(json);
        return;
    }
    const bool is_known = need->why_unknown == NULL;
    plim_json_begin_object(json);
    plim_json_member_string(json, "bound",
                            !is_known                    ? "unknown"
                            : need->why_at_least != NULL ? "at_least"
                                                         : "exact");
    plim_json_member_optional_string(json, "why",
                                     is_known ? need->why_at_least : need->why_unknown);
    plim_json_member_u64(json, "allocated_bytes", need->peak.allocated_bytes);
    plim_json_member_u64(json, "reserved_bytes", need->peak.reserved_bytes);
    plim_json_member_u64(json, "device_bytes", need->peak.device_bytes);
    plim_json_rehearsed_bar(json, "device", &need->bar);
    plim_json_member_u64(json, "step", need->step);
    plim_json_member_optional_string(json, "phase", need->phase);
    plim_json_member_u64(json, "steps", need->steps);
    plim_json_member_bool(json, "has_all", need->has_all);
    plim_json_member_bool(json, "has_backward", need->has_backward);
    plim_json_member_bool(json, "has_optimizer", need->has_optimizer);
    plim_json_member_bool(json, "asks_for_free", need->asks_for_free);
    plim_json_member_u64(json, "growth_bytes", need->growth_bytes);
    plim_json_member_array(json, "categories");
    for (size_t i = 0; need->has_categories && i < PLIM_CATEGORY_COUNT; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "category", plim_category_name((plim_category)i));
        plim_json_member_u64(json, "bytes", need->category_bytes[i]);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static void write_places(plim_json *json, const plim_rehearsed_technique *technique)
{
    plim_json_member_array(json, "places");
    for (size_t i = 0; i < technique->place_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "what", technique->places[i].what);
        plim_json_member_string(json, "file", technique->places[i].file);
        plim_json_member_u64(json, "line", technique->places[i].line);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

void plim_json_with(plim_json *json, const plim_rehearsed_technique *techniques, size_t count)
{
    plim_json_member_array(json, "with");
    for (size_t i = 0; i < count; i++) {
        const plim_rehearsed_technique *const one = &techniques[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "name", one->name);
        plim_json_member_string(json, "value", one->value);
        plim_json_member_string(json, "state", one->state);
        plim_json_member_optional_string(json, "text", one->text);
        plim_json_member_optional_string(json, "label", one->label);
        plim_json_member_optional_string(json, "label_text", one->label_text);
        write_places(json, one);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}
