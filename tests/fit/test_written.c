/*
 * test_written.c - the question for the changes of an answer, as the program's Python gets it, and
 * the result without changes if there is no Python. A script is in the place of Python.
 */
#include "harness.h"

#include "fit/search.h"
#include "rehearse/program.h"
#include "run/scratch.h"

#define STACK 1 /* of the trials: the answer */

static const char answer[] =
    "{\"version\": 1, \"techniques\": [{\"text\": \"fused\", \"pytorch\": \"fused=True\"},"
    " {\"text\": \"checkpoint\", \"pytorch\": \"checkpoint(block, x)\", \"diff\": \"--- a\"}],"
    " \"diff\": \"--- b\"}";

/* Two reports of agents, as a sample keeps them. */
static const char reports[] = "{\"pid\": 1}\0{\"pid\": 2}";

static plim_fit_use uses[] = { { .text = "checkpoint" }, { .text = "fused" } };

static void set_up(const char *said)
{
    scratch_begin();
    scratch_file(PLIM_HOME_STANDIN, "");
    scratch_file("answer", said);
    scratch_file("python", "#!/bin/sh\ncat >\"${0%/*}/asked\"\ncat \"${0%/*}/answer\"\n");
    T_EQ_I64(chmod(scratch_path("python"), 0700), 0);
}

static void read_asked(char *text, size_t bytes)
{
    FILE *const file = fopen(scratch_path("asked"), "re");
    T_NOT_NULL(file);
    text[fread(text, 1, bytes - 1, file)] = '\0';
    T_EQ_I64(fclose(file), 0);
}

/* The changes of a trial of a search that has two: the program as it is, and a stack. */
static plim_status write_changes(const char *python, const char *program, size_t trial,
                                 plim_arena *arena, plim_fitted *ret)
{
    const char *const argv[] = { program, "train.py", "--batch", "64", NULL };
    const plim_fit_runner runner = { .argv = argv };
    const plim_fit_options options = { .rehearse = { .python = python, .home = scratch } };
    plim_fit_trial trials[] = { [STACK] = { .uses = uses, .use_count = T_COUNT(uses) } };
    plim_fit_known known[] = {
        [STACK] = { .documents = reports, .documents_bytes = sizeof(reports), .began = 1234.5 }
    };
    plim_fit_search search = { .options = &options,
                               .runner = &runner,
                               .arena = arena,
                               .trials = trials,
                               .known = known,
                               .count = T_COUNT(trials) };
    *ret = (plim_fitted){ 0 };
    return plim_fit_write_changes(&search, trial, ret, NULL);
}

static void the_programs_python_gets_all_that_is_known(void)
{
    static const char *const wanted[] = {
        "\"argv\":[",
        "\"train.py\",\"--batch\",\"64\"]",
        "\"techniques\":[\"checkpoint\",\"fused\"]",
        "\"reports\":[\"{\\\"pid\\\": 1}\",\"{\\\"pid\\\": 2}\"]",
        "\"since\":1234",
    };
    char asked[4096];
    plim_arena arena;
    plim_fitted fitted;
    set_up(answer);
    plim_arena_init(&arena, &plim_mem_heap);
    /* Named by the caller, or the program's own. */
    for (int is_named = 0; is_named < 2; is_named++) {
        const char *const python = scratch_path("python");
        T_CASE("%d", is_named);
        T_EQ_I64(write_changes(is_named ? python : NULL, is_named ? "no-such-program" : python,
                               STACK, &arena, &fitted),
                 PLIM_OK);
        read_asked(asked, sizeof(asked));
        for (size_t i = 0; i < T_COUNT(wanted); i++) {
            T_CASE("%d: %s", is_named, wanted[i]);
            T_NOT_NULL(strstr(asked, wanted[i]));
        }
        T_EQ_U64(fitted.change_count, 2);
        T_EQ_STR(fitted.changes[0].text, "checkpoint");
        T_EQ_STR(fitted.changes[1].pytorch, "fused=True");
        T_EQ_STR(fitted.diff, "--- b");
    }
    plim_arena_deinit(&arena);
    scratch_end();
}

/* The answer stands without them. */
static void changes_that_cannot_be_had_are_none(void)
{
    static const struct {
        const char *said;
        const char *python;
        size_t trial;
    } rows[] = {
        { answer, NULL, 0 },             /* nothing is to be changed */
        { answer, "/bin/false", STACK }, /* no Python */
        { "[]", NULL, STACK },
        { "{\"techniques\": []}", NULL, STACK },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_arena arena;
        plim_fitted fitted;
        T_CASE("%zu", i);
        set_up(rows[i].said);
        plim_arena_init(&arena, &plim_mem_heap);
        const char *const python = scratch_path("python");
        T_EQ_I64(write_changes(rows[i].python, python, rows[i].trial, &arena, &fitted), PLIM_OK);
        T_EQ_U64(fitted.change_count, 0);
        T_NULL(fitted.changes);
        T_NULL(fitted.diff);
        T_TRUE(rows[i].trial == STACK || !scratch_has("asked"));
        plim_arena_deinit(&arena);
        scratch_end();
    }
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    plim_arena arena;
    plim_fitted fitted;
    (void)ctx;
    plim_arena_init(&arena, mem);
    const plim_status status = write_changes(NULL, scratch_path("python"), STACK, &arena, &fitted);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    plim_arena_deinit(&arena);
    return status == PLIM_OK;
}

static void any_allocation_may_fail(void)
{
    set_up(answer);
    t_fail_each_allocation(attempt, NULL);
    scratch_end();
}

T_MAIN(T_TEST(the_programs_python_gets_all_that_is_known),
       T_TEST(changes_that_cannot_be_had_are_none), T_TEST(any_allocation_may_fail))
