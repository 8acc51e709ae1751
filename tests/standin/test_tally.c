/*
 * test_tally.c - what a process launched, as the agent reads it.
 */
#include "standin/cuda_words.h"
#include "standin/rehearsal.h"

#include "standin/core/tally.h"
#include "standin/library/library.h"

/* As compiled code calls them; only this test does. */
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **module, const void *function, const char *handle,
                            const char *name);
int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                     size_t shared_bytes, void *stream);
long cublasSgemm_v2(const plim_standin_context *context);
long cublasGemmEx(const plim_standin_context *context, int transpose_a, int transpose_b, int m,
                  int n, int k, const void *alpha, const void *a, int a_type);

static uint64_t count_of(const char *wanted)
{
    const char *name = NULL;
    uint64_t count = 0;
    for (size_t i = 0; plim_standin_tally_at(i, &name, &count); i++) {
        if (strcmp(name, wanted) == 0) {
            return count;
        }
    }
    return 0;
}

static void kernels_body(void)
{
    static const char first = 1;
    static const char second = 2;
    static uint64_t binary[3];
    const dim3 one = { 1, 1, 1 };
    void **module = __cudaRegisterFatBinary(binary);
    __cudaRegisterFunction(module, &first, "f", "_Z16flash_fwd_kernelv");
    __cudaRegisterFunction(module, &second, "g", "_Z6unusedv");
    for (int i = 0; i < 3; i++) {
        R_EQ(cudaLaunchKernel(&first, one, one, NULL, 0, NULL), 0);
    }
    static const char stranger = 3; /* never registered: launched, and not counted */
    R_EQ(cudaLaunchKernel(&stranger, one, one, NULL, 0, NULL), 0);
    R_EQ(count_of("_Z16flash_fwd_kernelv"), 3);
    R_EQ(count_of("_Z6unusedv"), 0);
}

static void kernels_are_counted_by_name(void)
{
    r_play(kernels_body);
}

static void products_body(void)
{
    const plim_standin_context context = { .stream = NULL };
    R_EQ(cublasSgemm_v2(&context), 0);
    R_EQ(cublasGemmEx(&context, 0, 0, 4, 4, 4, NULL, NULL, PLIM_STANDIN_R_16BF), 0);
    R_EQ(cublasGemmEx(&context, 0, 0, 4, 4, 4, NULL, NULL, PLIM_STANDIN_R_16BF), 0);
    plim_standin_tally_product(-1);
    plim_standin_tally_product(1000);
    R_EQ(count_of("product float32"), 1);
    R_EQ(count_of("product bfloat16"), 2);
}

static void products_are_counted_by_type(void)
{
    r_play(products_body);
}

static void copies_body(void)
{
    static char host[4096];
    void *device = NULL;
    R_EQ(cudaMalloc(&device, sizeof(host)), 0);
    R_EQ(cudaMemcpy(device, host, sizeof(host), 4), 0);
    R_EQ(cudaMemcpy(host, device, 1000, 4), 0);
    R_EQ(cudaMemcpy(host, host + 2048, 1000, 4), 0);
    R_EQ(count_of("bytes to device"), 4096);
    R_EQ(count_of("bytes to host"), 1000);
}

static void bytes_are_counted_by_direction(void)
{
    r_play(copies_body);
}

static void child_body(void)
{
    plim_standin_tally("parent", "parent", 7);
    const pid_t child = fork();
    if (child == 0) {
        R_EQ(count_of("parent"), 0);
        plim_standin_tally("child", "child", 1);
        R_EQ(count_of("child"), 1);
        _exit(0);
    }
    int status = -1;
    R_EQ(waitpid(child, &status, 0), child);
    R_EQ(status, 0);
    R_EQ(count_of("parent"), 7);
    R_EQ(count_of("child"), 0);
}

static void a_forked_child_begins_anew(void)
{
    r_play(child_body);
}

T_MAIN(T_TEST(kernels_are_counted_by_name), T_TEST(products_are_counted_by_type),
       T_TEST(bytes_are_counted_by_direction), T_TEST(a_forked_child_begins_anew))
