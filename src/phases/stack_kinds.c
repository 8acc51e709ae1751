/*
 * stack_kinds.c - what the frames of a stack say together. See stack_kinds.h.
 */
#include "phases/stack_kinds.h"

#include "base/error.h"
#include "base/memory.h"
#include "stacks/frames.h"

/* A frame's byte: its role, or, where it has none that matters here, whose Python it is. */
enum {
    SAYS_NOTHING = PLIM_ROLE_EITHER, /* native, too */
    SAYS_PACKAGE = PLIM_ROLE_COUNT,
    SAYS_USER,
};

static uint8_t frame_of(const plim_history *history, const plim_frame *frame)
{
    const char *file = plim_history_string(history, frame->filename, NULL);
    const char *name = plim_history_string(history, frame->name, NULL);
    const plim_frame_owner owner = plim_frame_owner_of(file, name, frame->line);
    const plim_frame_role role = plim_frame_role_of(file, name, owner);
    if (role != PLIM_ROLE_NONE) {
        return (uint8_t)role;
    }
    if (owner == PLIM_FRAME_NATIVE) {
        return SAYS_NOTHING;
    }
    return owner == PLIM_FRAME_USER ? SAYS_USER : SAYS_PACKAGE;
}

static bool is_deciding(uint8_t says)
{
    return says >= PLIM_ROLE_CALL && says < PLIM_ROLE_COUNT;
}

static const uint8_t kind_of_deciding[] = {
    [PLIM_ROLE_CALL] = PLIM_STACK_FORWARD,
    [PLIM_ROLE_BUILD] = PLIM_STACK_BUILD,
    [PLIM_ROLE_DATA] = PLIM_STACK_DATA,
    [PLIM_ROLE_RECOMPUTE] = PLIM_STACK_RECOMPUTE,
    [PLIM_ROLE_BACKWARD] = PLIM_STACK_BACKWARD,
    [PLIM_ROLE_ENGINE] = PLIM_STACK_BACKWARD,
    [PLIM_ROLE_BUCKETS] = PLIM_STACK_BUCKETS,
    [PLIM_ROLE_GRADIENT_TOOLS] = PLIM_STACK_GRADIENT_TOOLS,
    [PLIM_ROLE_ZERO_GRAD] = PLIM_STACK_ZERO_GRAD,
    [PLIM_ROLE_OPTIMIZER_SETUP] = PLIM_STACK_OPTIMIZER_SETUP,
    [PLIM_ROLE_OPTIMIZER_STATE] = PLIM_STACK_OPTIMIZER_STATE,
    [PLIM_ROLE_OPTIMIZER_STEP] = PLIM_STACK_OPTIMIZER_STEP,
};

/* The classes of a stack, from all its frames. */
typedef struct stack_says {
    uint8_t deciding;  /* the innermost that decides, or SAYS_NOTHING */
    uint8_t outermost; /* of Python's */
    bool in_backward;  /* some frame outside of that belongs to the backward pass */
    bool has_python;
    bool has_init;
} stack_says;

static stack_says read_stack(const uint8_t *of_frame, plim_stack stack)
{
    stack_says says = { .deciding = SAYS_NOTHING, .outermost = SAYS_NOTHING };
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const uint8_t one = of_frame[stack.frames[i]];
        if (is_deciding(one) && says.deciding == SAYS_NOTHING) {
            says.deciding = one;
        }
        says.in_backward =
            says.in_backward || one == PLIM_ROLE_RECOMPUTE || one == PLIM_ROLE_BACKWARD;
        says.has_init = says.has_init || one == PLIM_ROLE_INIT;
        if (one != SAYS_NOTHING && one != PLIM_ROLE_ENGINE) {
            says.has_python = true;
            says.outermost = one;
        }
    }
    return says;
}

static plim_stack_kind kind_of(const uint8_t *of_frame, plim_stack stack)
{
    const stack_says says = read_stack(of_frame, stack);
    if (says.deciding == PLIM_ROLE_CALL && says.in_backward) {
        return PLIM_STACK_RECOMPUTE;
    }
    if (says.deciding == PLIM_ROLE_ENGINE && says.has_python && !says.in_backward) {
        return PLIM_STACK_BACKWARD;
    }
    if (says.deciding != SAYS_NOTHING) {
        return (plim_stack_kind)kind_of_deciding[says.deciding];
    }
    if (!says.has_python) {
        return PLIM_STACK_NONE;
    }
    /* A program's own thread begins in its own code. What begins in a package was called from
     * native code: a hook, in the engine's thread. */
    if (says.outermost == SAYS_PACKAGE) {
        return PLIM_STACK_BACKWARD;
    }
    return says.has_init ? PLIM_STACK_USER_INIT : PLIM_STACK_USER;
}

