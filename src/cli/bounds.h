/*
 * bounds.h - what the options --fail-on share: words between commas, shares and sizes.
 */
#ifndef PLIMSOLL_CLI_BOUNDS_H
#define PLIMSOLL_CLI_BOUNDS_H

#include <argp.h>
#include <stdbool.h>

#define PLIM_BOUND_BYTES 64 /* of a word, its zero included */
#define PLIM_BOUNDS_MAX  32 /* of them */

/**
 * Hand out the words of "leak,peak>20GiB", each a copy that may be changed.
 *
 * returns  false at the first word that is empty or too long
 */
bool plim_bounds_each(struct argp_state *state, const char *text,
                      void (*take)(struct argp_state *state, void *ctx, char *word), void *ctx);

/** "20%" as 0.2. most  in percent */
bool plim_bound_share(const char *text, double most, double *ret);

/** "1MiB"; where `per_step`, "1MiB/step" too. The text is changed. */
bool plim_bound_size(char *text, bool per_step, double *ret);

#endif
