/*
 * test_stack_text.c - frames read well, the right one speaks for a stack, settings stand out.
 */
#include "harness.h"

#include "report/model/frame_text.h"
#include "report/model/settings_text.h"
#include "report/model/stack_text.h"
#include "sample.h"

static const struct {
    const char *file;
    uint32_t line;
    const char *name;
    const char *brief;
    const char *full;
} frames[] = {
    { "/home/ada/train.py", 42, "forward", "train.py:42 in forward",
      "/home/ada/train.py:42 in forward" },
    { "C:\\work\\train.py", 42, "<module>", "train.py:42 in <module>",
      "C:\\work\\train.py:42 in <module>" },
    { "/home/ada/optim/__init__.py", 1, "step", "optim/__init__.py:1 in step",
      "/home/ada/optim/__init__.py:1 in step" },
    { "train.py", 0, "", "train.py", "train.py" },
    { "??", 0, "at::native::empty_like(at::Tensor const&, std::optional<bool>)",
      "at::native::empty_like", "at::native::empty_like(at::Tensor const&, std::optional<bool>)" },
    { "", 0, "torch::cuda::(anonymous namespace)::gather(bool (*)(int), int) const",
      "torch::cuda::gather",
      "torch::cuda::(anonymous namespace)::gather(bool (*)(int), int) const" },
    { "", 0, "c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::Wrap<int> >::call(int)",
      "c10::impl::wrap_kernel_functor_unboxed_<>::call",
      "c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::Wrap<int> >::call(int)" },
    { "call.c", 239, "_PyObject_MakeTpCall", "call.c:239 in _PyObject_MakeTpCall",
      "call.c:239 in _PyObject_MakeTpCall" },
    { "??", 0, "", "(unknown)", "(unknown)" },
    { "", 0, ")", ")", ")" },
    { "", 0, "(int)", "(int)", "(int)" },
};

static void frames_are_cut_to_what_tells_them_apart(void)
{
    for (size_t i = 0; i < T_COUNT(frames); i++) {
        T_CASE("%s %s", frames[i].file, frames[i].name);
        plim_history *history = NULL;
        plim_text out;
        plim_text_init(&out, NULL, 4096);
        T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
        const uint32_t frame =
            sample_frame(history, frames[i].file, frames[i].line, frames[i].name);
        plim_history_seal(history);
        plim_frame_text_add(&out, history, frame, false);
        T_EQ_STR(plim_text_string(&out), frames[i].brief);
        plim_text_reset(&out);
        plim_frame_text_add(&out, history, frame, true);
        T_EQ_STR(plim_text_string(&out), frames[i].full);
        plim_text_deinit(&out);
        plim_history_destroy(history);
    }
}

static void label_of(const plim_history *history, const plim_stack_group *group, plim_text *out)
{
    const uint32_t frame = plim_stack_label_frame(history, group);
    plim_text_reset(out);
    if (frame != PLIM_NONE) {
        plim_frame_text_add(out, history, frame, false);
    }
}

static void the_right_frame_speaks(void)
{
    plim_history *history = sample_history(1);
    plim_text out;
    plim_text_init(&out, NULL, 4096);
    label_of(history, &sample_groups[0], &out);
    T_EQ_STR(plim_text_string(&out), "model.py:120 in forward");
    label_of(history, &sample_groups[3], &out); /* C++ alone: the backward operator */
    T_EQ_STR(plim_text_string(&out), "MmBackward0::apply");
    label_of(history, &sample_groups[5], &out);
    T_EQ_STR(plim_text_string(&out), "");

    plim_stack_group no_user = sample_groups[0]; /* then the innermost Python frame */
    no_user.user_frame = PLIM_NONE;
    label_of(history, &no_user, &out);
    T_EQ_STR(plim_text_string(&out), "functional.py:2371 in linear");
    plim_text_deinit(&out);
    plim_history_destroy(history);
}

static void callers_are_the_users_own(void)
{
    plim_history *history = sample_history(1);
    uint32_t places[PLIM_STACK_CONTEXT_MAX];
    T_EQ_U64(plim_stack_callers(history, &sample_groups[0], 3, places), 2);
    T_EQ_U64(places[0], 2);
    T_EQ_U64(places[1], 3);
    T_EQ_U64(plim_stack_callers(history, &sample_groups[0], 1, places), 1);
    T_EQ_U64(plim_stack_callers(history, &sample_groups[3], 3, places), 0);
    T_EQ_U64(plim_stack_callers(history, &sample_groups[5], 3, places), 0);
    plim_history_destroy(history);
}

static void only_chosen_settings_are_told(void)
{
    plim_history *history = sample_history(1);
    plim_text out;
    plim_text_init(&out, NULL, 4096);
    plim_settings_text_add(&out, history);
    T_EQ_STR(plim_text_string(&out), "expandable_segments=True, max_split_size=512 MiB, "
                                     "roundup_power2_divisions[256]=8");
    plim_text_deinit(&out);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(frames_are_cut_to_what_tells_them_apart), T_TEST(the_right_frame_speaks),
       T_TEST(callers_are_the_users_own), T_TEST(only_chosen_settings_are_told))
