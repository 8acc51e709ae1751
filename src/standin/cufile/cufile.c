/*
 * cufile.c - files straight to devices, which this machine does not have: GPUDirect Storage wants
 * a driver of its own, and programs ask for it by name (torch.cuda.gds).
 *
 * A CUfileError_t is two 32-bit numbers, cuFile's and the driver's; they come back in one
 * register, cuFile's in its lower half (cufile.h, CUDA 13.0).
 */
#include "standin/core/stub.h"

#define DRIVER_NOT_INITIALIZED 5001
#define NO_STORAGE             "no GPUDirect Storage, as on most machines"

PLIM_STANDIN_DECLINED(cuFileDriverOpen, DRIVER_NOT_INITIALIZED, NO_STORAGE)
PLIM_STANDIN_DECLINED(cuFileHandleRegister, DRIVER_NOT_INITIALIZED, NO_STORAGE)
PLIM_STANDIN_DECLINED(cuFileBufRegister, DRIVER_NOT_INITIALIZED, NO_STORAGE)
PLIM_STANDIN_DECLINED(cuFileBufDeregister, DRIVER_NOT_INITIALIZED, NO_STORAGE)
/* These two give the number of bytes, or a number below 0. */
PLIM_STANDIN_DECLINED(cuFileRead, -DRIVER_NOT_INITIALIZED, NO_STORAGE)
PLIM_STANDIN_DECLINED(cuFileWrite, -DRIVER_NOT_INITIALIZED, NO_STORAGE)

/* No file was ever registered. */
PLIM_STANDIN_NOTHING(cuFileHandleDeregister)
PLIM_STANDIN_NOTHING(cuFileDriverClose)
