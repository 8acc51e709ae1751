/*
 * fold.h - letters to lower case, digits and bytes above ASCII as they are, all else dropped.
 */
#ifndef PLIMSOLL_OOMTEXT_FOLD_H
#define PLIMSOLL_OOMTEXT_FOLD_H

#include <stddef.h>
#include <stdint.h>

/* What a fold may write beyond its result. */
#define PLIM_FOLD_SLACK_BYTES 16u

/* How to bring those of eight bytes together that are kept, by which they are. */
typedef struct plim_fold_moves {
    uint8_t from[256][8];
    uint8_t count[256];
} plim_fold_moves;

/* Fold `bytes` bytes; there is room for as many and PLIM_FOLD_SLACK_BYTES. Returns how many. */
typedef size_t plim_fold_function(const plim_fold_moves *moves, const unsigned char *data,
                                  size_t bytes, char *folded);

/* What a byte becomes; 0: it is dropped. */
unsigned char plim_fold_byte(unsigned char byte);

void plim_fold_moves_fill(plim_fold_moves *moves);

/* For any processor, and the fastest for this one. They give the same bytes. */
plim_fold_function plim_fold_plain;
plim_fold_function *plim_fold_fastest(void);

#endif
