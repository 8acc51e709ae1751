/*
 * sample.h - a small history and what an inspection would say of it, made by hand.
 *
 * The history is a real one, built with history/builder.h; the figures are chosen so that every
 * part of a page has something to show, and a few strings are hostile on purpose. Nothing here
 * comes from plim_inspect(): a fault there cannot hide one here.
 */
#ifndef PLIMSOLL_TESTS_REPORT_SAMPLE_H
#define PLIMSOLL_TESTS_REPORT_SAMPLE_H

#include "harness.h"

#include "base/units.h"
#include "history/builder.h"
#include "report/model/inspect.h"

/* Stacks in the order of their numbers. */
enum { SAMPLE_FORWARD, SAMPLE_FORWARD_TWICE, SAMPLE_OPTIMIZER, SAMPLE_BACKWARD, SAMPLE_HOSTILE };

static inline uint32_t sample_string(plim_history *history, const char *text, size_t bytes)
{
    uint32_t string = PLIM_NONE;
    T_EQ_U64(plim_history_add_string(history, text, bytes, &string, NULL), PLIM_OK);
    return string;
}

static inline uint32_t sample_frame(plim_history *history, const char *file, uint32_t line,
                                    const char *name)
{
    const plim_frame frame = { .filename = sample_string(history, file, strlen(file)),
                               .line = line,
                               .name = sample_string(history, name, strlen(name)),
                               .fx = PLIM_NONE };
    uint32_t index = PLIM_NONE;
    T_EQ_U64(plim_history_add_frame(history, &frame, &index, NULL), PLIM_OK);
    return index;
}

static inline void sample_stack(plim_history *history, uint32_t expected, const uint32_t *frames,
                                size_t count)
{
    uint32_t stack = PLIM_NONE;
    T_EQ_U64(plim_history_add_stack(history, frames, count, &stack, NULL), PLIM_OK);
    T_EQ_U64(stack, expected);
}

static inline void sample_stacks(plim_history *history)
{
    const uint32_t linear = sample_frame(
        history, "/venv/lib/python3.11/site-packages/torch/nn/functional.py", 2371, "linear");
    const uint32_t relu = sample_frame(
        history, "/venv/lib/python3.11/site-packages/torch/nn/functional.py", 1500, "relu");
    const uint32_t forward = sample_frame(history, "/home/ada/gpt/model.py", 120, "forward");
    const uint32_t step = sample_frame(history, "/home/ada/gpt/train.py", 42, "train_step");
    const uint32_t module = sample_frame(history, "/home/ada/gpt/train.py", 88, "<module>");
    const uint32_t adam = sample_frame(history, "C:\\work\\optim\\__init__.py", 10, "step");
    const uint32_t mm = sample_frame(history, "??", 0, "at::_ops::mm::call(at::Tensor const&)");
    const uint32_t apply =
        sample_frame(history, "??", 0,
                     "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)");
    const uint32_t hostile = sample_frame(history, "/tmp/\033[31mred\033[0m.py", 7,
                                          "evil\nname\xff\xe2\x80\xae\xe2\x80\xac");

    sample_stack(history, SAMPLE_FORWARD, (uint32_t[]){ linear, forward, step, module }, 4);
    sample_stack(history, SAMPLE_FORWARD_TWICE, (uint32_t[]){ relu, forward, step, module }, 4);
    sample_stack(history, SAMPLE_OPTIMIZER, (uint32_t[]){ adam, module }, 2);
    sample_stack(history, SAMPLE_BACKWARD, (uint32_t[]){ mm, apply }, 2);
    sample_stack(history, SAMPLE_HOSTILE, (uint32_t[]){ hostile }, 1);
}

static inline void sample_setting(plim_history *history, const char *group, const char *name,
                                  plim_setting setting)
{
    setting.group = group != NULL ? sample_string(history, group, strlen(group)) : PLIM_NONE;
    setting.name = sample_string(history, name, strlen(name));
    T_EQ_U64(plim_history_push_setting(history, &setting, NULL), PLIM_OK);
}

