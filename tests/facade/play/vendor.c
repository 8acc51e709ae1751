/* vendor.c - the vendor's library, which must never be called. See calls.h. */
#include "calls.h"

#include <stdlib.h>

int64_t cudaVariableData[4] = { -1, -1, -1, -1 };

#define NEVER(result, name, parameters) \
    result name parameters              \
    {                                   \
        abort();                        \
    }

/* Calls do not come back, so that parameters need not be right. */
NEVER(int64_t, cudaManyIntegers,
      (int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h,
       int64_t i, int64_t j, int64_t k, int64_t l, const char *text, int16_t m, int8_t n))
NEVER(double, cudaManyReals,
      (double a, float b, double c, float d, double e, float f, double g, float h, double i,
       float j, double k, float l))
NEVER(double, cudaMixed,
      (int a, double b, const int *c, float d, uint64_t e, double f, int8_t g, double h, int64_t i,
       double j, const char *k, double l, int m, double n, float o, double p))
NEVER(pair, cudaPair, (double first, int64_t second))
NEVER(large, cudaLarge, (large in, int factor, double real))
NEVER(double, cudaVariable, (int count, ...))
NEVER(long double, cudaLongDouble, (long double a, int b))
NEVER(void, cudaCallBack, (void (*function)(void *), void *argument))
NEVER(int, cudaNobodyKnows, (int a))
NEVER(int, cudaWeak, (void))
NEVER(int, cudaOnlyByName, (int a))
