/* cuda_runtime.h - see cuda_runtime_api.h beside it. */
#include "cuda_runtime_api.h"
