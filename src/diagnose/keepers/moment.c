/*
 * moment.c - see moment.h.
 */
#include "diagnose/keepers/moment.h"

#include <string.h>

/* Sizes that are rounded up to the allocator's unit are recorded by some releases. */
#define UNIT_BYTES 512u

int64_t plim_holders_moment(const plim_case *one)
{
    const size_t failures = one->facts->oom_count;
    if (plim_holders_facts_of(one->options->holders)->is_at_failure && failures > 0) {
        return (int64_t)one->facts->ooms[failures - 1].event;
    }
    const uint64_t count = one->device->events.count;
    return count > 0 ? (int64_t)(count - 1) : PLIM_AT_START;
}

/* A block that another tensor has taken since has another size, most of the time. */
static bool is_same(const plim_allocation *allocation, const plim_holder_block *block)
{
    const uint64_t most = allocation->block_bytes > allocation->requested_bytes
                              ? allocation->block_bytes
                              : allocation->requested_bytes;
    const uint64_t requested = allocation->requested_bytes;
    return block->bytes == 0 || (block->bytes <= most && (requested <= block->bytes ||
                                                          requested - block->bytes < UNIT_BYTES));
}

const plim_holder *plim_holder_of(const plim_case *one, const plim_allocation *allocation)
{
    const plim_holder_block *const block =
        plim_holders_find(one->options->holders, one->device->device, allocation->addr);
    return block != NULL && is_same(allocation, block) ? block->holder : NULL;
}

static plim_category category_of(plim_holder_kind kind)
{
    return kind == PLIM_HOLDER_PARAMETERS || kind == PLIM_HOLDER_BUFFERS ? PLIM_CATEGORY_PARAMETERS
           : kind == PLIM_HOLDER_GRADIENTS                               ? PLIM_CATEGORY_GRADIENTS
           : kind == PLIM_HOLDER_OPTIMIZER_STATES ? PLIM_CATEGORY_OPTIMIZER_STATE
                                                  : PLIM_CATEGORY_OTHER;
}

bool plim_holder_is_collection(const plim_holder *holder)
{
    static const char *const types[] = { "list",  "tuple",       "dict",       "set",
                                         "deque", "defaultdict", "OrderedDict" };
    const bool is_variable =
        holder->kind == PLIM_HOLDER_LOCAL || holder->kind == PLIM_HOLDER_GLOBAL ||
        holder->kind == PLIM_HOLDER_ATTRIBUTE || holder->kind == PLIM_HOLDER_CLOSURE ||
        holder->kind == PLIM_HOLDER_NOTEBOOK_OUTPUT;
    for (size_t i = 0; is_variable && holder->type != NULL && i < sizeof types / sizeof types[0];
         i++) {
        if (strcmp(holder->type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* True if a guess by stack and lifetime cannot be: weights and states that no module and no
 * optimizer has, where all blocks are known; activations that a collection has. */
static bool is_disproved(const plim_case *one, plim_category guess, const plim_holder *holder)
{
    const plim_holders_facts *const facts = plim_holders_facts_of(one->options->holders);
    const bool is_known = holder != NULL ? holder->kind == PLIM_HOLDER_GARBAGE
                                         : facts->is_complete && facts->has_all_blocks;
    if (is_known && (guess == PLIM_CATEGORY_PARAMETERS || guess == PLIM_CATEGORY_OPTIMIZER_STATE)) {
        return true;
    }
    if (holder == NULL) {
        return false;
    }
    return guess == PLIM_CATEGORY_ACTIVATIONS && plim_holder_is_collection(holder);
}

void plim_holders_categorise(plim_case *one)
{
    plim_live live = plim_timeline_live(&one->view.timeline, plim_holders_moment(one), false);
    plim_allocation allocation;
    while (plim_live_next(&live, &allocation)) {
        const plim_holder *const holder = plim_holder_of(one, &allocation);
        uint8_t *const category = &one->view.categories.of[allocation.id];
        const plim_category proven =
            holder != NULL ? category_of(holder->kind) : PLIM_CATEGORY_OTHER;
        if (proven != PLIM_CATEGORY_OTHER || is_disproved(one, (plim_category)*category, holder)) {
            *category = (uint8_t)proven;
            one->view.categories.rule_of[allocation.id] = PLIM_CATEGORY_RULE_HOLDERS;
        }
    }
}
