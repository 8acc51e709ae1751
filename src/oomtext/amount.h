/*
 * amount.h - a number with its unit, as error texts write it, read from flat text.
 *
 * Every unit is 1024-based, whatever its letters say: no message in any collection means 1000
 * (docs/design/explain.md). A number may have thousands separators, a decimal comma, a bare
 * trailing point, no blank before its unit; it may be parted by a line end, in its digits, or
 * between them and the unit, when the text was wrapped there.
 */
#ifndef PLIMSOLL_OOMTEXT_AMOUNT_H
#define PLIMSOLL_OOMTEXT_AMOUNT_H

#include "oomtext/flat.h"

typedef enum plim_amount_kind {
    PLIM_AMOUNT_SIZED,    /* a unit has to follow */
    PLIM_AMOUNT_BYTES,    /* an integer; "bytes" or "B" may follow, another unit may not */
    PLIM_AMOUNT_ANY,      /* either */
    PLIM_AMOUNT_INTEGER,  /* a number of something else: a device, a process */
    PLIM_AMOUNT_UNITLESS, /* digits that share the unit of a number that follows */
} plim_amount_kind;

typedef struct plim_amount {
    uint64_t bytes;       /* to the nearest; saturates at UINT64_MAX - 1 */
    uint64_t slack_bytes; /* half a unit of the last digit; 0 for an integer of bytes */
    bool is_sentinel;     /* 2^64 bytes: printed for "no limit" and "not known" */
    bool has_unit;        /* one was written */
    size_t end;           /* index in full, after number and unit */
    long double value;    /* the digits alone, without their point, */
    unsigned decimals;    /* how many of them stand after the point, */
    int log2;             /* and what the unit multiplies by: 2^log2 */
} plim_amount;

/** Read an amount that begins at full[i]. False when there is none. */
bool plim_amount_read(const plim_flat *flat, size_t i, plim_amount_kind kind, plim_amount *ret);

/** Read the amount that ends right before full[end]; *ret_begin is where it begins. */
bool plim_amount_read_before(const plim_flat *flat, size_t end, plim_amount_kind kind,
                             plim_amount *ret, size_t *ret_begin);

/** Give a UNITLESS amount the unit of `other`, the number that follows it. */
void plim_amount_share_unit(plim_amount *amount, const plim_amount *other);

#endif
