/*
 * plan.c - cuFFT plans, numbers under which a stream is kept, and the work areas they need.
 */
#include "standin/cufft/plan.h"

#include "base/memory.h"
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/memory.h"
#include "standin/library/library.h"
#include "standin/work/work.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- work areas ------------------------------------------------------------------------------ */

/*
 * Sizes whose prime factors are at most 127 are transformed factor by factor, from one array to
 * another: the work area is as large as the transform. Others go by Bluestein's convolution,
 * whose length is the next power of two from 2 n - 1 on (cuFFT manual, "Accuracy and
 * Performance": where the line is, and that the memory is larger).
 */

#define LARGEST_FACTOR 127
#define MOST           8

static int64_t largest_prime_factor(int64_t n)
{
    int64_t largest = 1;
    for (int64_t factor = 2; factor * factor <= n; factor++) {
        while (n % factor == 0) {
            largest = factor;
            n /= factor;
        }
    }
    return n > 1 ? n : largest;
}

static int64_t power_of_two_from(int64_t least)
{
    int64_t power = 1;
    while (power < least) {
        power *= 2;
    }
    return power;
}

int64_t plim_cufft_workspace(int rank, const int64_t *n, int is_real)
{
    int64_t numbers = 1;
    int64_t convolved = 0; /* the largest dimension that is not transformed directly */
    for (int i = 0; i < rank; i++) {
        numbers *= is_real && i == rank - 1 ? n[i] / 2 + 1 : n[i];
        if (n[i] > convolved && largest_prime_factor(n[i]) > LARGEST_FACTOR) {
            convolved = n[i];
        }
    }
    if (convolved == 0) {
        return numbers;
    }
    const int64_t length = power_of_two_from(2 * convolved - 1);
    const int64_t wanted = numbers + (numbers * length + convolved - 1) / convolved;
    return wanted < MOST * numbers ? wanted : MOST * numbers;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/*
 * A plan's work area is the caller's: PyTorch asks how large, takes it from its own allocator
 * for each transform, and forbids cuFFT to allocate (aten/src/ATen/native/cuda/CuFFTPlanCache.h).
 * For those who let it, the plan takes the memory from its device.
 */

#define RANK_MAX 3

/* cufftResult, cuFFT manual */
enum { INVALID_PLAN = 1, ALLOC_FAILED = 2, INVALID_VALUE = 4, EXEC_FAILED = 6, INVALID_SIZE = 8 };

typedef struct plan {
    bool is_taken;
    bool allocates; /* its work area itself, when it is made: so plans begin */
    uint64_t area;  /* that it allocated, 0: none */
    size_t work_bytes;
    void *stream;
} plan;

static struct {
    pthread_mutex_t lock;
    plan *plans;
    size_t count;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

PLIM_STANDIN_MODELLED(cufftXtMakePlanMany, "work area as the manual says: 1 to 8 times the data")

/* The plan of a number, with the lock held, or NULL and no lock. */
static plan *hold(int number)
{
    (void)pthread_mutex_lock(&all.lock);
    if (number > 0 && (size_t)number <= all.count && all.plans[number - 1].is_taken) {
        return &all.plans[number - 1];
    }
    (void)pthread_mutex_unlock(&all.lock);
    return NULL;
}

static void let_go(void)
{
    (void)pthread_mutex_unlock(&all.lock);
}

/* A free place in the table, with the lock held; its count if there is no memory for more. */
static size_t free_place(void)
{
    size_t place = 0;
    while (place < all.count && all.plans[place].is_taken) {
        place++;
    }
    if (place < all.count) {
        return place;
    }
    const size_t count = all.count == 0 ? 16 : 2 * all.count;
    plan *plans = plim_mem_resize(&plim_mem_heap, all.plans, all.count, count, sizeof(*plans));
    if (plans == NULL) {
        return place;
    }
    for (size_t i = all.count; i < count; i++) {
        plans[i] = (plan){ .is_taken = false };
    }
    all.plans = plans;
    all.count = count;
    return place;
}

int cufftCreate(int *ret_plan)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return ALLOC_FAILED;
    }
    (void)pthread_mutex_lock(&all.lock);
    const size_t place = free_place();
    const bool has_place = place < all.count;
    if (has_place) {
        all.plans[place] = (plan){ .is_taken = true, .allocates = true };
        *ret_plan = (int)place + 1;
    }
    (void)pthread_mutex_unlock(&all.lock);
    return has_place ? 0 : ALLOC_FAILED;
}

