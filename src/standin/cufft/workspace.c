/*
 * workspace.c - see workspace.h.
 *
 * Sizes whose prime factors are at most 127 are transformed factor by factor, from one array to
 * another: the work area is as large as the transform. Others go by Bluestein's convolution,
 * whose length is the next power of two from 2 n - 1 on (cuFFT manual, "Accuracy and
 * Performance": where the line is, and that the memory is larger).
 */
#include "standin/cufft/workspace.h"

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
