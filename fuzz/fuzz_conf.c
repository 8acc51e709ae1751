/*
 * fuzz_conf.c - any text as a conf: what is read reads again, and errors point into the text.
 */
#include "base/assert.h"
#include "replay/conf.h"

#include <stdlib.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    text[size] = '\0';
    plim_conf conf = plim_conf_default();
    plim_error err = { .status = PLIM_OK };
    const plim_status status = plim_conf_parse(text, &conf, &err);
    if (status == PLIM_OK) {
        plim_conf again = plim_conf_default();
        PLIM_ASSERT(strpbrk(conf.text, " \t\n\v\f\r") == NULL);
        PLIM_ASSERT(plim_conf_parse(conf.text, &again, NULL) == PLIM_OK);
        PLIM_ASSERT(plim_conf_equal(&conf, &again));
        PLIM_ASSERT(strcmp(conf.text, again.text) == 0);
    } else {
        const plim_conf untouched = plim_conf_default();
        PLIM_ASSERT(status == PLIM_CORRUPT || status == PLIM_INVALID_ARGUMENT ||
                    status == PLIM_LIMIT);
        PLIM_ASSERT(err.status == status);
        PLIM_ASSERT(err.offset <= strlen(text));
        PLIM_ASSERT(plim_conf_equal(&conf, &untouched));
    }
    free(text);
    return 0;
}
