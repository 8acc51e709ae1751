/*
 * free_set.c - the B+ tree of free blocks. See free_set.h.
 */
#include "alloc/core/free_set.h"

#include "base/assert.h"
#include "base/hash.h" /* plim_uint128 */

#include <string.h>

#define LEAF_ENTRIES   PLIM_FREE_LEAF_ENTRIES
#define INNER_CHILDREN 20
#define TREE_DEPTH_MAX 16 /* inner levels: more blocks than addresses */
#define MERGE_BELOW    5  /* leaves with fewer entries look for a neighbour to join */

/* A few entries are moved sooner than memmove() is called; this keeps the compiler from calling
 * it all the same. */
#define KEEP_LOOP() __asm__ volatile("" ::: "memory")

typedef struct key {
    uint64_t bytes;
    plim_addr addr;
} key;

typedef struct inner {
    uint16_t level;           /* at least 1 */
    uint16_t count;           /* of children */
    key keys[INNER_CHILDREN]; /* keys[i] <= all of child i; keys[0] is not used */
    void *children[INNER_CHILDREN];
} inner;

/* The way from the root to a leaf: which child was taken in each inner node. */
typedef struct path {
    inner *nodes[TREE_DEPTH_MAX];
    uint32_t children[TREE_DEPTH_MAX];
    uint32_t depth;
} path;

static uint16_t level_of(const void *node)
{
    return *(const uint16_t *)node;
}

static bool is_before(uint64_t a_bytes, plim_addr a_addr, key b)
{
    return a_bytes < b.bytes || (a_bytes == b.bytes && a_addr < b.addr);
}

static key key_of(const plim_free_set *set, const plim_heap_block *block)
{
    return (key){ set->is_by_address ? 0 : block->bytes, block->addr };
}

void plim_free_set_init(plim_free_set *set, const plim_mem *mem, bool is_by_address)
{
    *set = (plim_free_set){ .mem = mem, .is_by_address = is_by_address };
}

static void *new_node(plim_free_set *set, size_t bytes)
{
    void *node = plim_mem_alloc(set->mem, 1, bytes);
    if (node != NULL) {
        set->bytes += bytes;
    }
    return node;
}

static void free_node(plim_free_set *set, void *node, size_t bytes)
{
    if (node != NULL) {
        plim_mem_free(set->mem, node, 1, bytes);
        set->bytes -= bytes;
    }
}

static void free_inner_nodes(plim_free_set *set, void *node)
{
    if (node == NULL || level_of(node) == 0) {
        return;
    }
    inner *in = node;
    for (uint32_t i = 0; in->level > 1 && i < in->count; i++) {
        free_inner_nodes(set, in->children[i]); /* as deep as the tree: a few levels */
    }
    free_node(set, in, sizeof *in);
}

void plim_free_set_deinit(plim_free_set *set)
{
    free_inner_nodes(set, set->root);
    while (set->first != NULL) {
        plim_free_leaf *leaf = set->first;
        set->first = leaf->right;
        free_node(set, leaf, sizeof *leaf);
    }
    free_node(set, set->spare, sizeof *set->spare);
    *set = (plim_free_set){ .mem = set->mem, .is_by_address = set->is_by_address };
}

/* --- searching --- */

