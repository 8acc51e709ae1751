/*
 * versions.h - which versions of the mathematics libraries come with a version of CUDA.
 */
#ifndef PLIMSOLL_STANDIN_LIBRARY_VERSIONS_H
#define PLIMSOLL_STANDIN_LIBRARY_VERSIONS_H

#include <stdint.h>

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