static inline void sample_settings(plim_history *history)
{
    sample_setting(history, NULL, "expandable_segments",
                   (plim_setting){ .kind = PLIM_SETTING_BOOLEAN, .value.boolean = true });
    sample_setting(history, NULL, "max_split_size",
                   (plim_setting){ .kind = PLIM_SETTING_INTEGER, .value.integer = 512 << 20 });
    sample_setting(history, NULL, "garbage_collection_threshold",
                   (plim_setting){ .kind = PLIM_SETTING_REAL, .value.real = 0.0 });
    sample_setting(history, NULL, "pinned_num_register_threads",
                   (plim_setting){ .kind = PLIM_SETTING_INTEGER, .value.integer = 1 });
    sample_setting(history, "roundup_power2_divisions", "1",
                   (plim_setting){ .kind = PLIM_SETTING_INTEGER, .value.integer = 0 });
    sample_setting(history, "roundup_power2_divisions", "256",
                   (plim_setting){ .kind = PLIM_SETTING_INTEGER, .value.integer = 8 });
    sample_setting(
        history, NULL, "last_allocator_settings",
        (plim_setting){ .kind = PLIM_SETTING_TEXT, .value.text = sample_string(history, "", 0) });
}

/* A history of `events` events, a millisecond apart, on GPU 0; GPU 1 has none. */
static inline plim_history *sample_history(uint64_t events)
{
    static const plim_source source = { .format = "pickle",
                                        .compression = "zstd",
                                        .generation = "PyTorch 2.9",
                                        .pickle_protocol = 4,
                                        .bytes = 1234567 };
    plim_history *history = NULL;
    uint32_t note = 0;
    const plim_note empty = { .compile_context = PLIM_NONE,
                              .user_metadata = PLIM_NONE,
                              .forward_stack = PLIM_NONE,
                              .category = PLIM_NONE };
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    sample_stacks(history);
    sample_settings(history);
    T_EQ_U64(plim_history_add_note(history, &empty, &note, NULL), PLIM_OK);
    for (uint64_t i = 0; i < events; i++) {
        const plim_event event = { .action = PLIM_ALLOC,
                                   .addr = 4096 * i,
                                   .bytes = 512,
                                   .time_ns = plim_time_ns(1700000000000000 + (int64_t)(1000 * i)),
                                   .stack = SAMPLE_FORWARD,
                                   .note = note };
        T_EQ_U64(plim_history_push_event(history, &event, NULL), PLIM_OK);
    }
    const plim_device_ranges ranges[] = { { .device = 0, .events = { 0, events } },
                                          { .device = 1, .events = { events, 0 } } };
    T_EQ_U64(plim_history_add_device(history, &ranges[0], NULL), PLIM_OK);
    T_EQ_U64(plim_history_add_device(history, &ranges[1], NULL), PLIM_OK);
    T_EQ_U64(plim_history_warn(history, NULL, "a warning with \033[1mcolour\033[0m"), PLIM_OK);
    plim_history_set_source(history, &source);
    plim_history_seal(history);
    return history;
}

#define SAMPLE_EVENTS 1000u

static const plim_stack_group sample_groups[] = {
    { .bytes = 400 * MIB, .count = 24, .stack = SAMPLE_FORWARD, .user_frame = 1 },
    { .bytes = 200 * MIB, .count = 24, .stack = SAMPLE_FORWARD_TWICE, .user_frame = 1 },
    { .bytes = 150 * MIB,
      .count = 96,
      .stack = SAMPLE_OPTIMIZER,
      .user_frame = 0,
      .before_recording_bytes = 150 * MIB,
      .before_recording_count = 96 },
    { .bytes = 50 * MIB, .count = 1, .stack = SAMPLE_BACKWARD, .user_frame = PLIM_NONE },
    { .bytes = 10 * MIB,
      .count = 2,
      .stack = SAMPLE_HOSTILE,
      .user_frame = 0,
      .before_recording_bytes = 10 * MIB,
      .before_recording_count = 2,
      .stack_of_free_count = 2 },
    { .bytes = 5 * MIB, .count = 3, .stack = PLIM_NONE, .user_frame = PLIM_NONE },
    { .bytes = 1 * MIB,
      .count = 1,
      .stack = PLIM_NONE,
      .user_frame = PLIM_NONE,
      .before_recording_bytes = 1 * MIB,
      .before_recording_count = 1 },
};

