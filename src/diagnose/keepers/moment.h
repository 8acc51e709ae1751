/*
 * moment.h - the blocks of a history that a document of holders speaks of.
 *
 * Such a document has addresses of one moment: that of the failure, or of the dump, which is the
 * history's end. A block is matched that was live then, at that address and of that size.
 */
#ifndef PLIMSOLL_DIAGNOSE_KEEPERS_MOMENT_H
#define PLIMSOLL_DIAGNOSE_KEEPERS_MOMENT_H

#include "diagnose/case/case.h"

/* The event after which the document of the case's options holds, or PLIM_AT_START. */
int64_t plim_holders_moment(const plim_case *one);

/* The holder of an allocation that is live at that moment; NULL: none is known. */
const plim_holder *plim_holder_of(const plim_case *one, const plim_allocation *allocation);

/* True of a list, a table or their like that a variable has. */
bool plim_holder_is_collection(const plim_holder *holder);

/* Parameters, gradients and optimizer states by their holders, surer than by stacks; and what the
 * holders disprove becomes unknown. Linear in events. */
void plim_holders_categorise(plim_case *one);

#endif
