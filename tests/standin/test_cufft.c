/*
 * test_cufft.c - plans of cuFFT and their work areas.
 */
#include "standin/rehearsal.h"

#include "standin/cufft/plan.h"

int cufftCreate(int *ret_plan);
int cufftDestroy(int number);
int cufftSetAutoAllocation(int number, int allocates);
int cufftSetStream(int number, void *stream);
int cufftGetSize(int number, size_t *ret_bytes);
int cufftXtMakePlanMany(int number, int rank, long long *n, long long *in_embed,
                        long long in_stride, long long in_distance, int in_type,
                        long long *out_embed, long long out_stride, long long out_distance,
                        int out_type, long long count, size_t *ret_bytes, int type);
int cufftXtExec(int number, void *input, void *output, int direction);

#define R_32F 0
#define C_32F 4
#define C_64F 5

static void areas_are_between_one_and_eight_transforms(void)
{
    for (int64_t n = 1; n < 5000; n++) {
        const int64_t area = plim_cufft_workspace(1, &n, 0);
        T_TRUE(area >= n && area <= 8 * n);
    }
    const int64_t smooth[] = { 64, 360, 1001 };
    T_EQ_U64(plim_cufft_workspace(3, smooth, 0), 64 * 360 * 1001);
    T_EQ_U64(plim_cufft_workspace(3, smooth, 1), 64 * 360 * 501);
    const int64_t primes[] = { 127, 131 };
    T_EQ_U64(plim_cufft_workspace(1, &primes[0], 0), 127);
    T_EQ_U64(plim_cufft_workspace(1, &primes[1], 0), 131 + 512); /* by convolution */
}

static int make(int number, int in_type, int type, long long count, size_t *ret_bytes)
{
    long long n[] = { 100, 60 };
    return cufftXtMakePlanMany(number, 2, n, NULL, 1, 6000, in_type, NULL, 1, 6000, type, count,
                               ret_bytes, type);
}

static void plans_body(void)
{
    int plan = 0;
    size_t bytes = 0;
    R_EQ(cufftCreate(&plan), 0);
    R_TRUE(plan != 0);
    R_EQ(cufftSetAutoAllocation(plan, 0), 0);
    R_EQ(make(plan, C_32F, C_32F, 3, &bytes), 0);
    R_EQ(bytes, 3 * 6000 * 8);
    R_EQ(make(plan, R_32F, C_32F, 3, &bytes), 0);
    R_EQ(bytes, 3 * 3100 * 8);
    R_EQ(make(plan, C_64F, C_64F, 1, &bytes), 0);
    R_EQ(bytes, 6000 * 16);
    bytes = 0;
    R_EQ(cufftGetSize(plan, &bytes), 0);
    R_EQ(bytes, 6000 * 16);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_PROGRAM], 0);
    R_EQ(cufftXtExec(plan, NULL, NULL, -1), 0);
    R_EQ(cufftDestroy(plan), 0);
    R_EQ(cufftDestroy(plan), 1);
    R_EQ(cufftXtExec(plan, NULL, NULL, -1), 1);
    R_EQ(cufftSetStream(0, NULL), 1);
    R_EQ(cufftSetStream(1000, NULL), 1);
}

static void plans_say_what_they_want(void)
{
    r_play(plans_body);
}

static void own_body(void)
{
    int plan = 0;
    size_t bytes = 0;
    R_EQ(cufftCreate(&plan), 0);
    R_EQ(make(plan, C_32F, C_32F, 1000, &bytes), 0);
    R_TRUE(r_device(0).used_bytes[PLIM_STAGE_PROGRAM] >= bytes);
    R_EQ(cufftDestroy(plan), 0);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_PROGRAM], 0);
}

static void plans_left_alone_take_their_area_themselves(void)
{
    r_play(own_body);
}

static void many_body(void)
{
    int plans[100];
    for (int i = 0; i < 100; i++) {
        R_EQ(cufftCreate(&plans[i]), 0);
        for (int j = 0; j < i; j++) {
            R_TRUE(plans[i] != plans[j]);
        }
    }
    R_EQ(cufftDestroy(plans[41]), 0);
    int again = 0;
    R_EQ(cufftCreate(&again), 0);
    R_EQ(again, plans[41]);
}

static void there_can_be_many(void)
{
    r_play(many_body);
}

T_MAIN(T_TEST(areas_are_between_one_and_eight_transforms), T_TEST(plans_say_what_they_want),
       T_TEST(plans_left_alone_take_their_area_themselves), T_TEST(there_can_be_many))
