/*
 * test_variables.c - the environment, changed: each variable once, in one place.
 */
#include "harness.h"

#include "launch/variables.h"

#include <stdlib.h>
#include <string.h>

static size_t count(char *const *list, const char *name)
{
    size_t found = 0;
    for (; *list != NULL; list++) {
        found += strncmp(*list, name, strlen(name)) == 0 && (*list)[strlen(name)] == '=';
    }
    return found;
}

static const char *value_of(char *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        if (strncmp(*list, name, strlen(name)) == 0 && (*list)[strlen(name)] == '=') {
            return *list + strlen(name) + 1;
        }
    }
    return NULL;
}

static bool change(const plim_mem *mem, char ***ret, plim_arena *arena)
{
    plim_variables all;
    plim_text ours;
    plim_arena_init(arena, mem);
    plim_text_init(&ours, mem, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append_string(&ours, "/ours");
    plim_variables_begin(&all, arena);
    plim_variables_set(&all, "T_SET", "new");
    plim_variables_set_number(&all, "T_NUMBER", UINT64_MAX);
    plim_variables_put(&all, "T_GONE", NULL);
    plim_variables_put(&all, "T_PUT", "");
    plim_variables_put_before(&all, "T_LIST", &ours);
    plim_variables_put_before(&all, "T_EMPTY", &ours);
    plim_variables_put_before(&all, "T_NEW", &ours);
    const plim_status status = plim_variables_finish(&all, ret, NULL);
    plim_text_deinit(&ours);
    return status == PLIM_OK;
}

static void set_up(void)
{
    T_EQ_I64(setenv("T_SET", "old", 1), 0);
    T_EQ_I64(setenv("T_SETTER", "another", 1), 0);
    T_EQ_I64(setenv("T_GONE", "1", 1), 0);
    T_EQ_I64(setenv("T_LIST", "/theirs:/more", 1), 0);
    T_EQ_I64(setenv("T_EMPTY", "", 1), 0);
    T_EQ_I64(unsetenv("T_NEW"), 0);
}

static void variables_are_changed_and_the_rest_stays(void)
{
    char **list = NULL;
    plim_arena arena;
    set_up();
    T_TRUE(change(&plim_mem_heap, &list, &arena));
    T_EQ_U64(count(list, "T_SET"), 1);
    T_EQ_STR(value_of(list, "T_SET"), "new");
    T_EQ_STR(value_of(list, "T_SETTER"), "another");
    T_EQ_STR(value_of(list, "T_NUMBER"), "18446744073709551615");
    T_NULL(value_of(list, "T_GONE"));
    T_EQ_STR(value_of(list, "T_PUT"), "");
    T_EQ_STR(getenv("T_SET"), "old"); /* ours stays */
    plim_arena_deinit(&arena);
}

static void what_is_ours_stands_before_what_is_there(void)
{
    char **list = NULL;
    plim_arena arena;
    set_up();
    T_TRUE(change(&plim_mem_heap, &list, &arena));
    T_EQ_STR(value_of(list, "T_LIST"), "/ours:/theirs:/more");
    T_EQ_STR(value_of(list, "T_EMPTY"), "/ours");
    T_EQ_STR(value_of(list, "T_NEW"), "/ours");
    T_EQ_U64(count(list, "T_LIST"), 1);
    plim_arena_deinit(&arena);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    char **list = NULL;
    plim_arena arena;
    (void)ctx;
    const bool is_made = change(mem, &list, &arena);
    plim_arena_deinit(&arena);
    return is_made;
}

static void every_failing_allocation_is_an_error(void)
{
    set_up();
    t_fail_each_allocation(attempt, NULL);
}

T_MAIN(T_TEST(variables_are_changed_and_the_rest_stays),
       T_TEST(what_is_ours_stands_before_what_is_there),
       T_TEST(every_failing_allocation_is_an_error))
