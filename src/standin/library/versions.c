/*
 * versions.c - see versions.h.
 *
 * From what the packages cuda-toolkit 12.4.1, 12.6.3, 12.8.1, 12.9.1, 13.0.2 and 13.2.2 on PyPI
 * require: the releases that PyTorch's wheels are built with.
 */
#include "standin/library/versions.h"

#include "standin/core/stage.h"

#include <stddef.h>

static const plim_standin_versions versions[] = {
    { 12000, { 12, 0, 1 }, { 11, 0, 0 }, { 11, 4, 2 }, { 12, 0, 0 } },
    { 12040, { 12, 4, 5 }, { 11, 2, 1 }, { 11, 6, 1 }, { 12, 3, 1 } },
    { 12060, { 12, 6, 4 }, { 11, 3, 0 }, { 11, 7, 1 }, { 12, 5, 4 } },
    { 12080, { 12, 8, 4 }, { 11, 3, 3 }, { 11, 7, 3 }, { 12, 5, 8 } },
    { 12090, { 12, 9, 1 }, { 11, 4, 1 }, { 11, 7, 5 }, { 12, 5, 10 } },
    { 13000, { 13, 1, 0 }, { 12, 0, 0 }, { 12, 0, 4 }, { 12, 6, 3 } },
    { 13020, { 13, 4, 1 }, { 12, 2, 0 }, { 12, 2, 0 }, { 12, 7, 10 } },
};

const plim_standin_versions *plim_standin_versions_in_force(void)
{
    const uint32_t cuda = plim_standin_settings()->cuda_version;
    size_t i = sizeof(versions) / sizeof(versions[0]) - 1;
    while (i > 0 && versions[i].cuda > cuda) {
        i--;
    }
    return &versions[i];
}

int plim_standin_version_part(plim_standin_version version, int part, int invalid, int *ret_value)
{
    const int parts[] = { version.major, version.minor, version.patch };
    if (part < 0 || part > 2) {
        return invalid;
    }
    *ret_value = parts[part];
    return 0;
}

int plim_standin_version_number(plim_standin_version version, int major)
{
    return major * version.major + 100 * version.minor + version.patch;
}
