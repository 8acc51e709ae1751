/*
 * bounds.c - see bounds.h.
 */
#include "cli/bounds.h"

#include "base/ascii.h"
#include "base/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool plim_bounds_each(struct argp_state *state, const char *text,
                      void (*take)(struct argp_state *state, void *ctx, char *word), void *ctx)
{
    for (;;) {
        const size_t length = strcspn(text, ",");
        char word[PLIM_BOUND_BYTES];
        if (length == 0 || length >= sizeof word) {
            return false;
        }
        memcpy(word, text, length);
        word[length] = '\0';
        take(state, ctx, word);
        if (text[length] == '\0') {
            return true;
        }
        text += length + 1;
    }
}

bool plim_bound_share(const char *text, double most, double *ret)
{
    char *end = NULL;
    errno = 0;
    *ret = plim_is_digit(*text) || *text == '.' ? strtod(text, &end) / 100 : -1;
    return end != NULL && *ret >= 0 && *ret * 100 <= most && errno == 0 && strcmp(end, "%") == 0;
}

bool plim_bound_size(char *text, bool per_step, double *ret)
{
    uint64_t bytes = 0;
    plim_error err;
    char *const slash = strchr(text, '/');
    if (slash != NULL && per_step && strcmp(slash, "/step") == 0) {
        *slash = '\0';
    }
    const bool is_size = plim_size_parse(text, &bytes, &err) == PLIM_OK;
    *ret = (double)bytes;
    return is_size;
}
