/*
 * test_cusolver.c - models of workspaces against sizes that users reported, and their hand-out.
 */
#include "standin/rehearsal.h"

#include "standin/cusolver/workspace.h"

#include <limits.h>

int cusolverDnCreate(void **ret_context);
int cusolverDnDestroy(void *context);
int cusolverDnSetStream(void *context, void *stream);
int cusolverDnGetStream(const void *context, void **ret_stream);
int cusolverDnSgetrf_bufferSize(const void *context, int m, int n, const void *a, int leading,
                                int *lwork);
int cusolverDnSormqr_bufferSize(const void *context, int side, int trans, int m, int n, int k,
                                const void *a, int leading, const void *tau, const void *c,
                                int leading_c, int *lwork);
int cusolverDnSsyevd_bufferSize(const void *context, int job, int triangle, int n, const void *a,
                                int leading, const void *w, int *lwork);
int cusolverDnXsyevd_bufferSize(const void *context, const void *params, int job, int triangle,
                                int64_t n, int type, const void *a, int64_t leading, int type_w,
                                const void *w, int type_inside, size_t *ret_device,
                                size_t *ret_host);

/* Bytes of work, as the issues quote them; see workspace.c for which these are. */
static void reported_sizes_are_given_exactly(void)
{
    T_EQ_U64(plim_cusolver_syevd(15000, true, false) * 4, UINT64_C(2707806276));
    T_EQ_U64(plim_cusolver_syevd(10000, true, true) * 8, UINT64_C(2410452488));
    T_EQ_U64(plim_cusolver_gesvdj(20000, 20000) * 4, UINT64_C(3211456640));
    T_EQ_U64(plim_cusolver_gesvdj(20500, 20000) * 4, UINT64_C(4811456640));
    static const int64_t counts[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
    static const int64_t sizes[] = { 2077, 3126, 5224, 9420, 17812, 34596, 68164, 135300, 269572 };
    for (size_t i = 0; i < T_COUNT(counts); i++) {
        T_EQ_U64(plim_cusolver_syevj(4, counts[i]), sizes[i]);
    }
    /* The most matrices for which the size still fits 32 bits. */
    T_TRUE(plim_cusolver_syevj(4, 2047171) <= INT_MAX);
    T_TRUE(plim_cusolver_syevj(4, 2047172) > INT_MAX);
    T_TRUE(plim_cusolver_syevj(2, 2078879) <= INT_MAX);
    T_TRUE(plim_cusolver_syevj(2, 2078880) > INT_MAX);
}

static void sizes_grow_with_the_shape(void)
{
    for (int64_t n = 0; n < 3000; n += 7) {
        const int64_t more = n + 7;
        T_TRUE(plim_cusolver_getrf(n, n) <= plim_cusolver_getrf(more, n));
        T_TRUE(plim_cusolver_potrf(n) <= plim_cusolver_potrf(more));
        T_TRUE(plim_cusolver_sytrf(n) <= plim_cusolver_sytrf(more));
        T_TRUE(plim_cusolver_geqrf(9, n) <= plim_cusolver_geqrf(9, more));
        T_TRUE(plim_cusolver_orgqr(n, 3) <= plim_cusolver_orgqr(more, 3));
        T_TRUE(plim_cusolver_ormqr(n, 3) <= plim_cusolver_ormqr(more, 3));
        T_TRUE(plim_cusolver_syevd(n, true, true) <= plim_cusolver_syevd(more, true, true));
        T_TRUE(plim_cusolver_syevd(n, false, true) <= plim_cusolver_syevd(n, true, true));
        T_TRUE(plim_cusolver_syevj(n, 2) <= plim_cusolver_syevj(more, 2));
        T_TRUE(plim_cusolver_syev_batched(n, true, 2) <= plim_cusolver_syev_batched(n, true, 3));
        T_TRUE(plim_cusolver_gesvd(n, 50) <= plim_cusolver_gesvd(more, 50));
        T_TRUE(plim_cusolver_gesvdj(n, n) <= plim_cusolver_gesvdj(more, more));
        T_TRUE(plim_cusolver_gesvda(100, n, 2) <= plim_cusolver_gesvda(100, more, 2));
        T_TRUE(plim_cusolver_geev(n) <= plim_cusolver_geev(more));
    }
}

static void handing_out_body(void)
{
    void *context = NULL;
    int lwork = -1;
    R_EQ(cusolverDnCreate(&context), 0);
    R_EQ(cusolverDnSgetrf_bufferSize(context, 100, 50, NULL, 100, &lwork), 0);
    R_EQ(lwork, plim_cusolver_getrf(100, 50));
    lwork = -1;
    R_EQ(cusolverDnSgetrf_bufferSize(context, 100, 50, NULL, 99, &lwork), 3);
    R_EQ(cusolverDnSgetrf_bufferSize(context, -1, 50, NULL, 100, &lwork), 3);
    R_EQ(cusolverDnSgetrf_bufferSize(NULL, 100, 50, NULL, 100, &lwork), 1);
    R_TRUE(lwork == -1);
    /* Too large for 32 bits, as reported; and with 64 bits it is not. */
    R_EQ(cusolverDnSormqr_bufferSize(context, 0, 0, 40000, 1, 40000, NULL, 40000, NULL, NULL, 40000,
                                     &lwork),
         3);
    R_EQ(cusolverDnSsyevd_bufferSize(context, 1, 0, 30000, NULL, 30000, NULL, &lwork), 3);
    size_t on_device = 0;
    size_t on_host = 1;
    R_EQ(cusolverDnXsyevd_bufferSize(context, NULL, 1, 0, 30000, 0, NULL, 30000, 0, NULL, 0,
                                     &on_device, &on_host),
         0);
    R_EQ(on_device, plim_cusolver_syevd(30000, true, false) * 4);
    R_EQ(on_host, 0);
    R_EQ(cusolverDnXsyevd_bufferSize(context, NULL, 1, 0, 30000, 3, NULL, 30000, 0, NULL, 0,
                                     &on_device, &on_host),
         3); /* of 8-bit integers there are no eigenvalues */
    void *stream = NULL;
    R_EQ(cusolverDnSetStream(context, &lwork), 0);
    R_EQ(cusolverDnGetStream(context, &stream), 0);
    R_TRUE(stream == &lwork);
    R_EQ(cusolverDnDestroy(context), 0);
}

static void sizes_are_handed_out_where_they_fit(void)
{
    r_play(handing_out_body);
}

T_MAIN(T_TEST(reported_sizes_are_given_exactly), T_TEST(sizes_grow_with_the_shape),
       T_TEST(sizes_are_handed_out_where_they_fit))
