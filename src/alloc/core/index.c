/*
 * index.c - the directory of segments, and the tries of blocks. See index.h.
 *
 * An entry is a pointer whose lowest bits say what it points at; 0 is nothing.
 */
#include "alloc/core/index.h"

#include "base/assert.h"

#include <stdatomic.h>
#include <string.h>

/* --- the directory --- */

#define FANOUT_BITS   9
#define FANOUT        (1u << FANOUT_BITS)
#define LEVELS        4
#define TAG_MASK      (uintptr_t)3
#define TAG_SEGMENT   (uintptr_t)0
#define TAG_NODE      (uintptr_t)1 /* a level below */
#define TAG_SHARED    (uintptr_t)2 /* a page of several segments */
#define ADDRESS_LIMIT ((uint64_t)1 << PLIM_ADDRESS_BITS)

typedef _Atomic(uintptr_t) entry;

typedef struct directory_node {
    entry entries[FANOUT];
} directory_node;

typedef struct range {
    plim_addr first;
    plim_addr last; /* inclusive */
} range;

/* Segments that have bytes of one page. A page with one row more takes its place. */
typedef struct shared_page {
    struct shared_page *retired; /* the list of those that were replaced */
    size_t count;
    struct shared_row {
        range at;
        _Atomic(struct plim_segment_record *) segment; /* NULL: taken out */
    } rows[];
} shared_page;

static uintptr_t tagged(const void *pointer, uintptr_t tag)
{
    return (uintptr_t)pointer | tag;
}

static void *untagged(uintptr_t value)
{
    return (void *)(value & ~TAG_MASK);
}

/* The lowest bit of an address that distinguishes entries of a level: 48, 39, 30, 21. */
static unsigned shift_of(unsigned level)
{
    return PLIM_PAGE_BITS + FANOUT_BITS * (LEVELS - 1 - level);
}

bool plim_directory_init(plim_directory *directory, const plim_mem *mem)
{
    *directory = (plim_directory){ .mem = mem };
    directory->root = plim_mem_alloc_zeroed(mem, 1, sizeof(directory_node));
    directory->bytes = directory->root != NULL ? sizeof(directory_node) : 0;
    return directory->root != NULL;
}

static size_t shared_bytes(size_t count)
{
    return sizeof(shared_page) + count * sizeof(struct shared_row);
}

static void free_shared(plim_directory *directory, shared_page *page)
{
    directory->bytes -= shared_bytes(page->count);
    plim_mem_free(directory->mem, page, shared_bytes(page->count), 1);
}

static void free_node(plim_directory *directory, directory_node *node, unsigned level)
{
    for (unsigned i = 0; i < FANOUT; i++) {
        const uintptr_t value = atomic_load_explicit(&node->entries[i], memory_order_relaxed);
        if (value != 0 && (value & TAG_MASK) == TAG_NODE && level + 1 < LEVELS) {
            free_node(directory, untagged(value), level + 1); /* four levels */
        } else if ((value & TAG_MASK) == TAG_SHARED) {
            free_shared(directory, untagged(value));
        }
    }
    plim_mem_free(directory->mem, node, 1, sizeof *node);
    directory->bytes -= sizeof *node;
}

void plim_directory_deinit(plim_directory *directory)
{
    if (directory->root != NULL) {
        free_node(directory, directory->root, 0);
    }
    for (shared_page *page = directory->retired; page != NULL;) {
        shared_page *next = page->retired;
        free_shared(directory, page);
        page = next;
    }
    *directory = (plim_directory){ .mem = directory->mem };
}

struct plim_segment_record *plim_directory_find(const plim_directory *directory, plim_addr addr)
{
    if (addr >= ADDRESS_LIMIT) {
        return NULL;
    }
    const directory_node *node = directory->root;
    uintptr_t value = 0;
    for (unsigned level = 0; level < LEVELS; level++) {
        const size_t slot = (size_t)(addr >> shift_of(level)) % FANOUT;
        value = atomic_load_explicit(&node->entries[slot], memory_order_acquire);
        if ((value & TAG_MASK) != TAG_NODE) {
            break;
        }
        node = untagged(value);
    }
    if ((value & TAG_MASK) == TAG_SEGMENT) {
        return untagged(value);
    }
    const shared_page *page = untagged(value);
    for (size_t i = 0; i < page->count; i++) {
        struct plim_segment_record *segment =
            atomic_load_explicit(&page->rows[i].segment, memory_order_acquire);
        if (segment != NULL && addr >= page->rows[i].at.first && addr <= page->rows[i].at.last) {
            return segment;
        }
    }
    return NULL;
}

