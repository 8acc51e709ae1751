/*
 * cuda_driver.h - the CUDA driver and NVML as tables of functions, found at run time.
 *
 * A library stays loaded once it was: drivers do not expect to be unloaded.
 */
#ifndef PLIMSOLL_DEVICE_CUDA_DRIVER_H
#define PLIMSOLL_DEVICE_CUDA_DRIVER_H

#include "device/cuda_abi.h"

#include "plimsoll/status.h"

#include <stdbool.h>

typedef struct plim_cuda_driver {
    void *library;
#define PLIM_CUDA_FIELD(field, name, symbol, version, parameters) cu_result(*field) parameters;
    CU_FUNCTION_LIST(PLIM_CUDA_FIELD)
    CU_MAPPING_LIST(PLIM_CUDA_FIELD)
#undef PLIM_CUDA_FIELD
    bool can_map; /* all of CU_MAPPING_LIST is there; else none of it is to be called */
} plim_cuda_driver;

/*
 * Open the driver, find its functions, and initialise it.
 *
 * path     NULL: $PLIMSOLL_CUDA_DRIVER, else libcuda.so.1
 * errors   PLIM_UNSUPPORTED (no driver, or one without a function), PLIM_IO (cuInit refused)
 */
plim_status plim_cuda_driver_open(plim_cuda_driver *driver, const char *path, plim_error *err);
void plim_cuda_driver_close(plim_cuda_driver *driver);

/*
 * The status of a result, and of a failure its name, text and number in `err`:
 * PLIM_OUT_OF_DEVICE_MEMORY for CUDA_ERROR_OUT_OF_MEMORY, else PLIM_IO. `call` is "cuMemMap".
 */
plim_status plim_cuda_check(const plim_cuda_driver *driver, cu_result result, const char *call,
                            plim_error *err);

typedef struct plim_nvml {
    void *library;
    nvml_device *device;
#define PLIM_NVML_FIELD(field, name, parameters) int(*field) parameters;
    NVML_FUNCTION_LIST(PLIM_NVML_FIELD)
#undef PLIM_NVML_FIELD
} plim_nvml;

/*
 * Open NVML for the device at a PCI bus id. False: it is not to be had, and `nvml` is zeroed.
 *
 * path     NULL: $PLIMSOLL_NVML, else libnvidia-ml.so.1; "": do not
 */
bool plim_nvml_open(plim_nvml *nvml, const char *path, const char *bus_id);
/* A zeroed one is allowed. */
void plim_nvml_close(plim_nvml *nvml);

#endif
