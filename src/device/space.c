/*
 * space.c - the treap of gaps (Seidel and Aragon 1996), largest gap kept in each node.
 */
#include "device/space.h"

#include "base/assert.h"

#define NO_NODE       PLIM_SPACE_NONE
#define PARANOID_GAPS 64 /* beyond it, a check after each change costs too much */

void plim_space_init(plim_space *space, const plim_mem *mem)
{
    *space = (plim_space){
        .mem = mem, .root = NO_NODE, .free_node = NO_NODE, .random = UINT32_C(2463534242)
    };
}

void plim_space_deinit(plim_space *space)
{
    PLIM_VEC_FREE(space->mem, &space->gaps);
    plim_space_init(space, space->mem);
}

static plim_gap *at(const plim_space *space, uint32_t node)
{
    return &space->gaps.items[node];
}

static uint64_t bytes_max(const plim_space *space, uint32_t node)
{
    return node == NO_NODE ? 0 : at(space, node)->bytes_max;
}

/* After a change to the gap itself or below it. */
static void update(const plim_space *space, uint32_t node)
{
    plim_gap *const gap = at(space, node);
    const uint64_t left = bytes_max(space, gap->left);
    const uint64_t right = bytes_max(space, gap->right);
    const uint64_t below = left > right ? left : right;
    gap->bytes_max = gap->bytes > below ? gap->bytes : below;
}

/* --- nodes --- */

static bool make_room(plim_space *space, size_t gap_count)
{
    while (space->gaps.count < gap_count) {
        if (space->gaps.count >= NO_NODE ||
            !PLIM_VEC_PUSH(space->mem, &space->gaps, ((plim_gap){ .left = space->free_node }))) {
            return false;
        }
        space->free_node = (uint32_t)(space->gaps.count - 1);
    }
    return true;
}

static uint32_t new_node(plim_space *space, uint64_t base, uint64_t bytes)
{
    const uint32_t node = space->free_node;
    PLIM_ASSERT(node != NO_NODE);
    space->free_node = at(space, node)->left;
    space->gap_count++;
    /* xorshift32 (Marsaglia 2003): the tree's shape shows in nothing but speed. */
    space->random ^= space->random << 13;
    space->random ^= space->random >> 17;
    space->random ^= space->random << 5;
    *at(space, node) = (plim_gap){ .base = base,
                                   .bytes = bytes,
                                   .bytes_max = bytes,
                                   .left = NO_NODE,
                                   .right = NO_NODE,
                                   .priority = space->random };
    return node;
}

static void free_node(plim_space *space, uint32_t node)
{
    at(space, node)->left = space->free_node;
    space->free_node = node;
    space->gap_count--;
}

/* --- the tree; all recursion is as deep as the tree, O(log n) --- */

/* Cuts a tree in gaps below and above `base`. */
static void split(plim_space *space, uint32_t node, uint64_t base, uint32_t *ret_low,
                  uint32_t *ret_high)
{
    if (node == NO_NODE) {
        *ret_low = NO_NODE;
        *ret_high = NO_NODE;
        return;
    }
    plim_gap *const gap = at(space, node);
    if (gap->base < base) {
        split(space, gap->right, base, &gap->right, ret_high);
        *ret_low = node;
    } else {
        split(space, gap->left, base, ret_low, &gap->left);
        *ret_high = node;
    }
    update(space, node);
}

/* Joins two trees, all of `low` below all of `high`. */
static uint32_t join(plim_space *space, uint32_t low, uint32_t high)
{
    if (low == NO_NODE) {
        return high;
    }
    if (high == NO_NODE) {
        return low;
    }
    plim_gap *const low_gap = at(space, low);
    plim_gap *const high_gap = at(space, high);
    if (low_gap->priority >= high_gap->priority) {
        low_gap->right = join(space, low_gap->right, high);
        update(space, low);
        return low;
    }
    high_gap->left = join(space, low, high_gap->left);
    update(space, high);
    return high;
}

