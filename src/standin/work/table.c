/* table.c - see table.h. An array of chunks, so that objects are found without a search. */
#include "standin/work/table.h"

#include <stdint.h>
#include <stdlib.h>

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
