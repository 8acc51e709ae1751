/*
 * contract.h - what every device owes (plimsoll/device.h), whoever fills the table.
 */
#ifndef PLIMSOLL_TESTS_DEVICE_CONTRACT_H
#define PLIMSOLL_TESTS_DEVICE_CONTRACT_H

#include "plimsoll/device.h"

/* What a device under the contract is, as far as it matters. */
typedef struct contract_subject {
    plim_device device;
    bool keeps_contents; /* what is written can be read */
    bool is_ours;        /* can be filled up and misused: no GPU that others use too */
} contract_subject;

/* Runs all of it. The device must have at least 64 MiB, and no memory taken. */
void contract_check(const contract_subject *subject);

/* --- the same sequence, the same answers --- */

#define TRANSCRIPT_STEPS       1500
#define TRANSCRIPT_TOTAL_BYTES (UINT64_C(64) << 20)

typedef struct contract_step {
    int operation;
    int outcome;    /* 0 done, 1 out of device memory, 2 refused */
    uint64_t value; /* free bytes, or whether a fence is complete */
    uint64_t seen;  /* contents that were read; not the same for sim */
} contract_step;

typedef struct contract_transcript {
    contract_step steps[TRANSCRIPT_STEPS];
} contract_transcript;

/*
 * Makes TRANSCRIPT_STEPS calls that depend on the seed alone, sensible and senseless ones, on a
 * device of TRANSCRIPT_TOTAL_BYTES with granules of 2 MiB, and tells how they ended. Gives
 * everything back.
 */
void contract_play(const plim_device *device, uint64_t seed, contract_transcript *ret);
/* Fails the test at the first step that differs. */
void contract_compare(const contract_transcript *a, const contract_transcript *b, bool with_seen);

#endif
