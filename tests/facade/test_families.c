/* test_families.c - which names are the vendor's. */
#include "harness.h"

#include "facade/families.h"

static void libraries_are_known_by_name(void)
{
    static const struct {
        const char *soname;
        const char *stem; /* NULL: none of the vendor's */
    } cases[] = {
        { "libcudart.so.13", "cudart" },
        { "libcudart.so.11.0", "cudart" },
        { "libcudart-9335f6a2.so.12", "cudart" }, /* as wheels bring it along */
        { "libcuda.so.1", "cuda" },
        { "libcuda.so", "cuda" },
        { "libcublasLt.so.13", "cublasLt" },
        { "libcudnn_graph.so.9", "cudnn_graph" },
        { "libnvidia-ml.so.1", "nvidia-ml" },
        { "libnvshmem_host.so.3", "nvshmem_host" },
        { "libcurl.so.4", NULL },
        { "libcups.so.2", NULL },
        { "libnvpair.so.3", NULL },
        { "libcudart.so.13.bak", NULL },
        { "libcudart-9335f6.so.12", NULL },
        { "libcudart-9335F6A2.so.12", NULL },
        { "-9335f6a2.so.12", NULL },
        { "lib-9335f6a2.so.12", NULL },
        { "libcudart_static.a", NULL },
        { "/opt/libcudart.so.13", NULL },
        { "cudart.so.13", NULL },
        { "lib.so", NULL },
        { "li.so", NULL },
        { ".so", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].soname);
        const plim_family *const family = plim_family_of_library(cases[i].soname);
        if (cases[i].stem == NULL) {
            T_NULL(family);
        } else {
            T_NOT_NULL(family);
            T_EQ_STR(family->stem, cases[i].stem);
        }
    }
}

static void functions_belong_to_the_longest_name_that_fits(void)
{
    static const struct {
        const char *name;
        const char *stem; /* NULL: none of the vendor's */
    } cases[] = {
        { "cudaMalloc", "cudart" },
        { "__cudaRegisterFatBinary", "cudart" },
        { "cuMemAlloc_v2", "cuda" },
        { "cuFileRead", "cufile" },
        { "cublasLtMatmul", "cublasLt" },
        { "cublasCreate_v2", "cublas" },
        { "cusparseLtInit", "cusparseLt" },
        { "cusparseCreate", "cusparse" },
        { "cusolverMgCreate", "cusolverMg" },
        { "cusolverDnCreate", "cusolver" },
        { "cudnnCreate", "cudnn" },
        { "cufftPlan1d", "cufft" },
        { "curandCreateGenerator", "curand" },
        { "cuptiSubscribe", "cupti" },
        { "ncclAllReduce", "nccl" },
        { "pncclAllReduce", "nccl" },
        { "nvrtcVersion", "nvrtc" },
        { "nvmlInit_v2", "nvidia-ml" },
        { "nvshmemx_putmem_on_stream", "nvshmem_host" },
        { "nvJitLinkVersion", "nvJitLink" },
        { "__nvJitLinkCreate_13_0", "nvJitLink" },
        { "curl_easy_init", NULL },
        { "cudamalloc", NULL },
        { "cuda", NULL },
        { "cu", NULL },
        { "_ZN4cuda3stdE", NULL },
        { "plim_standin_attach", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        const plim_family *const family = plim_family_of_function(cases[i].name);
        if (cases[i].stem == NULL) {
            T_NULL(family);
        } else {
            T_NOT_NULL(family);
            T_EQ_STR(family->stem, cases[i].stem);
        }
    }
}

T_MAIN(T_TEST(libraries_are_known_by_name), T_TEST(functions_belong_to_the_longest_name_that_fits))
