/*
 * plan.h - how much memory a Fourier transform wants for itself.
 */
#ifndef PLIMSOLL_STANDIN_CUFFT_PLAN_H
#define PLIMSOLL_STANDIN_CUFFT_PLAN_H

#include <stdint.h>

/*
 * Complex numbers for one transform of the sizes `n`, MODELLED after the cuFFT manual ("Fourier
 * Transform Setup"): between 1 and 8 times the transform. Of a real one, half the last dimension
 * is kept.
 */
int64_t plim_cufft_workspace(int rank, const int64_t *n, int is_real);

#endif
