/*
 * rehearse_upgrade.h - the pages of `plimsoll rehearse --against` and `--bisect`.
 */
#ifndef PLIMSOLL_REPORT_MODEL_REHEARSE_UPGRADE_H
#define PLIMSOLL_REPORT_MODEL_REHEARSE_UPGRADE_H

#include "report/model/diff.h"

#include "plimsoll/upgrade.h"

/* The histories of one rank in both environments, compared. */
typedef struct plim_rehearsed_diff {
    uint64_t rank;
    const plim_diffed *diffed;
} plim_rehearsed_diff;

/* One program in two environments; all of it is borrowed. */
typedef struct plim_rehearsed_pair {
    const plim_rehearsed *before;
    const plim_rehearsed *after;
    const plim_environment *before_environment; /* NULL: the program's own */
    const plim_environment *after_environment;
    plim_upgrade_limit limit;
    const plim_rehearsed_diff *diffs; /* by rank; of ranks that left histories in both */
    size_t diff_count;
} plim_rehearsed_pair;

/* In the list: enumerator, name. */
#define PLIM_PAIR_ANSWER_LIST(X)                                                \
    X(PLIM_PAIR_SAME, "same")     /* no growth beyond the limit, and no less */ \
    X(PLIM_PAIR_SHRANK, "shrank") /* less by more than the limit */             \
    X(PLIM_PAIR_GREW, "grew")                                                   \
    X(PLIM_PAIR_FAILED, "failed") /* one of the two has no answer */

typedef enum plim_pair_answer {
#define PLIM_PAIR_ANSWER_ENUM(code, name) code,
    PLIM_PAIR_ANSWER_LIST(PLIM_PAIR_ANSWER_ENUM)
#undef PLIM_PAIR_ANSWER_ENUM
} plim_pair_answer;

plim_pair_answer plim_rehearsed_pair_judge(const plim_rehearsed_pair *pair);
const char *plim_pair_answer_name(plim_pair_answer answer);

/** A package that the two have in different releases, or that one has not. */
typedef struct plim_pair_change {
    const char *name;
    const char *before; /* NULL: it is not there */
    const char *after;
} plim_pair_change;

/** The changes of the pair, in the page; that which matters first.
 *
 * ret_count  0 without any, and where there is no memory */
const plim_pair_change *
plim_rehearsed_pair_changes(plim_page *page, const plim_rehearsed_pair *pair, size_t *ret_count);

/** "torch 2.9.1", or of environments that differ in no package the Python; in the page. */
const char *plim_rehearsed_pair_name(plim_page *page, const plim_rehearsed_pair *pair,
                                     bool is_after);

void plim_rehearse_against_page(plim_page *page, const plim_rehearsed_pair *pair);
/** The releases that were tried, the one that made memory grow, and the pair of its neighbours.
 *
 * package  its name */
void plim_rehearse_bisect_page(plim_page *page, const char *package, const plim_bisected *bisected,
                               const plim_rehearsed_pair *pair);

#endif
