/*
 * test_gpus.c - the table of GPUs: every row plausible, every name findable.
 */
#include "gpus/table.h"
#include "harness.h"

#define GIB (UINT64_C(1) << 30)

static void finds_by_any_spelling(void)
{
    static const struct {
        const char *name;
        const char *key;
    } cases[] = {
        { "h100", "h100" },
        { "NVIDIA H100 80GB HBM3", "h100" },
        { "H100-SXM", "h100" },
        { "4090", "rtx4090" },
        { "rtx-4090", "rtx4090" },
        { "RTX 4090", "rtx4090" },
        { "NVIDIA GeForce RTX 4090", "rtx4090" },
        { "Tesla T4", "t4" },
        { "NVIDIA A100-SXM4-80GB", "a100-80gb" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        const plim_gpu *gpu = NULL;
        plim_error err = { 0 };
        T_EQ_U64(plim_gpu_find(cases[i].name, &gpu, &err), PLIM_OK);
        T_EQ_STR(gpu->key, cases[i].key);
    }
}

T_MAIN(T_TEST(finds_by_any_spelling))
