/*
 * fuzz_rules.c - any text as a user's rules of categories: parsed, bound to a history, asked.
 */
#include "base/assert.h"
#include "history/builder.h"
#include "phases/user_rules.h"

#include <stdlib.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One stack of two frames. */
static plim_history *make_history(void)
{
    static const char *const words[] = { "/home/u/train.py", "main", "/home/u/model.py",
                                         "forward" };
    uint32_t ids[4] = { 0 };
    uint32_t frames[2] = { 0 };
    uint32_t stack = 0;
    plim_history *history = NULL;
    plim_status status = plim_history_create(NULL, &history, NULL);
    for (size_t i = 0; status == PLIM_OK && i < 4; i++) {
        status = plim_history_add_string(history, words[i], strlen(words[i]), &ids[i], NULL);
    }
    for (size_t i = 0; status == PLIM_OK && i < 2; i++) {
        const plim_frame frame = {
            .filename = ids[2 * i], .name = ids[2 * i + 1], .line = 7, .fx = PLIM_NONE
        };
        status = plim_history_add_frame(history, &frame, &frames[i], NULL);
    }
    if (status == PLIM_OK) {
        status = plim_history_add_stack(history, frames, 2, &stack, NULL);
    }
    PLIM_ASSERT(status == PLIM_OK);
    plim_history_seal(history);
    return history;
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1); /* no longer than the input, so that overruns are caught */
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    plim_user_rules rules;
    plim_error err = { 0 };
    if (plim_user_rules_parse(text, size, NULL, &rules, &err) != PLIM_OK) {
        PLIM_ASSERT(err.status == PLIM_INVALID_ARGUMENT && err.offset >= 1 &&
                    err.offset <= size + 1);
    } else {
        plim_history *const history = make_history();
        PLIM_ASSERT(plim_user_rules_bind(&rules, history));
        for (uint64_t bytes = 1; bytes < UINT64_C(1) << 60; bytes *= 8) {
            const size_t rule = plim_user_rules_judge(&rules, bytes % 2 == 0 ? 0 : PLIM_NONE, 0,
                                                      bytes, PLIM_CATEGORY_OTHER);
            PLIM_ASSERT(rule <= rules.list.count);
        }
        plim_user_rules_deinit(&rules);
        plim_history_destroy(history);
    }
    free(text);
    return 0;
}
