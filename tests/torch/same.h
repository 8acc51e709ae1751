/*
 * same.h - whether two histories say the same, whatever numbers their tables use.
 *
 * Compared are devices with their events, segments and blocks, settings and annotations, down to
 * the texts of frames; not the source, and neither anomalies nor warnings, which are about it.
 * A device of which nothing is known is as good as none, and a text that is missing in a frame
 * or an annotation as good as an empty one: a file cannot tell these apart.
 */
#ifndef PLIMSOLL_TESTS_TORCH_SAME_H
#define PLIMSOLL_TESTS_TORCH_SAME_H

#include "plimsoll/history.h"

#include <stdbool.h>
#include <stddef.h>

/* `difference` gets the first one, in words. */
bool same_history(const plim_history *a, const plim_history *b, char *difference, size_t bytes);

#endif
