/*
 * cublaslt.c - cuBLASLt: contexts, objects (made, set, read, destroyed), and products.
 *
 * A context of cuBLAS serves as one of cuBLASLt (cuBLAS manual, "cublasLtHandle_t"), so both are
 * the same here.
 */
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/cublas/cublas.h"
#include "standin/cublasLt/algorithm.h"
#include "standin/cublasLt/attributes.h"
#include "standin/library/library.h"
#include "standin/work/work.h"

#define BATCH_MODE_GROUPED 2 /* cublasLtBatchMode_t, CUDA 13.2 */

const char *cublasGetStatusName(int status);
const char *cublasGetStatusString(int status);

int cublasLtCreate(plim_standin_context **ret_context)
{
    return plim_standin_context_create(plim_standin_footprint_library(PLIM_STANDIN_CUBLAS),
                                       PLIM_CUBLAS_ALLOC_FAILED, PLIM_CUBLAS_EXECUTION_FAILED,
                                       ret_context);
}

int cublasLtDestroy(plim_standin_context *context)
{
    plim_standin_context_destroy(context);
    return 0;
}

size_t cublasLtGetVersion(void)
{
    return (size_t)plim_standin_version_number(plim_standin_versions_in_force()->cublas, 10000);
}

size_t cublasLtGetCudartVersion(void)
{
    return plim_standin_settings()->cuda_version;
}

int cublasLtGetProperty(int kind, int *ret_value)
{
    return plim_standin_version_part(plim_standin_versions_in_force()->cublas, kind,
                                     PLIM_CUBLAS_INVALID_VALUE, ret_value);
}

const char *cublasLtGetStatusName(int status)
{
    return cublasGetStatusName(status);
}

const char *cublasLtGetStatusString(int status)
{
    return cublasGetStatusString(status);
}

static int create(const plim_cublaslt_attribute *kinds, plim_cublaslt_object **ret_object)
{
    plim_cublaslt_object *object = plim_cublaslt_create(kinds);
    if (object == NULL) {
        return PLIM_CUBLAS_ALLOC_FAILED;
    }
    *ret_object = object;
    return 0;
}

int cublasLtMatmulDescCreate(plim_cublaslt_object **ret_product, int compute_type, int scale_type)
{
    const int status = create(plim_cublaslt_product, ret_product);
    if (status == 0) {
        (*ret_product)->values[PLIM_CUBLASLT_PRODUCT_COMPUTE_TYPE] = compute_type;
        (*ret_product)->values[PLIM_CUBLASLT_PRODUCT_SCALE_TYPE] = scale_type;
    }
    return status;
}

int cublasLtMatrixLayoutCreate(plim_cublaslt_object **ret_matrix, int type, uint64_t rows,
                               uint64_t columns, int64_t leading)
{
    const int status = create(plim_cublaslt_matrix, ret_matrix);
    if (status == 0) {
        (*ret_matrix)->values[PLIM_CUBLASLT_MATRIX_TYPE] = type;
        (*ret_matrix)->values[PLIM_CUBLASLT_MATRIX_ROWS] = (int64_t)rows;
        (*ret_matrix)->values[PLIM_CUBLASLT_MATRIX_COLUMNS] = (int64_t)columns;
        (*ret_matrix)->values[PLIM_CUBLASLT_MATRIX_LEADING] = leading;
    }
    return status;
}

/* Groups of matrices of different shapes, which lie in arrays on the device. */
int cublasLtGroupedMatrixLayoutCreate(plim_cublaslt_object **ret_matrices, int type, int count,
                                      const void *rows, const void *columns, const void *leading)
{
    const int status = create(plim_cublaslt_matrix, ret_matrices);
    if (status == 0) {
        int64_t *values = (*ret_matrices)->values;
        values[PLIM_CUBLASLT_MATRIX_TYPE] = type;
        values[PLIM_CUBLASLT_MATRIX_COUNT] = count;
        values[PLIM_CUBLASLT_MATRIX_BATCH_MODE] = BATCH_MODE_GROUPED;
        values[PLIM_CUBLASLT_GROUPS_ROWS] = (int64_t)(intptr_t)rows;
        values[PLIM_CUBLASLT_GROUPS_COLUMNS] = (int64_t)(intptr_t)columns;
        values[PLIM_CUBLASLT_GROUPS_LEADING] = (int64_t)(intptr_t)leading;
    }
    return status;
}

int cublasLtMatmulPreferenceCreate(plim_cublaslt_object **ret_preference)
{
    return create(plim_cublaslt_preference, ret_preference);
}

int cublasLtMatrixTransformDescCreate(plim_cublaslt_object **ret_transform, int scale_type)
{
    const int status = create(plim_cublaslt_transform, ret_transform);
    if (status == 0) {
        (*ret_transform)->values[0] = scale_type;
    }
    return status;
}

#define OBJECT(name)                                                                        \
    int name##Destroy(plim_cublaslt_object *object)                                         \
    {                                                                                       \
        plim_cublaslt_destroy(object);                                                      \
        return 0;                                                                           \
    }                                                                                       \
    int name##SetAttribute(plim_cublaslt_object *object, int number, const void *value,     \
                           size_t bytes)                                                    \
    {                                                                                       \
        return plim_cublaslt_set(object, number, value, bytes);                             \
    }                                                                                       \
    int name##GetAttribute(const plim_cublaslt_object *object, int number, void *ret_value, \
                           size_t bytes, size_t *ret_bytes)                                 \
    {                                                                                       \
        return plim_cublaslt_get(object, number, ret_value, bytes, ret_bytes);              \
    }

OBJECT(cublasLtMatmulDesc)
OBJECT(cublasLtMatrixLayout)
OBJECT(cublasLtMatmulPreference)
OBJECT(cublasLtMatrixTransformDesc)

/* No log is kept. */
PLIM_STANDIN_NOTHING(cublasLtLoggerSetLevel)
PLIM_STANDIN_NOTHING(cublasLtLoggerSetMask)
PLIM_STANDIN_NOTHING(cublasLtLoggerForceDisable)
PLIM_STANDIN_NOTHING(cublasLtLoggerOpenFile)

/* ---- products, and changes of a matrix's layout: both name their stream last ----------------- */

typedef plim_cublaslt_object object;

PLIM_STANDIN_KIND(cublasLtMatmul, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(cublasLtMatrixTransform, PLIM_STAGE_NOTHING, "")

static int launch(const void *context, void *stream)
{
    if (context == NULL) {
        return PLIM_CUBLAS_NOT_INITIALIZED;
    }
    return plim_standin_submit_kernel(stream) == 0 ? 0 : PLIM_CUBLAS_EXECUTION_FAILED;
}

int cublasLtMatmul(void *context, const object *product, const void *alpha, const void *a,
                   const object *a_layout, const void *b, const object *b_layout, const void *beta,
                   const void *c, const object *c_layout, void *d, const object *d_layout,
                   const plim_cublaslt_algorithm *algorithm, void *workspace,
                   size_t workspace_bytes, void *stream)
{
    if (a_layout != NULL) {
        plim_standin_tally_product((int)a_layout->values[PLIM_CUBLASLT_MATRIX_TYPE]);
    }
    return launch(context, stream);
}

int cublasLtMatrixTransform(void *context, const object *transform, const void *alpha,
                            const void *a, const object *a_layout, const void *beta, const void *b,
                            const object *b_layout, void *c, const object *c_layout, void *stream)
{
    return launch(context, stream);
}
