/*
 * test_technique.c - the table of techniques: names, values, what excludes what.
 */
#include "harness.h"

#include "plimsoll/technique.h"

static plim_status find(const char *text, const plim_technique **ret, plim_error *err)
{
    *err = (plim_error){ 0 };
    return plim_technique_find(text, ret, err);
}

static void values_are_of_their_forms(void)
{
    static const char *const good[] = { "set_to_none",
                                        "checkpoint",
                                        "checkpoint=every:2",
                                        "checkpoint=fraction:0.5",
                                        "accumulate=4",
                                        "autocast=bf16",
                                        "conf=expandable_segments:True,max_split_size_mb:64",
                                        "kv=window:512",
                                        "loss=chunked:8",
                                        "offload=optimizer" };
    static const char *const bad[] = { "checkpoint=every:0",
                                       "checkpoint=fraction:2",
                                       "accumulate",
                                       "accumulate=-1",
                                       "set_to_none=1",
                                       "autocast=int8",
                                       "conf=",
                                       "nothing",
                                       "",
                                       "batch=4\nfused",
                                       "checkpoint=" };
    const plim_technique *row = NULL;
    plim_error err;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(find(good[i], &row, &err), PLIM_OK);
        assert_true(strncmp(row->name, good[i], strlen(row->name)) == 0);
    }
    for (size_t i = 0; i + 1 < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(find(bad[i], &row, &err), PLIM_INVALID_ARGUMENT);
    }
    assert_int_equal(find("autocast=int8", &row, &err), PLIM_INVALID_ARGUMENT);
    T_EQ_STR(err.message, "autocast takes bf16, fp16, not \"int8\"");
}

static void what_excludes_what(void)
{
    assert_non_null(plim_technique_excludes("accumulate=4", "optimizer=in_backward"));
    assert_non_null(plim_technique_excludes("optimizer=8bit", "optimizer=sgd"));
    assert_non_null(plim_technique_excludes("checkpoint", "checkpoint=every:2"));
    assert_null(plim_technique_excludes("offload=optimizer", "offload=layer_inputs"));
    assert_null(plim_technique_excludes("checkpoint", "autocast=bf16"));
    assert_non_null(plim_technique_excludes("batch=8", "accumulate=4"));
    assert_null(plim_technique_excludes("batch=eval:8", "accumulate=4"));
    assert_null(plim_technique_excludes("batch=8", "batch=eval:8"));
    assert_non_null(plim_technique_excludes("batch=eval:4", "batch=eval:8"));
}

T_MAIN(T_TEST(values_are_of_their_forms), T_TEST(what_excludes_what))
