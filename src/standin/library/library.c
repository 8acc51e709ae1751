/*
 * library.c - see library.h.
 */
#include "standin/library/library.h"

#include "base/memory.h"
#include "standin/core/stage.h"
#include "standin/core/tally.h"
#include "standin/work/work.h"

#include <stddef.h>

/* ---- contexts -------------------------------------------------------------------------------- */

int plim_standin_context_create(bool has_room, int no_memory, int execution_failed,
                                plim_standin_context **ret_context)
{
    plim_standin_context *made =
        has_room ? plim_mem_alloc_zeroed(&plim_mem_heap, 1, sizeof(*made)) : NULL;
    if (made == NULL) {
        return no_memory;
    }
    made->execution_failed = execution_failed;
    *ret_context = made;
    return 0;
}

void plim_standin_context_destroy(plim_standin_context *context)
{
    plim_mem_free(&plim_mem_heap, context, 1, sizeof(*context));
}

int plim_standin_context_launch(const plim_standin_context *context)
{
    if (context == NULL) {
        return PLIM_STANDIN_NOT_INITIALIZED;
    }
    return plim_standin_submit_kernel(context->stream) == 0 ? 0 : context->execution_failed;
}

/* ---- types of numbers ------------------------------------------------------------------------ */

size_t plim_standin_type_bytes(int type)
{
    switch (type) {
    case PLIM_STANDIN_R_8I:
    case PLIM_STANDIN_R_8U:
    case PLIM_STANDIN_R_8F_E4M3:
    case PLIM_STANDIN_R_8F_E5M2:
        return 1;
    case PLIM_STANDIN_R_16F:
    case PLIM_STANDIN_R_16BF:
        return 2;
    case PLIM_STANDIN_R_32F:
    case PLIM_STANDIN_R_32I:
    case PLIM_STANDIN_C_16F:
    case PLIM_STANDIN_C_16BF:
        return 4;
    case PLIM_STANDIN_R_64F:
    case PLIM_STANDIN_C_32F:
        return 8;
    case PLIM_STANDIN_C_64F:
        return 16;
    default:
        return 0;
    }
}

void plim_standin_tally_product(int type)
{
    static const char *const names[] = {
        [PLIM_STANDIN_R_32F] = "product float32",    [PLIM_STANDIN_R_64F] = "product float64",
        [PLIM_STANDIN_R_16F] = "product float16",    [PLIM_STANDIN_R_8I] = "product int8",
        [PLIM_STANDIN_R_16BF] = "product bfloat16",  [PLIM_STANDIN_R_8F_E4M3] = "product float8",
        [PLIM_STANDIN_R_8F_E5M2] = "product float8", [PLIM_STANDIN_R_4F_E2M1] = "product float4",
    };
    const bool is_known = type >= 0 && (size_t)type < sizeof(names) / sizeof(names[0]);
    const char *name = is_known ? names[type] : NULL;
    if (name != NULL) {
        plim_standin_tally(&names[type], name, 1);
    }
}

/* ---- versions -------------------------------------------------------------------------------- */

/*
 * From what the packages cuda-toolkit 12.4.1, 12.6.3, 12.8.1, 12.9.1, 13.0.2 and 13.2.2 on PyPI
 * require: the releases that PyTorch's wheels are built with.
 */

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
