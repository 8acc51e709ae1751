/*
 * libraries.h - the vendor's libraries, as far as the stand-ins must tell them apart.
 */
#ifndef PLIMSOLL_STANDIN_CORE_LIBRARIES_H
#define PLIMSOLL_STANDIN_CORE_LIBRARIES_H

#include <stdbool.h>

typedef struct plim_standin_vendor {
    const char *stem;   /* of the soname: "libcublas" */
    long not_supported; /* what its functions return for what they cannot do */
    bool computes;      /* any call may write device memory */
} plim_standin_vendor;

/* Of "libcublas.so.13"; never NULL: what is not known computes, and returns 1. */
const plim_standin_vendor *plim_standin_vendor_of(const char *soname);

#endif
