/*
 * fixes.h - advice that answers a finding, and the allocator's settings.
 */
#ifndef PLIMSOLL_DIAGNOSE_ADVICE_FIXES_H
#define PLIMSOLL_DIAGNOSE_ADVICE_FIXES_H

#include "diagnose/advice/program.h"

typedef struct plim_advice_item {
    plim_diagnosis_advice advice;
    bool decides; /* it answers the verdict */
} plim_advice_item;

typedef struct plim_advice_list {
    const plim_mem *mem;
    plim_advice_item *items;
    size_t count;
    size_t capacity;
} plim_advice_list;

/* False: no memory. */
bool plim_advice_add(plim_advice_list *list, const plim_diagnosis_advice *advice, bool decides);

/* For each finding that names a cause the change of code that ends it. False: no memory. */
bool plim_advise_findings(const plim_program_shape *shape, plim_what_if *what_if,
                          plim_advice_list *list);

/* The settings that a search of replays finds, within the budget of the options. Nothing without a
 * budget. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_advise_settings(plim_case *one, plim_advice_list *list, plim_error *err);

#endif
