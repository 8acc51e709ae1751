/*
 * names.h - the names by which data files and documents know verdicts, families, topics, settings
 * in force and reasons.
 */
#ifndef PLIMSOLL_VERDICT_NAMES_H
#define PLIMSOLL_VERDICT_NAMES_H

#include "plimsoll/verdict.h"

/* Names of an enumeration, each at its enumerator's value. */
typedef struct plim_names {
    const char *const *names;
    size_t count;
} plim_names;

extern const plim_names plim_names_of_verdicts;
extern const plim_names plim_names_of_families;
extern const plim_names plim_names_of_topics;
extern const plim_names plim_names_in_force;
extern const plim_names plim_names_of_reasons;

/* The value whose name is the `bytes` at `name`, or SIZE_MAX. */
size_t plim_names_find(const plim_names *names, const char *name, size_t bytes);

#endif
