/*
 * space.c - see space.h.
 */
#include "fit/space.h"

#include "base/error.h"
#include "fit/cost.h"
#include "fit/degree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE   PLIM_FIT_OF_WHOLE
#define PIECE   PLIM_FIT_OF_PIECE
#define NOTHING PLIM_FIT_OF_NOTHING

/* An axis a line. Of a graded one "*" marks the choice that is rehearsed alone for the others. */
static const struct {
    bool is_graded;
    plim_fit_part part;
    const char *choices[PLIM_FIT_CHOICES];
} axes[PLIM_FIT_AXES] = {
    { false, NOTHING, { "set_to_none" } },
    { false, NOTHING, { "inference_mode" } },
    { false, PIECE, { "attention=flash" } },
    { false, PIECE, { "loss=chunked" } },
    { false, NOTHING, { "conf=expandable_segments:True" } },
    { false, NOTHING, { "kv=static" } },
    { false, WHOLE, { "autocast=bf16", "autocast=fp16" } },
    { false, WHOLE, { "weights=bf16" } },
    { false, NOTHING, { "fused", "foreach=off" } },
    { false, NOTHING, { "empty_cache" } },
    { false,
      NOTHING,
      { "optimizer=in_backward", "optimizer=8bit", "optimizer=adafactor", "optimizer=sgd" } },
    { false, NOTHING, { "offload=optimizer" } },
    { true,
      WHOLE,
      { "accumulate=2*", "accumulate=4", "accumulate=8", "accumulate=16", "accumulate=32",
        "accumulate=64" } },
    { false,
      PIECE,
      { "checkpoint=every:4", "checkpoint=every:2", "checkpoint=fraction:0.75", "checkpoint*",
        "offload=layer_inputs", "offload=all_saved" } },
};

/* GPUs before this have no bfloat16 of their own. */
#define BFLOAT16_CAPABILITY 8

/* True if a line of `only` names the technique, with its value or without. */
static bool is_wanted(const char *only, const char *text)
{
    const size_t name = strcspn(text, "=");
    for (const char *line = only; line != NULL && line[0] != '\0';) {
        const size_t length = strcspn(line, "\n");
        if ((length == strlen(text) && strncmp(line, text, length) == 0) ||
            (length == name && strncmp(line, text, length) == 0)) {
            return true;
        }
        line += length + (line[length] == '\n');
    }
    return only == NULL;
}

/* False if something that is on in every rehearsal excludes it. */
static bool goes_with(const char *lines, const char *text)
{
    char one[PLIM_FIT_LINES_BYTES];
    for (const char *line = lines; line != NULL && line[0] != '\0';) {
        const size_t length = strcspn(line, "\n");
        (void)snprintf(one, sizeof(one), "%.*s", (int)length, line);
        if (plim_technique_excludes(one, text) != NULL) {
            return false;
        }
        line += length + (line[length] == '\n');
    }
    return true;
}

static bool is_of_gpu(const plim_gpu *gpu, const char *text)
{
    const bool has_bfloat16 = gpu == NULL || gpu->capability_major >= BFLOAT16_CAPABILITY;
    return strcmp(text, has_bfloat16 ? "autocast=fp16" : "autocast=bf16") != 0;
}

/* Of the saving of the choice that stands for it: pieces beside two, blocks beside all. */
static double share_of(const char *text)
{
    return plim_fit_is_accumulation(text) ? 2 * (1 - 1 / plim_fit_pieces(text))
                                          : plim_fit_blocks(text);
}

static void find_exclusions(plim_fit_space *space, size_t axis, uint8_t i)
{
    for (size_t other = 0; other < PLIM_FIT_AXES; other++) {
        for (uint8_t j = 1; other != axis && j < space->counts[other]; j++) {
            space->excludes[axis][i][other][j] =
                plim_technique_excludes(space->choices[axis][i].text,
                                        space->choices[other][j].text) != NULL;
        }
    }
}

/* False of a choice that shares its axis with degrees of another technique. */
static bool is_degree(const plim_fit_choice *choice)
{
    return strncmp(choice->text, "offload", 7) != 0;
}

