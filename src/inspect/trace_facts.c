/*
 * trace_facts.c - counts along the columns, and the evidence for a ring buffer that wrapped.
 */
#include "inspect/trace_facts.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* --- actions --- */

#define ACTIONS_MAX (PLIM_ACTION_MAX + 1)

/* Counts by action, and the actions there are in order of first appearance. */
typedef struct action_table {
    uint64_t counts[ACTIONS_MAX];
    uint8_t order[ACTIONS_MAX];
    size_t count;
    uint64_t without_stack; /* of allocs and frees */
} action_table;

static void count_actions(const plim_events *events, action_table *table)
{
    const uint8_t *const actions = events->action;
    const uint32_t *const stacks = events->stack;
    uint64_t without_stack = 0;
    const uint64_t count = events->count;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t action = actions[i];
        without_stack += (action <= PLIM_FREE_COMPLETED) & (stacks[i] == PLIM_NONE);
        if (table->counts[action]++ == 0) {
            table->order[table->count++] = action;
        }
    }
    table->without_stack = without_stack;
}

static bool tell_actions(const plim_history *history, const action_table *table, plim_arena *arena,
                         plim_device_inspection *facts)
{
    if (table->count == 0) {
        return true;
    }
    plim_action_count *const actions = plim_arena_alloc(arena, table->count * sizeof *actions);
    if (actions == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->count; i++) {
        const uint8_t action = table->order[i];
        actions[i] = (plim_action_count){ .action = plim_history_action_name(history, action),
                                          .count = table->counts[action] };
    }
    facts->actions = actions;
    facts->action_count = table->count;
    return true;
}

/* --- columns --- */

static void measure_time(const plim_events *events, plim_device_inspection *facts,
                         uint64_t anomalies[PLIM_ANOMALY_COUNT])
{
    int64_t first = PLIM_TIME_UNKNOWN;
    int64_t last = PLIM_TIME_UNKNOWN;
    uint64_t backwards = 0;
    const uint64_t count = events->count;
    for (uint64_t i = 0; i < count; i++) {
        const int64_t now = events->time_us[i];
        if (now == PLIM_TIME_UNKNOWN) {
            continue;
        }
        /* PLIM_TIME_UNKNOWN is the least of all times, so the first one is never a step back. */
        backwards += now < last;
        first = first == PLIM_TIME_UNKNOWN ? now : first;
        last = now;
    }
    anomalies[PLIM_ANOMALY_TIME_BACKWARDS] += backwards;
    facts->has_times = first != PLIM_TIME_UNKNOWN;
    facts->duration_us = last > first ? (uint64_t)last - (uint64_t)first : 0;
}

static uint64_t count_after_oom(const plim_events *events)
{
    for (uint64_t i = events->count; i-- > 0;) {
        if (events->action[i] == PLIM_OOM) {
            return events->count - 1 - i;
        }
    }
    return 0;
}

plim_status plim_trace_facts_of(const plim_history *history, const plim_device_history *device,
                                plim_arena *arena, plim_device_inspection *facts,
                                uint64_t anomalies[PLIM_ANOMALY_COUNT], plim_error *err)
{
    const plim_events *const events = &device->events;
    action_table table = { 0 };
    count_actions(events, &table);
    if (!tell_actions(history, &table, arena, facts)) {
        return plim_fail_memory(err, "counting actions");
    }
    facts->device = device->device;
    facts->events = events->count;
    facts->oom_count = (size_t)table.counts[PLIM_OOM];
    facts->events_without_stack = table.without_stack;
    measure_time(events, facts, anomalies);
    anomalies[PLIM_ANOMALY_AFTER_OOM] += facts->oom_count > 0 ? count_after_oom(events) : 0;
    return PLIM_OK;
}

/* --- whether it is all there --- */

#define ROUND_RING   10000u /* people write 100,000 or 250,000, … */
#define DECIMAL_RING 1000u  /* … to try things out 1,000, … */
#define BINARY_RING  1024u  /* … or 1 << 16 */
#define BECAUSE_SIZE 72

static bool is_power_of_ten(uint64_t value)
{
    while (value > 1 && value % 10 == 0) {
        value /= 10;
    }
    return value == 1;
}

static bool looks_like_ring_size(uint64_t events)
{
    return (events >= ROUND_RING && events % ROUND_RING == 0) ||
           (events >= DECIMAL_RING && is_power_of_ten(events)) ||
           (events >= BINARY_RING && (events & (events - 1)) == 0);
}

/* A free completed before anything else happened: its request was recorded and is lost. */
static bool begins_within_a_free(const plim_events *events, plim_free_halves halves)
{
    for (uint64_t i = 0; i < events->count && halves.requested; i++) {
        if (events->action[i] <= PLIM_FREE_COMPLETED) {
            return events->action[i] == PLIM_FREE_COMPLETED;
        }
    }
    return false;
}

/* "its event count, 100,000, is a ring size"; NULL when there is no memory. */
static const char *say_ring_size(uint64_t events, plim_arena *arena)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)events);
    char grouped[32];
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            grouped[used++] = ',';
        }
        grouped[used++] = digits[i];
    }
    grouped[used] = '\0';
    char text[BECAUSE_SIZE];
    (void)snprintf(text, sizeof text, "its event count, %s, is a ring size", grouped);
    return plim_arena_copy(arena, text, strlen(text));
}

/* Our recordings have no ring: what they lack is a gap, or damaged, and may be anywhere. */
static const char *say_overflow(const plim_history *history)
{
    return strcmp(plim_history_source(history).format, "plim") == 0
               ? "events came faster than they could be written, or the file is damaged"
               : "the file says that its ring buffer wrapped";
}

plim_status plim_judge_truncation(const plim_history *history, const plim_device_history *device,
                                  plim_free_halves halves, plim_arena *arena,
                                  plim_device_inspection *facts, plim_error *err)
{
    const uint64_t count = device->events.count;
    const char *because = NULL;
    if (device->overflowed == PLIM_YES) {
        because = say_overflow(history);
    } else if (device->overflowed == PLIM_NO) {
        because = NULL;
    } else if (device->capacity_events > 0) {
        if (count >= device->capacity_events) {
            because = "it holds as many events as its ring buffer has room for";
        }
    } else if (begins_within_a_free(&device->events, halves)) {
        because = "it begins with the end of a free that nothing requested";
    } else if (count == 1 && facts->start_live_count > 0) {
        because = "it holds one event, as recordings of state alone do";
    } else if (facts->start_live_count > 0 && looks_like_ring_size(count)) {
        because = say_ring_size(count, arena);
        if (because == NULL) {
            return plim_fail_memory(err, "saying why the trace is cut");
        }
    }
    facts->truncated = because != NULL;
    facts->truncated_because = because;
    facts->late_start = !facts->truncated && count > 0 && facts->start_live_count > 0;
    return PLIM_OK;
}