int cufftDestroy(int number)
{
    plan *found = hold(number);
    if (found == NULL) {
        return INVALID_PLAN;
    }
    if (found->area != 0) {
        (void)plim_standin_memory_release(found->area);
    }
    *found = (plan){ .is_taken = false };
    let_go();
    return 0;
}

int cufftSetAutoAllocation(int number, int allocates)
{
    plan *found = hold(number);
    if (found == NULL) {
        return INVALID_PLAN;
    }
    found->allocates = allocates != 0;
    let_go();
    return 0;
}

int cufftSetStream(int number, void *stream)
{
    plan *found = hold(number);
    if (found == NULL) {
        return INVALID_PLAN;
    }
    found->stream = stream;
    let_go();
    return 0;
}

/* Takes the place of what the plan allocated. */
int cufftSetWorkArea(int number, void *area)
{
    plan *found = hold(number);
    if (found == NULL) {
        return INVALID_PLAN;
    }
    if (found->area != 0) {
        (void)plim_standin_memory_release(found->area);
        found->area = 0;
    }
    let_go();
    return 0;
}

int cufftGetSize(int number, size_t *ret_bytes)
{
    const plan *found = hold(number);
    if (found == NULL) {
        return INVALID_PLAN;
    }
    *ret_bytes = found->work_bytes;
    let_go();
    return 0;
}

/* Memory for the work area, if the plan is to have it itself. */
static int take_area(plan *of)
{
    if (!of->allocates || of->work_bytes == 0) {
        return 0;
    }
    const plim_standin_memory_status status =
        plim_standin_memory_allocate(plim_standin_current_device(), of->work_bytes, &of->area);
    return status == PLIM_STANDIN_MEMORY_OK ? 0 : ALLOC_FAILED;
}

static bool is_real(int type)
{
    return type == PLIM_STANDIN_R_16F || type == PLIM_STANDIN_R_32F || type == PLIM_STANDIN_R_64F ||
           type == PLIM_STANDIN_R_16BF;
}

int cufftXtMakePlanMany(int number, int rank, long long *n, long long *in_embed,
                        long long in_stride, long long in_distance, int in_type,
                        long long *out_embed, long long out_stride, long long out_distance,
                        int out_type, long long count, size_t *ret_bytes, int type)
{
    const size_t number_bytes = plim_standin_type_bytes(type);
    if (rank < 1 || rank > RANK_MAX || n == NULL || count < 1 || number_bytes == 0) {
        return INVALID_VALUE;
    }
    int64_t sizes[RANK_MAX];
    for (int i = 0; i < rank; i++) {
        if (n[i] < 1) {
            return INVALID_SIZE;
        }
        sizes[i] = n[i];
    }
    plan *found = hold(number);
    if (found == NULL) {
        return INVALID_PLAN;
    }
    const int64_t numbers =
        plim_cufft_workspace(rank, sizes, is_real(in_type) || is_real(out_type));
    found->work_bytes = (size_t)count * (size_t)numbers * number_bytes;
    if (ret_bytes != NULL) {
        *ret_bytes = found->work_bytes;
    }
    const int status = take_area(found);
    let_go();
    return status;
}

int cufftXtExec(int number, void *input, void *output, int direction)
{
    const plan *found = hold(number);
    if (found == NULL) {
        return INVALID_PLAN;
    }
    void *stream = found->stream;
    let_go();
    return plim_standin_submit_kernel(stream) == 0 ? 0 : EXEC_FAILED;
}

int cufftGetVersion(int *ret_version)
{
    *ret_version = plim_standin_version_number(plim_standin_versions_in_force()->cufft, 1000);
    return 0;
}

int cufftGetProperty(int kind, int *ret_value)
{
    return plim_standin_version_part(plim_standin_versions_in_force()->cufft, kind, INVALID_VALUE,
                                     ret_value);
}