static uint32_t insert(plim_space *space, uint32_t root, uint32_t node)
{
    if (root == NO_NODE) {
        return node;
    }
    plim_gap *const gap = at(space, node);
    plim_gap *const top = at(space, root);
    if (gap->priority > top->priority) {
        split(space, root, gap->base, &gap->left, &gap->right);
        update(space, node);
        return node;
    }
    uint32_t *const side = gap->base < top->base ? &top->left : &top->right;
    *side = insert(space, *side, node);
    update(space, root);
    return root;
}

/* A gap as it is to be: `bytes` 0 takes it out of the tree. Its place in the order must stay. */
static uint32_t change(plim_space *space, uint32_t root, uint64_t key, uint64_t base,
                       uint64_t bytes)
{
    PLIM_ASSERT(root != NO_NODE);
    plim_gap *const gap = at(space, root);
    if (gap->base != key) {
        uint32_t *const side = key < gap->base ? &gap->left : &gap->right;
        *side = change(space, *side, key, base, bytes);
    } else if (bytes == 0) {
        const uint32_t joined = join(space, gap->left, gap->right);
        free_node(space, root);
        return joined;
    } else {
        gap->base = base;
        gap->bytes = bytes;
    }
    update(space, root);
    return root;
}

/* First fit: the leftmost gap that is large enough gives its front. One is. */
static uint32_t place(plim_space *space, uint32_t root, uint64_t bytes, uint64_t *ret_base)
{
    plim_gap *const gap = at(space, root);
    if (bytes_max(space, gap->left) >= bytes) {
        gap->left = place(space, gap->left, bytes, ret_base);
    } else if (gap->bytes < bytes) {
        gap->right = place(space, gap->right, bytes, ret_base);
    } else {
        *ret_base = gap->base;
        if (gap->bytes == bytes) {
            const uint32_t joined = join(space, gap->left, gap->right);
            free_node(space, root);
            return joined;
        }
        gap->base += bytes;
        gap->bytes -= bytes;
    }
    update(space, root);
    return root;
}

/* The last gap that starts at or below `base`, and the first above. */
static void find_around(const plim_space *space, uint64_t base, const plim_gap **ret_below,
                        const plim_gap **ret_above)
{
    *ret_below = NULL;
    *ret_above = NULL;
    for (uint32_t node = space->root; node != NO_NODE;) {
        const plim_gap *const gap = at(space, node);
        if (gap->base <= base) {
            *ret_below = gap;
            node = gap->right;
        } else {
            *ret_above = gap;
            node = gap->left;
        }
    }
}

static void changed(const plim_space *space)
{
#ifdef PLIM_PARANOID
    if (space->gap_count <= PARANOID_GAPS) {
        plim_space_check(space);
    }
#else
    (void)space;
#endif
}

/* --- what the header promises --- */

bool plim_space_add_window(plim_space *space, uint64_t base, uint64_t bytes)
{
    if (!make_room(space, space->gap_count_max + 1)) {
        return false;
    }
    space->gap_count_max++;
    space->root = insert(space, space->root, new_node(space, base, bytes));
    changed(space);
    return true;
}

bool plim_space_prepare(plim_space *space)
{
    return make_room(space, space->gap_count_max + 1);
}

bool plim_space_place(plim_space *space, uint64_t bytes, uint64_t *ret_base)
{
    PLIM_ASSERT(bytes > 0);
    if (bytes_max(space, space->root) < bytes) {
        return false;
    }
    space->gap_count_max++;
    PLIM_ASSERT(space->gaps.count >= space->gap_count_max);
    space->root = place(space, space->root, bytes, ret_base);
    changed(space);
    return true;
}

bool plim_space_is_free(const plim_space *space, uint64_t base, uint64_t bytes)
{
    const plim_gap *below = NULL;
    const plim_gap *above = NULL;
    find_around(space, base, &below, &above);
    return below != NULL && base - below->base <= below->bytes &&
           bytes <= below->bytes - (base - below->base);
}

