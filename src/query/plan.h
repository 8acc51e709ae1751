/*
 * plan.h - what a cursor of a relation is asked to narrow, as SQLite's planner and cursor agree on
 * it.
 */
#ifndef PLIMSOLL_QUERY_PLAN_H
#define PLIMSOLL_QUERY_PLAN_H

#include "query/relation.h"

/* xBestIndex: which comparisons narrow, what that costs, and which order comes for nothing. */
int plim_plan_choose(const plim_query *query, const plim_relation *relation,
                     sqlite3_index_info *info);

/* xFilter: puts the values that were compared with into the cursor. False: no memory. */
bool plim_plan_take(plim_relation_cursor *cursor, int plan, sqlite3_value **argv);

#endif
