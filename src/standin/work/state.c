/*
 * state.c - the lock, handles, and small sets of nodes. See state.h.
 */
#include "standin/work/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void plim_standin_work_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void plim_standin_work_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

uint64_t plim_standin_thread(void)
{
    static atomic_uint_fast64_t count;
    static _Thread_local uint64_t own;
    if (own == 0) {
        own = atomic_fetch_add(&count, 1) + 1;
    }
    return own;
}

/* ---- handles: an array of chunks, so that objects are found without a search ----------------- */

#define SLOTS_BASE  UINT64_C(0x510000000000) /* below any Linux heap: no real object is there */
#define SLOT_STRIDE UINT64_C(64)
#define CHUNK_SLOTS 4096u
#define CHUNKS_MAX  65536u /* 268 million handles in the life of a process */

typedef struct handle_slot {
    void *object;
    plim_standin_object_kind kind;
} handle_slot;

/* Chunks whose handles are all gone are kept: 64 KiB of every 4096 events. */
static handle_slot *chunks[CHUNKS_MAX];
static uint64_t handle_count;

void *plim_standin_table_add(plim_standin_object_kind kind, void *object)
{
    const uint64_t index = handle_count;
    const uint64_t chunk = index / CHUNK_SLOTS;
    if (chunk >= CHUNKS_MAX) {
        return NULL;
    }
    if (chunks[chunk] == NULL) {
        chunks[chunk] = calloc(CHUNK_SLOTS, sizeof(handle_slot));
        if (chunks[chunk] == NULL) {
            return NULL;
        }
    }
    chunks[chunk][index % CHUNK_SLOTS] = (handle_slot){ .object = object, .kind = kind };
    handle_count++;
    return (void *)(uintptr_t)(SLOTS_BASE + SLOT_STRIDE * (index + 1));
}

static handle_slot *slot_of(plim_standin_object_kind kind, const void *handle)
{
    const uint64_t offset = (uint64_t)(uintptr_t)handle - SLOTS_BASE;
    const uint64_t index = offset / SLOT_STRIDE - 1; /* of handle 0: beyond all */
    if (offset % SLOT_STRIDE != 0 || index >= handle_count) {
        return NULL;
    }
    handle_slot *const found = &chunks[index / CHUNK_SLOTS][index % CHUNK_SLOTS];
    return found->kind == kind ? found : NULL;
}

void *plim_standin_table_get(plim_standin_object_kind kind, const void *handle)
{
    const handle_slot *const found = slot_of(kind, handle);
    return found != NULL ? found->object : NULL;
}

void *plim_standin_table_take(plim_standin_object_kind kind, const void *handle)
{
    handle_slot *const found = slot_of(kind, handle);
    if (found == NULL) {
        return NULL;
    }
    void *const object = found->object;
    *found = (handle_slot){ .object = NULL, .kind = PLIM_OBJECT_NONE };
    return object;
}

/* ---- sets of nodes: tails of streams, dependencies; searched from end to end ----------------- */

static bool reserve(plim_standin_nodes *set, size_t count)
{
    if (count <= set->capacity) {
        return true;
    }
    const size_t doubled = 2 * set->capacity;
    const size_t capacity = count > doubled ? count : doubled;
    plim_standin_node **const items = realloc(set->items, capacity * sizeof(*items));
    if (items == NULL) {
        return false;
    }
    set->items = items;
    set->capacity = capacity;
    return true;
}

bool plim_standin_nodes_push(plim_standin_nodes *set, plim_standin_node *node)
{
    if (!reserve(set, set->count + 1)) {
        return false;
    }
    set->items[set->count] = node;
    set->count++;
    return true;
}

bool plim_standin_nodes_add(plim_standin_nodes *set, plim_standin_node *node)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] == node) {
            return true;
        }
    }
    return plim_standin_nodes_push(set, node);
}

bool plim_standin_nodes_add_all(plim_standin_nodes *set, const plim_standin_nodes *others)
{
    for (size_t i = 0; i < others->count; i++) {
        if (!plim_standin_nodes_add(set, others->items[i])) {
            return false;
        }
    }
    return true;
}

void plim_standin_nodes_remove(plim_standin_nodes *set, const plim_standin_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] != node) {
            set->items[kept] = set->items[i];
            kept++;
        }
    }
    set->count = kept;
}

bool plim_standin_nodes_assign(plim_standin_nodes *set, const plim_standin_nodes *other)
{
    if (!reserve(set, other->count)) {
        return false;
    }
    if (other->count > 0) {
        memcpy(set->items, other->items, other->count * sizeof(*set->items));
    }
    set->count = other->count;
    return true;
}

void plim_standin_nodes_clear(plim_standin_nodes *set)
{
    free(set->items);
    *set = (plim_standin_nodes){ .items = NULL };
}
