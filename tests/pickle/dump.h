/*
 * dump.h - a value as one line of text, for tests to compare.
 *
 *   None True -5 0x…          (integers beyond 64 bits: two's complement, highest byte first)
 *   f3ff0000000000000         (floats: their bits)
 *   'text' b'bytes' B'bytearray', every byte but printable ASCII as \xhh
 *   [1, 2] (1, 2) {1: 2} set{1} frozenset{1}
 *   &3                        (the fourth container from the left, once more)
 *   <2:17>                    (a row: class and id)
 *
 * Empty tuples and frozensets are not numbered: Python has only one of each.
 */
#ifndef PLIMSOLL_TESTS_PICKLE_DUMP_H
#define PLIMSOLL_TESTS_PICKLE_DUMP_H

#include "base/text.h"
#include "pickle/value.h"

#define DUMP_DEPTH_MAX 2000 /* what lies deeper is "…" */

void dump_value(plim_value value, plim_text *text);

#endif
