/*
 * superblocks.c - sorted arrays of superblocks, and looking inside one. See superblocks.h.
 */
#include "alloc/policy/superblocks.h"

#include "base/assert.h"

#include <string.h>

bool plim_superblocks_room(plim_superblocks *blocks, size_t more, const plim_mem *mem)
{
    const size_t wanted = blocks->list.count + more;
    return more == 0 || wanted <= blocks->list.capacity ||
           plim_vec_room(mem, &blocks->list.items, &blocks->list.capacity, wanted - 1,
                         sizeof *blocks->list.items);
}

/* The first that starts after an address. */
static size_t first_after(const plim_superblocks *blocks, plim_addr addr)
{
    size_t low = 0;
    size_t high = blocks->list.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (blocks->list.items[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t plim_superblocks_put(plim_superblocks *blocks, plim_superblock superblock)
{
    PLIM_ASSERT(blocks->list.count < blocks->list.capacity);
    const size_t at = first_after(blocks, superblock.addr);
    plim_superblock *items = blocks->list.items;
    memmove(&items[at + 1], &items[at], (blocks->list.count - at) * sizeof items[0]);
    items[at] = superblock;
    blocks->list.count++;
    return at;
}

plim_superblock plim_superblocks_take(plim_superblocks *blocks, size_t at)
{
    PLIM_ASSERT(at < blocks->list.count);
    plim_superblock *items = blocks->list.items;
    const plim_superblock taken = items[at];
    blocks->list.count--;
    memmove(&items[at], &items[at + 1], (blocks->list.count - at) * sizeof items[0]);
    return taken;
}

size_t plim_superblocks_find(const plim_superblocks *blocks, plim_addr addr)
{
    const size_t next = first_after(blocks, addr);
    if (next == 0) {
        return PLIM_NO_SUPERBLOCK;
    }
    const plim_superblock *found = &blocks->list.items[next - 1];
    return addr - found->addr < found->bytes ? next - 1 : PLIM_NO_SUPERBLOCK;
}

size_t plim_superblocks_next(const plim_superblocks *blocks, size_t from, uint64_t bytes)
{
    for (size_t i = from; i < blocks->list.count; i++) {
        if (blocks->list.items[i].most >= bytes) {
            return i;
        }
    }
    return PLIM_NO_SUPERBLOCK;
}

plim_heap_block *plim_superblock_fit(plim_superblock *superblock, uint64_t bytes)
{
    const plim_addr end = superblock->addr + superblock->bytes;
    uint64_t most = 0;
    for (plim_heap_block *block = superblock->first; block != NULL && block->addr < end;
         block = block->next) {
        if (!plim_block_is_free(block) || !block->is_mapped) {
            continue;
        }
        if (block->bytes >= bytes) {
            return block;
        }
        most = block->bytes > most ? block->bytes : most;
    }
    superblock->most = most;
    return NULL;
}

bool plim_superblock_is_empty(const plim_superblock *superblock)
{
    const plim_heap_block *first = superblock->first;
    if (!plim_block_is_free(first)) {
        return false;
    }
    const uint64_t mapped = plim_superblock_mapped(superblock);
    return mapped == superblock->bytes || !first->is_mapped ||
           (first->next != NULL && !first->next->is_mapped);
}

uint64_t plim_superblock_mapped(const plim_superblock *superblock)
{
    return superblock->first->is_mapped ? superblock->first->bytes : 0;
}
