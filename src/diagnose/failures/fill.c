/*
 * fill.c - what fills a device at the moment of a failure.
 */
#include "diagnose/failures/judged.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/numbers.h"

#include <string.h>

#define MOST_SHARE 0.5 /* of what is live and requested: it is what fills the device */
/* Gradients and states below this share of the weights: nothing is trained, or next to nothing. */
#define TRAINED_SHARE 0.1
/* Frames of a stack, from its innermost on, whose names say that a cache is made or grows. */
#define CACHE_FRAMES_MAX 8u
/* Requests before a failure among which the first of its function's call is looked for. */
#define CALL_REQUESTS_MAX 64u
/* Sizes so near are copies of one tensor. */
#define SAME_SIZE_SHARE 0.01

/* True if a name has the word, in any case of letters. */
static bool has_word(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (; *name != '\0'; name++) {
        size_t i = 0;
        while (i < length && plim_lower(name[i]) == word[i]) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

static const char *file_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* True if a stack is of code that keeps keys and values: make_cache(), cache_utils.py, … */
static bool is_cache_stack(const plim_case *one, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    for (uint32_t i = 0; i < frames.frame_count && i < CACHE_FRAMES_MAX; i++) {
        const plim_frame *const frame = plim_history_frame(one->history, frames.frames[i]);
        const char *const names[] = {
            plim_history_string(one->history, frame->name, NULL),
            file_of(plim_history_string(one->history, frame->filename, NULL)),
        };
        for (size_t k = 0; k < 2; k++) {
            if ((has_word(names[k], "cache") && !has_word(names[k], "lru")) ||
                has_word(names[k], "past_key")) {
                return true;
            }
        }
    }
    return false;
}

typedef struct fill {
    uint64_t sums[PLIM_CATEGORY_COUNT];
    uint64_t total;
    uint64_t cache_bytes;
} fill;

static plim_category category_of_request(const plim_case *one, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, stack);
    if (kind == PLIM_STACK_FORWARD || kind == PLIM_STACK_RECOMPUTE) {
        return PLIM_CATEGORY_ACTIVATIONS;
    }
    if (kind == PLIM_STACK_BUILD) {
        return PLIM_CATEGORY_PARAMETERS;
    }
    return kind == PLIM_STACK_OPTIMIZER_SETUP || kind == PLIM_STACK_OPTIMIZER_STATE
               ? PLIM_CATEGORY_OPTIMIZER_STATE
               : PLIM_CATEGORY_OTHER;
}

static bool add_live(const plim_case *one, const plim_oom_moment *oom, fill *sums)
{
    const size_t stacks = plim_history_stack_count(one->history);
    uint8_t *const seen = plim_mem_alloc_zeroed(one->mem, stacks + 1, 1); /* 1: no, 2: a cache */
    if (seen == NULL) {
        return false;
    }
    plim_live live = plim_timeline_live(&one->view.timeline, (int64_t)oom->event, false);
    plim_allocation found;
    while (plim_live_next(&live, &found)) {
        uint64_t *const sum = &sums->sums[one->view.categories.of[found.id]];
        *sum = plim_plus(*sum, found.requested_bytes);
        sums->total = plim_plus(sums->total, found.requested_bytes);
        if (found.stack == PLIM_NONE) {
            continue;
        }
        if (seen[found.stack] == 0) {
            seen[found.stack] = is_cache_stack(one, found.stack) ? 2 : 1;
        }
        if (seen[found.stack] == 2) {
            sums->cache_bytes = plim_plus(sums->cache_bytes, found.requested_bytes);
        }
    }
    plim_mem_free(one->mem, seen, stacks + 1, 1);
    return true;
}

static plim_cause cause_of(const plim_case *one, const plim_oom_moment *oom, const fill *all)
{
    const uint64_t *const sums = all->sums;
    const double most = MOST_SHARE * (double)all->total;
    const double weights = (double)sums[PLIM_CATEGORY_PARAMETERS];
    const double trained =
        (double)sums[PLIM_CATEGORY_GRADIENTS] + (double)sums[PLIM_CATEGORY_OPTIMIZER_STATE];
    if (!one->passes.has_backward &&
        (is_cache_stack(one, oom->stack) || (double)all->cache_bytes >= most)) {
        return PLIM_CAUSE_KV_CACHE;
    }
    if ((double)sums[PLIM_CATEGORY_ACTIVATIONS] >= most) {
        return PLIM_CAUSE_ACTIVATIONS;
    }
    if (weights >= most && trained < TRAINED_SHARE * weights) {
        return PLIM_CAUSE_PARAMETERS;
    }
    return weights + trained >= most ? PLIM_CAUSE_MODEL_STATE : PLIM_CAUSE_LIVE_DATA;
}

plim_status plim_failure_fill(plim_case *one, const plim_oom_moment *oom, plim_cause *ret_cause,
                              plim_full_part *ret_largest, plim_error *err)
{
    fill all = { 0 };
    if (!add_live(one, oom, &all)) {
        return plim_fail_memory(err, "adding up what was live");
    }
    size_t largest = 0;
    for (size_t i = 1; i < PLIM_CATEGORY_COUNT; i++) {
        largest = all.sums[i] > all.sums[largest] ? i : largest;
    }
    const bool is_state = largest == PLIM_CATEGORY_OPTIMIZER_STATE;
    *ret_largest = (plim_full_part){
        is_state ? "optimizer states" : plim_category_name((plim_category)largest),
        largest != PLIM_CATEGORY_OTHER ? all.sums[largest] : 0, /* "other" says nothing */
    };
    uint64_t *const of_request = &all.sums[category_of_request(one, oom->stack)];
    *of_request = plim_plus(*of_request, oom->requested_bytes);
    all.total = plim_plus(all.total, oom->requested_bytes);
    *ret_cause = cause_of(one, oom, &all);
    return PLIM_OK;
}

/* --- the line to blame --- */

static bool is_attention(const plim_case *one, const plim_frame *frame)
{
    const char *const name = plim_history_string(one->history, frame->name, NULL);
    const char *const file = file_of(plim_history_string(one->history, frame->filename, NULL));
    return has_word(name, "attn") || has_word(name, "atten") || has_word(file, "attn") ||
           has_word(file, "atten");
}

plim_code_place plim_failure_root(plim_case *one, const plim_oom_moment *oom)
{
    const plim_events *const events = &one->device->events;
    plim_code_place root = plim_case_place(one, oom->stack);
    if (root.frame == PLIM_NONE) {
        return root;
    }
    const plim_frame *const own = plim_history_frame(one->history, root.frame);
    uint32_t line = own->line;
    uint32_t seen = 0;
    for (uint64_t i = oom->event; i-- > 0 && is_attention(one, own) && seen < CALL_REQUESTS_MAX;) {
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        seen++;
        const plim_code_place place = plim_case_place(one, events->stack[i]);
        if (place.frame == PLIM_NONE) {
            continue;
        }
        const plim_frame *const frame = plim_history_frame(one->history, place.frame);
        if (frame->filename != own->filename || frame->name != own->name) {
            continue;
        }
        if (frame->line > line) {
            break; /* the call before */
        }
        line = frame->line;
        const uint64_t bytes = events->bytes[i];
        const uint64_t off = bytes > oom->requested_bytes ? bytes - oom->requested_bytes
                                                          : oom->requested_bytes - bytes;
        if ((double)off <= SAME_SIZE_SHARE * (double)oom->requested_bytes) {
            root = place;
        }
    }
    return root;
}