bool plim_space_has_free(const plim_space *space, uint64_t base, uint64_t bytes)
{
    const plim_gap *below = NULL;
    const plim_gap *above = NULL;
    find_around(space, base, &below, &above);
    return (below != NULL && base - below->base < below->bytes) ||
           (above != NULL && above->base - base < bytes);
}

bool plim_space_take(plim_space *space, uint64_t base, uint64_t bytes)
{
    PLIM_ASSERT(bytes > 0);
    const plim_gap *below = NULL;
    const plim_gap *above = NULL;
    find_around(space, base, &below, &above);
    if (below == NULL || !plim_space_is_free(space, base, bytes)) {
        return false;
    }
    space->gap_count_max++;
    PLIM_ASSERT(space->gaps.count >= space->gap_count_max);
    const uint64_t gap_base = below->base;
    const uint64_t front_bytes = base - gap_base;
    const uint64_t back_bytes = below->bytes - front_bytes - bytes;
    if (front_bytes == 0) {
        space->root = change(space, space->root, gap_base, base + bytes, back_bytes);
    } else {
        space->root = change(space, space->root, gap_base, gap_base, front_bytes);
        if (back_bytes > 0) {
            const uint32_t node = new_node(space, base + bytes, back_bytes);
            space->root = insert(space, space->root, node);
        }
    }
    changed(space);
    return true;
}

void plim_space_give(plim_space *space, uint64_t base, uint64_t bytes)
{
    const plim_gap *below = NULL;
    const plim_gap *above = NULL;
    find_around(space, base, &below, &above);
    PLIM_ASSERT(below == NULL || base - below->base >= below->bytes);
    PLIM_ASSERT(above == NULL || above->base - base >= bytes);

    const bool joins_below = below != NULL && below->base + below->bytes == base;
    const bool joins_above = above != NULL && base + bytes == above->base;
    const uint64_t low = joins_below ? below->base : base;
    const uint64_t high = joins_above ? above->base : 0;
    const uint64_t whole =
        bytes + (joins_below ? below->bytes : 0) + (joins_above ? above->bytes : 0);
    if (joins_below && joins_above) {
        space->root = change(space, space->root, high, high, 0);
    }
    if (joins_below || joins_above) {
        space->root = change(space, space->root, joins_below ? low : high, low, whole);
    } else {
        space->root = insert(space, space->root, new_node(space, base, bytes));
    }
    PLIM_ASSERT(space->gap_count_max > 0);
    space->gap_count_max--;
    PLIM_ASSERT(space->gap_count <= space->gap_count_max);
    changed(space);
}

/* --- invariants --- */

/* Walks a tree by address; `end` is where the gap before it ends. Returns how many there are. */
static size_t check(const plim_space *space, uint32_t root, const plim_gap *top, uint64_t *end)
{
    if (root == NO_NODE) {
        return 0;
    }
    const plim_gap *const gap = at(space, root);
    PLIM_ASSERT(gap->bytes > 0);
    PLIM_ASSERT(top == NULL || gap->priority <= top->priority);
    const size_t low = check(space, gap->left, gap, end);
    PLIM_ASSERT(gap->base > *end || *end == 0); /* neighbours would be one gap */
    *end = gap->base + gap->bytes;
    const size_t high = check(space, gap->right, gap, end);
    const uint64_t left = bytes_max(space, gap->left);
    const uint64_t right = bytes_max(space, gap->right);
    PLIM_ASSERT(gap->bytes_max >= gap->bytes);
    PLIM_ASSERT(gap->bytes_max >= left);
    PLIM_ASSERT(gap->bytes_max >= right);
    PLIM_ASSERT(gap->bytes_max == gap->bytes || gap->bytes_max == left || gap->bytes_max == right);
    return low + 1 + high;
}

void plim_space_check(const plim_space *space)
{
    uint64_t end = 0;
    const size_t count = check(space, space->root, NULL, &end);
    PLIM_ASSERT(count == space->gap_count);
    PLIM_ASSERT(space->gap_count <= space->gap_count_max);
    PLIM_ASSERT(space->gap_count_max <= space->gaps.count);
}
