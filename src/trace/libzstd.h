/*
 * libzstd.h - libzstd, found when the program runs: without it recordings are written uncompressed,
 * and compressed ones cannot be read.
 */
#ifndef PLIMSOLL_TRACE_LIBZSTD_H
#define PLIMSOLL_TRACE_LIBZSTD_H

#include <zstd.h>

#define PLIM_LIBZSTD_LIST(X) \
    X(ZSTD_compressBound) \
    X(ZSTD_compressCCtx)  \
    X(ZSTD_createCCtx)    \
    X(ZSTD_decompress)    \
    X(ZSTD_freeCCtx)      \
    X(ZSTD_isError)

/* Each member has its function's name and type. */
typedef struct plim_libzstd {
#define PLIM_LIBZSTD_MEMBER(name) __typeof__(name) *name;
    PLIM_LIBZSTD_LIST(PLIM_LIBZSTD_MEMBER)
#undef PLIM_LIBZSTD_MEMBER
} plim_libzstd;

/* NULL where the library is not installed. Any thread. */
const plim_libzstd *plim_libzstd_find(void);

#endif
