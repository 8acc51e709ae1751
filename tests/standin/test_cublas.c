/*
 * test_cublas.c - contexts of cuBLAS: what is set is read back, and what the host is told.
 */
#include "standin/rehearsal.h"

#include "standin/library/library.h"

typedef plim_standin_context context;

int cublasCreate_v2(context **ret_context);
int cublasDestroy_v2(context *of);
int cublasSetStream_v2(context *of, void *stream);
int cublasGetStream_v2(const context *of, void **ret_stream);
int cublasSetMathMode(context *of, int mode);
int cublasGetMathMode(const context *of, int *ret_mode);
int cublasSetPointerMode_v2(context *of, int mode);
int cublasGetPointerMode_v2(const context *of, int *ret_mode);
int cublasSetAtomicsMode(context *of, int mode);
int cublasGetAtomicsMode(const context *of, int *ret_mode);
int cublasSetSmCountTarget(context *of, int count);
int cublasGetSmCountTarget(const context *of, int *ret_count);
int cublasGetVersion_v2(const context *of, int *ret_version);
int cublasGetProperty(int kind, int *ret_value);
const char *cublasGetStatusName(int status);
int cublasSdot_v2(const context *of, int64_t n, const void *x, int64_t stride_x, const void *y,
                  int64_t stride_y, void *result);
int cublasIsamax_v2(const context *of, int n, const void *x, int stride, int *result);
int cublasDrotg_v2(const context *of, void *a, void *b, double *cosine, void *sine);
int cublasSgeqrfBatched(const context *of, int m, int n, void *const *a, int leading,
                        void *const *tau, int *info, int count);
long cublasSgemm_v2(const context *of);
int cublasSetMatrix(int rows, int columns, int element_bytes, const void *a, int leading_a, void *b,
                    int leading_b);
int cublasSetVector(int n, int element_bytes, const void *x, int stride_x, void *y, int stride_y);

static context *make(void)
{
    context *made = NULL;
    R_EQ(cublasCreate_v2(&made), 0);
    return made;
}

static void modes_body(void)
{
    context *of = make();
    int value = -1;
    R_EQ(cublasGetMathMode(of, &value), 0);
    R_EQ(value, 0);
    R_EQ(cublasGetPointerMode_v2(of, &value), 0);
    R_EQ(value, 0);
    R_EQ(cublasSetMathMode(of, 3), 0);
    R_EQ(cublasSetPointerMode_v2(of, 1), 0);
    R_EQ(cublasSetAtomicsMode(of, 1), 0);
    R_EQ(cublasSetSmCountTarget(of, 66), 0);
    R_EQ(cublasGetMathMode(of, &value), 0);
    R_EQ(value, 3);
    R_EQ(cublasGetPointerMode_v2(of, &value), 0);
    R_EQ(value, 1);
    R_EQ(cublasGetAtomicsMode(of, &value), 0);
    R_EQ(value, 1);
    R_EQ(cublasGetSmCountTarget(of, &value), 0);
    R_EQ(value, 66);
    int somewhere = 0;
    void *stream = NULL;
    R_EQ(cublasSetStream_v2(of, &somewhere), 0);
    R_EQ(cublasGetStream_v2(of, &stream), 0);
    R_TRUE(stream == &somewhere);
    R_EQ(cublasDestroy_v2(of), 0);
    R_EQ(cublasDestroy_v2(NULL), 1);
    R_EQ(cublasSetMathMode(NULL, 0), 1);
}

static void gives_back_what_was_set(void)
{
    r_play(modes_body);
}

static void footprint_body(void)
{
    context *first = make();
    const uint64_t after_one = r_device(0).used_bytes[PLIM_STAGE_LIBRARIES];
    context *second = make();
    R_EQ(after_one, 30 * MIB);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_LIBRARIES], after_one);
    R_EQ(cublasDestroy_v2(first), 0);
    R_EQ(cublasDestroy_v2(second), 0);
}

static void the_first_context_takes_the_librarys_footprint(void)
{
    r_play(footprint_body);
}

static void full_body(void)
{
    context *of = NULL;
    R_EQ(cublasCreate_v2(&of), 3);
    R_TRUE(of == NULL);
}

static void a_full_device_has_no_room_for_a_context(void)
{
    plim_stage_settings settings = r_settings();
    settings.gpu.cublas_bytes = 2048 * MIB;
    r_play_on(&settings, full_body);
}

static void version_body(void)
{
    int value = 0;
    R_EQ(cublasGetVersion_v2(NULL, &value), 0);
    R_EQ(value, 130100);
    R_EQ(cublasGetProperty(1, &value), 0);
    R_EQ(value, 1);
    R_EQ(cublasGetProperty(3, &value), 7);
    R_EQ(strcmp(cublasGetStatusName(13), "CUBLAS_STATUS_EXECUTION_FAILED"), 0);
}

static void versions_follow_cudas(void)
{
    r_play(version_body);
}

static void results_body(void)
{
    context *of = make();
    float sum = 5;
    int place = 9;
    double cosine = 5;
    double sine = 5;
    R_EQ(cublasSdot_v2(of, 4, NULL, 1, NULL, 1, &sum), 0);
    R_TRUE(sum == 0);
    R_EQ(cublasIsamax_v2(of, 4, NULL, 1, &place), 0);
    R_EQ(place, 1);
    R_EQ(cublasIsamax_v2(of, 0, NULL, 1, &place), 0);
    R_EQ(place, 0);
    R_EQ(cublasDrotg_v2(of, &cosine, &sine, &cosine, &sine), 0);
    R_TRUE(cosine == 1 && sine == 0);
    R_EQ(cublasSetPointerMode_v2(of, 1), 0); /* the device's: nothing may be written */
    sum = 5;
    R_EQ(cublasSdot_v2(of, 4, NULL, 1, NULL, 1, &sum), 0);
    R_TRUE(sum == 5);
    int info = 9;
    R_EQ(cublasSgeqrfBatched(of, 4, 4, NULL, 4, NULL, &info, 2), 0);
    R_EQ(info, 0);
    R_EQ(cublasSgemm_v2(of), 0);
    R_EQ(cublasSgemm_v2(NULL), 1);
    R_EQ(cublasDestroy_v2(of), 0);
}

static void results_are_zero_where_the_host_gets_them(void)
{
    r_play(results_body);
}

static void copies_body(void)
{
    const int from[6] = { 1, 2, 0, 3, 4, 0 }; /* two columns of two, three apart */
    int to[4] = { 0 };
    R_EQ(cublasSetMatrix(2, 2, sizeof(int), from, 3, to, 2), 0);
    R_TRUE(to[0] == 1 && to[1] == 2 && to[2] == 3 && to[3] == 4);
    R_EQ(cublasSetVector(2, sizeof(int), from, 3, to, 2), 0);
    R_TRUE(to[0] == 1 && to[1] == 2 && to[2] == 3 && to[3] == 4);
    R_EQ(cublasSetVector(-1, sizeof(int), from, 1, to, 1), 7);
}

static void copies_go_by_columns(void)
{
    r_play(copies_body);
}

T_MAIN(T_TEST(gives_back_what_was_set), T_TEST(the_first_context_takes_the_librarys_footprint),
       T_TEST(a_full_device_has_no_room_for_a_context), T_TEST(versions_follow_cudas),
       T_TEST(results_are_zero_where_the_host_gets_them), T_TEST(copies_go_by_columns))
