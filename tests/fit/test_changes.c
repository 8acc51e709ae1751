/*
 * test_changes.c - changes that the program's Python writes down are read back; what is malformed
 * is an error, and no memory is lost.
 */
#include "harness.h"

#include "fit/changes.h"

static const char *const techniques[] = { "checkpoint", "autocast=bf16" };
static const char *const argv[] = { "python", "train.py", NULL };

static const char whole[] =
    "{\"version\": 1, \"techniques\": [{\"text\": \"autocast=bf16\", \"pytorch\": \"with …\","
    " \"arguments\": \"bf16=True\", \"framework\": null, \"diff\": null, \"note\": \"no diff: "
    "it\"},"
    " 7, {\"text\": \"checkpoint\", \"pytorch\": \"x\", \"diff\": \"--- a\"}], \"diff\": \"--- "
    "b\", \"left_out\": [7, \"autocast=bf16\"]}";

static plim_fit_change_question question_of(size_t count)
{
    return (plim_fit_change_question){
        .python = "python3", .argv = argv, .techniques = techniques, .technique_count = count
    };
}

static plim_status read_answer(const char *answer, plim_arena *arena, plim_fit_changes *ret,
                               plim_error *err)
{
    const plim_fit_change_question question = question_of(2);
    return plim_fit_changes_read(&question, answer, arena, ret, err);
}

static void changes_come_in_the_order_of_the_techniques(void)
{
    plim_arena arena;
    plim_arena_init(&arena, &plim_mem_heap);
    plim_fit_changes changes;
    T_EQ_I64(read_answer(whole, &arena, &changes, NULL), PLIM_OK);
    T_EQ_U64(changes.count, 2);
    T_EQ_STR(changes.items[0].text, "checkpoint");
    T_EQ_STR(changes.items[0].diff, "--- a");
    T_NULL(changes.items[0].arguments);
    T_EQ_STR(changes.items[1].arguments, "bf16=True");
    T_EQ_STR(changes.items[1].note, "no diff: it");
    T_NULL(changes.items[1].diff);
    T_EQ_STR(changes.diff, "--- b");
    T_FALSE(changes.items[0].is_left_out);
    T_TRUE(changes.items[1].is_left_out);
    plim_arena_deinit(&arena);
}

static void a_malformed_answer_is_an_error(void)
{
    static const char *const answers[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"techniques\": 7}",
        "{\"techniques\": [{\"text\": \"checkpoint\", \"pytorch\": 7}]}",
        "{\"techniques\": [{\"text\": \"checkpoint\", \"pytorch\": \"x\"}]}",
    };
    for (size_t i = 0; i < T_COUNT(answers); i++) {
        T_CASE("%s", answers[i]);
        plim_arena arena;
        plim_arena_init(&arena, &plim_mem_heap);
        plim_fit_changes changes;
        T_EQ_I64(read_answer(answers[i], &arena, &changes, NULL), PLIM_CORRUPT);
        plim_arena_deinit(&arena);
    }
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_arena arena;
    plim_arena_init(&arena, mem);
    plim_fit_changes changes;
    const plim_status status = read_answer(whole, &arena, &changes, NULL);
    plim_arena_deinit(&arena);
    return status == PLIM_OK;
}

static void any_allocation_may_fail(void)
{
    t_fail_each_allocation(attempt, NULL);
}

/* Our own script with the machine's Python, which has no PyTorch: texts without diffs. */
static void a_python_is_asked(void)
{
    static const char *const pythons[] = { "/usr/bin/python3", "/usr/local/bin/python3" };
    plim_arena arena;
    plim_arena_init(&arena, &plim_mem_heap);
    plim_fit_changes changes;
    plim_status status = PLIM_IO;
    static const char *const reports[] = { "{\"version\": 1, \"techniques\": []}" };
    for (size_t i = 0; i < T_COUNT(pythons) && status != PLIM_OK; i++) {
        plim_fit_change_question question = question_of(2);
        question.python = pythons[i];
        question.home = "src";
        question.reports = reports;
        question.report_count = 1;
        status = plim_fit_changes_make(&question, &arena, &changes, NULL);
    }
    T_EQ_I64(status, PLIM_OK);
    T_EQ_U64(changes.count, 2);
    T_NOT_NULL(strstr(changes.items[1].pytorch, "torch.autocast"));
    T_NOT_NULL(strstr(changes.items[0].note, "no diff"));
    T_NULL(changes.diff);
    plim_arena_deinit(&arena);
}

static void what_is_no_python_is_an_error(void)
{
    plim_arena arena;
    plim_arena_init(&arena, &plim_mem_heap);
    plim_fit_changes changes;
    plim_fit_change_question question = question_of(1);
    question.python = "/bin/false";
    question.home = "src";
    T_EQ_I64(plim_fit_changes_make(&question, &arena, &changes, NULL), PLIM_IO);
    question.python = "/bin/true";
    T_EQ_I64(plim_fit_changes_make(&question, &arena, &changes, NULL), PLIM_CORRUPT);
    plim_arena_deinit(&arena);
}

T_MAIN(T_TEST(changes_come_in_the_order_of_the_techniques), T_TEST(a_malformed_answer_is_an_error),
       T_TEST(any_allocation_may_fail), T_TEST(a_python_is_asked),
       T_TEST(what_is_no_python_is_an_error))
