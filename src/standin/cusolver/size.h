/*
 * size.h - handing out the size of a workspace.
 */
#ifndef PLIMSOLL_STANDIN_CUSOLVER_SIZE_H
#define PLIMSOLL_STANDIN_CUSOLVER_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * `elements` for a matrix of m by n, as a 32-bit number. INVALID_VALUE for shapes that cannot
 * be, and where the number does not fit: github.com/JuliaGPU/CUDA.jl/pull/3258.
 */
int plim_cusolver_give(const void *context, int64_t m, int64_t n, int64_t leading, int64_t elements,
                       int *ret_elements);

/* Bytes of an element of a cudaDataType_t that matrices can have, 0 for others. */
size_t plim_cusolver_type_bytes(int type);

#endif
