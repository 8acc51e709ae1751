/*
 * nvml.c - NVML that is none: two processes on every device, or what $FAKE_NVML asks for.
 *
 *   many      100 processes, more than a first guess has room for
 *   growing   one more process at each look
 *   refuses   an error
 *   lost      does not know the device
 */
#include "device/cuda_abi.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_DECLARE(field, name, parameters) int fake_nvml_##field parameters __asm__(name);
NVML_FUNCTION_LIST(FAKE_DECLARE)
#undef FAKE_DECLARE

struct nvml_device {
    int unused;
};

static bool is_asked(const char *what)
{
    const char *const asked = getenv("FAKE_NVML");
    return asked != NULL && strcmp(asked, what) == 0;
}

int fake_nvml_init(void)
{
    return NVML_SUCCESS;
}

int fake_nvml_shutdown(void)
{
    return NVML_SUCCESS;
}

int fake_nvml_device_by_bus_id(const char *bus_id, nvml_device **ret)
{
    static nvml_device device;
    if (is_asked("lost") || strncmp(bus_id, "0000:", 5) != 0) {
        return NVML_NOT_FOUND;
    }
    *ret = &device;
    return NVML_SUCCESS;
}

int fake_nvml_processes(nvml_device *device, unsigned *count, nvml_process *ret)
{
    static unsigned growing = 64;
    (void)device;
    if (is_asked("refuses")) {
        return 999; /* NVML_ERROR_UNKNOWN */
    }
    const unsigned there = is_asked("many") ? 100 : is_asked("growing") ? ++growing : 2;
    if (*count < there) {
        *count = there;
        return NVML_INSUFFICIENT_SIZE;
    }
    *count = there;
    for (unsigned i = 0; i < there; i++) {
        ret[i] = (nvml_process){ .pid = 1000 + i, .used_bytes = (uint64_t)(i + 1) << 30 };
    }
    ret[1].used_bytes = NVML_VALUE_NOT_AVAILABLE;
    return NVML_SUCCESS;
}
