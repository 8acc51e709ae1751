/*
 * cusparse.c - cuSPARSE: contexts, and matrices and vectors.
 */
#include "standin/cusparse/cusparse.h"
#include "base/memory.h"
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/library/library.h"

/* ---- contexts -------------------------------------------------------------------------------- */

int cusparseCreate(plim_standin_context **ret_context)
{
    return plim_standin_context_create(
        plim_standin_footprint_context(plim_standin_current_device()), PLIM_CUSPARSE_ALLOC_FAILED,
        PLIM_CUSPARSE_EXECUTION_FAILED, ret_context);
}

int cusparseDestroy(plim_standin_context *context)
{
    plim_standin_context_destroy(context);
    return 0;
}

PLIM_STANDIN_SETTER(cusparseSetStream, void *, stream)
PLIM_STANDIN_GETTER(cusparseGetStream, void *, stream)
PLIM_STANDIN_SETTER(cusparseSetPointerMode, int, pointer_mode)
PLIM_STANDIN_GETTER(cusparseGetPointerMode, int, pointer_mode)

int cusparseGetVersion(const plim_standin_context *context, int *ret_version)
{
    *ret_version = plim_standin_version_number(plim_standin_versions_in_force()->cusparse, 1000);
    return 0;
}

int cusparseGetProperty(int kind, int *ret_value)
{
    return plim_standin_version_part(plim_standin_versions_in_force()->cusparse, kind,
                                     PLIM_CUSPARSE_INVALID_VALUE, ret_value);
}

static const struct {
    const char *name;
    const char *text;
} statuses[] = {
    { "CUSPARSE_STATUS_SUCCESS", "success" },
    { "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error" },
    { "CUSPARSE_STATUS_ALLOC_FAILED", "out of memory" },
    { "CUSPARSE_STATUS_INVALID_VALUE", "invalid value" },
    { "CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch" },
    { "CUSPARSE_STATUS_MAPPING_ERROR", "texture/surface mapping error" },
    { "CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure" },
    { "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error" },
    { "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported" },
    { "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot" },
    { "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported" },
    { "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources" },
};

const char *cusparseGetErrorName(int status)
{
    const size_t count = sizeof(statuses) / sizeof(statuses[0]);
    return status >= 0 && (size_t)status < count ? statuses[status].name : "unknown error";
}

const char *cusparseGetErrorString(int status)
{
    const size_t count = sizeof(statuses) / sizeof(statuses[0]);
    return status >= 0 && (size_t)status < count ? statuses[status].text : "unknown error";
}

/* ---- matrices and vectors -------------------------------------------------------------------- */

typedef plim_cusparse_matrix matrix;
typedef plim_cusparse_vector vector;

/* Other settings change no size: addresses, triangle, diagonal. */
PLIM_STANDIN_NOTHING(cusparseCsrSetPointers)
PLIM_STANDIN_NOTHING(cusparseSpMatSetAttribute)
PLIM_STANDIN_NOTHING(cusparseSpMatSetValues)
PLIM_STANDIN_NOTHING(cusparseDnMatSetValues)
PLIM_STANDIN_NOTHING(cusparseDnVecSetValues)

/* cusparseIndexType_t: 1 is 16 bits, 2 is 32, 3 is 64. */
static size_t index_bytes(int type)
{
    return type >= 1 && type <= 3 ? (size_t)1 << type : 0;
}

static int make(const matrix *from, matrix **ret_matrix)
{
    if (ret_matrix == NULL || from->rows < 0 || from->columns < 0 || from->nnz < 0 ||
        from->value_bytes == 0) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    matrix *made = plim_mem_alloc(&plim_mem_heap, 1, sizeof(*made));
    if (made == NULL) {
        return PLIM_CUSPARSE_ALLOC_FAILED;
    }
    *made = *from;
    *ret_matrix = made;
    return 0;
}

static int make_sparse(const matrix *from, int index_type, int value_type, matrix **ret_matrix)
{
    matrix whole = *from;
    whole.count = 1;
    whole.index_bytes = index_bytes(index_type);
    whole.value_bytes = plim_standin_type_bytes(value_type);
    return make(&whole, ret_matrix);
}

int cusparseCreateCsr(matrix **ret_matrix, int64_t rows, int64_t columns, int64_t nnz,
                      void *row_offsets, void *column_indices, void *values, int offset_type,
                      int index_type, int index_base, int value_type)
{
    const matrix from = { rows, columns, nnz, .format = PLIM_CUSPARSE_CSR };
    return make_sparse(&from, index_type, value_type, ret_matrix);
}

int cusparseCreateCsc(matrix **ret_matrix, int64_t rows, int64_t columns, int64_t nnz,
                      void *column_offsets, void *row_indices, void *values, int offset_type,
                      int index_type, int index_base, int value_type)
{
    const matrix from = { rows, columns, nnz, .format = PLIM_CUSPARSE_CSC };
    return make_sparse(&from, index_type, value_type, ret_matrix);
}

int cusparseCreateCoo(matrix **ret_matrix, int64_t rows, int64_t columns, int64_t nnz,
                      void *row_indices, void *column_indices, void *values, int index_type,
                      int index_base, int value_type)
{
    const matrix from = { rows, columns, nnz, .format = PLIM_CUSPARSE_COO };
    return make_sparse(&from, index_type, value_type, ret_matrix);
}

int cusparseDestroySpMat(matrix *of)
{
    plim_mem_free(&plim_mem_heap, of, 1, sizeof(*of));
    return 0;
}

int cusparseSpMatGetSize(const matrix *of, int64_t *ret_rows, int64_t *ret_columns,
                         int64_t *ret_nnz)
{
    if (of == NULL || ret_rows == NULL || ret_columns == NULL || ret_nnz == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_rows = of->rows;
    *ret_columns = of->columns;
    *ret_nnz = of->nnz;
    return 0;
}

static int set_count(matrix *of, int count)
{
    if (of == NULL || count < 1) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    of->count = count;
    return 0;
}

int cusparseCsrSetStridedBatch(matrix *of, int count, int64_t offsets_stride, int64_t values_stride)
{
    return set_count(of, count);
}

int cusparseCreateDnMat(matrix **ret_matrix, int64_t rows, int64_t columns, int64_t leading,
                        void *values, int value_type, int order)
{
    const matrix from = { .rows = rows,
                          .columns = columns,
                          .count = 1,
                          .value_bytes = plim_standin_type_bytes(value_type) };
    return make(&from, ret_matrix);
}

int cusparseDestroyDnMat(matrix *of)
{
    plim_mem_free(&plim_mem_heap, of, 1, sizeof(*of));
    return 0;
}

int cusparseDnMatSetStridedBatch(matrix *of, int count, int64_t stride)
{
    return set_count(of, count);
}

int cusparseCreateDnVec(vector **ret_vector, int64_t size, void *values, int value_type)
{
    if (ret_vector == NULL || size < 0) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    vector *made = plim_mem_alloc_zeroed(&plim_mem_heap, 1, sizeof(*made));
    if (made == NULL) {
        return PLIM_CUSPARSE_ALLOC_FAILED;
    }
    made->size = size;
    made->value_bytes = plim_standin_type_bytes(value_type);
    *ret_vector = made;
    return 0;
}

int cusparseDestroyDnVec(vector *of)
{
    plim_mem_free(&plim_mem_heap, of, 1, sizeof(*of));
    return 0;
}
