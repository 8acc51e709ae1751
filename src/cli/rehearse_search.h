/*
 * rehearse_search.h - many rehearsals of one command, with other values in the place of {}.
 */
#ifndef PLIMSOLL_CLI_REHEARSE_SEARCH_H
#define PLIMSOLL_CLI_REHEARSE_SEARCH_H

#include "cli/rehearsing.h"
#include "cli/values.h"
#include "report/model/rehearse.h"

#define PLIM_SEARCH_TRIES_MAX PLIM_VALUES_MAX

typedef struct plim_search {
    plim_rehearse_try tries[PLIM_SEARCH_TRIES_MAX]; /* by value */
    size_t count;
    uint64_t best; /* the largest that fits; 0: none */
    plim_gpu gpu;
    uint32_t device_count;
    uint64_t capacity_bytes; /* of each device */
} plim_search;

/* Whether a word of the command has {} in it. */
bool plim_search_has_place(const char *const *argv);

/*
 * The largest value from 1 on for which the program fits. What needs more memory for a smaller
 * value than for a larger one is not found. Each try is told on stderr.
 *
 * returns  false when a rehearsal failed of something else than memory, which was said
 */
bool plim_search_largest(const plim_rehearsing *how, const char *const *argv, plim_search *ret);

/* Each of the values. */
bool plim_search_sweep(const plim_rehearsing *how, const char *const *argv, const uint64_t *values,
                       size_t count, plim_search *ret);

#endif
