/*
 * technique.c - the table of techniques. See plimsoll/technique.h.
 */
#include "plimsoll/technique.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME           PLIM_TECHNIQUE_SAME
#define IN_EXPECTATION PLIM_TECHNIQUE_IN_EXPECTATION
#define CHANGED        PLIM_TECHNIQUE_CHANGED
#define FREE           PLIM_TECHNIQUE_FREE
#define CHEAP          PLIM_TECHNIQUE_CHEAP
#define DEAR           PLIM_TECHNIQUE_DEAR

/* In the order of a search. A technique without a value stands before its other rows. */
static const plim_technique rows[] = {
    { "set_to_none", "", SAME, FREE, "gradients are freed when they are cleared" },
    { "inference_mode", "", SAME, FREE, "evaluation records no history" },
    { "attention", "flash", SAME, FREE, "attention without a matrix of scores" },
    { "loss", "chunked", SAME, FREE, "logits and their loss are computed in pieces" },
    { "loss", "chunked:N", SAME, FREE, "the same in N pieces" },
    { "conf", "TEXT", SAME, FREE, "settings of the allocator, as in PYTORCH_CUDA_ALLOC_CONF" },
    { "fused", "", SAME, FREE, "the optimizer steps in one kernel" },
    { "kv", "static", SAME, FREE, "generation has a cache of keys and values made once" },
    { "autocast", "bf16", IN_EXPECTATION, FREE, "products and activations in bfloat16" },
    { "autocast", "fp16", IN_EXPECTATION, FREE, "the same in float16, with loss scaling" },
    { "foreach", "off", SAME, CHEAP, "the optimizer takes one tensor after another" },
    { "empty_cache", "", SAME, CHEAP, "cached memory goes back between phases" },
    { "optimizer", "in_backward", SAME, CHEAP, "each weight is updated as its gradient comes" },
    { "accumulate", "K", IN_EXPECTATION, CHEAP, "a batch goes through in K pieces" },
    { "checkpoint", "", SAME, DEAR, "every repeated block is recomputed in the backward pass" },
    { "checkpoint", "every:K", SAME, DEAR, "every K-th block is" },
    { "checkpoint", "fraction:F", SAME, DEAR, "that fraction of the blocks is" },
    { "offload", "layer_inputs", SAME, DEAR, "blocks are recomputed from inputs kept on the host" },
    { "offload", "optimizer", SAME, DEAR, "optimizer states are kept and used on the host" },
    { "offload", "all_saved", SAME, DEAR, "all that backward needs is kept on the host" },
    { "optimizer", "8bit", CHANGED, CHEAP, "optimizer states in eight bits, by bitsandbytes" },
    { "optimizer", "adafactor", CHANGED, CHEAP, "a row and a column of states for each matrix" },
    { "optimizer", "sgd", CHANGED, FREE, "no optimizer states" },
    { "weights", "bf16", CHANGED, FREE, "weights, gradients and states in bfloat16" },
    { "kv", "window:N", CHANGED, FREE, "generation looks back at N tokens" },
    { "batch", "N", CHANGED, FREE, "the loader gives batches of N" },
    { "batch", "eval:N", SAME, FREE, "loaders for evaluation do" },
};

size_t plim_technique_count(void)
{
    return sizeof(rows) / sizeof(rows[0]);
}

const plim_technique *plim_technique_at(size_t index)
{
    return index < plim_technique_count() ? &rows[index] : NULL;
}

