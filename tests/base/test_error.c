/*
 * test_error.c - statuses have names, errors have everything a person needs on one line.
 */
#include "harness.h"

#include "base/error.h"

#include <errno.h>

static void every_status_has_its_name_and_its_text(void)
{
    static const struct {
        plim_status status;
        const char *name;
        const char *text;
    } cases[] = {
#define CASE(code, text) { code, #code, text },
        PLIM_STATUS_LIST(CASE)
#undef CASE
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        T_EQ_STR(plim_status_name(cases[i].status), cases[i].name);
        T_EQ_STR(plim_status_text(cases[i].status), cases[i].text);
    }
}

static void a_status_from_elsewhere_has_a_name_too(void)
{
    const plim_status strange = (plim_status)(PLIM_CANCELLED + 1);
    T_EQ_STR(plim_status_name(strange), "PLIM_STATUS_UNKNOWN");
    T_EQ_STR(plim_status_text(strange), "an unknown status");
}

static void failing_fills_everything_in(void)
{
    plim_error err;
    memset(&err, 0xff, sizeof err);
    T_EQ_U64(plim_fail(&err, PLIM_LIMIT, "%d is too many", 7), PLIM_LIMIT);
    T_EQ_U64(err.status, PLIM_LIMIT);
    T_EQ_U64(err.offset, PLIM_NO_OFFSET);
    T_EQ_I64(err.native, 0);
    T_EQ_STR(err.message, "7 is too many");
}

static void failing_at_a_place_keeps_the_place(void)
{
    plim_error err;
    T_EQ_U64(plim_fail_at(&err, PLIM_CORRUPT, 99, "bad %s", "byte"), PLIM_CORRUPT);
    T_EQ_U64(err.offset, 99);
    T_EQ_STR(err.message, "bad byte");
}

static void the_systems_refusal_is_quoted(void)
{
    plim_error err;
    T_EQ_U64(plim_fail_errno(&err, ENOENT, "cannot open \"%s\"", "x"), PLIM_IO);
    T_EQ_I64(err.native, ENOENT);
    T_EQ_STR(err.message, "cannot open \"x\": No such file or directory");
}

static void lack_of_memory_says_what_it_was_for(void)
{
    plim_error err;
    T_EQ_U64(plim_fail_memory(&err, "testing"), PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_STR(err.message, "out of host memory while testing");
}

static void nobody_has_to_care(void)
{
    T_EQ_U64(plim_fail(NULL, PLIM_LIMIT, "x"), PLIM_LIMIT);
    T_EQ_U64(plim_fail_at(NULL, PLIM_CORRUPT, 1, "x"), PLIM_CORRUPT);
    T_EQ_U64(plim_fail_errno(NULL, ENOENT, "x"), PLIM_IO);
    T_EQ_U64(plim_fail_memory(NULL, "x"), PLIM_OUT_OF_HOST_MEMORY);
}

static void a_message_is_one_clean_line_however_it_was_fed(void)
{
    plim_error err;
    plim_fail(&err, PLIM_CORRUPT, "name \"%s\"", "a\nb\x1b[31m\x7f");
    T_EQ_STR(err.message, "name \"a?b?[31m?\"");

    char longer[2 * PLIM_ERROR_MESSAGE_BYTES];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    plim_fail_errno(&err, ENOENT, "%s", longer);
    T_EQ_U64(strlen(err.message), PLIM_ERROR_MESSAGE_BYTES - 1);
}

static plim_status tried(plim_status inner, bool *reached)
{
    PLIM_TRY(inner);
    *reached = true;
    return PLIM_OK;
}

static void trying_goes_on_only_when_all_is_well(void)
{
    bool reached = false;
    T_EQ_U64(tried(PLIM_IO, &reached), PLIM_IO);
    T_FALSE(reached);
    T_EQ_U64(tried(PLIM_OK, &reached), PLIM_OK);
    T_TRUE(reached);
}

T_MAIN(T_TEST(every_status_has_its_name_and_its_text),
       T_TEST(a_status_from_elsewhere_has_a_name_too), T_TEST(failing_fills_everything_in),
       T_TEST(failing_at_a_place_keeps_the_place), T_TEST(the_systems_refusal_is_quoted),
       T_TEST(lack_of_memory_says_what_it_was_for), T_TEST(nobody_has_to_care),
       T_TEST(a_message_is_one_clean_line_however_it_was_fed),
       T_TEST(trying_goes_on_only_when_all_is_well))