/*
 * Where an object is made that makes the one at hand: the frame that calls the outermost
 * __init__, or PLIM_NONE. Modules made for one model share it, whatever their depth.
 */
static uint32_t site_of(const plim_stack_kinds *kinds, const plim_history *history,
                        plim_stack stack)
{
    uint32_t site = PLIM_NONE;
    bool was_init = false;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        if (!plim_frame_is_python(kinds, stack.frames[i])) {
            continue;
        }
        if (was_init) {
            site = stack.frames[i];
        }
        const plim_frame *frame = plim_history_frame(history, stack.frames[i]);
        was_init = plim_frame_is_init(plim_history_string(history, frame->name, NULL));
    }
    return site;
}

/*
 * What a program's own object takes while it is made is a weight if modules are made there too,
 * and may be anything (a cache of keys and values) if modules are made elsewhere only.
 */
static void judge_inits(plim_stack_kinds *kinds, const plim_history *history, uint8_t *is_site)
{
    bool has_site = false;
    for (uint32_t i = 0; i < kinds->stack_count; i++) {
        const uint32_t site = kinds->of_stack[i] == PLIM_STACK_BUILD
                                  ? site_of(kinds, history, plim_history_stack(history, i))
                                  : PLIM_NONE;
        if (site != PLIM_NONE) {
            is_site[site] = 1;
            has_site = true;
        }
    }
    for (uint32_t i = 0; has_site && i < kinds->stack_count; i++) {
        if (kinds->of_stack[i] == PLIM_STACK_USER_INIT) {
            const uint32_t site = site_of(kinds, history, plim_history_stack(history, i));
            if (site == PLIM_NONE || is_site[site] == 0) {
                kinds->of_stack[i] = PLIM_STACK_USER;
            }
        }
    }
}

plim_status plim_stack_kinds_init(plim_stack_kinds *ret_kinds, const plim_history *history,
                                  const plim_mem *mem, plim_error *err)
{
    plim_stack_kinds kinds = { .mem = mem,
                               .stack_count = plim_history_stack_count(history),
                               .frame_count = plim_history_frame_count(history) };
    kinds.of_stack = plim_mem_alloc_zeroed(mem, kinds.stack_count + 1, 1);
    kinds.of_frame = plim_mem_alloc_zeroed(mem, kinds.frame_count + 1, 1);
    uint8_t *is_site = plim_mem_alloc_zeroed(mem, kinds.frame_count + 1, 1);
    if (kinds.of_stack == NULL || kinds.of_frame == NULL || is_site == NULL) {
        plim_mem_free(mem, is_site, kinds.frame_count + 1, 1);
        plim_stack_kinds_deinit(&kinds);
        return plim_fail_memory(err, "reading stacks");
    }
    for (uint32_t i = 0; i < kinds.frame_count; i++) {
        kinds.of_frame[i] = frame_of(history, plim_history_frame(history, i));
    }
    for (uint32_t i = 0; i < kinds.stack_count; i++) {
        kinds.of_stack[i] = (uint8_t)kind_of(kinds.of_frame, plim_history_stack(history, i));
    }
    judge_inits(&kinds, history, is_site);
    plim_mem_free(mem, is_site, kinds.frame_count + 1, 1);
    *ret_kinds = kinds;
    return PLIM_OK;
}

void plim_stack_kinds_deinit(plim_stack_kinds *kinds)
{
    if (kinds->mem == NULL) {
        return;
    }
    plim_mem_free(kinds->mem, kinds->of_stack, kinds->stack_count + 1, 1);
    plim_mem_free(kinds->mem, kinds->of_frame, kinds->frame_count + 1, 1);
    *kinds = (plim_stack_kinds){ 0 };
}

bool plim_frame_is_python(const plim_stack_kinds *kinds, uint32_t frame)
{
    return frame < kinds->frame_count && kinds->of_frame[frame] != SAYS_NOTHING &&
           kinds->of_frame[frame] != PLIM_ROLE_ENGINE;
}

bool plim_frame_is_module_call(const plim_stack_kinds *kinds, uint32_t frame)
{
    return frame < kinds->frame_count && kinds->of_frame[frame] == PLIM_ROLE_CALL;
}

uint32_t plim_backward_line(const plim_stack_kinds *kinds, plim_stack stack)
{
    bool is_called = false;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const uint8_t one = kinds->of_frame[stack.frames[i]];
        if (is_called && one == SAYS_USER) {
            return stack.frames[i];
        }
        is_called = is_called || one == PLIM_ROLE_BACKWARD;
    }
    return PLIM_NONE;
}
