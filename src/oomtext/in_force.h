/*
 * in_force.h - whether a mark of words.tsv holds where it stands: a setting in use, not one that is
 * advised.
 */
#ifndef PLIMSOLL_OOMTEXT_IN_FORCE_H
#define PLIMSOLL_OOMTEXT_IN_FORCE_H

#include "oomtext/table.h"

/**
 * True if a mark found in raw text says that something is in force, and is not a hint ("try
 * setting …") or its opposite.
 *
 * text  the piece; the mark stands at [begin, end)
 */
bool plim_in_force_holds(const plim_text_mark *mark, const char *text, size_t bytes, size_t begin,
                         size_t end);

#endif
