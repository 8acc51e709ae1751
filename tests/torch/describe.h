/*
 * describe.h - a history as text, for tests to compare: everything in it, a line each.
 *
 *   device 0                     (and what is known of its ring buffer)
 *   alloc 0x1000 512 s0 t5 f@a.py:1<g@b.py:2 {pool 0,1 context c}
 *   segment 0x1000 2097152 s0 pool 0,0 small
 *   block 0x1000 512/500 active_allocated f@a.py:1
 *   setting group/name=1
 *   annotation START name on 0 t5
 *   bad_field 1
 *   warning …
 */
#ifndef PLIMSOLL_TESTS_TORCH_DESCRIBE_H
#define PLIMSOLL_TESTS_TORCH_DESCRIBE_H

#include "base/text.h"

#include "plimsoll/history.h"

/* The caller frees the text with plim_text_deinit(). */
plim_text describe(const plim_history *history);

#endif
