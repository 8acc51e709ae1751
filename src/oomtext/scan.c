/*
 * scan.c - folding text, and finding many phrases in it at once.
 *
 * A piece is taken in blocks that stay in the first-level cache: fold a block without a branch,
 * mark the places where phrases may begin (scan_table.c), then look at the marked ones as hits are
 * requested. The last bytes of a block are searched again in front of the next, so that no phrase
 * is cut:
 *
 *   piece    | Tried to alloc | ate 2 GiB      | ...
 *   block 0  [triedtoalloc]
 *   block 1        [ otoalloc ate2gib ]
 *                    carried
 *
 * A hit's place in the piece is found by a coarse map, the folded length at every 64th byte, and
 * by folding those 64 again. Hits are rare.
 */
#include "oomtext/scan.h"

#include "base/assert.h"
#include "base/error.h"
#include "oomtext/fold.h"
#include "oomtext/scan_table.h"

#include <string.h>

#define BLOCK_BYTES ((size_t)16 << 10) /* of the piece */
#define STEP_BYTES  ((size_t)64)       /* of the piece, of the coarse map */
#define STEPS       (BLOCK_BYTES / STEP_BYTES)
#define CARRY_MAX   ((size_t)PLIM_SCAN_PHRASE_BYTES_MAX - 1)
#define FOLDED_MAX  (CARRY_MAX + BLOCK_BYTES)

struct plim_scan {
    plim_mem mem;
    plim_arena arena;
    plim_scan_table table;
    plim_fold_function *fold;
    plim_fold_moves moves;

    /* the piece */
    const unsigned char *data;
    size_t bytes;
    size_t block_begin; /* in the piece */
    size_t block_end;

    /* the block, folded: what is carried, then its own */
    size_t carried;
    size_t folded_bytes;
    size_t limit; /* phrases that begin from here on are the next block's */
    size_t next;  /* the place to look at next */
    size_t carried_offsets[CARRY_MAX];
    uint32_t steps[STEPS]; /* the folded length at each step */
    uint64_t marks[PLIM_SCAN_MARK_WORDS(FOLDED_MAX)];
    char folded[FOLDED_MAX + PLIM_SCAN_PHRASE_BYTES_MAX];

    /* hits at one place, to be given from the last to the first */
    size_t pending;
    size_t pending_at;
    size_t pending_offset;
    uint16_t pending_places[PLIM_SCAN_PHRASES_MAX];
};

size_t plim_scan_fold(const void *data, size_t bytes, char *folded)
{
    return plim_fold_plain(NULL, data, bytes, folded);
}

plim_status plim_scan_create(const char *const *phrases, size_t count, const plim_mem *mem,
                             plim_scan **ret, plim_error *err)
{
    mem = plim_mem_or_heap(mem);
    plim_scan *const scan = plim_mem_alloc_zeroed(mem, 1, sizeof *scan);
    if (scan == NULL) {
        return plim_fail_memory(err, "preparing to search text");
    }
    scan->mem = *mem;
    plim_arena_init(&scan->arena, &scan->mem);
    scan->fold = plim_fold_fastest();
    plim_fold_moves_fill(&scan->moves);
    const plim_status status =
        plim_scan_table_init(&scan->table, phrases, count, &scan->arena, err);
    if (status != PLIM_OK) {
        plim_scan_destroy(scan);
        return status;
    }
    *ret = scan;
    return PLIM_OK;
}

void plim_scan_destroy(plim_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    plim_arena_deinit(&scan->arena);
    const plim_mem mem = scan->mem;
    plim_mem_free(&mem, scan, 1, sizeof *scan);
}

void plim_scan_begin(plim_scan *scan, const void *data, size_t bytes)
{
    scan->data = data;
    scan->bytes = bytes;
    scan->block_begin = scan->block_end = 0;
    scan->carried = 0;
    scan->folded_bytes = 0;
    scan->limit = scan->next = 0;
    scan->pending = 0;
}

/* --- places --- */

