/*
 * matmul.c - products with a structured matrix: descriptions, algorithms, plans.
 */
#include "standin/core/stub.h"
#include "standin/cusparseLt/cusparselt.h"
#include "standin/work/work.h"

#include <stddef.h>
#include <string.h>

#define SEARCH_ITERATIONS 10 /* cuSPARSELt manual, cusparseLtMatmulAlgAttribute_t */

/* cusparseLtMatmulAlgAttribute_t */
enum { ALGORITHM = 0, ALGORITHMS = 1, ITERATIONS = 2, SPLITS = 3, SPLIT_MODE = 4 };

typedef plim_cusparselt_algorithm algorithm;

/* What a product is like changes no size. */
PLIM_STANDIN_NOTHING(cusparseLtMatmulDescriptorInit)
PLIM_STANDIN_NOTHING(cusparseLtMatmulDescSetAttribute)
PLIM_STANDIN_NOTHING(cusparseLtMatmulPlanInit)
PLIM_STANDIN_NOTHING(cusparseLtMatmulPlanDestroy)
PLIM_STANDIN_NOTHING(cusparseLtMatmulAlgSelectionDestroy)
PLIM_STANDIN_KIND(cusparseLtMatmul, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(cusparseLtMatmulSearch, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_MODELLED(cusparseLtMatmulGetWorkspace, "wants no workspace")
PLIM_STANDIN_MODELLED(cusparseLtMatmulAlgGetAttribute, "one algorithm")

int cusparseLtMatmulAlgSelectionInit(const void *context, algorithm *of, const void *product,
                                     int kind)
{
    if (of == NULL) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    memset(of, 0, sizeof(*of));
    of->values[ALGORITHMS] = 1;
    of->values[ITERATIONS] = SEARCH_ITERATIONS;
    of->values[SPLITS] = 1;
    return 0;
}

static int is_attribute(int number, size_t bytes)
{
    return number >= 0 && (size_t)number < sizeof(((algorithm *)0)->values) / sizeof(int32_t) &&
           bytes == sizeof(int32_t);
}

int cusparseLtMatmulAlgSetAttribute(const void *context, algorithm *of, int number,
                                    const void *value, size_t bytes)
{
    if (of == NULL || value == NULL || !is_attribute(number, bytes) || number == ALGORITHMS) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    memcpy(&of->values[number], value, bytes);
    return 0;
}

int cusparseLtMatmulAlgGetAttribute(const void *context, const algorithm *of, int number,
                                    void *ret_value, size_t bytes)
{
    if (of == NULL || ret_value == NULL || !is_attribute(number, bytes)) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    memcpy(ret_value, &of->values[number], bytes);
    return 0;
}

int cusparseLtMatmulGetWorkspace(const void *context, const void *plan, size_t *ret_bytes)
{
    if (ret_bytes == NULL) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    *ret_bytes = 0;
    return 0;
}

static int launch(void **streams, int32_t stream_count)
{
    void *stream = streams != NULL && stream_count > 0 ? streams[0] : NULL;
    return plim_standin_submit_kernel(stream) == 0 ? 0 : PLIM_CUSPARSELT_EXECUTION_FAILED;
}

int cusparseLtMatmul(const void *context, const void *plan, const void *alpha, const void *a,
                     const void *b, const void *beta, const void *c, void *d, void *workspace,
                     void **streams, int32_t stream_count)
{
    return launch(streams, stream_count);
}

/* All algorithms are equally fast: the one that is set stays. */
int cusparseLtMatmulSearch(const void *context, void *plan, const void *alpha, const void *a,
                           const void *b, const void *beta, const void *c, void *d, void *workspace,
                           void **streams, int32_t stream_count)
{
    return launch(streams, stream_count);
}
