/* consumer.c - an object of a program, linked to the vendor's libraries. See calls.h. */
#include "consumer.h"
#include "calls.h"

#include <stddef.h>

#pragma weak cudaWeak
#pragma weak cudaWeakAbsent

static int64_t before_main; /* as compilers for GPUs register kernels */

__attribute__((constructor)) static void call_early(void)
{
    before_main = cudaPair(0, 5).second;
}

static void set(void *argument)
{
    *(int *)argument = 1;
}

static int is_large_right(void)
{
    const large in = { { 1, 2, 3, 4, 5, 6 }, 0.5 };
    const large out = cudaLarge(in, 7, 0.25);
    return out.words[0] == 7 && out.words[5] == 42 && out.real == 0.75;
}

const char *consume(void)
{
    const int nine = 9;
    int called = 0;
    const pair both = cudaPair(1.5, -4);
    cudaCallBack(set, &called);
    const struct {
        const char *name;
        int is_right;
    } results[] = {
        { "constructor", before_main == 15 },
        { "cudaManyIntegers", cudaManyIntegers(1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, "x",
                                               -300, -7) == -78 + 13 * 'x' - 4200 - 105 },
        { "cudaManyReals", cudaManyReals(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) == 650 },
        { "cudaMixed", cudaMixed(1, 2, &nine, 4, 5, 6, -7, 8, 9, 10, "k", 12, 13, 14, 15, 16) ==
                           1496 - 9 + 27 - 49 - 49 - 121 + 11 * 'k' },
        { "cudaPair", both.first == 3 && both.second == -12 },
        { "cudaLarge", is_large_right() },
        { "cudaVariable", cudaVariable(3, 1.0, 2, 3.0, 4, 5.0, 6) == 3 + 14 + 33 },
        { "cudaLongDouble", cudaLongDouble(1.25L, 4) == 5 },
        { "cudaCallBack", called == 1 },
        { "cudaNobodyKnows", cudaNobodyKnows(1) == 77 },
        { "cudaWeak", cudaWeak != NULL && cudaWeak() == 5 },
        { "cudaWeakAbsent", cudaWeakAbsent == NULL },
        { "cudaVariableData", cudaVariableData[0] == 0 && cudaVariableData[3] == 0 },
        { "ncclWithoutVersion", ncclWithoutVersion(1) == 2 },
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (!results[i].is_right) {
            return results[i].name;
        }
    }
    return NULL;
}
