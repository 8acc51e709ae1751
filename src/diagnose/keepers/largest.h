/*
 * largest.h - the collection that held most of what was live, and the line that made most of it.
 */
#ifndef PLIMSOLL_DIAGNOSE_KEEPERS_LARGEST_H
#define PLIMSOLL_DIAGNOSE_KEEPERS_LARGEST_H

#include "diagnose/case/case.h"

/* Adds a sentence to a finding on a failure, where a list, a table or their like that a variable
 * has held half of what was live as the document of holders was made. n log n in what was live.
 * False: no memory. */
bool plim_keepers_say_largest(plim_case *one, plim_diagnosis_finding *finding);

#endif
