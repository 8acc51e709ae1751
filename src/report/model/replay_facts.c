/*
 * replay_facts.c - sums and choices that pages and documents share; places in words.
 */
#include "report/model/replay.h"

#include "base/numbers.h"
#include "report/model/frame_text.h"
#include "report/model/stack_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLACE_BYTES_MAX 200u /* of a frame: it stands within a sentence */

const char *plim_replayed_device(const plim_replayed *self, int32_t device)
{
    return self->input->device_count > 1
               ? plim_page_text(self->page, " on GPU {}", PLIM_FACTS(plim_id("device", device)))
               : "";
}

/* A stack as a group of one, for who labels groups. */
static plim_stack_group group_of(const plim_history *history, uint32_t stack)
{
    plim_stack_group group = { .stack = stack, .user_frame = PLIM_NONE };
    const plim_stack frames = plim_history_stack(history, stack);
    for (uint32_t i = 0; i < frames.frame_count && group.user_frame == PLIM_NONE; i++) {
        if (plim_stack_frame_is_user(history, frames.frames[i])) {
            group.user_frame = i;
        }
    }
    return group;
}

uint32_t plim_replay_event_frame(const plim_replay_input *input, int32_t device, uint64_t event)
{
    const plim_events *events = plim_events_of(input->history, device);
    if (events == NULL || event >= events->count || events->stack[event] == PLIM_NONE) {
        return PLIM_NONE;
    }
    const plim_stack_group group = group_of(input->history, events->stack[event]);
    return plim_stack_label_frame(input->history, &group);
}

const char *plim_replayed_place(const plim_replayed *self, int32_t device, uint64_t event)
{
    const uint32_t frame = plim_replay_event_frame(self->input, device, event);
    if (frame == PLIM_NONE) {
        return "";
    }
    plim_fact place = plim_frame_words(self->page, "", self->input->history, frame, false);
    place.length = place.length < PLACE_BYTES_MAX ? place.length : PLACE_BYTES_MAX;
    return plim_page_text(self->page, ", {}", PLIM_FACTS(place));
}

const char *plim_replayed_conf(const plim_conf *conf)
{
    return conf->text[0] != '\0' ? conf->text : "default";
}

plim_short_text plim_release_text(uint32_t release)
{
    plim_short_text text = { "" };
    if (release != 0) {
        (void)snprintf(text.text, sizeof text.text, "%u.%u", (unsigned)(release / 100),
                       (unsigned)(release % 100));
    }
    return text;
}

uint64_t plim_replay_floor_bytes(const plim_replay_input *input)
{
    uint64_t most = 0;
    for (size_t i = 0; i < input->device_count; i++) {
        most = input->facts[i].floor_bytes > most ? input->facts[i].floor_bytes : most;
    }
    return most;
}

uint64_t plim_replay_recorded_peak_bytes(const plim_replay_input *input)
{
    uint64_t most = 0;
    for (size_t i = 0; i < input->device_count; i++) {
        const uint64_t peak = input->facts[i].recorded_peak_reserved_bytes;
        most = peak > most ? peak : most;
    }
    return most;
}

double plim_replay_fragmentation(const plim_run_result *result)
{
    if (result->reserved_at_peak_bytes > 0) {
        return result->fragmentation;
    }
    if (result->survives || result->failed_reserved_bytes == 0) {
        return (double)NAN;
    }
    return 1.0 - (double)result->failed_allocated_bytes / (double)result->failed_reserved_bytes;
}

uint64_t plim_replay_memory_calls(const plim_run_result *result)
{
    uint64_t calls = 0;
    for (int i = PLIM_CALL_MEMORY_ALLOC; i <= PLIM_CALL_SET_ACCESS; i++) {
        calls += result->driver_calls[i];
    }
    return calls;
}

bool plim_replay_is_capacity_bound(const plim_replay_input *input)
{
    return input->capacity == PLIM_REPLAY_CAPACITY_FILE &&
           input->facts[input->capacity_device].capacity_source == PLIM_CAPACITY_RETRIES;
}

const char *plim_replay_capacity_name(const plim_replay_input *input)
{
    switch (input->capacity) {
    case PLIM_REPLAY_CAPACITY_ASKED:
        return "given";
    case PLIM_REPLAY_CAPACITY_GPU:
        return "gpu";
    case PLIM_REPLAY_CAPACITY_FILE:
        break;
    }
    switch (input->facts[input->capacity_device].capacity_source) {
    case PLIM_CAPACITY_OOM:
        return "oom";
    case PLIM_CAPACITY_RETRIES:
        return "retries";
    case PLIM_CAPACITY_UNKNOWN:
        break;
    }
    return "unknown";
}

const plim_run_result *plim_replay_worst(const plim_run_result *results, size_t count)
{
    const plim_run_result *worst = &results[0];
    for (size_t i = 0; i < count; i++) {
        if (!results[i].survives) {
            return &results[i];
        }
        worst = results[i].peak_reserved_bytes > worst->peak_reserved_bytes ? &results[i] : worst;
    }
    return worst;
}

bool plim_replay_is_exact(const plim_fidelity *fidelity)
{
    return fidelity->segment_events_matched == fidelity->segment_events_recorded &&
           fidelity->segment_events_matched == fidelity->segment_events_predicted &&
           fidelity->reserved_bytes_max_difference == 0;
}

/* Means are of events, so devices count by how many they have. */
static double weighted_mean(const plim_replay_input *input)
{
    double sum = 0;
    double events = 0;
    for (size_t i = 0; i < input->device_count; i++) {
        const double weight = (double)input->facts[i].events;
        sum += input->fidelity[i].reserved_bytes_mean_difference * weight;
        events += weight;
    }
    return events > 0 ? sum / events : 0;
}

plim_fidelity plim_replay_fidelity_of_all(const plim_replay_input *input)
{
    plim_fidelity all = input->fidelity[0];
    for (size_t i = 1; i < input->device_count; i++) {
        const plim_fidelity *one = &input->fidelity[i];
        all.segment_events_recorded += one->segment_events_recorded;
        all.segment_events_predicted += one->segment_events_predicted;
        all.segment_events_matched += one->segment_events_matched;
        all.placements += one->placements;
        all.placements_matched += one->placements_matched;
        all.reserved_bytes_max_difference =
            plim_max(all.reserved_bytes_max_difference, one->reserved_bytes_max_difference);
        all.recorded_peak_reserved_bytes =
            plim_max(all.recorded_peak_reserved_bytes, one->recorded_peak_reserved_bytes);
        all.predicted_peak_reserved_bytes =
            plim_max(all.predicted_peak_reserved_bytes, one->predicted_peak_reserved_bytes);
        if (all.diverges_at_event == PLIM_NO_EVENT && one->diverges_at_event != PLIM_NO_EVENT) {
            all.device = one->device;
            all.diverges_at_event = one->diverges_at_event;
            memcpy(all.divergence, one->divergence, sizeof all.divergence);
        }
        for (int caveat = 0; caveat < PLIM_CAVEAT_COUNT; caveat++) {
            all.caveats[caveat] += one->caveats[caveat];
        }
    }
    const uint64_t most = plim_max(all.segment_events_recorded, all.segment_events_predicted);
    all.share = most > 0 ? (double)all.segment_events_matched / (double)most : 1;
    all.reserved_bytes_mean_difference = weighted_mean(input);
    return all;
}