const char *plim_technique_value(const char *text)
{
    const char *const equals = strchr(text, '=');
    return equals != NULL ? equals + 1 : "";
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_whole(const char *text)
{
    return text[0] >= '1' && text[0] <= '9' && strspn(text, "0123456789") == strlen(text) &&
           strlen(text) <= 9;
}

static bool is_fraction(const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    return (isdigit((unsigned char)text[0]) || text[0] == '.') && *end == '\0' && value > 0 &&
           value <= 1;
}

/* True if a value is of a row's form: equal up to its placeholder, and what that stands for. */
static bool is_of_form(const char *form, const char *value)
{
    const size_t length = strlen(form);
    size_t fixed = length;
    while (fixed > 0 && isupper((unsigned char)form[fixed - 1])) {
        fixed--;
    }
    if (strncmp(form, value, fixed) != 0) {
        return false;
    }
    const char *const rest = value + fixed;
    if (fixed == length) {
        return rest[0] == '\0';
    }
    if (strcmp(form + fixed, "TEXT") == 0) {
        return rest[0] != '\0';
    }
    return strcmp(form + fixed, "F") == 0 ? is_fraction(rest) : is_whole(rest);
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_named(const plim_technique *row, const char *text, size_t length)
{
    return strlen(row->name) == length && strncmp(row->name, text, length) == 0;
}

/* "autocast takes bf16 or fp16", "set_to_none takes no value", or the names that there are. */
static plim_status refuse(const char *text, size_t length, plim_error *err)
{
    char list[600] = "";
    size_t used = 0;
    size_t named = 0;
    for (size_t i = 0; i < plim_technique_count(); i++) {
        named += is_named(&rows[i], text, length);
    }
    for (size_t i = 0; i < plim_technique_count(); i++) {
        const bool is_listed = named > 0 ? is_named(&rows[i], text, length)
                                         : i == 0 || strcmp(rows[i].name, rows[i - 1].name) != 0;
        const char *const shown = named > 0 ? rows[i].form : rows[i].name;
        if (!is_listed || (named == 0 && strstr(list, shown) != NULL)) {
            continue;
        }
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
                                 shown[0] != '\0' ? shown : "nothing");
    }
    if (named > 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%.*s takes %s, not \"%s\"", (int)length, text,
                         list, plim_technique_value(text));
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT, "no technique is called \"%.*s\"; there are %s",
                     (int)length, text, list);
}

plim_status plim_technique_find(const char *text, const plim_technique **ret, plim_error *err)
{
    const size_t length = strcspn(text, "=");
    const char *const value = plim_technique_value(text);
    for (size_t i = 0; i < plim_technique_count() && strchr(text, '\n') == NULL; i++) {
        if (is_named(&rows[i], text, length) && is_of_form(rows[i].form, value) &&
            (value[0] != '\0') == (rows[i].form[0] != '\0')) {
            *ret = &rows[i];
            return PLIM_OK;
        }
    }
    return refuse(text, length, err);
}

/* ---- together -------------------------------------------------------------------------------- */

/* Pairs by how they begin, with a reason; docs/commands/techniques.md argues for each. */
static const struct {
    const char *one;
    const char *other;
    const char *why;
} excluded[] = {
    { "optimizer=in_backward", "accumulate",
      "the weights would change before all pieces have come" },
    { "optimizer=in_backward", "autocast=fp16",
      "all gradients are unscaled before a weight changes" },
    { "optimizer=in_backward", "offload=optimizer", "both take the optimizer's step over" },
    { "optimizer=in_backward", "optimizer", "there is one optimizer" },
    { "offload=optimizer", "optimizer=8bit", "its states stay on the device" },
    { "offload=optimizer", "fused", "the host's optimizer has no fused kernel here" },
    { "offload=optimizer", "foreach", "nothing of the step is left on the device" },
    { "offload=layer_inputs", "checkpoint", "it recomputes the same blocks already" },
    { "offload=layer_inputs", "offload=all_saved", "each decides alone what goes to the host" },
    { "offload=all_saved", "checkpoint", "little is left to be saved, and that goes twice" },
    { "fused", "foreach=off", "there is one way to step" },
    { "fused", "optimizer=8bit", "bitsandbytes has kernels of its own" },
    { "foreach", "optimizer=8bit", "bitsandbytes has kernels of its own" },
    { "fused", "optimizer=adafactor", "Adafactor has no fused kernel" },
    { "weights=bf16", "autocast", "products are in the weights' type already" },
    { "batch", "accumulate", "both decide how much goes through at a time" },
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* True if one decides for the evaluation alone, and the other does not. */
static bool is_apart(const char *text, const char *other)
{
    return begins(text, "batch=eval:") != begins(other, "batch=eval:");
}

const char *plim_technique_excludes(const char *text, const char *other)
{
    const size_t length = strcspn(text, "=");
    if (is_apart(text, other)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(excluded) / sizeof(excluded[0]); i++) {
        if ((begins(text, excluded[i].one) && begins(other, excluded[i].other)) ||
            (begins(other, excluded[i].one) && begins(text, excluded[i].other))) {
            return excluded[i].why;
        }
    }
    const bool is_one = length == strcspn(other, "=") && strncmp(text, other, length) == 0;
    return is_one && !begins(text, "offload") ? "it is given twice" : NULL;
}

const char *plim_technique_label_name(plim_technique_label label)
{
    static const char *const names[] = {
        [SAME] = "same result",
        [IN_EXPECTATION] = "same in expectation",
        [CHANGED] = "changed",
    };
    return names[label];
}
