/*
 * test_stacks.c - each distinct stack once, whoever takes it, and its way into a history.
 */
#include "harness.h"

#include "alloc/core/stacks.h"
#include "history/builder.h"

#include <pthread.h>

#define THREADS 4
#define KINDS   3000 /* distinct stacks of the threads' test */

static _Thread_local volatile size_t
    after_call; /* written after calls, so that they are not jumps */

/* What the hook gives. */
typedef struct script {
    const plim_foreign_frame *frames;
    size_t count;
} script;

static size_t give(void *ctx, plim_foreign_frame *frames, size_t capacity)
{
    const script *const s = ctx;
    const size_t count = s->count < capacity ? s->count : capacity;
    for (size_t i = 0; i < count; i++) {
        frames[i] = s->frames[i];
    }
    return s->count;
}

static plim_stacks *fresh_stacks(const plim_mem *mem)
{
    plim_stacks *stacks = NULL;
    plim_error err;
    T_EQ_I64(plim_stacks_create(mem, &stacks, &err), PLIM_OK);
    return stacks;
}

static uint32_t take_script(plim_stacks *stacks, const script *s, bool *ret_is_new)
{
    script copy = *s;
    return plim_stacks_take(stacks, false, give, &copy, ret_is_new);
}

__attribute__((noinline)) static uint32_t take_here(plim_stacks *stacks, bool *ret_is_new)
{
    const uint32_t id = plim_stacks_take(stacks, true, NULL, NULL, ret_is_new);
    after_call++;
    return id;
}

__attribute__((noinline)) static uint32_t take_below(plim_stacks *stacks, size_t depth,
                                                     bool *ret_is_new)
{
    const uint32_t id =
        depth == 0 ? take_here(stacks, ret_is_new) : take_below(stacks, depth - 1, ret_is_new);
    after_call++;
    return id;
}

static void the_same_stack_has_one_number(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_stacks *const stacks = fresh_stacks(&heap.mem);
    const volatile size_t rounds = 3; /* not unrolled: all from the same place */
    for (size_t i = 0; i < rounds; i++) {
        for (size_t depth = 0; depth < 20; depth++) {
            bool is_new = false;
            T_EQ_U64(take_below(stacks, depth, &is_new), depth);
            T_EQ_I64(is_new, i == 0);
        }
    }
    for (uint32_t id = 0; id < 20; id++) {
        const plim_stack_record stack = plim_stacks_get(stacks, id);
        T_EQ_U64(stack.id, id);
        T_EQ_U64(stack.address_count, plim_stacks_get(stacks, 0).address_count + id);
        T_EQ_U64(stack.foreign_count, 0);
    }
    T_TRUE(plim_stacks_bytes(stacks) <= heap.live_bytes);
    T_TRUE(plim_stacks_bytes(stacks) > heap.live_bytes / 2);
    plim_stacks_destroy(stacks);
    T_EQ_U64(heap.live_bytes, 0);
    plim_stacks_destroy(NULL);
}

static void nothing_to_take_is_none(void)
{
    plim_stacks *const stacks = fresh_stacks(NULL);
    bool is_new = true;
    T_EQ_U64(plim_stacks_take(stacks, false, NULL, NULL, &is_new), PLIM_NONE);
    T_FALSE(is_new);
    T_EQ_U64(take_script(stacks, &(script){ 0 }, &is_new), PLIM_NONE);
    T_FALSE(is_new);
    const plim_stack_record none = plim_stacks_get(stacks, PLIM_NONE);
    T_EQ_U64(none.address_count + none.foreign_count, 0);
    plim_stacks_destroy(stacks);
}

static void foreign_frames_are_compared_by_what_they_say(void)
{
    plim_stacks *const stacks = fresh_stacks(NULL);
    char file[] = "model.py";
    char name[] = "forward";
    const plim_foreign_frame frames[] = { { file, name, 7 }, { "train.py", "main", 20 } };
    const script both = { frames, 2 };
    bool is_new = false;
    T_EQ_U64(take_script(stacks, &both, &is_new), 0);
    T_TRUE(is_new);

    /* The same letters elsewhere are the same stack. */
    const plim_foreign_frame copies[] = { { "model.py", "forward", 7 },
                                          { "train.py", "main", 20 } };
    T_EQ_U64(take_script(stacks, &(script){ copies, 2 }, &is_new), 0);
    T_FALSE(is_new);

    /* Anything else is another one. */
    const plim_foreign_frame others[][2] = {
        { { "model.py", "forward", 8 }, { "train.py", "main", 20 } },
        { { "model.py", "backward", 7 }, { "train.py", "main", 20 } },
        { { "other.py", "forward", 7 }, { "train.py", "main", 20 } },
        { { "train.py", "main", 20 }, { "model.py", "forward", 7 } },
        { { "model.pyf", "orward", 7 }, { "train.py", "main", 20 } },
        { { NULL, NULL, 7 }, { "", "", 20 } },
    };
    for (uint32_t i = 0; i < T_COUNT(others); i++) {
        T_CASE("row %u", i);
        T_EQ_U64(take_script(stacks, &(script){ others[i], 2 }, &is_new), i + 1);
        T_TRUE(is_new);
    }
    T_EQ_U64(take_script(stacks, &(script){ frames, 1 }, &is_new), T_COUNT(others) + 1);

    /* What the caller does with its strings later changes nothing. */
    memset(file, 'x', sizeof file - 1);
    memset(name, 'y', sizeof name - 1);
    const plim_stack_record kept = plim_stacks_get(stacks, 0);
    T_EQ_U64(kept.foreign_count, 2);
    T_EQ_STR(kept.foreign[0].filename, "model.py");
    T_EQ_STR(kept.foreign[0].name, "forward");
    T_EQ_U64(kept.foreign[0].line, 7);
    T_EQ_STR(kept.foreign[1].name, "main");
    T_EQ_STR(plim_stacks_get(stacks, 6).foreign[0].name, "");
    plim_stacks_destroy(stacks);
}

