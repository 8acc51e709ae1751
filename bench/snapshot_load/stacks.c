/*
 * stacks.c - which frames a stack has, worked out from its number alone.
 *
 *   innermost                                                                    outermost
 *   3 of its own (142..499) | modules (42..141) between calls (40, 41) | phase (8..39) | main
 * (0..7)
 */
#include "stacks.h"

#include <stdio.h>

enum { MAIN = 8, PHASE = 8, PHASES = 4, CALLS = MAIN + PHASE * PHASES, MODULES = CALLS + 2 };
enum { OWN = 3, OWN_FIRST = 142 };

static uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

uint32_t stacks_depth(uint32_t stack, uint32_t depth)
{
    return depth - STACKS_DEPTH_SPREAD + mix(stack + 1) % (2 * STACKS_DEPTH_SPREAD + 1);
}

uint32_t stacks_frame(uint32_t stack, uint32_t depth, uint32_t index)
{
    if (index < OWN) {
        return OWN_FIRST + (stack * OWN + index) % (STACKS_FRAMES - OWN_FIRST);
    }
    const uint32_t from_outside = stacks_depth(stack, depth) - 1 - index;
    if (from_outside < MAIN) {
        return from_outside;
    }
    if (from_outside < MAIN + PHASE) {
        return MAIN + stack / 80 * PHASE + (from_outside - MAIN);
    }
    const uint32_t place = from_outside - MAIN - PHASE;
    if (place % 3 < 2) {
        return CALLS + place % 3;
    }
    const uint32_t kind = stack / 16; /* one kind of layer in one phase */
    return MODULES + mix(kind * 64 + place) % (OWN_FIRST - MODULES);
}

uint32_t stacks_describe(uint32_t frame, char name[STACKS_TEXT_BYTES],
                         char filename[STACKS_TEXT_BYTES])
{
    static const char *const verbs[] = { "forward", "backward", "apply",  "project", "normalize",
                                         "attend",  "update",   "gather", "scale",   "embed" };
    static const char *const nouns[] = { "tokens", "heads",  "block",   "weights", "mask",
                                         "states", "output", "moments", "batch",   "logits" };
    static const char *const files[] = {
        "/srv/train/model/attention.py",
        "/srv/train/model/feed_forward.py",
        "/srv/train/model/transformer.py",
        "/srv/train/loop.py",
        "/srv/venv/lib/python3.11/site-packages/torch/nn/modules/module.py",
        "/srv/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py",
        "/srv/venv/lib/python3.11/site-packages/torch/nn/functional.py",
        "/srv/venv/lib/python3.11/site-packages/torch/optim/adamw.py",
        "/srv/venv/lib/python3.11/site-packages/torch/optim/optimizer.py",
        "/srv/venv/lib/python3.11/site-packages/torch/autograd/graph.py",
        "/srv/venv/lib/python3.11/site-packages/torch/utils/_contextlib.py",
    };
    const uint32_t dice = mix(frame + 77);
    snprintf(name, STACKS_TEXT_BYTES, "%s_%s", verbs[dice % 10], nouns[dice / 10 % 10]);
    snprintf(filename, STACKS_TEXT_BYTES, "%s", files[dice / 100 % (sizeof files / sizeof *files)]);
    return 1 + dice / 1100 % 2000;
}
