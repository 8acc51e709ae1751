/*
 * library.h - what the mathematics libraries have in common: contexts, types of numbers, versions.
 */
#ifndef PLIMSOLL_STANDIN_LIBRARY_LIBRARY_H
#define PLIMSOLL_STANDIN_LIBRARY_LIBRARY_H

#include "standin/core/stub.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- contexts -------------------------------------------------------------------------------- */

/*
 * cuBLAS, cuSOLVER and cuSPARSE each take a handle as the first argument of every operation,
 * and the handle says on which stream. Nothing is computed, but a stream that captures gets a
 * node per operation, as from the real libraries.
 *
 *   PLIM_STANDIN_LAUNCHES(cusparseSpMM)        an operation that only computes
 *   PLIM_STANDIN_LAUNCHES_SDCZ(cublas, gemm)   cublasSgemm, cublasDgemm, cublasCgemm, cublasZgemm
 */

/* CUBLAS_, CUSOLVER_ and CUSPARSE_STATUS_NOT_INITIALIZED: the handle is NULL. */
#define PLIM_STANDIN_NOT_INITIALIZED 1

typedef struct plim_standin_context {
    void *stream;
    int execution_failed; /* what the library calls it when a stream takes no more work */
    int pointer_mode;     /* 0: scalars lie on the host, in all three libraries */
    int math_mode;
    int atomics_mode;
    int multiprocessors_target; /* 0: all */
} plim_standin_context;

/* A new one; `no_memory`, a status of the library's, without memory for it or where !has_room. */
int plim_standin_context_create(bool has_room, int no_memory, int execution_failed,
                                plim_standin_context **ret_context);
/* NULL is allowed. */
void plim_standin_context_destroy(plim_standin_context *context);

/* Puts an operation on the context's stream. 0, or the library's status. */
int plim_standin_context_launch(const plim_standin_context *context);

/* An operation that only computes. */
#define PLIM_STANDIN_LAUNCHES(name)                  \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, "")  \
    long name(const plim_standin_context *context)   \
    {                                                \
        return plim_standin_context_launch(context); \
    }

/* Settings of a context, set and read back. */
#define PLIM_STANDIN_SETTER(name, type, field)          \
    int name(plim_standin_context *context, type value) \
    {                                                   \
        if (context == NULL) {                          \
            return PLIM_STANDIN_NOT_INITIALIZED;        \
        }                                               \
        context->field = value;                         \
        return 0;                                       \
    }
#define PLIM_STANDIN_GETTER(name, type, field)                     \
    int name(const plim_standin_context *context, type *ret_value) \
    {                                                              \
        if (context == NULL) {                                     \
            return PLIM_STANDIN_NOT_INITIALIZED;                   \
        }                                                          \
        *ret_value = context->field;                               \
        return 0;                                                  \
    }

/* For float, double, and their complex numbers: what manuals write as cublas<t>gemm. */
#define PLIM_STANDIN_LAUNCHES_SD(prefix, rest) \
    PLIM_STANDIN_LAUNCHES(prefix##S##rest)     \
    PLIM_STANDIN_LAUNCHES(prefix##D##rest)
#define PLIM_STANDIN_LAUNCHES_CZ(prefix, rest) \
    PLIM_STANDIN_LAUNCHES(prefix##C##rest)     \
    PLIM_STANDIN_LAUNCHES(prefix##Z##rest)
#define PLIM_STANDIN_LAUNCHES_SDCZ(prefix, rest) \
    PLIM_STANDIN_LAUNCHES_SD(prefix, rest)       \
    PLIM_STANDIN_LAUNCHES_CZ(prefix, rest)

/* ---- types of numbers by number: cudaDataType_t, CUDA Runtime API manual, "Data types" ------- */

enum {
    PLIM_STANDIN_R_32F = 0,
    PLIM_STANDIN_R_64F = 1,
    PLIM_STANDIN_R_16F = 2,
    PLIM_STANDIN_R_8I = 3,
    PLIM_STANDIN_C_32F = 4,
    PLIM_STANDIN_C_64F = 5,
    PLIM_STANDIN_C_16F = 6,
    PLIM_STANDIN_R_8U = 8,
    PLIM_STANDIN_R_32I = 10,
    PLIM_STANDIN_R_16BF = 14,
    PLIM_STANDIN_C_16BF = 15,
    PLIM_STANDIN_R_8F_E4M3 = 28,
    PLIM_STANDIN_R_8F_E5M2 = 29,
    PLIM_STANDIN_R_6F_E2M3 = 31,
    PLIM_STANDIN_R_4F_E2M1 = 33
};

/* 0 for types that are not whole bytes, and unknown ones. */
size_t plim_standin_type_bytes(int type);

/* Counts a product of two matrices, the first of that type: tally.h. */
void plim_standin_tally_product(int type);

/* ---- versions that come with a version of CUDA ----------------------------------------------- */

typedef struct plim_standin_version {
    uint8_t major;
    uint8_t minor;
    uint8_t patch;
} plim_standin_version;

typedef struct plim_standin_versions {
    uint32_t cuda; /* 1000 * major + 10 * minor */
    plim_standin_version cublas;
    plim_standin_version cufft;
    plim_standin_version cusolver;
    plim_standin_version cusparse;
} plim_standin_versions;

/* Those of the newest CUDA we know that is not newer than the rehearsal's. Never NULL. */
const plim_standin_versions *plim_standin_versions_in_force(void);

/* libraryPropertyType: 0 major, 1 minor, 2 patch. `invalid` is returned for what is no property. */
int plim_standin_version_part(plim_standin_version version, int part, int invalid, int *ret_value);
/* As one number: `major` for each major version, 100 for each minor one. */
int plim_standin_version_number(plim_standin_version version, int major);

#endif
