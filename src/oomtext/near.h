/*
 * near.h - the phrases that forms want to have around them, or not, found once in each stretch.
 *
 * Many forms ask for the same phrases around many hits. So a flat text is gone through once for
 * all of them, and each question is a search in sorted places.
 */
#ifndef PLIMSOLL_OOMTEXT_NEAR_H
#define PLIMSOLL_OOMTEXT_NEAR_H

#include "base/arena.h"
#include "oomtext/flat.h"
#include "oomtext/table.h"

typedef struct plim_near plim_near;

/** All phrases of the table of forms. NULL when there is no memory; lives in the arena. */
plim_near *plim_near_create(plim_arena *arena);

/** Find them in a flat text. */
void plim_near_set(plim_near *near, const plim_flat *flat);

/** True if what a form wants to have, and not to have, holds in words [from, to). */
bool plim_near_fits(const plim_near *near, const plim_form *form, size_t from, size_t to);

#endif
