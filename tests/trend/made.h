/*
 * made.h - memory logs of our own making, with what there is to be found in them.
 *
 * A family is a kind of log; each draw from it takes another length, noise, growth and so on, as
 * the random numbers of the harness have it.
 */
#ifndef PLIMSOLL_TESTS_TREND_MADE_H
#define PLIMSOLL_TESTS_TREND_MADE_H

#include "plimsoll/trend.h"

#include <stdint.h>

#define T_MADE_POINTS_MAX 65536

typedef struct t_made {
    double steps[T_MADE_POINTS_MAX];
    double bytes[T_MADE_POINTS_MAX];
    size_t count;
    double growth;       /* true bytes per step, at the end */
    double growth_error; /* the least standard error any estimate can have (Cramér and Rao) */
    double onset;        /* step */
    char text[160];      /* what was drawn */
} t_made;

typedef struct t_family {
    const char *name;
    void (*make)(t_made *made);
    unsigned classes; /* right answers, one bit each */
    double right_min; /* share of right answers to demand */
} t_family;

extern const t_family t_families[];
extern const size_t t_family_count;

/* The generator's state: set before each draw. */
void t_made_seed(uint64_t seed);
double t_made_between(double low, double high);

#endif
