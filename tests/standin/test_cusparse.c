/*
 * test_cusparse.c - matrices of cuSPARSE and cuSPARSELt, and how full products and sums get.
 */
#include "standin/rehearsal.h"

#include "standin/cusparse/cusparse.h"
#include "standin/cusparseLt/cusparselt.h"

typedef plim_cusparse_matrix matrix;

int cusparseCreate(plim_standin_context **ret_context);
int cusparseDestroy(plim_standin_context *context);
int cusparseCreateCsr(matrix **ret_matrix, int64_t rows, int64_t columns, int64_t nnz,
                      void *row_offsets, void *column_indices, void *values, int offset_type,
                      int index_type, int index_base, int value_type);
int cusparseSpMatGetSize(const matrix *of, int64_t *ret_rows, int64_t *ret_columns,
                         int64_t *ret_nnz);
int cusparseDestroySpMat(matrix *of);
int cusparseSpMM_bufferSize(const void *context, int op_a, int op_b, const void *alpha,
                            const matrix *a, const matrix *b, const void *beta, const matrix *c,
                            int type, int algorithm, size_t *ret_bytes);
int cusparseSpGEMM_compute(const plim_standin_context *context, int op_a, int op_b,
                           const void *alpha, const matrix *a, const matrix *b, const void *beta,
                           matrix *c, int type, int algorithm, void *state, size_t *bytes,
                           void *buffer);
int cusparseXbsrsv2_zeroPivot(const plim_standin_context *context, const void *state,
                              int *ret_position);
int cusparseLtStructuredDescriptorInit(const void *context, plim_cusparselt_matrix *of,
                                       int64_t rows, int64_t columns, int64_t leading,
                                       uint32_t alignment, int type, int order, int sparsity);
int cusparseLtSpMMACompressedSize2(const void *context, const plim_cusparselt_matrix *of,
                                   size_t *ret_bytes, size_t *ret_buffer_bytes);

#define R_32F    0
#define R_16F    2
#define R_8I     3
#define INDEX_32 2

static void results_fill_up_as_at_random(void)
{
    T_EQ_U64(plim_cusparse_filled(100, 100, 0), 0);
    T_EQ_U64(plim_cusparse_filled(0, 100, 5), 0);
    T_EQ_U64(plim_cusparse_filled(1000000, 1000000, 1), 1);
    T_EQ_U64(plim_cusparse_filled(10, 10, 1e9), 100);
    T_EQ_U64(plim_cusparse_filled(1000, 1000, 1e6), 632121); /* 1 - 1/e of the places */
    T_EQ_U64(plim_cusparse_union(10, 10, 100, 100), 100);
    T_EQ_U64(plim_cusparse_union(10, 10, 50, 50), 75);
    T_EQ_U64(plim_cusparse_union(10, 10, 50, 0), 50);
    int64_t last = 0;
    for (int hits = 0; hits < 2000000; hits += 12345) {
        const int64_t filled = plim_cusparse_filled(500, 700, (double)hits);
        T_TRUE(filled >= last && filled <= 500 * 700);
        last = filled;
    }
}

static matrix *csr(int64_t rows, int64_t columns, int64_t nnz)
{
    matrix *made = NULL;
    R_EQ(cusparseCreateCsr(&made, rows, columns, nnz, NULL, NULL, NULL, INDEX_32, INDEX_32, 0,
                           R_32F),
         0);
    return made;
}

static void product_body(void)
{
    plim_standin_context *context = NULL;
    R_EQ(cusparseCreate(&context), 0);
    matrix *a = csr(1000, 2000, 4000);
    matrix *b = csr(2000, 3000, 8000);
    matrix *c = csr(1000, 3000, 0);
    size_t bytes = 0;
    R_EQ(cusparseSpGEMM_compute(context, 0, 0, NULL, a, b, NULL, c, R_32F, 0, NULL, &bytes, NULL),
         0);
    R_EQ(bytes, 16000 * 8); /* 4000 numbers meet rows of 4; each with its column */
    int64_t rows = 0;
    int64_t columns = 0;
    int64_t nnz = -1;
    R_EQ(cusparseSpMatGetSize(c, &rows, &columns, &nnz), 0);
    R_EQ(nnz, 0);
    R_EQ(cusparseSpGEMM_compute(context, 0, 0, NULL, a, b, NULL, c, R_32F, 0, NULL, &bytes, &bytes),
         0);
    R_EQ(cusparseSpMatGetSize(c, &rows, &columns, &nnz), 0);
    R_EQ(rows, 1000);
    R_EQ(columns, 3000);
    R_EQ(nnz, plim_cusparse_filled(1000, 3000, 16000));
    R_EQ(cusparseSpMM_bufferSize(context, 0, 0, NULL, a, NULL, NULL, NULL, R_32F, 0, &bytes), 0);
    R_EQ(bytes, 1001 * 4);
    int position = 5;
    R_EQ(cusparseXbsrsv2_zeroPivot(context, NULL, &position), 0);
    R_TRUE(position == -1);
    R_EQ(cusparseDestroySpMat(a), 0);
    R_EQ(cusparseDestroySpMat(b), 0);
    R_EQ(cusparseDestroySpMat(c), 0);
    R_EQ(cusparseDestroy(context), 0);
}

static void a_sparse_product_knows_its_size_after_computing(void)
{
    r_play(product_body);
}

static void wrong_body(void)
{
    matrix *made = NULL;
    R_EQ(cusparseCreateCsr(&made, -1, 5, 0, NULL, NULL, NULL, INDEX_32, INDEX_32, 0, R_32F), 3);
    R_EQ(cusparseCreateCsr(&made, 5, 5, 0, NULL, NULL, NULL, INDEX_32, INDEX_32, 0, 99), 3);
    R_TRUE(made == NULL);
}

static void matrices_that_cannot_be_are_refused(void)
{
    r_play(wrong_body);
}

static void structured_body(void)
{
    static const struct {
        int type;
        size_t sixteenths_of_numbers; /* bytes, of 16 numbers */
    } cases[] = { { R_16F, 18 }, { R_8I, 10 }, { R_32F, 34 } };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        plim_cusparselt_matrix of;
        size_t bytes = 0;
        size_t buffer_bytes = 1;
        R_EQ(cusparseLtStructuredDescriptorInit(NULL, &of, 128, 256, 256, 16, cases[i].type, 2, 0),
             0);
        R_EQ(cusparseLtSpMMACompressedSize2(NULL, &of, &bytes, &buffer_bytes), 0);
        R_EQ(bytes, 128 * 256 / 16 * cases[i].sixteenths_of_numbers);
    }
}

static void structured_matrices_shrink_to_half_and_two_bits_each(void)
{
    r_play(structured_body);
}

T_MAIN(T_TEST(results_fill_up_as_at_random),
       T_TEST(a_sparse_product_knows_its_size_after_computing),
       T_TEST(matrices_that_cannot_be_are_refused),
       T_TEST(structured_matrices_shrink_to_half_and_two_bits_each))
