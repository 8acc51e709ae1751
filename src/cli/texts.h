/*
 * texts.h - the texts that explain was given, read and explained, as reports take them.
 */
#ifndef PLIMSOLL_CLI_TEXTS_H
#define PLIMSOLL_CLI_TEXTS_H

#include "report/model/explain.h"

typedef struct plim_texts {
    plim_explained *items;         /* one that could not be read says why */
    struct plim_text_parts *parts; /* what they point to */
    size_t count;
    size_t failed_count;
} plim_texts;

/**
 * Read and explain files, with a progress bar; each that fails is said on stderr and stays in
 * the list.
 *
 * who             heads the messages
 * capacity_bytes  of the device, 0 if unknown
 * returns         false when not even the list found memory, which is said too
 */
bool plim_texts_load(const char *who, char *const *paths, size_t count, double capacity_bytes,
                     plim_texts *ret);

/**
 * The same for one that was explained already.
 *
 * explanation  the texts' from now on, also on failure
 */
bool plim_texts_take(const char *who, const char *name, plim_explanation *explanation,
                     plim_texts *ret);

/** A zeroed one is allowed. */
void plim_texts_deinit(plim_texts *texts);

#endif
