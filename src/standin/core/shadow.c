/* shadow.c - see shadow.h. Pieces do not overlap; the bytes of each are on the heap. */
#include "standin/core/shadow.h"

#include "base/numbers.h"
#include "standin/core/calls.h"
#include "standin/core/ranges.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t computations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_standin_ranges pieces; /* their handle is the pointer to their bytes */
static uint64_t piece_bytes;
static uint64_t known_at; /* how much had been computed when the pieces were last true */

void plim_standin_computed(void)
{
    (void)atomic_fetch_add_explicit(&computations, 1, memory_order_relaxed);
}

static unsigned char *bytes_of(const plim_standin_range *piece)
{
    return (unsigned char *)(uintptr_t)piece->handle;
}

static void clear(void)
{
    for (size_t i = 0; i < pieces.count; i++) {
        free(bytes_of(&pieces.items[i]));
    }
    pieces.count = 0;
    piece_bytes = 0;
}

/* With the lock; drops what computations have made doubtful. */
static void lock_pieces(void)
{
    const uint64_t now =
        atomic_load_explicit(&computations, memory_order_relaxed) + plim_standin_calls_computing();
    (void)pthread_mutex_lock(&lock);
    if (now != known_at) {
        clear();
        known_at = now;
    }
}

static void unlock_pieces(void)
{
    (void)pthread_mutex_unlock(&lock);
}

/* Nothing lies there yet. What does not fit, or finds no memory, is not known: that is no harm. */
static void add(uint64_t address, const void *source, uint64_t bytes)
{
    if (bytes == 0 || bytes > PLIM_STANDIN_SHADOW_PIECE_BYTES) {
        return;
    }
    if (piece_bytes + bytes > PLIM_STANDIN_SHADOW_BYTES ||
        pieces.count == PLIM_STANDIN_SHADOW_PIECES) {
        clear();
    }
    void *copy = malloc(bytes);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, source, bytes);
    const plim_standin_range piece = { address, bytes, (uint64_t)(uintptr_t)copy, 0 };
    if (!plim_standin_ranges_insert(&pieces, piece)) {
        free(copy);
        return;
    }
    piece_bytes += bytes;
}

/* Cuts a hole; what sticks out on either side stays. */
static void forget(uint64_t address, uint64_t bytes)
{
    const uint64_t end = address + bytes;
    const plim_standin_range *found = plim_standin_ranges_from(&pieces, address);
    while (found != NULL && found->base < end) {
        plim_standin_range piece = { 0 };
        (void)plim_standin_ranges_remove(&pieces, found->base, &piece);
        piece_bytes -= piece.bytes;
        if (piece.base < address) {
            add(piece.base, bytes_of(&piece), address - piece.base);
        }
        if (piece.base + piece.bytes > end) {
            add(end, bytes_of(&piece) + (end - piece.base), piece.base + piece.bytes - end);
        }
        free(bytes_of(&piece));
        found = plim_standin_ranges_from(&pieces, address);
    }
}

void plim_standin_shadow_forget(uint64_t address, uint64_t bytes)
{
    lock_pieces();
    forget(address, bytes);
    unlock_pieces();
}

void plim_standin_shadow_write(uint64_t address, const void *source, size_t bytes)
{
    lock_pieces();
    forget(address, bytes);
    add(address, source, bytes);
    unlock_pieces();
}

void plim_standin_shadow_fill(uint64_t address, int byte, size_t bytes)
{
    unsigned char *filled = NULL;
    if (bytes <= PLIM_STANDIN_SHADOW_PIECE_BYTES) {
        filled = malloc(bytes > 0 ? bytes : 1);
    }
    lock_pieces();
    forget(address, bytes);
    if (filled != NULL) {
        memset(filled, byte, bytes);
        add(address, filled, bytes);
    }
    unlock_pieces();
    free(filled);
}

uint64_t plim_standin_shadow_read(void *target, uint64_t address, size_t bytes)
{
    uint64_t known = 0;
    lock_pieces();
    const plim_standin_range *end = plim_standin_ranges_end(&pieces);
    const plim_standin_range *piece = plim_standin_ranges_from(&pieces, address);
    for (; piece != NULL && piece < end && piece->base < address + bytes; piece++) {
        const uint64_t from = plim_max(piece->base, address);
        const uint64_t to = plim_min(piece->base + piece->bytes, address + bytes);
        memcpy((char *)target + (from - address), bytes_of(piece) + (from - piece->base),
               to - from);
        known += to - from;
    }
    unlock_pieces();
    return known;
}

/* The pieces inside a range, cut to it, with bytes of their own. */
static void take_copy(uint64_t address, uint64_t bytes, plim_standin_ranges *ret)
{
    const plim_standin_range *end = plim_standin_ranges_end(&pieces);
    const plim_standin_range *piece = plim_standin_ranges_from(&pieces, address);
    for (; piece != NULL && piece < end && piece->base < address + bytes; piece++) {
        const uint64_t from = plim_max(piece->base, address);
        const uint64_t to = plim_min(piece->base + piece->bytes, address + bytes);
        void *copy = malloc(to - from);
        const plim_standin_range part = { from, to - from, (uint64_t)(uintptr_t)copy, 0 };
        if (copy != NULL && plim_standin_ranges_insert(ret, part)) {
            memcpy(copy, bytes_of(piece) + (from - piece->base), to - from);
        } else {
            free(copy);
        }
    }
}

void plim_standin_shadow_copy(void *target, const void *source, size_t bytes)
{
    const uint64_t to = (uint64_t)(uintptr_t)target;
    const uint64_t from = (uint64_t)(uintptr_t)source;
    plim_standin_ranges known = { 0 };
    lock_pieces();
    take_copy(from, bytes, &known);
    forget(to, bytes);
    for (size_t i = 0; i < known.count; i++) {
        const plim_standin_range *part = &known.items[i];
        add(to + (part->base - from), bytes_of(part), part->bytes);
        free(bytes_of(part));
    }
    unlock_pieces();
    free(known.items);
}
