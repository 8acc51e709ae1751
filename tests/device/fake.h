/*
 * fake.h - the fake driver's controls (fake_cuda/fake_cuda.h), found in it as a test runs.
 */
#ifndef PLIMSOLL_TESTS_DEVICE_FAKE_H
#define PLIMSOLL_TESTS_DEVICE_FAKE_H

#include "fake_cuda/fake_cuda.h"

#include "plimsoll/device.h"

typedef struct fake_controls {
    void (*reset)(void);
    void (*fail_call)(const char *function, uint64_t nth, int code);
    void (*set_devices)(int count);
    void (*set_memory)(int device, uint64_t total_bytes, uint64_t used_bytes);
    void (*set_attribute)(int attribute, int value);
    void (*hide_lookup)(bool is_hidden);
    void (*set_pending)(bool is_pending);
    void (*complete)(uint64_t stream);
    void (*set_capturing)(uint64_t stream, bool is_capturing);
    void (*set_quiet)(bool is_quiet);
    size_t (*faults)(void);
    const char *(*fault_text)(void);
    void (*live)(fake_cuda_counts *ret);
} fake_controls;

extern fake_controls fake_driver;

/* Fills fake_driver, and sets the driver back to its start. */
void fake_load(void);
/* Opens the fake GPU, of 64 MiB in test of the contract. Fails the test if it cannot. */
plim_device fake_open(int32_t ordinal, const plim_mem *mem);
/* Fails the test unless nothing is left and nothing was misused. */
void fake_check_clean(void);

#endif
