/*
 * test_recordings.c - the frames of our own recordings have the classes that they have had since
 * three tables in three rooms knew them: so many of each owner and role.
 */
#include "base/text.h"
#include "harness.h"
#include "plimsoll/load.h"
#include "stacks/frames.h"

static const struct {
    const char *recording;
    const char *classes;
} cases[] = {
    { "accumulate.pickle.zst", "user 17 torch 33 none 21 start 7 call 2 build 4 recompute 3 "
                               "backward 3 zero_grad 1 optimizer_state 2 optimizer_step 7" },
    { "cpp_stacks.pickle.zst",
      "user 17 native 392 torch 28 none 407 start 7 call 2 build 4 backward 3 engine 4 zero_grad 1 "
      "optimizer_state 2 optimizer_step 7" },
    { "evaluate_with_grad.pickle.gz", "user 17 torch 13 none 21 start 3 call 2 build 4" },
    { "expandable_segments.pickle.zst", "user 18 torch 29 none 20 start 8 call 2 build 4 backward "
                                        "3 zero_grad 1 optimizer_state 2 optimizer_step 7" },
    { "leak.pickle.gz", "user 20 torch 28 none 19 start 10 call 2 build 4 backward 3 zero_grad 1 "
                        "optimizer_state 2 optimizer_step 7" },
    { "out_of_memory.pickle", "user 17 torch 28 none 19 start 7 call 2 build 4 backward 3 "
                              "zero_grad 1 optimizer_state 2 optimizer_step 7" },
    { "out_of_memory_handled.pickle.gz", "user 18 torch 28 none 19 start 8 call 2 build 4 backward "
                                         "3 zero_grad 1 optimizer_state 2 optimizer_step 7" },
    { "streams.pickle", "user 5 torch 13 none 4 start 5 call 2 build 4 backward 3" },
    { "train_gpt.pickle", "user 18 torch 38 none 21 start 8 call 2 build 4 backward 3 "
                          "gradient_tools 8 zero_grad 1 optimizer_state 2 optimizer_step 7" },
    { "two_devices.pickle.gz", "user 11 torch 25 none 11 start 6 call 2 build 4 backward 3 "
                               "zero_grad 1 optimizer_state 2 optimizer_step 7" },
    { "variable_lengths.pickle.gz", "user 17 torch 28 none 19 start 7 call 2 build 4 backward 3 "
                                    "zero_grad 1 optimizer_state 2 optimizer_step 7" },
    { "wrapped_history.pickle", "user 17 torch 28 none 19 start 7 call 2 build 4 backward 3 "
                                "zero_grad 1 optimizer_state 2 optimizer_step 7" },
};

static const char *const owner_names[] = {
#define NAME(code, name) [code] = name,
    PLIM_FRAME_OWNER_LIST(NAME)
};

static const char *const role_names[] = { PLIM_FRAME_ROLE_LIST(NAME) };
#undef NAME

static void add(plim_text *text, const char *name, size_t count)
{
    if (count > 0) {
        plim_text_append_format(text, "%s%s %zu", text->length > 0 ? " " : "", name, count);
    }
}

static void frames_of_recordings_keep_their_classes(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        char path[256];
        size_t owners[T_COUNT(owner_names)] = { 0 };
        size_t roles[T_COUNT(role_names)] = { 0 };
        plim_history *history = NULL;
        T_CASE("%s", cases[i].recording);
        snprintf(path, sizeof path, "tests/data/recordings/%s", cases[i].recording);
        T_EQ_U64(plim_history_load(path, NULL, &history, NULL), PLIM_OK);
        for (uint32_t k = 0; k < plim_history_frame_count(history); k++) {
            const plim_frame *const frame = plim_history_frame(history, k);
            const char *const file = plim_history_string(history, frame->filename, NULL);
            const char *const function = plim_history_string(history, frame->name, NULL);
            const plim_frame_owner owner = plim_frame_owner_of(file, function, frame->line);
            owners[owner]++;
            roles[plim_frame_role_of(file, function, owner)]++;
        }
        plim_text text;
        plim_text_init(&text, NULL, 1024);
        for (size_t k = 0; k < T_COUNT(owners); k++) {
            add(&text, owner_names[k], owners[k]);
        }
        for (size_t k = 0; k < T_COUNT(roles); k++) {
            add(&text, role_names[k], roles[k]);
        }
        T_EQ_STR(text.data, cases[i].classes);
        plim_text_deinit(&text);
        plim_history_destroy(history);
    }
}

T_MAIN(T_TEST(frames_of_recordings_keep_their_classes))
