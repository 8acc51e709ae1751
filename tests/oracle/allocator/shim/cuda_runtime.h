/* cuda_runtime.h - one of CUDA's headers is enough here. */
#ifndef ORACLE_SHIM_CUDA_RUNTIME_H
#define ORACLE_SHIM_CUDA_RUNTIME_H

#include <cuda_runtime_api.h>

#endif
