/*
 * test_inspect_against_naive.c - random programs, every cut of them, and noise: plim_inspect()
 * must agree with the naive model in every figure, and with the truth where there is one.
 */
#include "inspect/naive.h"
#include "inspect/programs.h"

static naive model; /* half a megabyte: not for the stack */
static toy_program toy;

static void same_moment(const plim_moment *fast, const plim_moment *slow)
{
    T_EQ_I64(fast->event, slow->event);
    T_EQ_I64(fast->time_us, slow->time_us);
    T_EQ_U64(fast->requested_bytes, slow->requested_bytes);
    T_EQ_U64(fast->live_count, slow->live_count);
    T_EQ_U64(fast->allocated_bytes, slow->allocated_bytes);
    T_EQ_U64(fast->allocated_slack_bytes, 0);
    T_EQ_U64(fast->active_bytes, slow->active_bytes);
    T_EQ_U64(fast->reserved_bytes, slow->reserved_bytes);
}

static void same_groups(const plim_moment *fast)
{
    uint64_t bytes = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < fast->group_count; i++) {
        const plim_stack_group *const group = &fast->groups[i];
        const plim_stack_group slow = naive_group(&model, fast->event, group->stack);
        T_EQ_U64(group->bytes, slow.bytes);
        T_EQ_U64(group->count, slow.count);
        T_EQ_U64(group->before_recording_bytes, slow.before_recording_bytes);
        T_EQ_U64(group->before_recording_count, slow.before_recording_count);
        T_EQ_U64(group->stack_of_free_count, slow.stack_of_free_count);
        T_TRUE(group->count > 0);
        T_EQ_U64(group->user_frame, group->stack == PLIM_NONE ? PLIM_NONE : 0);
        if (i > 0) {
            T_TRUE(group[-1].bytes >= group->bytes);
            T_TRUE(group[-1].bytes > group->bytes || group[-1].count >= group->count);
        }
        bytes += group->bytes;
        count += group->count;
    }
    T_EQ_U64(bytes, fast->requested_bytes);
    T_EQ_U64(count, fast->live_count);
}

static void same_ooms(const plim_device_inspection *facts)
{
    size_t ooms = 0;
    for (uint64_t i = 0; i < facts->events; i++) {
        if (model.device->events.action[i] != PLIM_OOM) {
            continue;
        }
        T_TRUE(ooms < facts->oom_count);
        const plim_oom_moment *const oom = &facts->ooms[ooms++];
        const plim_moment slow = naive_moment(&model, (int64_t)i);
        T_EQ_U64(oom->event, i);
        T_EQ_U64(oom->requested_bytes, model.device->events.bytes[i]);
        T_EQ_U64(oom->device_free_bytes, model.device->events.addr[i]);
        same_moment(&oom->moment, &slow);
        if (ooms <= PLIM_OOM_GROUPS_MAX) {
            same_groups(&oom->moment);
        } else {
            T_EQ_U64(oom->moment.group_count, 0);
        }
    }
    T_EQ_U64(ooms, facts->oom_count);
}

static void same_timeline(const plim_device_inspection *facts)
{
    for (size_t i = 0; i < facts->timeline_count; i++) {
        const plim_timeline_bin *const bin = &facts->timeline[i];
        const uint64_t end =
            i + 1 < facts->timeline_count ? facts->timeline[i + 1].event_first : facts->events;
        uint64_t allocated = 0;
        uint64_t reserved = 0;
        for (int64_t e = i == 0 ? -1 : (int64_t)bin->event_first; e < (int64_t)end; e++) {
            const plim_moment slow = naive_moment(&model, e);
            allocated = slow.allocated_bytes > allocated ? slow.allocated_bytes : allocated;
            reserved = slow.reserved_bytes > reserved ? slow.reserved_bytes : reserved;
        }
        T_EQ_U64(bin->allocated_bytes_max, allocated);
        T_EQ_U64(bin->reserved_bytes_max, reserved);
    }
}

/* What the trace and the start tell; blocks alone are tested elsewhere. */
static void same_anomalies(const plim_inspection *inspection)
{
    static const plim_anomaly checked[] = {
        PLIM_ANOMALY_DOUBLE_FREE,     PLIM_ANOMALY_ALLOC_OVER_LIVE,
        PLIM_ANOMALY_FREE_SIZE,       PLIM_ANOMALY_COMPLETED_UNREQUESTED,
        PLIM_ANOMALY_LIVE_NOT_ACTIVE, PLIM_ANOMALY_ACTIVE_NOT_LIVE,
        PLIM_ANOMALY_SEGMENT_OVERLAP, PLIM_ANOMALY_SEGMENT_UNKNOWN,
        PLIM_ANOMALY_EVENT_OUTSIDE,   PLIM_ANOMALY_TIME_BACKWARDS,
        PLIM_ANOMALY_SNAPSHOT_CHECK,  PLIM_ANOMALY_AFTER_OOM,
    };
    for (size_t i = 0; i < T_COUNT(checked); i++) {
        const uint64_t count = plim_inspection_anomaly_count(inspection, checked[i]);
        if (count != model.anomalies[checked[i]]) {
            print_error("%s\n", plim_anomaly_name(checked[i]));
        }
        T_EQ_U64(count, model.anomalies[checked[i]]);
    }
}

