/*
 * flattened.h - a text in its flat form, for tests of what reads flat text.
 */
#ifndef PLIMSOLL_TESTS_OOMTEXT_FLATTENED_H
#define PLIMSOLL_TESTS_OOMTEXT_FLATTENED_H

#include "harness.h"

#include "oomtext/flat.h"

/* The flat form of all of a text; nothing is kept from being taken for a prefix. */
static inline plim_flat t_flatten(const char *text)
{
    plim_flat flat;
    T_TRUE(plim_flat_init(&flat, plim_mem_or_heap(NULL)));
    plim_flat_set(&flat, text, strlen(text), NULL, 0);
    return flat;
}

#endif