static void records_stay_where_they_are(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_stacks *const stacks = fresh_stacks(&heap.mem);
    plim_stack_record first = { 0 };
    for (uint32_t i = 0; i < 20000; i++) { /* the index grows some times */
        const plim_foreign_frame frame = { "a.py", i % 2 == 0 ? "f" : "g", i };
        bool is_new = false;
        T_EQ_U64(take_script(stacks, &(script){ &frame, 1 }, &is_new), i);
        T_TRUE(is_new);
        if (i == 0) {
            first = plim_stacks_get(stacks, 0);
        }
    }
    T_TRUE(plim_stacks_get(stacks, 0).foreign == first.foreign);
    T_EQ_STR(first.foreign[0].filename, "a.py");
    for (uint32_t i = 0; i < 20000; i++) {
        const plim_foreign_frame frame = { "a.py", i % 2 == 0 ? "f" : "g", i };
        bool is_new = false;
        T_EQ_U64(take_script(stacks, &(script){ &frame, 1 }, &is_new), i);
        T_FALSE(is_new);
        T_EQ_U64(plim_stacks_get(stacks, i).foreign[0].line, i);
    }
    T_TRUE(plim_stacks_get(stacks, 2).foreign[0].name == first.foreign[0].name);
    plim_stacks_destroy(stacks);
    T_EQ_U64(heap.live_bytes, 0);
}

static void more_frames_than_fit_are_cut(void)
{
    static plim_foreign_frame many[2000];
    for (uint32_t i = 0; i < T_COUNT(many); i++) {
        many[i] = (plim_foreign_frame){ "deep.py", "down", i };
    }
    plim_stacks *const stacks = fresh_stacks(NULL);
    bool is_new = false;
    T_EQ_U64(take_script(stacks, &(script){ many, T_COUNT(many) }, &is_new), 0);
    T_EQ_U64(plim_stacks_get(stacks, 0).foreign_count, 512);
    T_EQ_U64(plim_stacks_get(stacks, 0).foreign[511].line, 511);
    T_EQ_U64(take_below(stacks, 2000, &is_new), 1);
    T_EQ_U64(plim_stacks_get(stacks, 1).address_count, 512);
    plim_stacks_destroy(stacks);
}

/* --- threads --- */

typedef struct worker {
    plim_stacks *stacks;
    uint32_t ids[KINDS];
    size_t new_count;
} worker;

static void *work(void *ctx)
{
    worker *const w = ctx;
    for (uint32_t i = 0; i < KINDS; i++) {
        const plim_foreign_frame frame = { "shared.py", "f", i };
        bool is_new = false;
        w->ids[i] = take_script(w->stacks, &(script){ &frame, 1 }, &is_new);
        w->new_count += is_new;
        bool is_seen = true;
        (void)take_below(w->stacks, i % 5, &is_seen);
        (void)plim_stacks_get(w->stacks, w->ids[i]);
    }
    return NULL;
}

static void threads_agree_on_numbers(void)
{
    plim_stacks *const stacks = fresh_stacks(NULL);
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){ .stacks = stacks };
        T_EQ_I64(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    size_t new_count = 0;
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_join(threads[i], NULL), 0);
        new_count += workers[i].new_count;
        T_EQ_MEM(workers[i].ids, workers[0].ids, sizeof workers[0].ids);
    }
    T_EQ_U64(new_count, KINDS);
    for (uint32_t i = 0; i < KINDS; i++) {
        const plim_stack_record stack = plim_stacks_get(stacks, workers[0].ids[i]);
        T_EQ_U64(stack.foreign[0].line, i);
    }
    plim_stacks_destroy(stacks);
}

/* --- histories --- */

static const plim_frame *frame_at(const plim_history *history, uint32_t stack, uint32_t index)
{
    const plim_stack found = plim_history_stack(history, stack);
    T_TRUE(index < found.frame_count);
    return plim_history_frame(history, found.frames[index]);
}