/* The step of the block in which the byte at a folded place is. */
static size_t step_of(const plim_scan *scan, size_t place)
{
    size_t low = 0; /* the last step that begins at or before the place */
    size_t high = (scan->block_end - scan->block_begin + STEP_BYTES - 1) / STEP_BYTES;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (scan->steps[middle] <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where in the piece the byte at a folded place is. */
static size_t offset_of(const plim_scan *scan, size_t place)
{
    PLIM_ASSERT_DEBUG(place < scan->folded_bytes);
    if (place < scan->carried) {
        return scan->carried_offsets[place];
    }
    const size_t step = step_of(scan, place);
    size_t offset = scan->block_begin + step * STEP_BYTES;
    for (size_t folded = scan->steps[step];; offset++) {
        folded += plim_fold_byte(scan->data[offset]) != 0;
        if (folded > place) {
            return offset;
        }
    }
}

/* --- blocks --- */

/* Keep the last folded bytes, as many as a phrase that is cut can have, in front. */
static void carry(plim_scan *scan)
{
    const size_t wanted = scan->table.phrase_bytes_max == 0 ? 0 : scan->table.phrase_bytes_max - 1;
    const size_t kept = scan->folded_bytes < wanted ? scan->folded_bytes : wanted;
    const size_t first = scan->folded_bytes - kept;
    size_t offsets[CARRY_MAX];
    size_t place = scan->folded_bytes;
    for (size_t at = scan->block_end; place > first && place > scan->carried;) {
        at--;
        if (plim_fold_byte(scan->data[at]) != 0) {
            place--;
            offsets[place - first] = at;
        }
    }
    while (place > first) {
        place--;
        offsets[place - first] = scan->carried_offsets[place];
    }
    memcpy(scan->carried_offsets, offsets, kept * sizeof *offsets);
    memmove(scan->folded, scan->folded + first, kept);
    scan->next = scan->next > first ? scan->next - first : 0; /* beyond `limit` after a skip */
    scan->carried = kept;
}

/* False at the end of the piece. */
static bool next_block(plim_scan *scan)
{
    if (scan->block_end == scan->bytes) {
        return false;
    }
    carry(scan);
    const size_t left = scan->bytes - scan->block_end;
    const size_t bytes = left < BLOCK_BYTES ? left : BLOCK_BYTES;
    scan->block_begin = scan->block_end;
    scan->block_end += bytes;

    const unsigned char *const data = scan->data + scan->block_begin;
    size_t length = scan->carried;
    for (size_t at = 0; at < bytes; at += STEP_BYTES) {
        scan->steps[at / STEP_BYTES] = (uint32_t)length;
        const size_t step = bytes - at < STEP_BYTES ? bytes - at : STEP_BYTES;
        length += scan->fold(&scan->moves, data + at, step, scan->folded + length);
    }
    memset(scan->folded + length, 0, PLIM_SCAN_PHRASE_BYTES_MAX);
    scan->folded_bytes = length;
    plim_scan_table_mark(&scan->table, scan->folded, length, scan->marks);

    const size_t cut = scan->table.phrase_bytes_max == 0 ? 0 : scan->table.phrase_bytes_max - 1;
    const bool is_last = scan->block_end == scan->bytes;
    scan->limit = is_last ? length : length - (length < cut ? length : cut);
    return true;
}

/* The next marked place of the block from scan->next on, or its limit. */
static size_t next_mark(const plim_scan *scan)
{
    size_t bit = scan->next + PLIM_SCAN_MARK_FIRST;
    const size_t end = scan->limit + PLIM_SCAN_MARK_FIRST;
    while (bit < end) {
        uint64_t word = scan->marks[bit / 64] >> bit % 64;
        if (word == 0) {
            bit = (bit / 64 + 1) * 64;
            continue;
        }
        for (; (word & 0xff) == 0; word >>= 8) {
            bit += 8;
        }
        for (; (word & 1) == 0; word >>= 1) {
            bit++;
        }
        break;
    }
    return (bit < end ? bit : end) - PLIM_SCAN_MARK_FIRST;
}

bool plim_scan_next(plim_scan *scan, plim_scan_hit *ret)
{
    while (scan->pending == 0) {
        const size_t place = next_mark(scan);
        if (place >= scan->limit) {
            if (!next_block(scan)) {
                return false;
            }
            continue;
        }
        scan->next = place + 1;
        scan->pending =
            plim_scan_table_match(&scan->table, scan->folded + place, scan->pending_places);
        if (scan->pending > 0) {
            scan->pending_at = place;
            scan->pending_offset = offset_of(scan, place);
        }
    }
    const uint16_t phrase = scan->pending_places[--scan->pending];
    const size_t bytes = plim_scan_table_phrase_bytes(&scan->table, phrase);
    ret->offset = scan->pending_offset;
    ret->end = offset_of(scan, scan->pending_at + bytes - 1) + 1;
    ret->phrase = plim_scan_table_phrase(&scan->table, phrase);
    return true;
}
