/*
 * fake_cuda.h - the controls of the driver that is none.
 *
 * fake_cuda is a shared object with the driver's functions (device/cuda_abi.h) on host memory:
 * what is mapped is really mapped, so a device address is one of this process. It checks what a
 * real driver leaves undefined, prints a line for each misuse and counts them, and fails on
 * command. A test opens it as the driver and finds these controls in it by dlsym().
 *
 * $FAKE_CUDA_DEVICES, $FAKE_CUDA_MEMORY_MIB and $FAKE_CUDA_PENDING=1 say how it starts.
 */
#ifndef PLIMSOLL_TESTS_FAKE_CUDA_H
#define PLIMSOLL_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_CUDA_DEVICES_MAX 4
#define FAKE_CUDA_ALL_STREAMS UINT64_MAX

typedef struct fake_cuda_counts {
    size_t allocations;
    size_t ranges;
    size_t handles; /* with references left */
    size_t mappings;
    size_t streams;
    size_t events;
    size_t contexts; /* retained primary contexts, counted by retains */
} fake_cuda_counts;

/* Back to the start: everything is taken away, failures and faults are forgotten. */
void fake_cuda_reset(void);
/* Fail the nth call of a function from now on, "cuMemMap" and 1 is the next; nth 0: no more. */
void fake_cuda_fail_call(const char *function, uint64_t nth, int code);
void fake_cuda_set_devices(int count);
/* What a device has, and what of it others hold. */
void fake_cuda_set_memory(int device, uint64_t total_bytes, uint64_t used_bytes);
/* Of all devices. */
void fake_cuda_set_attribute(int attribute, int value);
/* True if cuGetProcAddress() finds nothing, as if the driver were old. */
void fake_cuda_hide_lookup(bool is_hidden);
/* True if events recorded from now on wait for fake_cuda_complete(). */
void fake_cuda_set_pending(bool is_pending);
/* What was recorded so far on a stream of device 0, by its handle, or on all streams. */
void fake_cuda_complete(uint64_t stream);
void fake_cuda_set_capturing(uint64_t stream, bool is_capturing);
/* Misuses are counted all the same, without a line each. */
void fake_cuda_set_quiet(bool is_quiet);
/* Misuses so far, and what the last one was. */
size_t fake_cuda_faults(void);
const char *fake_cuda_fault_text(void);
void fake_cuda_live(fake_cuda_counts *ret);

#endif
