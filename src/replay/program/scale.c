/*
 * scale.c - requests multiplied, by what they are for or where they were made.
 */
#include "replay/program/scale.h"
#include "base/error.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define STACK_PREFIX     "stack:"
#define FRAME_BYTES_MAX  1024
#define SCALED_BYTES_MAX ((double)PLIM_REQUEST_BYTES_MAX)

static plim_status check(const plim_program_options *options, plim_error *err)
{
    if (options->scale_count > PLIM_SCALES_MAX) {
        return plim_fail(err, PLIM_LIMIT, "%zu rules of scaling; up to %d work",
                         options->scale_count, PLIM_SCALES_MAX);
    }
    for (size_t i = 0; i < options->scale_count; i++) {
        const plim_scale *scale = &options->scales[i];
        plim_category category = PLIM_CATEGORY_OTHER;
        const bool is_known = strcmp(scale->what, "all") == 0 ||
                              plim_category_find(scale->what, &category) ||
                              (strncmp(scale->what, STACK_PREFIX, strlen(STACK_PREFIX)) == 0 &&
                               scale->what[strlen(STACK_PREFIX)] != '\0');
        if (!is_known) {
            return plim_fail(err, PLIM_INVALID_ARGUMENT,
                             "nothing is called \"%s\" that could be scaled; try all, "
                             "activations, parameters, gradients, optimizer_state, temporary, "
                             "inputs, other or stack:TEXT",
                             scale->what);
        }
        if (!(scale->factor > 0) || scale->factor > 1e6) {
            return plim_fail(err, PLIM_INVALID_ARGUMENT,
                             "%s cannot be multiplied by %g; above 0 and up to 1000000 works",
                             scale->what, scale->factor);
        }
    }
    return PLIM_OK;
}

static bool is_in_frame(const plim_history *history, uint32_t index, const char *text)
{
    const plim_frame *frame = plim_history_frame(history, index);
    char line[FRAME_BYTES_MAX];
    (void)snprintf(line, sizeof line, "%s:%u %s",
                   plim_history_string(history, frame->filename, NULL), (unsigned)frame->line,
                   plim_history_string(history, frame->name, NULL));
    return strstr(line, text) != NULL;
}

static bool is_in_stack(const plim_history *history, uint32_t stack, const char *text)
{
    const plim_stack frames = plim_history_stack(history, stack);
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        if (is_in_frame(history, frames.frames[i], text)) {
            return true;
        }
    }
    return false;
}

static bool is_stack_rule(const plim_scale *scale)
{
    return strncmp(scale->what, STACK_PREFIX, strlen(STACK_PREFIX)) == 0;
}

static void find_category_rules(plim_scaling *scaling, const plim_program_options *options)
{
    for (size_t i = 0; i < options->scale_count; i++) {
        plim_category wanted = PLIM_CATEGORY_OTHER;
        if (plim_category_find(options->scales[i].what, &wanted)) {
            scaling->by_category[wanted] = (uint8_t)(i + 1);
        } else if (!is_stack_rule(&options->scales[i])) { /* all */
            memset(scaling->by_category, (int)(i + 1), sizeof scaling->by_category);
        }
    }
}

plim_status plim_scaling_init(plim_scaling *scaling, const plim_history *history,
                              const plim_program_options *options, const plim_mem *mem,
                              plim_error *err)
{
    *scaling = (plim_scaling){ .mem = mem, .scales = options->scales };
    PLIM_TRY(check(options, err));
    find_category_rules(scaling, options);
    scaling->stack_count = plim_history_stack_count(history);
    scaling->by_stack = plim_mem_alloc_zeroed(mem, (size_t)scaling->stack_count + 1, 1);
    if (scaling->by_stack == NULL) {
        return plim_fail_memory(err, "looking for stacks to scale");
    }
    for (size_t i = 0; i < options->scale_count; i++) {
        const plim_scale *scale = &options->scales[i];
        for (uint32_t stack = 0; is_stack_rule(scale) && stack < scaling->stack_count; stack++) {
            if (is_in_stack(history, stack, scale->what + strlen(STACK_PREFIX))) {
                scaling->by_stack[stack] = (uint8_t)(i + 1);
            }
        }
    }
    return PLIM_OK;
}

void plim_scaling_deinit(plim_scaling *scaling)
{
    if (scaling->by_stack != NULL) {
        plim_mem_free(scaling->mem, scaling->by_stack, (size_t)scaling->stack_count + 1, 1);
    }
    *scaling = (plim_scaling){ 0 };
}

double plim_scaling_factor(const plim_scaling *scaling, uint8_t category, uint32_t stack)
{
    if (scaling->by_stack == NULL) {
        return 1;
    }
    const uint8_t by_stack = stack < scaling->stack_count ? scaling->by_stack[stack] : 0;
    const uint8_t by_category = scaling->by_category[category];
    const uint8_t rule = by_stack > by_category ? by_stack : by_category;
    return rule == 0 ? 1 : scaling->scales[rule - 1].factor;
}

uint64_t plim_scaled_bytes(uint64_t bytes, double factor)
{
    if (!(factor < 1) && !(factor > 1)) {
        return bytes;
    }
    const double scaled = (double)bytes * factor;
    if (scaled >= SCALED_BYTES_MAX) {
        return PLIM_REQUEST_BYTES_MAX - 1;
    }
    const uint64_t whole = (uint64_t)scaled;
    return (double)whole < scaled || whole == 0 ? whole + 1 : whole;
}