/* Puts a segment where one of the same range was taken out. */
static bool share_again(shared_page *page, range at, struct plim_segment_record *segment)
{
    for (size_t i = 0; i < page->count; i++) {
        struct shared_row *row = &page->rows[i];
        if (row->at.first == at.first && row->at.last == at.last &&
            atomic_load_explicit(&row->segment, memory_order_relaxed) == NULL) {
            atomic_store_explicit(&row->segment, segment, memory_order_release);
            return true;
        }
    }
    return false;
}

/* Copies the rows that are still there to a page with room for all. */
static void copy_rows(const shared_page *from, shared_page *to)
{
    for (size_t i = 0; i < from->count; i++) {
        struct plim_segment_record *segment =
            atomic_load_explicit(&from->rows[i].segment, memory_order_relaxed);
        if (segment != NULL) {
            to->rows[to->count].at = from->rows[i].at;
            atomic_init(&to->rows[to->count].segment, segment);
            to->count++;
        }
    }
}

static size_t rows_there(const shared_page *page)
{
    size_t there = 0;
    for (size_t i = 0; page != NULL && i < page->count; i++) {
        there += atomic_load_explicit(&page->rows[i].segment, memory_order_relaxed) != NULL;
    }
    return there;
}

/* A copy of a shared page, or of nothing, with one segment more. */
static bool share(plim_directory *directory, entry *where, range at,
                  struct plim_segment_record *segment)
{
    const uintptr_t value = atomic_load_explicit(where, memory_order_relaxed);
    shared_page *old = value != 0 ? untagged(value) : NULL;
    if (old != NULL && share_again(old, at, segment)) {
        return true;
    }
    const size_t bytes = shared_bytes(rows_there(old) + 1);
    shared_page *page = plim_mem_alloc(directory->mem, bytes, 1);
    if (page == NULL) {
        return false;
    }
    directory->bytes += bytes;
    page->retired = NULL;
    page->count = 0;
    if (old != NULL) {
        copy_rows(old, page);
    }
    page->rows[page->count].at = at;
    atomic_init(&page->rows[page->count].segment, segment);
    page->count++;
    atomic_store_explicit(where, tagged(page, TAG_SHARED), memory_order_release);
    if (old != NULL) {
        old->retired = directory->retired;
        directory->retired = old;
    }
    return true;
}

/* Takes a segment out of an entry, where it is there. */
static void clear(entry *where, const struct plim_segment_record *segment)
{
    const uintptr_t value = atomic_load_explicit(where, memory_order_relaxed);
    if (value == tagged(segment, TAG_SEGMENT)) {
        atomic_store_explicit(where, 0, memory_order_release);
    } else if ((value & TAG_MASK) == TAG_SHARED) {
        shared_page *page = untagged(value);
        for (size_t i = 0; i < page->count; i++) {
            if (atomic_load_explicit(&page->rows[i].segment, memory_order_relaxed) == segment) {
                atomic_store_explicit(&page->rows[i].segment, NULL, memory_order_release);
            }
        }
    }
}

typedef struct change {
    plim_directory *directory;
    range at;
    struct plim_segment_record *segment;
    bool is_adding;
} change;

/* A whole entry that is free, or a part of the smallest one. */
static bool change_entry(const change *todo, entry *where, bool is_whole)
{
    if (!todo->is_adding) {
        clear(where, todo->segment);
        return true;
    }
    if (is_whole && atomic_load_explicit(where, memory_order_relaxed) == 0) {
        atomic_store_explicit(where, tagged(todo->segment, TAG_SEGMENT), memory_order_release);
        return true;
    }
    return share(todo->directory, where, todo->at, todo->segment);
}

