/*
 * clauses.h - the table of clauses.
 */
#ifndef PLIMSOLL_OOMTEXT_CLAUSES_H
#define PLIMSOLL_OOMTEXT_CLAUSES_H

#include "oomtext/clause.h"

const plim_clause *plim_clauses(size_t *ret_count);

#endif
