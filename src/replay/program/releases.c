/*
 * releases.c - see releases.h.
 */
#include "replay/program/releases.h"

#include "base/error.h"
#include "base/memory.h"
#include "history/driver_actions.h"

/* No device PyTorch is used on refuses a process that holds less. */
#define REFUSING_BYTES_MIN ((uint64_t)1 << 30)

/* One or more events in a row in which memory went back. */
typedef struct release {
    uint32_t event;           /* the first of them */
    uint64_t reserved_before; /* bytes */
    uint64_t asked_bytes;     /* what the driver gave after it, before the request was served */
    plim_giver by;
    bool is_in_vain; /* the request failed all the same */
} release;

typedef struct release_walk {
    plim_program *program;
    uint64_t reserved;
    bool is_open; /* a release has begun, and no request or free has come since */
    PLIM_VEC(release) releases;
} release_walk;

/* What the recording's allocator had of the driver at most, or has been refused. */
static void note_oom(release_walk *walker, uint64_t event)
{
    plim_replay_facts *facts = &walker->program->facts;
    const plim_events *events = &walker->program->device->events;
    if (facts->oom_event != PLIM_NO_EVENT) {
        return; /* later ones are the program's way of coping */
    }
    facts->oom_event = event;
    facts->events_after_oom = walker->program->to_event - event - 1;
    const uint64_t free_bytes = events->addr[event];
    if (free_bytes == PLIM_SIZE_UNKNOWN) {
        return;
    }
    facts->capacity_source = PLIM_CAPACITY_OOM;
    facts->capacity_bytes = walker->reserved;
    if (free_bytes < events->bytes[event]) {
        facts->capacity_bytes += free_bytes;
    } else { /* the driver had room: a limit of the process refused */
        walker->program->caveats[PLIM_CAVEAT_CAPACITY]++;
    }
}

/* True if an event belongs to the release that is open: it does not with another stack. */
static bool goes_on(release_walk *walker, uint64_t event)
{
    if (!walker->is_open) {
        return false;
    }
    const uint32_t *stacks = walker->program->device->events.stack;
    release *last = &walker->releases.items[walker->releases.count - 1];
    const bool is_other = stacks[event] != stacks[last->event] && stacks[event] != PLIM_NONE &&
                          stacks[last->event] != PLIM_NONE;
    last->by = is_other ? PLIM_BY_PROGRAM : last->by; /* no request came between the two */
    return !is_other;
}

static bool begin_or_go_on(release_walk *walker, uint64_t event)
{
    const plim_events *events = &walker->program->device->events;
    if (!goes_on(walker, event)) {
        const release begun = { .event = (uint32_t)event, .reserved_before = walker->reserved };
        if (!PLIM_VEC_PUSH(walker->program->mem, &walker->releases, begun)) {
            return false;
        }
        walker->is_open = true;
    }
    const uint64_t bytes = events->bytes[event];
    walker->reserved -= bytes < walker->reserved ? bytes : walker->reserved;
    return true;
}

/* What the stacks of a release say of who it was, beside that of the request after it. */
static plim_giver giver_by_stacks(const plim_events *events, uint64_t from, uint64_t request)
{
    const uint32_t stack = events->stack[request];
    plim_giver by = stack == PLIM_NONE ? PLIM_BY_EITHER : PLIM_BY_ALLOCATOR;
    for (uint64_t i = from; i < request && by != PLIM_BY_EITHER; i++) {
        if (!plim_is_to_driver(events->action[i])) {
            continue;
        }
        if (events->stack[i] == PLIM_NONE) {
            by = PLIM_BY_EITHER;
        } else if (events->stack[i] != stack) {
            by = PLIM_BY_PROGRAM;
        }
    }
    return by;
}

/* The release before an event: had it been the allocator's, the driver was asked after it. */
static void end_before(release_walk *walker, uint64_t event)
{
    if (!walker->is_open) {
        return;
    }
    const plim_events *events = &walker->program->device->events;
    const uint8_t action =
        event < walker->program->to_event ? events->action[event] : PLIM_SNAPSHOT;
    release *last = &walker->releases.items[walker->releases.count - 1];
    last->by = action == PLIM_ALLOC && last->asked_bytes > 0
                   ? giver_by_stacks(events, last->event, event)
                   : PLIM_BY_PROGRAM;
    if (action == PLIM_OOM) {
        last->is_in_vain = true;
        last->by = giver_by_stacks(events, last->event, event);
        last->by = last->by == PLIM_BY_EITHER ? PLIM_BY_ALLOCATOR : last->by;
    }
    walker->is_open = false;
}

