/*
 * families.h - which libraries are stood in for, and which functions are whose.
 *
 * A family is what all versions of a library have in common: libcudart.so.12 and libcudart.so.13
 * are of the family "cudart".
 */
#ifndef PLIMSOLL_FACADE_FAMILIES_H
#define PLIMSOLL_FACADE_FAMILIES_H

typedef struct plim_family {
    const char *stem;    /* "cudart" */
    const char *version; /* symbol version of its functions; "" for none, "*" for the soname */
} plim_family;

/*
 * The family of a file name as objects need it: libcudart.so.13, or libcudart-9335f6a2.so.12, as
 * wheels call what they bring along. NULL: the library is not the vendor's.
 */
const plim_family *plim_family_of_library(const char *soname);
/* The family whose functions have names like this; NULL without one. */
const plim_family *plim_family_of_function(const char *name);

#endif
