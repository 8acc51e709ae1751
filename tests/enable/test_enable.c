/*
 * test_enable.c - a Python's account of its environment, read; malformed accounts; the nth
 * allocation failing. A shell script takes the place of the Python.
 */
#include "harness.h"

#include "plimsoll/enable.h"
#include "rehearse/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* CMake defines T_HOME, folder of the stand-ins. */

static const char answer[] =
    "{\"python\": \"/e/bin/python\", \"version\": \"3.11.7\", \"prefix\": \"/e\","
    " \"kind\": \"venv\", \"is_managed\": true, \"package\": \"/p\", \"refused\": \"no\","
    " \"places\": [{\"path\": \"/e/x.pth\", \"is_user\": false, \"state\": \"stale\","
    "   \"done\": \"replaced\", \"leads_to\": \"/old\"},"
    "  {\"path\": \"/u/x.pth\", \"is_user\": true, \"state\": \"unheard\", \"done\": null}]}";

static char folder[PLIM_PATH_BYTES];
static char python[PLIM_PATH_BYTES];

/* A Python that says one thing, and writes what it was asked beside itself. */
static void set_up(const char *says)
{
    static const char *const inside[] = { NULL };
    T_EQ_I64(plim_folder_make(folder, sizeof(folder), inside, NULL), PLIM_OK);
    T_EQ_I64(plim_folder_join(python, sizeof(python), folder, "python", NULL), PLIM_OK);
    FILE *file = fopen(python, "we");
    T_NOT_NULL(file);
    T_TRUE(fprintf(file, "#!/bin/sh\necho \"$3 $4\" >\"$0.asked\"\necho '%s'\n", says) > 0);
    T_EQ_I64(fclose(file), 0);
    T_EQ_I64(chmod(python, 0700), 0);
}

static void tear_down(void)
{
    plim_folder_remove(folder);
}

static void check_asked(const char *words)
{
    char path[PLIM_PATH_BYTES];
    char line[64] = "";
    T_EQ_I64(plim_folder_join(path, sizeof(path), folder, "python.asked", NULL), PLIM_OK);
    FILE *file = fopen(path, "re");
    T_NOT_NULL(file);
    T_NOT_NULL(fgets(line, sizeof(line), file));
    T_EQ_I64(fclose(file), 0);
    T_EQ_STR(line, words);
}

static plim_status enable(plim_enable_action action, bool for_user, plim_enabled *ret,
                          plim_error *err)
{
    const plim_enable_choice choice = { .python = python, .home = T_HOME, .for_user = for_user };
    return plim_enable(action, &choice, ret, err);
}

static void an_answer_is_read(void)
{
    plim_enabled enabled;
    set_up(answer);
    T_EQ_I64(enable(PLIM_ENABLE_ON, false, &enabled, NULL), PLIM_OK);
    check_asked("enable \n");
    T_EQ_STR(enabled.python, "/e/bin/python");
    T_EQ_STR(enabled.version, "3.11.7");
    T_EQ_STR(enabled.kind, "venv");
    T_EQ_STR(enabled.refused, "no");
    T_TRUE(enabled.is_managed);
    T_EQ_U64(enabled.place_count, 2);
    T_EQ_STR(enabled.places[0].path, "/e/x.pth");
    T_EQ_STR(enabled.places[0].leads_to, "/old");
    T_EQ_STR(plim_enable_state_name(enabled.places[0].state), "stale");
    T_EQ_STR(plim_enable_done_name(enabled.places[0].done), "replaced");
    T_TRUE(enabled.places[1].is_users);
    T_EQ_I64(enabled.places[1].state, PLIM_ENABLE_STATE_ABSENT);
    T_EQ_I64(enabled.places[1].done, PLIM_ENABLE_DONE_NOTHING);
    plim_enabled_deinit(&enabled);
    plim_enabled_deinit(&enabled);
    tear_down();
}

static void each_action_has_its_word(void)
{
    plim_enabled enabled;
    set_up(answer);
    T_EQ_I64(enable(PLIM_ENABLE_OFF, true, &enabled, NULL), PLIM_OK);
    check_asked("disable --user\n");
    plim_enabled_deinit(&enabled);
    T_EQ_I64(enable(PLIM_ENABLE_STATUS, false, &enabled, NULL), PLIM_OK);
    check_asked("status \n");
    plim_enabled_deinit(&enabled);
    tear_down();
}

static void malformed_answers(void)
{
    static const char *const wrong[] = {
        "{}",
        "[]",
        "3",
        "{\"places\": [{}]}",
        "{\"python\": 3, \"places\": 7}",
        "{\"python\": \"a\", \"version\": \"1\", \"prefix\": \"b\", \"kind\": \"venv\"}",
        "",
        "{\"python\": ",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        plim_enabled enabled;
        plim_error err = { 0 };
        set_up(wrong[i]);
        T_EQ_I64(enable(PLIM_ENABLE_STATUS, false, &enabled, &err), PLIM_CORRUPT);
        T_TRUE(err.message[0] != '\0');
        plim_enabled_deinit(&enabled);
        tear_down();
    }
}

static void missing_pythons(void)
{
    plim_enabled enabled;
    plim_enable_choice choice = { .python = "/nowhere/python", .home = T_HOME };
    T_EQ_I64(plim_enable(PLIM_ENABLE_STATUS, &choice, &enabled, NULL), PLIM_INVALID_ARGUMENT);
    plim_enabled_deinit(&enabled);
    choice.python = "/bin/false";
    T_EQ_I64(plim_enable(PLIM_ENABLE_STATUS, &choice, &enabled, NULL), PLIM_IO);
    plim_enabled_deinit(&enabled);
    choice.home = "/nowhere";
    T_EQ_I64(plim_enable(PLIM_ENABLE_STATUS, &choice, &enabled, NULL), PLIM_IO);
    plim_enabled_deinit(&enabled);
}

static bool enable_in(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_enabled enabled;
    plim_error err = { 0 };
    const plim_enable_choice choice = { .mem = mem, .python = python, .home = T_HOME };
    const plim_status status = plim_enable(PLIM_ENABLE_STATUS, &choice, &enabled, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE(status == PLIM_OK || strstr(err.message, "out of host memory") != NULL);
    plim_enabled_deinit(&enabled);
    return status == PLIM_OK;
}

static void each_allocation_may_fail(void)
{
    set_up(answer);
    t_fail_each_allocation(enable_in, NULL);
    tear_down();
}

T_MAIN(T_TEST(an_answer_is_read), T_TEST(each_action_has_its_word), T_TEST(malformed_answers),
       T_TEST(missing_pythons), T_TEST(each_allocation_may_fail))