/* The marked degree, or where `only` leaves that out the open one that is nearest to it. */
static uint8_t nearest_open(const plim_fit_space *space, size_t axis, uint8_t marked)
{
    const plim_fit_choice *const choices = space->choices[axis];
    uint8_t nearest = 0;
    for (uint8_t i = 1; i < space->counts[axis]; i++) {
        if (choices[i].is_open && is_degree(&choices[i]) &&
            (nearest == 0 || abs(i - marked) < abs(nearest - marked))) {
            nearest = i;
        }
    }
    return nearest > 0 ? nearest : marked;
}

/* The choices of an axis; those of a line with a mark are measured by the marked one. */
static void find_choices(plim_fit_space *space, size_t axis, const plim_fit_options *options,
                         const plim_gpu *gpu)
{
    uint8_t marked = 0;
    uint8_t count = 1;
    for (size_t i = 0; i + 1 < PLIM_FIT_CHOICES && axes[axis].choices[i] != NULL; i++) {
        plim_fit_choice *const choice = &space->choices[axis][count];
        const char *const text = axes[axis].choices[i];
        const size_t length = strcspn(text, "*");
        (void)snprintf(choice->text, sizeof(choice->text), "%.*s", (int)length, text);
        marked = text[length] == '*' ? count : marked;
        choice->share = share_of(choice->text);
        const char *const texts[] = { choice->text };
        choice->slowdown = plim_fit_slowdown(NULL, NULL, texts, 1);
        choice->is_open =
            plim_technique_find(choice->text, &choice->technique, NULL) == PLIM_OK &&
            is_wanted(options->only, choice->text) && is_of_gpu(gpu, choice->text) &&
            goes_with(options->rehearse.techniques, choice->text) &&
            (options->allows_changed || choice->technique->label != PLIM_TECHNIQUE_CHANGED);
        count++;
    }
    space->counts[axis] = count;
    space->is_graded[axis] = axes[axis].is_graded;
    space->parts[axis] = axes[axis].part;
    const uint8_t alone = nearest_open(space, axis, marked);
    for (uint8_t i = 1; i < count; i++) {
        plim_fit_choice *const choice = &space->choices[axis][i];
        choice->alone = marked > 0 && is_degree(choice) ? alone : i;
    }
}

void plim_fit_space_init(plim_fit_space *space, const plim_fit_options *options,
                         const plim_gpu *gpu)
{
    *space = (plim_fit_space){ 0 };
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        find_choices(space, axis, options, gpu);
    }
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        for (uint8_t i = 1; i < space->counts[axis]; i++) {
            find_exclusions(space, axis, i);
        }
    }
}

bool plim_fit_is_expandable(const char *text)
{
    return strstr(text, "expandable_segments:True") != NULL;
}

size_t plim_fit_stack_size(const plim_fit_stack *stack)
{
    size_t size = 0;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        size += stack->at[axis] > 0;
    }
    return size;
}

/* A share of checkpointing is part of a larger one, though not of what is offloaded. */
static bool is_part(const plim_fit_space *space, size_t axis, uint8_t part, uint8_t whole)
{
    const plim_fit_choice *const choices = space->choices[axis];
    return part == 0 || part == whole ||
           (part < whole &&
            (space->is_graded[axis] || (choices[part].alone == choices[whole].alone && whole > 0)));
}

bool plim_fit_stack_covers(const plim_fit_space *space, const plim_fit_stack *whole,
                           const plim_fit_stack *part)
{
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        if (!is_part(space, axis, part->at[axis], whole->at[axis])) {
            return false;
        }
    }
    return true;
}

size_t plim_fit_add_technique(char *text, size_t bytes, size_t length, char separator,
                              const char *one)
{
    return length >= bytes ? length
                           : length + (size_t)snprintf(text + length, bytes - length, "%.*s%s",
                                                       length > 0, &separator, one);
}

