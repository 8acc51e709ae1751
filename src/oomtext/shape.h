/*
 * shape.h - the shape of a tensor as a request: [64,3,224,224] and type float.
 */
#ifndef PLIMSOLL_OOMTEXT_SHAPE_H
#define PLIMSOLL_OOMTEXT_SHAPE_H

#include "oomtext/amount.h"

/** Read a shape that begins at full[i], and the type after it (4 bytes where none is named). */
bool plim_shape_read(const plim_flat *flat, size_t i, plim_amount *ret);

#endif
