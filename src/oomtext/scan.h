/*
 * scan.h - where in gigabytes of text a message might begin, at memory speed.
 *
 * Text is folded: letters become lower case, and of everything else only digits and bytes above
 * ASCII stay. So "Out \nof memory", "OutOfMemory" and "CUDA_ERROR_OUT_OF_MEMORY" all read
 * "outofmemory", however they were wrapped, and one set of phrases finds them all. The folded
 * text is searched for all phrases at once by their rarest pieces (docs/design/explain.md).
 */
#ifndef PLIMSOLL_OOMTEXT_SCAN_H
#define PLIMSOLL_OOMTEXT_SCAN_H

#include "base/memory.h"

#include "plimsoll/status.h"

#define PLIM_SCAN_PHRASE_BYTES_MIN 6u /* of a folded phrase: shorter ones cost speed */
#define PLIM_SCAN_PHRASE_BYTES_MAX 64u
#define PLIM_SCAN_PHRASES_MAX      1024u

typedef struct plim_scan plim_scan;

typedef struct plim_scan_hit {
    size_t offset;   /* in the piece: of the byte whose folded form begins the phrase */
    size_t end;      /* after the byte that ends it */
    uint32_t phrase; /* index */
} plim_scan_hit;

/**
 * phrases  folded already; borrowed until destroy
 * errors   PLIM_INVALID_ARGUMENT (a phrase too short, too long, or not folded),
 *          PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_scan_create(const char *const *phrases, size_t count,
                                           const plim_mem *mem, plim_scan **ret, plim_error *err);
void plim_scan_destroy(plim_scan *scan); /* NULL is allowed */

/**
 * Give a piece of text to be searched: it is borrowed until the next call, and must not change.
 * The caller lets pieces overlap as far as matches may reach.
 */
void plim_scan_begin(plim_scan *scan, const void *data, size_t bytes);

/**
 * The next hit, by where it begins; of those that begin at one byte, the longest phrase first.
 *
 * returns  false when there is none
 */
bool plim_scan_next(plim_scan *scan, plim_scan_hit *ret);

/** Fold a text into `folded`, which has room for as many bytes; returns how many it became. */
size_t plim_scan_fold(const void *data, size_t bytes, char *folded);

#endif