static void a_history_names_foreign_frames_first(void)
{
    plim_stacks *const stacks = fresh_stacks(NULL);
    const plim_foreign_frame frames[] = { { "model.py", "forward", 7 },
                                          { "train.py", "main", 20 } };
    script both = { frames, 2 };
    bool is_new = false;
    const uint32_t line = __LINE__ + 1;
    const uint32_t id = plim_stacks_take(stacks, true, give, &both, &is_new);
    plim_history *history = NULL;
    plim_error err;
    T_EQ_I64(plim_history_create(NULL, &history, &err), PLIM_OK);
    uint32_t stack = 0;
    T_EQ_I64(plim_stacks_to_history(stacks, id, history, &stack, &err), PLIM_OK);

    T_EQ_STR(plim_history_string(history, frame_at(history, stack, 0)->filename, NULL), "model.py");
    T_EQ_STR(plim_history_string(history, frame_at(history, stack, 0)->name, NULL), "forward");
    T_EQ_U64(frame_at(history, stack, 0)->line, 7);
    T_EQ_U64(frame_at(history, stack, 0)->fx, PLIM_NONE);
    T_EQ_STR(plim_history_string(history, frame_at(history, stack, 1)->name, NULL), "main");
    const plim_frame *const here = frame_at(history, stack, 2);
    T_EQ_STR(plim_history_string(history, here->name, NULL), __func__);
    T_NOT_NULL(strstr(plim_history_string(history, here->filename, NULL), "test_stacks.c"));
    T_EQ_U64(here->line, line);

    uint32_t again = 0;
    T_EQ_I64(plim_stacks_to_history(stacks, id, history, &again, &err), PLIM_OK);
    T_EQ_U64(again, stack);
    T_EQ_I64(plim_stacks_to_history(stacks, PLIM_NONE, history, &again, &err), PLIM_OK);
    T_EQ_U64(again, PLIM_NONE);
    plim_history_destroy(history);
    plim_stacks_destroy(stacks);
}

/* A function of this name is taken for one of the library's. */
__attribute__((noinline)) static uint32_t plim_like_an_entry(plim_stacks *stacks)
{
    bool is_new = false;
    const uint32_t id = plim_stacks_take(stacks, true, NULL, NULL, &is_new);
    after_call++;
    return id;
}

static void frames_of_the_library_are_left_out(void)
{
    plim_stacks *const stacks = fresh_stacks(NULL);
    plim_history *history = NULL;
    plim_error err;
    T_EQ_I64(plim_history_create(NULL, &history, &err), PLIM_OK);
    const uint32_t id = plim_like_an_entry(stacks);
    uint32_t stack = 0;
    T_EQ_I64(plim_stacks_to_history(stacks, id, history, &stack, &err), PLIM_OK);
    const plim_frame *const here = frame_at(history, stack, 0);
    T_EQ_STR(plim_history_string(history, here->name, NULL), __func__);
    plim_history_destroy(history);
    plim_stacks_destroy(stacks);
}

/* --- memory --- */

static bool take_and_name(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_stacks *stacks = NULL;
    plim_history *history = NULL;
    plim_error err = { 0 };
    if (plim_stacks_create(mem, &stacks, &err) != PLIM_OK) {
        T_EQ_I64(err.status, PLIM_OUT_OF_HOST_MEMORY);
        return false;
    }
    bool good = true;
    bool is_new = false;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 1200; i++) {
        const plim_foreign_frame frame = { i % 100 == 0 ? "a.py" : "b.py", "f", i };
        const uint32_t id = take_script(stacks, &(script){ &frame, 1 }, &is_new);
        good = good && id != PLIM_NONE;
        T_TRUE(id == PLIM_NONE || id == taken); /* no number is lost */
        taken += id != PLIM_NONE;
        T_EQ_I64(is_new, id != PLIM_NONE);
    }
    const uint32_t id = take_here(stacks, &is_new);
    plim_status status = plim_history_create(mem, &history, &err);
    if (status == PLIM_OK) {
        uint32_t stack = 0;
        status = plim_stacks_to_history(stacks, id, history, &stack, &err);
    }
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    plim_history_destroy(history);
    plim_stacks_destroy(stacks);
    return good && id != PLIM_NONE && status == PLIM_OK;
}

static void a_lack_of_memory_is_told(void)
{
    t_fail_each_allocation(take_and_name, NULL);
}

T_MAIN(T_TEST(the_same_stack_has_one_number), T_TEST(nothing_to_take_is_none),
       T_TEST(foreign_frames_are_compared_by_what_they_say), T_TEST(records_stay_where_they_are),
       T_TEST(more_frames_than_fit_are_cut), T_TEST(threads_agree_on_numbers),
       T_TEST(a_history_names_foreign_frames_first), T_TEST(frames_of_the_library_are_left_out),
       T_TEST(a_lack_of_memory_is_told))
