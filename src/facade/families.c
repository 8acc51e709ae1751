/*
 * families.c - the names of the vendor's libraries and functions.
 *
 * Libraries are listed one by one: a pattern such as lib(cu|nv)* would take libcurl, libcups and
 * libnvpair for the vendor's. Whether a library gives its functions a version, and which, was read
 * off the records of what was linked to it: PyTorch's wheels 2.11.0 and 2.15.0, and the vendor's
 * own.
 */
#include "facade/families.h"

#include "base/ascii.h"
#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define TAG_DIGITS 8 /* of the hash in libcudart-9335f6a2.so.12: auditwheel's */

static const plim_family families[] = {
    { "cublas", "*" },    { "cublasLt", "*" },    { "cuda", "" },
    { "cudart", "*" },    { "cudnn", "*" },       { "cudnn_adv", "*" },
    { "cudnn_cnn", "*" }, { "cudnn_graph", "*" }, { "cudnn_ops", "*" },
    { "cudss", "" },      { "cufft", "*" },       { "cufftw", "*" },
    { "cufile", "" },     { "cupti", "*" },       { "curand", "" },
    { "cusolver", "*" },  { "cusolverMg", "*" },  { "cusparse", "*" },
    { "cusparseLt", "" }, { "cutensor", "" },     { "nccl", "" },
    { "nvJitLink", "*" }, { "nvToolsExt", "*" },  { "nvidia-ml", "" },
    { "nvjpeg", "*" },    { "nvrtc", "*" },       { "nvshmem_host", "NVSHMEM" },
};

/* Sorted so that of two that fit the longer one comes first. */
static const struct {
    const char *prefix;
    const char *stem;
    bool any; /* what follows may be a small letter */
} functions[] = {
    { "__cuda", "cudart", false },     { "__nvJitLink", "nvJitLink", false },
    { "cublasLt", "cublasLt", false }, { "cublas", "cublas", false },
    { "cuda", "cudart", false },       { "cudnn", "cudnn", false },
    { "cudss", "cudss", false },       { "cufft", "cufft", false },
    { "cuFile", "cufile", false },     { "cupti", "cupti", false },
    { "curand", "curand", false },     { "cusolverMg", "cusolverMg", false },
    { "cusolver", "cusolver", false }, { "cusparseLt", "cusparseLt", false },
    { "cusparse", "cusparse", false }, { "cutensor", "cutensor", false },
    { "cu", "cuda", false },           { "nccl", "nccl", false },
    { "pnccl", "nccl", false },        { "nvJitLink", "nvJitLink", false },
    { "nvjpeg", "nvjpeg", false },     { "nvml", "nvidia-ml", false },
    { "nvrtc", "nvrtc", false },       { "nvshmem", "nvshmem_host", true },
    { "nvtx", "nvToolsExt", false },
};

static const plim_family *find(const char *stem, size_t length)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strlen(families[i].stem) == length && memcmp(families[i].stem, stem, length) == 0) {
            return &families[i];
        }
    }
    return NULL;
}

/* "…-9335f6a2" without its last part. */
static size_t without_tag(const char *stem, size_t length)
{
    if (length <= TAG_DIGITS + 1 || stem[length - TAG_DIGITS - 1] != '-') {
        return length;
    }
    const size_t digits = strspn(stem + length - TAG_DIGITS, "0123456789abcdef");
    return digits < TAG_DIGITS ? length : length - TAG_DIGITS - 1;
}

const plim_family *plim_family_of_library(const char *soname)
{
    const char *const end = strstr(soname, ".so");
    if (strncmp(soname, "lib", 3) != 0 || end == NULL || end < soname + 3) {
        return NULL;
    }
    const char *const rest = end + 3;
    if (rest[0] != '\0' && (rest[0] != '.' || rest[strspn(rest, ".0123456789")] != '\0')) {
        return NULL;
    }
    const size_t length = (size_t)(end - (soname + 3));
    return find(soname + 3, without_tag(soname + 3, length));
}

const plim_family *plim_family_of_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const size_t length = strlen(functions[i].prefix);
        if (strncmp(name, functions[i].prefix, length) != 0) {
            continue;
        }
        const char next = name[length];
        if (functions[i].any || plim_is_upper(next)) {
            const plim_family *const family = find(functions[i].stem, strlen(functions[i].stem));
            PLIM_ASSERT(family != NULL);
            return family;
        }
    }
    return NULL;
}
