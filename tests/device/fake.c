/*
 * fake.c - finding the fake driver's controls. FAKE_CUDA and FAKE_NVML are paths from the build.
 */
#include "device/fake.h"

#include "harness.h"

#include <dlfcn.h>

fake_controls fake_driver;

/* As cuda_driver.c does it: POSIX promises that the bytes are the same. */
#define FIND(field)                                              \
    do {                                                         \
        void *const found = dlsym(library, "fake_cuda_" #field); \
        T_NOT_NULL(found);                                       \
        memcpy(&fake_driver.field, &found, sizeof found);        \
    } while (0)

void fake_load(void)
{
    void *const library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fail_msg("%s", dlerror());
    }
    FIND(reset);
    FIND(fail_call);
    FIND(set_devices);
    FIND(set_memory);
    FIND(set_attribute);
    FIND(hide_lookup);
    FIND(set_pending);
    FIND(complete);
    FIND(set_capturing);
    FIND(set_quiet);
    FIND(faults);
    FIND(fault_text);
    FIND(live);
    fake_driver.reset();
}

plim_device fake_open(int32_t ordinal, const plim_mem *mem)
{
    const plim_cuda_options options = {
        .ordinal = ordinal, .driver_path = FAKE_CUDA, .nvml_path = FAKE_NVML, .mem = mem
    };
    plim_device device;
    plim_error err;
    if (plim_cuda_open(&options, &device, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return device;
}

void fake_check_clean(void)
{
    fake_cuda_counts left;
    fake_driver.live(&left);
    T_EQ_U64(left.allocations, 0);
    T_EQ_U64(left.ranges, 0);
    T_EQ_U64(left.handles, 0);
    T_EQ_U64(left.mappings, 0);
    T_EQ_U64(left.streams, 0);
    T_EQ_U64(left.events, 0);
    T_EQ_U64(left.contexts, 0);
    if (fake_driver.faults() != 0) {
        fail_msg("misuse: %s", fake_driver.fault_text());
    }
}
