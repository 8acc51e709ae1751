/*
 * list_cache.h - lists of memo reads, known by the bytes they are written in.
 *
 * A stack is written as MARK, dozens of BINGET and LONG_BINGET, APPENDS, and the same stack as
 * the same bytes, thousands of times. Memo entries do not change once written, so equal bytes
 * mean equal lists: finding one by its bytes saves running its opcodes.
 *
 * The length of a list's bytes is not known before they are run. But each list ends in the byte of
 * APPENDS, and no list's bytes are the beginning of another's (they are a prefix code), so it is
 * enough to try the first few places where that byte stands. Before that, the two lists that came
 * next before are tried: programs that train do the same things at every step.
 */
#ifndef PLIMSOLL_PICKLE_LIST_CACHE_H
#define PLIMSOLL_PICKLE_LIST_CACHE_H

#include "base/arena.h"
#include "base/intern.h"
#include "pickle/value.h"

typedef struct plim_known_list {
    const uint8_t *bytes; /* after MARK, with the APPENDS */
    size_t length;
    plim_array *items;
    uint32_t next[2]; /* the lists that followed this one last, the latest first */
} plim_known_list;

typedef struct plim_list_cache {
    plim_arena arena;
    PLIM_VEC(plim_known_list) lists;
    plim_intern index;
    uint32_t last; /* the list found last */
    bool is_off;   /* a memo entry was written twice: bytes no longer say what a list holds */
} plim_list_cache;

void plim_list_cache_init(plim_list_cache *cache, const plim_mem *mem);
void plim_list_cache_deinit(plim_list_cache *cache);

/* The items of the known list that starts at `at`, and its length; NULL when none is known. */
plim_array *plim_list_cache_find(plim_list_cache *cache, const uint8_t *at, size_t available,
                                 size_t *ret_length);

/*
 * Remember that these bytes gave these items, if they are memo reads and nothing else. False when
 * there is no memory.
 */
bool plim_list_cache_learn(plim_list_cache *cache, const uint8_t *bytes, size_t length,
                           plim_array *items);

#endif
