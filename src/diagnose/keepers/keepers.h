/*
 * keepers.h - the objects that keep a leak's blocks alive, from the document of holders.
 */
#ifndef PLIMSOLL_DIAGNOSE_KEEPERS_KEEPERS_H
#define PLIMSOLL_DIAGNOSE_KEEPERS_KEEPERS_H

#include "diagnose/case/case.h"

/*
 * Fills in the holders, the keeper and its confidence of a finding that keeps `ids`; gives it the
 * cause that they prove; and puts a sentence of them before its evidence. Of the sentences from
 * `judged` on, those that doubt what the holders show go. Without a document nothing changes.
 * Linear in the ids. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_keepers_name(plim_case *one, const uint64_t *ids, size_t id_count, size_t judged,
                              plim_diagnosis_finding *finding, plim_error *err);

#endif