/* Applies a change below a node that starts at `base`. Adding may stop half way without memory. */
static bool apply(const change *todo, directory_node *node, unsigned level, plim_addr base)
{
    const uint64_t span = (uint64_t)1 << shift_of(level);
    const plim_addr from = todo->at.first > base ? todo->at.first : base;
    const plim_addr end = base + (span * FANOUT - 1);
    const plim_addr to = todo->at.last < end ? todo->at.last : end;
    for (uint64_t slot = (from - base) / span; slot <= (to - base) / span; slot++) {
        const plim_addr start = base + slot * span;
        entry *where = &node->entries[slot];
        const bool is_whole = todo->at.first <= start && todo->at.last >= start + (span - 1);
        uintptr_t value = atomic_load_explicit(where, memory_order_relaxed);
        const bool is_node = (value & TAG_MASK) == TAG_NODE;
        if (level + 1 == LEVELS || (is_whole && !is_node)) {
            if (!change_entry(todo, where, is_whole)) {
                return false;
            }
            continue;
        }
        if (!is_node && !todo->is_adding) {
            continue; /* adding did not get this far */
        }
        if (!is_node) {
            PLIM_ASSERT(value == 0); /* a segment that covers it all would overlap this one */
            directory_node *below =
                plim_mem_alloc_zeroed(todo->directory->mem, 1, sizeof(directory_node));
            if (below == NULL) {
                return false;
            }
            todo->directory->bytes += sizeof *below;
            value = tagged(below, TAG_NODE);
            atomic_store_explicit(where, value, memory_order_release);
        }
        if (!apply(todo, untagged(value), level + 1, start)) { /* four levels */
            return false;
        }
    }
    return true;
}

bool plim_directory_add(plim_directory *directory, plim_addr addr, uint64_t bytes,
                        struct plim_segment_record *segment)
{
    if (bytes == 0 || addr >= ADDRESS_LIMIT || bytes > ADDRESS_LIMIT - addr) {
        return false;
    }
    const change todo = { directory, { addr, addr + (bytes - 1) }, segment, true };
    if (!apply(&todo, directory->root, 0, 0)) {
        plim_directory_remove(directory, addr, bytes, segment);
        return false;
    }
    return true;
}

void plim_directory_remove(plim_directory *directory, plim_addr addr, uint64_t bytes,
                           struct plim_segment_record *segment)
{
    const change todo = { directory, { addr, addr + (bytes - 1) }, segment, false };
    const bool is_done = apply(&todo, directory->root, 0, 0);
    PLIM_ASSERT(is_done); /* taking out needs no memory */
}

/* --- the tries --- */

#define TRIE_BITS   3
#define TRIE_FANOUT 8
#define TRIE_LEVELS 5
#define SPARE_NODES 8 /* empty ones a page may keep, beside as many as its blocks could need */

typedef struct trie_node {
    void *children[TRIE_FANOUT];
} trie_node;

_Static_assert(sizeof(trie_node) == sizeof(plim_slab_record), "a node is one cache line");

static bool is_node(const void *child)
{
    return ((uintptr_t)child & TAG_MASK) == TAG_NODE;
}

bool plim_page_index_init(plim_page_index *pages, const plim_mem *mem, uint64_t bytes)
{
    *pages = (plim_page_index){ .count = (bytes + PLIM_PAGE_BYTES - 1) / PLIM_PAGE_BYTES };
    if (pages->count > 1) {
        pages->items = plim_mem_alloc_zeroed(mem, pages->count, sizeof *pages->items);
        return pages->items != NULL;
    }
    return true;
}

static plim_index_page *page_of(plim_page_index *pages, uint64_t offset)
{
    return pages->items != NULL ? &pages->items[offset >> PLIM_PAGE_BITS] : &pages->only;
}

/* Takes out the nodes below `*where` that hold nothing, or all of them. */
static void prune(void **where, bool is_all, plim_slab_list *freed)
{
    if (!is_node(*where)) {
        return;
    }
    trie_node *node = untagged((uintptr_t)*where);
    uintptr_t any = 0;
    for (unsigned i = 0; i < TRIE_FANOUT; i++) {
        prune(&node->children[i], is_all, freed); /* five levels */
        any |= (uintptr_t)node->children[i];
    }
    if (any == 0 || is_all) {
        *where = NULL;
        plim_slab_list_push(freed, (plim_slab_record *)(void *)node);
    }
}

