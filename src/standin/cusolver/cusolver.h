/*
 * cusolver.h - what the stand-ins for cuSOLVER share.
 */
#ifndef PLIMSOLL_STANDIN_CUSOLVER_CUSOLVER_H
#define PLIMSOLL_STANDIN_CUSOLVER_CUSOLVER_H

#include "standin/cusolver/workspace.h"
#include "standin/library/library.h"

#include <stddef.h>
#include <stdint.h>

/* cusolverStatus_t, cuSOLVER manual */
enum {
    PLIM_CUSOLVER_NOT_INITIALIZED = 1,
    PLIM_CUSOLVER_ALLOC_FAILED = 2,
    PLIM_CUSOLVER_INVALID_VALUE = 3,
    PLIM_CUSOLVER_EXECUTION_FAILED = 6,
    PLIM_CUSOLVER_NOT_SUPPORTED = 9
};

/* ---- the size of a workspace, given to the caller -------------------------------------------- */

/*
 * `elements` for a matrix of m by n, as a 32-bit number. INVALID_VALUE for shapes that cannot
 * be, and where the number does not fit: github.com/JuliaGPU/CUDA.jl/pull/3258.
 */
int plim_cusolver_give(const void *context, int64_t m, int64_t n, int64_t leading, int64_t elements,
                       int *ret_elements);

/*
 * The functions that say how large a workspace has to be, a row for each: the names for float,
 * double and their complex numbers, which differ in nothing else; what of it is modelled; the
 * parameters; and the arguments of plim_cusolver_give().
 */
#define PLIM_CUSOLVER_SIZES(s, d, c, z, note, parameters, ...) \
    PLIM_CUSOLVER_SIZE(s, note, parameters, __VA_ARGS__)       \
    PLIM_CUSOLVER_SIZE(d, note, parameters, __VA_ARGS__)       \
    PLIM_CUSOLVER_SIZE(c, note, parameters, __VA_ARGS__)       \
    PLIM_CUSOLVER_SIZE(z, note, parameters, __VA_ARGS__)
#define PLIM_CUSOLVER_SIZE(name, note, parameters, ...)        \
    PLIM_STANDIN_MODELLED(cusolverDn##name##_bufferSize, note) \
    int cusolverDn##name##_bufferSize parameters               \
    {                                                          \
        return plim_cusolver_give(__VA_ARGS__);                \
    }

/* Bytes of an element of a cudaDataType_t that matrices can have, 0 for others. */
size_t plim_cusolver_type_bytes(int type);

#endif
