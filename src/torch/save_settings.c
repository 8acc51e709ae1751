/*
 * save_settings.c - allocator_settings (docs/formats/snapshot-out.md): what the history has, in
 * its order and whatever the release; groups become tables.
 */
#include "torch/save.h"

#include "base/error.h"

/* Of the settings that begin at `first`: how many belong to one table, or 1. */
static uint64_t run_length(const plim_setting *settings, uint64_t first, uint64_t count)
{
    uint64_t end = first + 1;
    while (settings[first].group != PLIM_NONE && end < count &&
           settings[end].group == settings[first].group) {
        end++;
    }
    return end - first;
}

static void put_setting(plim_save *save, const plim_setting *setting)
{
    plim_save_string(save, setting->name);
    switch (setting->kind) {
    case PLIM_SETTING_NONE:
        plim_emit_opcode(&save->out, PLIM_PICKLE_OP_NONE);
        break;
    case PLIM_SETTING_INTEGER:
        plim_emit_int(&save->out, setting->value.integer);
        break;
    case PLIM_SETTING_REAL:
        plim_emit_float(&save->out, setting->value.real);
        break;
    case PLIM_SETTING_BOOLEAN:
        plim_emit_opcode(&save->out,
                         setting->value.boolean ? PLIM_PICKLE_OP_NEWTRUE : PLIM_PICKLE_OP_NEWFALSE);
        break;
    case PLIM_SETTING_TEXT:
        plim_save_string(save, setting->value.text);
        break;
    }
}

static void put_table(plim_save *save, const plim_setting *settings, uint64_t count)
{
    plim_save_string(save, settings[0].group);
    plim_save_open(save, &plim_emit_dict);
    for (uint64_t i = 0; i < count && plim_emit_value(&save->out) == PLIM_OK; i++) {
        plim_emit_between(&save->out, &plim_emit_dict, 2 * i, 2 * count);
        put_setting(save, &settings[i]);
    }
    plim_emit_between(&save->out, &plim_emit_dict, 2 * count, 2 * count);
}

/* The facts about ring buffers that files have among the settings. */
typedef struct ring_facts {
    uint64_t capacity_events; /* 0: not to be written */
    plim_known overflowed;    /* PLIM_UNKNOWN: not to be written */
} ring_facts;

static ring_facts ring_facts_of(const plim_history *history, const plim_setting *settings,
                                uint64_t count)
{
    ring_facts facts = { 0 };
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_device_history *device = plim_history_device(history, i);
        if (facts.capacity_events == 0) {
            facts.capacity_events = device->capacity_events;
        }
        if (device->overflowed > facts.overflowed) { /* one that wrapped outweighs the others */
            facts.overflowed = device->overflowed;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *name = plim_history_string(history, settings[i].name, NULL);
        if (settings[i].group == PLIM_NONE && strcmp(name, "trace_alloc_max_entries") == 0) {
            facts.capacity_events = 0; /* the history has it already, from where it comes */
        }
        if (settings[i].group == PLIM_NONE && strcmp(name, "trace_alloc_overflowed") == 0) {
            facts.overflowed = PLIM_UNKNOWN;
        }
    }
    return facts;
}

plim_status plim_save_settings(plim_save *save)
{
    plim_emitter *out = &save->out;
    uint64_t count = 0;
    const plim_setting *settings = plim_history_settings(save->history, &count);
    const ring_facts ring = ring_facts_of(save->history, settings, count);
    uint64_t items =
        2 * ((uint64_t)(ring.capacity_events != 0) + (uint64_t)(ring.overflowed != PLIM_UNKNOWN));
    for (uint64_t i = 0; i < count; i += run_length(settings, i, count)) {
        items += 2;
    }
    plim_save_open(save, &plim_emit_dict);
    uint64_t next = 0;
    for (uint64_t i = 0; i < count; i += run_length(settings, i, count), next += 2) {
        plim_emit_between(out, &plim_emit_dict, next, items);
        PLIM_TRY(plim_emit_value(out));
        if (settings[i].group == PLIM_NONE) {
            put_setting(save, &settings[i]);
        } else {
            put_table(save, &settings[i], run_length(settings, i, count));
        }
    }
    if (ring.capacity_events != 0) {
        plim_emit_between(out, &plim_emit_dict, next, items);
        plim_save_text(save, TEXT_TRACE_ALLOC_MAX_ENTRIES);
        plim_emit_uint(out, ring.capacity_events);
        next += 2;
    }
    if (ring.overflowed != PLIM_UNKNOWN) {
        plim_emit_between(out, &plim_emit_dict, next, items);
        plim_save_text(save, TEXT_TRACE_ALLOC_OVERFLOWED);
        plim_emit_opcode(out, ring.overflowed == PLIM_YES ? PLIM_PICKLE_OP_NEWTRUE
                                                          : PLIM_PICKLE_OP_NEWFALSE);
    }
    plim_emit_between(out, &plim_emit_dict, items, items);
    return plim_emit_value(out);
}