void plim_page_index_deinit(plim_page_index *pages, const plim_mem *mem, plim_slab *nodes)
{
    plim_slab_list freed = { NULL, 0 };
    prune(&pages->only.root, true, &freed);
    for (uint64_t i = 0; pages->items != NULL && i < pages->count; i++) {
        prune(&pages->items[i].root, true, &freed);
    }
    if (freed.count > 0) {
        plim_slab_drain(nodes, &freed, 0);
    }
    plim_mem_free(mem, pages->items, pages->count, sizeof *pages->items);
    *pages = (plim_page_index){ 0 };
}

/* The child of a node that an address is under: 3 bits of the 15 that number a page's granules. */
static unsigned slot_of(uint64_t offset, unsigned level)
{
    return (unsigned)(offset >> (PLIM_PAGE_BITS - TRIE_BITS * (level + 1))) % TRIE_FANOUT;
}

/* The entry for an address: the first on its way that is no node. */
static void **entry_for(plim_index_page *page, uint64_t offset, unsigned *ret_level)
{
    void **where = &page->root;
    unsigned level = 0;
    for (; is_node(*where); level++) {
        trie_node *node = untagged((uintptr_t)*where);
        where = &node->children[slot_of(offset, level)];
    }
    *ret_level = level;
    return where;
}

/* Nodes from an entry on down to where two blocks part. All are taken before one is hung. */
static void **part(plim_index_page *page, void **where, unsigned level, const uint64_t offsets[2],
                   plim_slab *nodes)
{
    unsigned wanted = 1;
    while (level + wanted < TRIE_LEVELS &&
           slot_of(offsets[0], level + wanted - 1) == slot_of(offsets[1], level + wanted - 1)) {
        wanted++;
    }
    plim_slab_list list = { NULL, 0 };
    if (!plim_slab_fill(nodes, &list, wanted)) {
        plim_slab_drain(nodes, &list, 0);
        return NULL;
    }
    page->nodes = (uint16_t)(page->nodes + wanted);
    void *other = *where;
    for (unsigned end = level + wanted; level < end; level++) {
        trie_node *node = (trie_node *)(void *)plim_slab_list_pop(&list);
        *node = (trie_node){ { NULL } };
        *where = (void *)tagged(node, TAG_NODE);
        if (level + 1 == end) {
            node->children[slot_of(offsets[1], level)] = other;
        }
        where = &node->children[slot_of(offsets[0], level)];
    }
    return where;
}

bool plim_page_index_put(plim_page_index *pages, plim_addr base, plim_heap_block *block,
                         plim_slab *nodes)
{
    const uint64_t offset = block->addr - base;
    plim_index_page *page = page_of(pages, offset);
    unsigned level = 0;
    void **where = entry_for(page, offset, &level);
    if (*where != NULL) {
        const plim_heap_block *other = *where;
        const uint64_t offsets[] = { offset, other->addr - base };
        PLIM_ASSERT(offsets[0] != offsets[1]);
        where = part(page, where, level, offsets, nodes);
        if (where == NULL) {
            return false;
        }
    }
    *where = block;
    page->blocks++;
    return true;
}

void plim_page_index_take(plim_page_index *pages, plim_addr base, const plim_heap_block *block,
                          plim_slab *nodes)
{
    const uint64_t offset = block->addr - base;
    plim_index_page *page = page_of(pages, offset);
    unsigned level = 0;
    void **where = entry_for(page, offset, &level);
    PLIM_ASSERT(*where == block);
    *where = NULL;
    page->blocks--;
    /* Nodes stay for the next block, but not more than the page's blocks could hang from. */
    if (page->nodes > TRIE_LEVELS * page->blocks + SPARE_NODES) {
        plim_slab_list freed = { NULL, 0 };
        prune(&page->root, false, &freed);
        page->nodes = (uint16_t)(page->nodes - freed.count);
        plim_slab_drain(nodes, &freed, 0);
    }
}

plim_heap_block *plim_page_index_find(const plim_page_index *pages, plim_addr base, plim_addr addr)
{
    const uint64_t offset = addr - base;
    void *child =
        pages->items != NULL ? pages->items[offset >> PLIM_PAGE_BITS].root : pages->only.root;
    for (unsigned level = 0; is_node(child); level++) {
        const trie_node *node = untagged((uintptr_t)child);
        child = node->children[slot_of(offset, level)];
    }
    plim_heap_block *block = child;
    return block != NULL && block->addr == addr && block->state == PLIM_BLOCK_IS_LIVE ? block
                                                                                      : NULL;
}