static plim_inspection *inspect_and_compare(const plim_history *history)
{
    const plim_inspect_options options = { .timeline_bins = (uint32_t)t_random_between(0, 9) };
    plim_inspection *inspection = NULL;
    T_TRUE(plim_inspect(history, &options, &inspection, NULL) == PLIM_OK);
    const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
    naive_init(&model, history, plim_history_device(history, 0));
    const plim_moment start = naive_moment(&model, -1);
    T_EQ_U64(facts->start_requested_bytes, start.requested_bytes);
    T_EQ_U64(facts->start_live_count, start.live_count);
    T_EQ_U64(facts->start_reserved_bytes, start.reserved_bytes);
    const plim_moment peak = naive_peak(&model);
    same_moment(&facts->peak, &peak);
    same_groups(&facts->peak);
    same_ooms(facts);
    same_timeline(facts);
    same_anomalies(inspection);
    return inspection;
}

/* How a cut of the toy's trace compares with what the toy knows. */
static void judge_cut(const plim_inspection *inspection, size_t first)
{
    const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
    T_EQ_U64(facts->start_reserved_bytes, toy.before[first].reserved_bytes);
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        if (i != PLIM_ANOMALY_AFTER_OOM) {
            T_EQ_U64(plim_inspection_anomaly_count(inspection, (plim_anomaly)i), 0);
        }
    }
    T_EQ_U64(facts->start_requested_bytes, toy.before[first].requested_bytes);
    T_EQ_U64(facts->start_live_count, toy.before[first].live_count);
    uint64_t peak = 0;
    for (size_t i = first; i <= toy.event_count; i++) {
        const uint64_t bytes = toy.before[i].requested_bytes;
        peak = bytes > peak ? bytes : peak;
    }
    T_EQ_U64(facts->peak.requested_bytes, peak);
}

static bool has_request(size_t first)
{
    for (size_t i = first; i < toy.event_count; i++) {
        if (toy.events[i].action == PLIM_FREE_REQUESTED) {
            return true;
        }
    }
    return false;
}

static void every_cut_of_a_program_gives_what_really_was(void)
{
    for (int round = 0; round < 12; round++) {
        program_of_toy(&toy, (size_t)t_random_between(20, 220));
        for (size_t first = 0; first <= toy.event_count; first++) {
            T_CASE("program %d from event %zu", round, first);
            plim_history *const history = program_history(&toy, first);
            plim_inspection *const inspection = inspect_and_compare(history);
            /* Without a request in sight the file reads as one that records completions alone. */
            if (has_request(first) || first == toy.event_count) {
                judge_cut(inspection, first);
            }
            plim_inspection_destroy(inspection);
            plim_history_destroy(history);
        }
    }
}

static void noise_gives_what_the_naive_model_says(void)
{
    for (int round = 0; round < 2500; round++) {
        T_CASE("noise %d", round);
        program_of_noise(&toy, (size_t)t_random_between(0, 60));
        plim_history *const history = program_history(&toy, 0);
        plim_inspection_destroy(inspect_and_compare(history));
        plim_history_destroy(history);
    }
}

/* A number as a hostile file would have it. */
static uint64_t extreme(void)
{
    static const uint64_t numbers[] = {
        0, 1, 512, UINT32_MAX, INT64_MAX, 1ull << 63, UINT64_MAX - 511, UINT64_MAX, UINT64_MAX - 1
    };
    return numbers[t_random_between(0, T_COUNT(numbers) - 1)];
}

static void numbers_may_be_anything(void)
{
    for (int round = 0; round < 2000; round++) {
        T_CASE("extremes %d", round);
        program_of_noise(&toy, (size_t)t_random_between(0, 40));
        for (size_t i = 0; i < toy.event_count; i++) {
            toy.events[i].addr = extreme();
            toy.events[i].bytes = extreme();
            toy.events[i].time_ns = (int64_t)extreme();
        }
        for (size_t i = 0; i < toy.block_count; i++) {
            toy.blocks[i].addr = extreme();
            toy.blocks[i].bytes = extreme();
            toy.blocks[i].requested_bytes = extreme();
        }
        for (size_t i = 0; i < toy.segment_count; i++) {
            toy.segments[i].addr = extreme();
            toy.segments[i].bytes = extreme();
        }
        plim_history *const history = program_history(&toy, 0);
        const plim_inspect_options options = { .timeline_bins = UINT32_MAX };
        plim_inspection *inspection = NULL;
        T_TRUE(plim_inspect(history, &options, &inspection, NULL) == PLIM_OK);
        const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
        T_TRUE(facts->peak.requested_bytes >= facts->start_requested_bytes);
        T_TRUE(facts->end.active_bytes >= facts->end.allocated_bytes);
        plim_inspection_destroy(inspection);
        plim_history_destroy(history);
    }
}

T_MAIN(T_TEST(every_cut_of_a_program_gives_what_really_was),
       T_TEST(noise_gives_what_the_naive_model_says), T_TEST(numbers_may_be_anything))