void plim_fit_stack_write(const plim_fit_space *space, const plim_fit_stack *stack, char separator,
                          char *text, size_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        if (stack->at[axis] > 0) {
            length = plim_fit_add_technique(text, bytes, length, separator,
                                            space->choices[axis][stack->at[axis]].text);
        }
    }
}

bool plim_fit_stack_takes(const plim_fit_space *space, const plim_fit_stack *stack, size_t axis,
                          uint8_t choice)
{
    for (size_t i = 0; i < PLIM_FIT_AXES; i++) {
        if (i != axis && space->excludes[axis][choice][i][stack->at[i]]) {
            return false;
        }
    }
    return true;
}

bool plim_fit_stack_read(const plim_fit_space *space, const char *line, plim_fit_stack *ret)
{
    *ret = (plim_fit_stack){ { 0 } };
    while (line[0] != '\0') {
        const size_t length = strcspn(line, " \n");
        bool is_found = length == 0;
        for (size_t axis = 0; axis < PLIM_FIT_AXES && !is_found; axis++) {
            for (uint8_t i = 1; i < space->counts[axis] && !is_found; i++) {
                const char *const text = space->choices[axis][i].text;
                is_found = strlen(text) == length && strncmp(text, line, length) == 0;
                ret->at[axis] = is_found ? i : ret->at[axis];
            }
        }
        if (!is_found) {
            return false;
        }
        line += length + (line[length] != '\0');
    }
    return true;
}

plim_technique_label plim_fit_stack_label(const plim_fit_space *space, const plim_fit_stack *stack)
{
    plim_technique_label label = PLIM_TECHNIQUE_SAME;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        const plim_technique *const row = space->choices[axis][stack->at[axis]].technique;
        label = stack->at[axis] > 0 && row->label > label ? row->label : label;
    }
    return label;
}

/* ---- names that a caller gives --------------------------------------------------------------- */

/* Rows that a name is of, and those of them that may be searched. */
static size_t count_wanted(const char *only, bool allows_changed, size_t *ret_open)
{
    size_t count = 0;
    *ret_open = 0;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        for (size_t i = 0; i + 1 < PLIM_FIT_CHOICES && axes[axis].choices[i] != NULL; i++) {
            const char *const text = axes[axis].choices[i];
            char one[sizeof(((plim_fit_choice *)0)->text)];
            const plim_technique *row = NULL;
            (void)snprintf(one, sizeof(one), "%.*s", (int)strcspn(text, "*"), text);
            if (is_wanted(only, one) && plim_technique_find(one, &row, NULL) == PLIM_OK) {
                count++;
                *ret_open += allows_changed || row->label != PLIM_TECHNIQUE_CHANGED;
            }
        }
    }
    return count;
}

static bool is_name(const char *text)
{
    for (size_t i = 0; i < plim_technique_count(); i++) {
        if (strcmp(plim_technique_at(i)->name, text) == 0) {
            return true;
        }
    }
    return false;
}

static plim_status check_wanted(const char *text, bool allows_changed, plim_error *err)
{
    const plim_technique *row = NULL;
    size_t open = 0;
    const size_t count = count_wanted(text, allows_changed, &open);
    if (open > 0) {
        return PLIM_OK;
    }
    if (!is_name(text)) {
        PLIM_TRY(plim_technique_find(text, &row, err));
    }
    return count > 0
               ? plim_fail(err, PLIM_INVALID_ARGUMENT,
                           "%s changes the result: allow changed, or leave it out", text)
               : plim_fail(err, PLIM_INVALID_ARGUMENT,
                           "the search does not try %s; --also rehearses a stack with it", text);
}

plim_status plim_fit_check_only(const plim_fit_options *options, plim_error *err)
{
    for (const char *line = options->only; line != NULL && line[0] != '\0';) {
        char text[PLIM_FIT_LINES_BYTES];
        const size_t length = strcspn(line, "\n");
        (void)snprintf(text, sizeof(text), "%.*s", (int)length, line);
        PLIM_TRY(check_wanted(text, options->allows_changed, err));
        line += length + (line[length] == '\n');
    }
    return PLIM_OK;
}
