/*
 * replay.c - a history prepared: its devices' programs, and what is known of them.
 */
#include "replay/replay.h"

#include "base/error.h"
#include "replay/conf.h"
#include "replay/run/run.h"

static const struct {
    const char *name;
    const char *text;
} caveats[] = {
#define PLIM_CAVEAT_ROW(code, name, text) [code] = { name, text },
    PLIM_CAVEAT_LIST(PLIM_CAVEAT_ROW)
#undef PLIM_CAVEAT_ROW
};

const char *plim_caveat_name(plim_caveat caveat)
{
    return (size_t)caveat < PLIM_CAVEAT_COUNT ? caveats[caveat].name : "unknown";
}

const char *plim_caveat_text(plim_caveat caveat)
{
    return (size_t)caveat < PLIM_CAVEAT_COUNT ? caveats[caveat].text : "unknown";
}

/* --- preparing --- */

static void deinit_part(plim_replay_device_part *part)
{
    plim_program_deinit(&part->recorded);
    plim_program_deinit(&part->scaled);
}

/* True if anything is scaled by another factor than 1. */
static bool has_effect(const plim_replay_options *options)
{
    for (size_t i = 0; i < options->scale_count; i++) {
        if (options->scales[i].factor < 1 || options->scales[i].factor > 1) {
            return true;
        }
    }
    return false;
}

static plim_status init_part(plim_replay *replay, const plim_device_history *device,
                             const plim_replay_options *options, plim_replay_device_part *part,
                             plim_error *err)
{
    plim_program_options asked = { .from_event = options->from_event,
                                   .to_event = options->to_event };
    PLIM_TRY(plim_program_init(&part->recorded, replay->history, device, &asked, replay->mem, err));
    PLIM_TRY(plim_run_try_start(&part->recorded, err));
    part->asked = &part->recorded;
    if (options->scale_count > 0) {
        asked.scales = options->scales;
        asked.scale_count = options->scale_count;
        PLIM_TRY(
            plim_program_init(&part->scaled, replay->history, device, &asked, replay->mem, err));
        part->asked = has_effect(options) ? &part->scaled : &part->recorded;
    }
    return PLIM_OK;
}

/* True if it is asked for a device, and there is anything that can be run again. */
static bool is_replayed(const plim_device_history *device, const plim_replay_options *options)
{
    const bool is_wanted = options->device == PLIM_ALL_DEVICES ? device->device != PLIM_HOST_DEVICE
                                                               : device->device == options->device;
    for (uint64_t i = 0; is_wanted && i < device->events.count; i++) {
        const uint8_t action = device->events.action[i];
        if (action == PLIM_ALLOC || action == PLIM_OOM) {
            return true;
        }
    }
    return false;
}

static plim_status nothing_to_replay(const plim_history *history,
                                     const plim_replay_options *options, plim_error *err)
{
    uint64_t events = 0;
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        events += plim_history_device(history, i)->events.count;
    }
    if (options->device != PLIM_ALL_DEVICES) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "device %d has no requests to replay; leave --device out to replay all",
                         (int)options->device);
    }
    if (events == 0) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "there are no events to replay, only a state; record some with "
                         "torch.cuda.memory._record_memory_history()");
    }
    return plim_fail(err, PLIM_UNSUPPORTED, "there are no requests to replay among the events");
}

/* Where a part of the events is requested, devices that end before it are left out; all of them is
 * an error, which the last one says. */