static const plim_oom_moment sample_ooms[] = {
    { .event = 990,
      .requested_bytes = 512 * MIB,
      .segment_bytes = 512 * MIB,
      .stack = SAMPLE_FORWARD,
      .user_frame = 1,
      .device_free_bytes = 100 * MIB,
      .has_device_free = true,
      .moment = { .event = 990,
                  .time_us = 1700000000990000,
                  .requested_bytes = 600 * MIB,
                  .allocated_bytes = 600 * MIB,
                  .active_bytes = 600 * MIB,
                  .reserved_bytes = 1024 * MIB,
                  .live_count = 48,
                  .fragmentation = 1.0 - 600.0 / 1024.0,
                  .groups = sample_groups,
                  .group_count = 2 } },
};

static const plim_action_count sample_actions[] = { { "segment_alloc", 40 },
                                                    { "alloc", 500 },
                                                    { "free_requested", 230 },
                                                    { "free_completed", 229 },
                                                    { "oom", 1 } };

static const plim_timeline_bin sample_timeline[] = {
    { 0, 150 * MIB, 200 * MIB },
    { 250, 400 * MIB, 600 * MIB },
    { 500, 820 * MIB, 1024 * MIB },
    { 750, 600 * MIB, 1024 * MIB },
};

static const plim_pool_state sample_pools[] = {
    { .stream = 0, .is_large = false, .state = { .reserved_bytes = 24 * MIB, .segments = 12 } },
    { .stream = 0,
      .is_large = true,
      .is_expandable = true,
      .state = { .reserved_bytes = 980 * MIB, .segments = 27 } },
    { .stream = 0x7f0012345678,
      .pool = { 0, 1 },
      .is_large = true,
      .state = { .reserved_bytes = 20 * MIB,
                 .segments = 1,
                 .largest_free_block_bytes = 20 * MIB } },
};

/* GPU 0 with everything, GPU 1 with nothing. */
static const plim_device_inspection sample_devices[] = {
    { .device = 0,
      .events = SAMPLE_EVENTS,
      .actions = sample_actions,
      .action_count = T_COUNT(sample_actions),
      .has_times = true,
      .duration_us = 999000,
      .late_start = true,
      .events_without_stack = 17,
      .start_requested_bytes = 151 * MIB,
      .start_live_count = 97,
      .start_reserved_bytes = 200 * MIB,
      .end = { .requested_bytes = 300 * MIB,
                                           .allocated_bytes = 301 * MIB,
                                           .active_bytes = 311 * MIB,
                                           .pending_free_bytes = 10 * MIB,
                                           .reserved_bytes = 1024 * MIB,
                                           .inactive_split_bytes = 213 * MIB,
                                           .releasable_bytes = 500 * MIB,
                                           .largest_free_block_bytes = 128 * MIB,
                                           .segments = 40,
                                           .blocks = 99,
                                           .fragmentation = 1.0 - 301.0 / 1024.0 },
      .peak = {
    .event = 700,
    .time_us = 1700000000700000,
    .requested_bytes = 816 * MIB,
    .allocated_bytes = 820 * MIB,
    .active_bytes = 830 * MIB,
    .reserved_bytes = 1024 * MIB,
    .live_count = 151,
    .fragmentation = 1.0 - 820.0 / 1024.0,
    .groups = sample_groups,
    .group_count = T_COUNT(sample_groups),
},
      .ooms = sample_ooms,
      .oom_count = T_COUNT(sample_ooms),
      .pools = sample_pools,
      .pool_count = T_COUNT(sample_pools),
      .timeline = sample_timeline,
      .timeline_count = T_COUNT(sample_timeline) },
    { .device = 1 },
};

static const plim_device_inspection *const sample_device_list[] = { &sample_devices[0],
                                                                    &sample_devices[1] };

static inline plim_inspect_file sample_file(const plim_history *history, const char *path)
{
    plim_inspect_file file = { .path = path,
                               .history = history,
                               .devices = sample_device_list,
                               .device_count = T_COUNT(sample_device_list) };
    file.anomalies[PLIM_ANOMALY_DOUBLE_FREE] = 1;
    file.anomalies[PLIM_ANOMALY_LIVE_NOT_ACTIVE] = 24;
    return file;
}

#endif
