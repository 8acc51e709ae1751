/*
 * views.h - ready answers, as views over the tables.
 */
#ifndef PLIMSOLL_QUERY_VIEWS_H
#define PLIMSOLL_QUERY_VIEWS_H

#include "plimsoll/query.h"

extern const plim_query_table plim_query_views[];
extern const size_t plim_query_view_count;

#endif