static plim_status init_all(plim_replay *replay, const plim_replay_options *options,
                            plim_error *err)
{
    plim_error last = { .status = PLIM_OK };
    for (size_t i = 0; i < plim_history_device_count(replay->history); i++) {
        const plim_device_history *device = plim_history_device(replay->history, i);
        if (!is_replayed(device, options)) {
            continue;
        }
        plim_replay_device_part *part = &replay->devices.items[replay->devices.count];
        const plim_status status = init_part(replay, device, options, part, &last);
        if (status == PLIM_OK) {
            replay->devices.count++;
            continue;
        }
        deinit_part(part);
        *part = (plim_replay_device_part){ .asked = NULL };
        if (options->from_event < device->events.count || options->device != PLIM_ALL_DEVICES) {
            if (err != NULL) {
                *err = last;
            }
            return status;
        }
    }
    if (replay->devices.count == 0 && err != NULL) {
        *err = last;
    }
    return replay->devices.count > 0 ? PLIM_OK : last.status;
}

static plim_status init_parts(plim_replay *replay, const plim_replay_options *options,
                              plim_error *err)
{
    const plim_history *history = replay->history;
    size_t count = 0;
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        count += is_replayed(plim_history_device(history, i), options);
    }
    if (count == 0) {
        return nothing_to_replay(history, options, err);
    }
    /* All at once: parts point into themselves. */
    replay->devices.items =
        plim_mem_alloc_zeroed(replay->mem, count, sizeof *replay->devices.items);
    if (replay->devices.items == NULL) {
        return plim_fail_memory(err, "preparing a replay");
    }
    replay->devices.capacity = count;
    return init_all(replay, options, err);
}

plim_status plim_replay_create(const plim_history *history, const plim_replay_options *options,
                               plim_replay **ret_replay, plim_error *err)
{
    plim_replay_options found = *options;
    PLIM_TRY(plim_replay_find_range(history, &found, err));
    const plim_mem *mem = plim_mem_or_heap(options->mem);
    plim_replay *replay = plim_mem_alloc_zeroed(mem, 1, sizeof *replay);
    if (replay == NULL) {
        return plim_fail_memory(err, "preparing a replay");
    }
    replay->mem = mem;
    replay->history = history;
    const plim_status status = init_parts(replay, &found, err);
    if (status != PLIM_OK) {
        plim_replay_destroy(replay);
        return status;
    }
    *ret_replay = replay;
    return PLIM_OK;
}

void plim_replay_destroy(plim_replay *replay)
{
    if (replay == NULL) {
        return;
    }
    for (size_t i = 0; i < replay->devices.count; i++) {
        deinit_part(&replay->devices.items[i]);
    }
    const plim_mem *mem = replay->mem;
    PLIM_VEC_FREE(mem, &replay->devices);
    plim_mem_free(mem, replay, 1, sizeof *replay);
}

size_t plim_replay_device_count(const plim_replay *replay)
{
    return replay->devices.count;
}

const plim_replay_facts *plim_replay_device(const plim_replay *replay, size_t index)
{
    return &replay->devices.items[index].asked->facts;
}

/* --- running --- */

bool plim_replay_is_restored(const plim_replay_device_part *part, const plim_conf *conf)
{
    return part->asked == &part->recorded && part->recorded.is_restorable &&
           plim_conf_equal(conf, &part->recorded.facts.conf);
}

uint64_t plim_others_bytes(const plim_run_options *options)
{
    return options->capacity_bytes < options->total_bytes
               ? options->total_bytes - options->capacity_bytes
               : 0;
}

plim_status plim_replay_run(const plim_replay *replay, const plim_conf *conf,
                            const plim_run_options *options, plim_run_result *ret_results,
                            plim_error *err)
{
    for (size_t i = 0; i < replay->devices.count; i++) {
        const plim_replay_device_part *part = &replay->devices.items[i];
        const plim_run_setup setup = { .conf = conf,
                                       .is_restored = plim_replay_is_restored(part, conf),
                                       .capacity_bytes = options->capacity_bytes,
                                       .others_bytes = plim_others_bytes(options),
                                       .costs = options->costs,
                                       .progress = options->progress,
                                       .progress_ctx = options->progress_ctx };
        PLIM_TRY(plim_run_program(part->asked, &setup, &ret_results[i], err));
    }
    return PLIM_OK;
}
