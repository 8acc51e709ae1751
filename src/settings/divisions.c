/*
 * divisions.c - [64:8,256:4,>:1]: boundaries in MiB and the divisions from there.
 *
 *   interval   0   1 …  5   6   7   8   9 … 15
 *   from MiB   1   2 … 32  64 128 256 512 … 32768
 *              8   8 …  8   8   0   4   1 …  1      [64:8,256:4,>:1]
 *
 * The first boundary also fills everything below it; each other is its own interval only; '>' fills
 * what is above the last boundary before it. So PyTorch 2.11 behaves, in any order of the items;
 * up to about 2.8 '>' began at the last boundary itself.
 */
#include "settings/parse.h"

#include "base/error.h"
#include "settings/rounding.h"

#include <inttypes.h>

#define LAST_INTERVAL (PLIM_ROUNDUP_INTERVALS - 1)

static void fill(uint64_t *divisions, size_t first, size_t last, uint64_t value)
{
    for (size_t i = first; i <= last; i++) {
        divisions[i] = value;
    }
}

/* State of a list between its items. */
typedef struct list_state {
    bool has_boundary;
    size_t last; /* interval of the last boundary; 0: no boundary yet */
} list_state;

static plim_status read_item(plim_settings_reader *reader, list_state *state, uint64_t *divisions)
{
    const bool is_rest = plim_settings_at_word(reader, ">");
    size_t interval = 0;
    if (is_rest) {
        plim_settings_advance(reader);
    } else {
        uint64_t boundary = 0;
        PLIM_TRY(
            plim_settings_read_power(reader, "a boundary in MB", false, UINT64_MAX, &boundary));
        interval = plim_log2_floor(boundary);
        interval = interval < LAST_INTERVAL ? interval : LAST_INTERVAL;
    }
    PLIM_TRY(plim_settings_expect(reader, ':', is_rest ? "'>'" : "a boundary"));
    uint64_t value = 0;
    PLIM_TRY(plim_settings_read_power(reader, "divisions", true, UINT64_MAX, &value));
    if (is_rest) {
        fill(divisions, state->last + 1, LAST_INTERVAL, value);
        return PLIM_OK;
    }
    fill(divisions, state->has_boundary ? interval : 0, interval, value);
    *state = (list_state){ .has_boundary = true, .last = interval };
    return PLIM_OK;
}

plim_status plim_settings_read_divisions(plim_settings_reader *reader,
                                         uint64_t divisions[PLIM_ROUNDUP_INTERVALS])
{
    if (reader->token.kind != '[') {
        uint64_t value = 0;
        PLIM_TRY(plim_settings_read_power(reader, "divisions", false, UINT64_MAX, &value));
        fill(divisions, 0, LAST_INTERVAL, value);
        return PLIM_OK;
    }
    plim_settings_advance(reader);
    list_state state = { .has_boundary = false };
    while (reader->token.kind != ']') {
        PLIM_TRY(read_item(reader, &state, divisions));
        if (reader->token.kind == ',') {
            plim_settings_advance(reader);
        } else if (reader->token.kind != ']') {
            return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                      "expected ',' or ']' in the list of %s, not %s", reader->key,
                                      plim_settings_quoted(reader).text);
        }
    }
    plim_settings_advance(reader);
    return PLIM_OK;
}

/* The number of intervals from `first` on that have the same value. */
static size_t run_length(const uint64_t *divisions, size_t first)
{
    size_t end = first + 1;
    while (end <= LAST_INTERVAL && divisions[end] == divisions[first]) {
        end++;
    }
    return end - first;
}

void plim_settings_put_divisions(plim_fixed_text *out,
                                 const uint64_t divisions[PLIM_ROUNDUP_INTERVALS])
{
    const size_t below = run_length(divisions, 0);
    if (below == PLIM_ROUNDUP_INTERVALS && divisions[0] != 0) {
        plim_fixed_text_put(out, "%" PRIu64, divisions[0]);
        return;
    }
    size_t rest = LAST_INTERVAL; /* first interval of those at the end that are the same */
    while (rest > 0 && divisions[rest - 1] == divisions[LAST_INTERVAL]) {
        rest--;
    }
    const bool has_rest = divisions[LAST_INTERVAL] != 0 && rest < LAST_INTERVAL;
    const char *separator = "[";
    for (size_t i = below - 1; i < (has_rest ? rest : PLIM_ROUNDUP_INTERVALS); i++) {
        /* Zeros need no saying, but for those below the first boundary and just below '>'. */
        if (divisions[i] != 0 || i == below - 1 || (has_rest && i == rest - 1)) {
            plim_fixed_text_put(out, "%s%u:%" PRIu64, separator, 1u << i, divisions[i]);
            separator = ",";
        }
    }
    if (has_rest) {
        plim_fixed_text_put(out, "%s>:%" PRIu64, separator, divisions[LAST_INTERVAL]);
    }
    plim_fixed_text_put(out, "]");
}
