/* libraries.c - see libraries.h. Statuses are those of each library's manual. */
#include "standin/core/libraries.h"

#include <stddef.h>
#include <string.h>

static const plim_standin_vendor vendors[] = {
    { "libcublas", 15, true },      /* CUBLAS_STATUS_NOT_SUPPORTED */
    { "libcublasLt", 15, true },    /* the same enumeration */
    { "libcuda", 801, false },      /* CUDA_ERROR_NOT_SUPPORTED */
    { "libcudart", 801, false },    /* cudaErrorNotSupported */
    { "libcudnn", 3000, true },     /* CUDNN_STATUS_NOT_SUPPORTED */
    { "libcufft", 16, true },       /* CUFFT_NOT_SUPPORTED */
    { "libcufile", 5008, true },    /* CU_FILE_IO_NOT_SUPPORTED; it reads into device memory */
    { "libcupti", 27, false },      /* CUPTI_ERROR_NOT_SUPPORTED */
    { "libcurand", 999, true },     /* CURAND_STATUS_INTERNAL_ERROR: it has nothing nearer */
    { "libcusolver", 9, true },     /* CUSOLVER_STATUS_NOT_SUPPORTED */
    { "libcusparse", 10, true },    /* CUSPARSE_STATUS_NOT_SUPPORTED */
    { "libcusparseLt", 10, true },  /* the same enumeration */
    { "libnccl", 3, false },        /* ncclInternalError: it has nothing nearer */
    { "libnvidia-ml", 3, false },   /* NVML_ERROR_NOT_SUPPORTED */
    { "libnvrtc", 11, false },      /* NVRTC_ERROR_INTERNAL_ERROR: it has nothing nearer */
    { "libnvshmem_host", 3, true }, /* NVSHMEMX_ERROR_NOT_SUPPORTED */
};

const plim_standin_vendor *plim_standin_vendor_of(const char *soname)
{
    static const plim_standin_vendor unknown = { "", 1, true };
    const char *end = strstr(soname, ".so");
    const size_t length = end != NULL ? (size_t)(end - soname) : strlen(soname);
    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
        if (strlen(vendors[i].stem) == length && strncmp(vendors[i].stem, soname, length) == 0) {
            return &vendors[i];
        }
    }
    return &unknown;
}