static bool step(release_walk *walker, uint64_t event)
{
    const plim_events *events = &walker->program->device->events;
    plim_replay_facts *facts = &walker->program->facts;
    const uint8_t action = events->action[event];
    if (plim_is_to_driver(action)) {
        return begin_or_go_on(walker, event);
    }
    if (plim_is_from_driver(action)) {
        walker->reserved += events->bytes[event];
        if (walker->reserved > facts->recorded_peak_reserved_bytes) {
            facts->recorded_peak_reserved_bytes = walker->reserved;
        }
        if (walker->is_open) {
            walker->releases.items[walker->releases.count - 1].asked_bytes += events->bytes[event];
        }
        return true;
    }
    if (action == PLIM_ALLOC || action == PLIM_OOM || action == PLIM_FREE_REQUESTED) {
        end_before(walker, event);
    }
    if (action == PLIM_OOM) {
        note_oom(walker, event);
    }
    return true;
}

/* --- what it says --- */

/* True if the allocator itself may have given back before asking, whatever the driver had. */
static bool collects_garbage(const plim_conf *conf)
{
    return conf->settings.garbage_collection_threshold > 0;
}

/* True if the driver cannot have had room for what was requested after a release. */
static bool was_refused(const plim_replay_facts *facts, const release *given_back)
{
    const uint64_t most = facts->capacity_source == PLIM_CAPACITY_OOM
                              ? facts->capacity_bytes
                              : facts->recorded_peak_reserved_bytes;
    const uint64_t wanted = given_back->reserved_before + given_back->asked_bytes;
    return wanted > most &&
           (wanted >= REFUSING_BYTES_MIN || facts->capacity_source == PLIM_CAPACITY_OOM);
}

/* The program's: kept. The allocator's: it will do so again. */
static plim_giver judge_one(const plim_replay_facts *facts, const release *given_back)
{
    if (given_back->by != PLIM_BY_EITHER) {
        return given_back->by;
    }
    if (collects_garbage(&facts->conf)) {
        return PLIM_BY_ALLOCATOR;
    }
    if (!was_refused(facts, given_back)) {
        return PLIM_BY_PROGRAM;
    }
    return facts->capacity_source == PLIM_CAPACITY_OOM ? PLIM_BY_ALLOCATOR : PLIM_BY_EITHER;
}

/* Others may have taken memory between the peak and the failure: the device had so much once. */
static void bound_capacity(plim_program *program)
{
    plim_replay_facts *facts = &program->facts;
    if (facts->capacity_source == PLIM_CAPACITY_OOM &&
        facts->capacity_bytes < facts->recorded_peak_reserved_bytes) {
        facts->capacity_bytes = facts->recorded_peak_reserved_bytes;
        program->caveats[PLIM_CAVEAT_CAPACITY]++;
    }
}

static plim_status judge(release_walk *walker, plim_release_list *ret_releases, plim_error *err)
{
    plim_program *program = walker->program;
    plim_replay_facts *facts = &program->facts;
    uint64_t refused = 0;
    bound_capacity(program);
    for (size_t i = 0; i < walker->releases.count; i++) {
        const release *given_back = &walker->releases.items[i];
        const plim_giver by = judge_one(facts, given_back);
        refused +=
            by != PLIM_BY_PROGRAM && !given_back->is_in_vain && !collects_garbage(&facts->conf);
        facts->cache_releases += by == PLIM_BY_PROGRAM;
        const plim_release found = { given_back->event, by };
        if (!PLIM_VEC_PUSH(program->mem, ret_releases, found)) {
            return plim_fail_memory(err, "looking for releases");
        }
    }
    if (refused > 0 && facts->capacity_source == PLIM_CAPACITY_UNKNOWN) {
        facts->capacity_source = PLIM_CAPACITY_RETRIES;
        facts->capacity_bytes = facts->recorded_peak_reserved_bytes;
        program->caveats[PLIM_CAVEAT_CAPACITY] += refused;
    }
    return PLIM_OK;
}

plim_status plim_releases_find(plim_program *program, uint64_t reserved_bytes,
                               plim_release_list *ret_releases, plim_error *err)
{
    release_walk walker = { .program = program, .reserved = reserved_bytes };
    plim_replay_facts *facts = &program->facts;
    facts->recorded_peak_reserved_bytes = reserved_bytes;
    facts->oom_event = PLIM_NO_EVENT;
    facts->capacity_bytes = PLIM_UNLIMITED;
    bool done = true;
    for (uint64_t i = program->from_event; done && i < program->to_event; i++) {
        done = step(&walker, i);
    }
    end_before(&walker, program->to_event);
    const plim_status status =
        done ? judge(&walker, ret_releases, err) : plim_fail_memory(err, "looking for releases");
    PLIM_VEC_FREE(program->mem, &walker.releases);
    return status;
}