/* Which child holds `wanted`. */
static uint32_t child_for(const inner *in, key wanted)
{
    uint32_t low = 1, high = in->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (is_before(wanted.bytes, wanted.addr, in->keys[middle])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low - 1;
}

static plim_free_leaf *descend(const plim_free_set *set, key wanted, path *ret_path)
{
    void *node = set->root;
    ret_path->depth = 0;
    while (level_of(node) > 0) {
        PLIM_ASSERT(ret_path->depth < TREE_DEPTH_MAX);
        inner *in = node;
        const uint32_t child = child_for(in, wanted);
        ret_path->nodes[ret_path->depth] = in;
        ret_path->children[ret_path->depth] = child;
        ret_path->depth++;
        node = in->children[child];
    }
    return node;
}

/* The first entry of a leaf that is not before `wanted`. */
static uint32_t entry_for(const plim_free_leaf *leaf, key wanted)
{
    const plim_uint128 sought = ((plim_uint128)wanted.bytes << 64) | wanted.addr;
    uint32_t at = 0;
    for (uint32_t i = 0; i < leaf->count; i++) { /* all of them: no branch to mispredict */
        const plim_free_entry *entry = &leaf->entries[i];
        const plim_uint128 found = ((plim_uint128)entry->bytes << 64) | entry->addr;
        at += found < sought ? 1u : 0u;
    }
    return at;
}

plim_free_cursor plim_free_set_at_least(const plim_free_set *set, uint64_t bytes, plim_addr addr)
{
    if (set->root == NULL) {
        return (plim_free_cursor){ NULL, 0 };
    }
    const key wanted = { bytes, addr };
    void *node = set->root;
    while (level_of(node) > 0) {
        inner *in = node;
        node = in->children[child_for(in, wanted)];
    }
    plim_free_leaf *leaf = node;
    const uint32_t at = entry_for(leaf, wanted);
    return at < leaf->count ? (plim_free_cursor){ leaf, at } : (plim_free_cursor){ leaf->right, 0 };
}

/* --- putting --- */

/* Nodes that a put needs, taken before anything changes. */
typedef struct new_nodes {
    plim_free_leaf *leaf;
    inner *inners[TREE_DEPTH_MAX + 1];
    uint32_t inner_count;
} new_nodes;

static void give_back(plim_free_set *set, new_nodes *nodes)
{
    free_node(set, nodes->leaf, sizeof *nodes->leaf);
    while (nodes->inner_count > 0) {
        nodes->inner_count--;
        free_node(set, nodes->inners[nodes->inner_count], sizeof(inner));
    }
}

/* A leaf for a full leaf, and an inner node for each full one above it and for a new root. */
static bool take_nodes(plim_free_set *set, const path *way, new_nodes *ret)
{
    *ret = (new_nodes){ .leaf = new_node(set, sizeof(plim_free_leaf)) };
    if (ret->leaf == NULL) {
        return false;
    }
    uint32_t level = way->depth;
    bool is_full = true;
    while (is_full && level > 0) {
        level--;
        is_full = way->nodes[level]->count == INNER_CHILDREN;
        if (!is_full) {
            return true;
        }
        ret->inners[ret->inner_count] = new_node(set, sizeof(inner));
        if (ret->inners[ret->inner_count] == NULL) {
            give_back(set, ret);
            return false;
        }
        ret->inner_count++;
    }
    ret->inners[ret->inner_count] = new_node(set, sizeof(inner)); /* the root itself is full */
    if (ret->inners[ret->inner_count] == NULL) {
        give_back(set, ret);
        return false;
    }
    ret->inner_count++;
    return true;
}

static void insert_child(inner *in, uint32_t at, key first, void *child)
{
    const size_t after = in->count - at;
    memmove(&in->keys[at + 1], &in->keys[at], after * sizeof in->keys[0]);
    memmove(&in->children[at + 1], &in->children[at], after * sizeof in->children[0]);
    in->keys[at] = first;
    in->children[at] = child;
    in->count++;
}

/* Hangs `child`, whose keys start at `first`, to the right of where `way` goes. */
static void hang(plim_free_set *set, const path *way, key first, void *child, new_nodes *nodes)
{
    uint32_t used = 0;
    for (uint32_t level = way->depth; level > 0; level--) {
        inner *in = way->nodes[level - 1];
        const uint32_t at = way->children[level - 1] + 1;
        if (in->count < INNER_CHILDREN) {
            insert_child(in, at, first, child);
            return;
        }
        inner *right = nodes->inners[used];
        PLIM_ASSERT(right != NULL);
        used++;
        const uint16_t half = INNER_CHILDREN / 2;
        *right = (inner){ .level = in->level, .count = (uint16_t)(in->count - half) };
        memcpy(right->keys, &in->keys[half], right->count * sizeof right->keys[0]);
        memcpy(right->children, &in->children[half], right->count * sizeof right->children[0]);
        in->count = half;
        if (at <= half) {
            insert_child(in, at, first, child);
        } else {
            insert_child(right, at - half, first, child);
        }
        first = right->keys[0];
        child = right;
    }
    inner *root = nodes->inners[used];
    *root = (inner){ .level = (uint16_t)(level_of(set->root) + 1), .count = 2 };
    root->children[0] = set->root;
    root->keys[1] = first;
    root->children[1] = child;
    set->root = root;
}

static void insert_entry(plim_free_leaf *leaf, uint32_t at, key where, plim_heap_block *block)
{
    for (uint32_t i = leaf->count; i > at; i--) {
        leaf->entries[i] = leaf->entries[i - 1];
        KEEP_LOOP();
    }
    leaf->entries[at] = (plim_free_entry){ where.bytes, where.addr, block };
    leaf->count++;
}

/* Moves the upper half of a full leaf to a new one on its right. */
static void split_leaf(plim_free_set *set, plim_free_leaf *leaf, plim_free_leaf *right)
{
    const uint16_t half = LEAF_ENTRIES / 2;
    right->level = 0;
    right->count = (uint16_t)(leaf->count - half);
    memcpy(right->entries, &leaf->entries[half], right->count * sizeof right->entries[0]);
    leaf->count = half;
    right->left = leaf;
    right->right = leaf->right;
    if (right->right != NULL) {
        right->right->left = right;
    } else {
        set->last = right;
    }
    leaf->right = right;
}

/* The first block of a set. */
static bool plant(plim_free_set *set)
{
    plim_free_leaf *leaf = set->spare;
    set->spare = NULL;
    if (leaf == NULL) {
        leaf = new_node(set, sizeof *leaf);
        if (leaf == NULL) {
            return false;
        }
    }
    leaf->level = 0;
    leaf->count = 0;
    leaf->left = NULL;
    leaf->right = NULL;
    set->root = leaf;
    set->first = leaf;
    set->last = leaf;
    return true;
}

static bool put(plim_free_set *set, plim_heap_block *block)
{
    const key where = key_of(set, block);
    if (set->root == NULL && !plant(set)) {
        return false;
    }
    path way;
    plim_free_leaf *leaf = descend(set, where, &way);
    uint32_t at = entry_for(leaf, where);
    if (leaf->count == LEAF_ENTRIES) {
        new_nodes nodes;
        if (!take_nodes(set, &way, &nodes)) {
            return false;
        }
        split_leaf(set, leaf, nodes.leaf);
        hang(set, &way, (key){ nodes.leaf->entries[0].bytes, nodes.leaf->entries[0].addr },
             nodes.leaf, &nodes);
        if (at > leaf->count) {
            at -= leaf->count;
            leaf = nodes.leaf;
        }
    }
    insert_entry(leaf, at, where, block);
    return true;
}

void plim_free_set_put(plim_free_set *set, plim_heap_block *block)
{
    set->count++;
    if (!put(set, block)) {
        block->requested_bytes = (uint64_t)(uintptr_t)set->waiting;
        set->waiting = block;
    }
}

bool plim_free_set_settle(plim_free_set *set)
{
    while (set->waiting != NULL) {
        plim_heap_block *block = set->waiting;
        if (!put(set, block)) {
            return false;
        }
        set->waiting = (plim_heap_block *)(uintptr_t)block->requested_bytes;
        block->requested_bytes = 0;
    }
    return true;
}

/* --- taking --- */

static void remove_child(inner *in, uint32_t at)
{
    const size_t after = in->count - at - 1u;
    memmove(&in->keys[at], &in->keys[at + 1], after * sizeof in->keys[0]);
    memmove(&in->children[at], &in->children[at + 1], after * sizeof in->children[0]);
    in->count--;
}

/* Takes the node at the end of `way` out of the nodes above it. */
static void unhang(plim_free_set *set, const path *way)
{
    for (uint32_t level = way->depth; level > 0; level--) {
        inner *in = way->nodes[level - 1];
        remove_child(in, way->children[level - 1]);
        if (in->count > 0) {
            break;
        }
        free_node(set, in, sizeof *in);
        if (level == 1) {
            set->root = NULL;
        }
    }
    while (set->root != NULL && level_of(set->root) > 0 && ((inner *)set->root)->count == 1) {
        inner *root = set->root;
        set->root = root->children[0];
        free_node(set, root, sizeof *root);
    }
}

static void unlink_leaf(plim_free_set *set, plim_free_leaf *leaf)
{
    *(leaf->left != NULL ? &leaf->left->right : &set->first) = leaf->right;
    *(leaf->right != NULL ? &leaf->right->left : &set->last) = leaf->left;
    if (set->spare == NULL) {
        set->spare = leaf;
    } else {
        free_node(set, leaf, sizeof *leaf);
    }
}

/* Empties a leaf of few entries into the one on its right, if both hang from the same node. */
static void merge_right(plim_free_set *set, plim_free_leaf *leaf, path *way)
{
    inner *parent = way->nodes[way->depth - 1];
    const uint32_t child = way->children[way->depth - 1];
    if (child + 1 == parent->count) {
        return;
    }
    plim_free_leaf *right = parent->children[child + 1];
    if (leaf->count + right->count > LEAF_ENTRIES * 3 / 4) {
        return;
    }
    memcpy(&leaf->entries[leaf->count], right->entries, right->count * sizeof right->entries[0]);
    leaf->count = (uint16_t)(leaf->count + right->count);
    way->children[way->depth - 1] = child + 1;
    unhang(set, way);
    unlink_leaf(set, right);
}

void plim_free_set_take_at(plim_free_set *set, plim_free_cursor cursor)
{
    plim_free_leaf *leaf = cursor.leaf;
    const key where = { leaf->entries[cursor.index].bytes, leaf->entries[cursor.index].addr };
    set->count--;
    leaf->count--;
    for (uint32_t i = cursor.index; i < leaf->count; i++) {
        leaf->entries[i] = leaf->entries[i + 1];
        KEEP_LOOP();
    }
    if (leaf->count >= MERGE_BELOW) {
        return;
    }
    if (set->root == leaf) {
        if (leaf->count == 0) {
            set->root = NULL;
            unlink_leaf(set, leaf);
        }
        return;
    }
    path way;
    plim_free_leaf *found = descend(set, where, &way);
    PLIM_ASSERT(found == leaf);
    if (leaf->count > 0) {
        merge_right(set, leaf, &way);
    } else {
        unhang(set, &way);
        unlink_leaf(set, leaf);
    }
}

void plim_free_set_move(plim_free_set *set, plim_free_cursor cursor, plim_heap_block *block)
{
    plim_free_leaf *leaf = cursor.leaf;
    plim_free_entry *entries = leaf->entries;
    const key where = key_of(set, block);
    const key was = { entries[cursor.index].bytes, entries[cursor.index].addr };
    const uint32_t last = leaf->count - 1u;
    uint32_t to = cursor.index;
    while (to > 0 && is_before(where.bytes, where.addr,
                               (key){ entries[to - 1].bytes, entries[to - 1].addr })) {
        to--;
    }
    while (to < last && is_before(entries[to + 1].bytes, entries[to + 1].addr, where)) {
        to++;
    }
    /* At an end of the leaf it may belong to the next one: that is for a search to say. */
    const bool is_less = is_before(where.bytes, where.addr, was);
    if (is_less ? to == 0 && leaf->left != NULL : to == last && leaf->right != NULL) {
        plim_free_set_take_at(set, cursor);
        plim_free_set_put(set, block);
        return;
    }
    for (uint32_t i = cursor.index; i > to; i--) {
        entries[i] = entries[i - 1];
        KEEP_LOOP();
    }
    for (uint32_t i = cursor.index; i < to; i++) {
        entries[i] = entries[i + 1];
        KEEP_LOOP();
    }
    entries[to] = (plim_free_entry){ where.bytes, where.addr, block };
}

/* A block that has waited for host memory. */
static void take_waiting(plim_free_set *set, plim_heap_block *block)
{
    plim_heap_block *before = NULL;
    plim_heap_block *at = set->waiting;
    while (at != NULL && at != block) {
        before = at;
        at = (plim_heap_block *)(uintptr_t)at->requested_bytes;
    }
    PLIM_ASSERT(at != NULL);
    if (before == NULL) {
        set->waiting = (plim_heap_block *)(uintptr_t)block->requested_bytes;
    } else {
        before->requested_bytes = block->requested_bytes;
    }
    block->requested_bytes = 0;
    set->count--;
}

void plim_free_set_take(plim_free_set *set, plim_heap_block *block)
{
    const key where = key_of(set, block);
    const plim_free_cursor cursor = plim_free_set_at_least(set, where.bytes, where.addr);
    if (plim_free_cursor_block(cursor) == block) {
        plim_free_set_take_at(set, cursor);
    } else {
        take_waiting(set, block);
    }
}

bool plim_free_set_is_sound(const plim_free_set *set)
{
    uint64_t count = 0;
    key before = { 0, 0 };
    const plim_free_leaf *left = NULL;
    for (const plim_free_leaf *leaf = set->first; leaf != NULL; leaf = leaf->right) {
        if (leaf->left != left || leaf->count == 0 || leaf->count > LEAF_ENTRIES) {
            return false;
        }
        for (uint32_t i = 0; i < leaf->count; i++, count++) {
            const plim_free_entry *entry = &leaf->entries[i];
            const key at = key_of(set, entry->block);
            if (at.bytes != entry->bytes || at.addr != entry->addr ||
                (count > 0 && !is_before(before.bytes, before.addr, at))) {
                return false;
            }
            before = at;
            path way;
            if (descend(set, at, &way) != leaf) {
                return false;
            }
        }
        left = leaf;
    }
    for (const plim_heap_block *block = set->waiting; block != NULL;
         block = (const plim_heap_block *)(uintptr_t)block->requested_bytes) {
        count++;
    }
    return set->last == left && count == set->count;
}
