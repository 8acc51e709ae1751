/*
 * pickler.h - writes protocol 4 as CPython's C pickler does, without an object in sight.
 *
 * The caller says what it would have pickled, in order, and keeps the memo numbers that it wants
 * to come back to. What is written is what CPython would write: each dict, list, tuple and str is
 * memoised, lists and dicts come in batches of 1000, a frame of 64 KiB or
 * more ends before the next object. Loading and dumping again gives the same bytes. Trouble ends
 * the program.
 */
#ifndef BENCH_SNAPSHOT_LOAD_PICKLER_H
#define BENCH_SNAPSHOT_LOAD_PICKLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PICKLER_FRAME_BYTES = 64 * 1024, PICKLER_SLACK_BYTES = 8 * 1024 };

typedef struct py_pickler {
    FILE *file;
    uint64_t written_bytes;
    uint32_t memo_count;
    size_t frame_bytes;
    unsigned char frame[PICKLER_FRAME_BYTES + PICKLER_SLACK_BYTES];
} py_pickler;

/* A str that many places share: written in full the first time, a memo reference from then on. */
typedef struct pickler_name {
    const char *text;
    uint32_t memo; /* 0: not written yet, since 0 is the outermost dict */
} pickler_name;

/* A list under way, whose length must be known from the start. */
typedef struct pickler_list {
    uint64_t length;
    uint64_t index;
} pickler_list;

void pickler_start(py_pickler *pickler, FILE *file);
void pickler_finish(py_pickler *pickler);

/* Scalars. A str (below 256 bytes) gives its memo number. */
void pickler_int(py_pickler *pickler, int64_t value);
void pickler_bool(py_pickler *pickler, bool value);
void pickler_zero_float(py_pickler *pickler);
uint32_t pickler_str(py_pickler *pickler, const char *text);
void pickler_shared(py_pickler *pickler, pickler_name *name);
void pickler_get(py_pickler *pickler, uint32_t memo);

/* The tuple of two small ints. */
void pickler_pair(py_pickler *pickler, int64_t first, int64_t second);

/* A dict of 2 to 1000 items: open, then keys and values in turn, then close. */
uint32_t pickler_dict_open(py_pickler *pickler);
void pickler_dict_close(py_pickler *pickler);

/* A list: open, then pickler_list_next() before each of its items, then close. */
uint32_t pickler_list_open(py_pickler *pickler, uint64_t length, pickler_list *ret_list);
void pickler_list_next(py_pickler *pickler, pickler_list *list);
void pickler_list_close(py_pickler *pickler, const pickler_list *list);

#endif
