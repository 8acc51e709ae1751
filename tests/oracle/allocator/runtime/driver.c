/*
 * driver.c - the driver's functions for ranges and physical memory, found by name.
 *
 * Numbers of CUresult and the order of fields from the CUDA Driver API manual, 13.0.
 */
#include "model.h"

#include <stddef.h>
#include <string.h>

enum {
    DRIVER_SUCCESS = 0,
    DRIVER_INVALID_VALUE = 1,
    DRIVER_OUT_OF_MEMORY = 2,
    DRIVER_NOT_SUPPORTED = 801,
    DRIVER_UNKNOWN = 999,
    HANDLE_TYPE_FABRIC = 8,
};

/* The heads of CUmemAllocationProp and CUmemAccessDesc. */
typedef struct allocation_properties {
    int type;
    int handle_types;
    int location_type;
    int location_id;
} allocation_properties;

typedef struct access_description {
    int location_type;
    int location_id;
    int flags;
} access_description;

static int code_of(plim_status status)
{
    return status == PLIM_OK                     ? DRIVER_SUCCESS
           : status == PLIM_OUT_OF_DEVICE_MEMORY ? DRIVER_OUT_OF_MEMORY
           : status == PLIM_INVALID_ARGUMENT     ? DRIVER_INVALID_VALUE
                                                 : DRIVER_UNKNOWN;
}

static int get_error_string(int code, const char **text)
{
    *text = code == DRIVER_OUT_OF_MEMORY   ? "out of memory"
            : code == DRIVER_INVALID_VALUE ? "invalid argument"
                                           : "unknown error";
    return DRIVER_SUCCESS;
}

static int device_get(int *device, int ordinal)
{
    *device = ordinal;
    return DRIVER_SUCCESS;
}

static int device_get_attribute(int *value, int attribute, int device)
{
    (void)attribute; /* network cards see no memory here, fabrics do not exist */
    (void)device;
    *value = 0;
    return DRIVER_SUCCESS;
}

static int granularity(size_t *bytes, const allocation_properties *properties, int option)
{
    (void)properties;
    (void)option;
    *bytes = ORACLE_PAGE_BYTES;
    return DRIVER_SUCCESS;
}

static int address_reserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t hint,
                           unsigned long long flags)
{
    (void)alignment;
    (void)hint;
    (void)flags;
    return code_of(model_reserve(bytes, address));
}

static int address_free(uint64_t address, size_t bytes)
{
    return code_of(model_unreserve(address, bytes));
}

static int create(uint64_t *handle, size_t bytes, const allocation_properties *properties,
                  unsigned long long flags)
{
    (void)flags;
    if (properties->handle_types == HANDLE_TYPE_FABRIC) {
        return DRIVER_NOT_SUPPORTED; /* a question once per process, not a call for memory */
    }
    return code_of(model_create(properties->location_id, bytes, handle));
}

static int release(uint64_t handle)
{
    return code_of(model_release(handle));
}

static int map(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
               unsigned long long flags)
{
    (void)offset;
    (void)flags;
    return code_of(model_map(address, bytes, handle));
}

static int unmap(uint64_t address, size_t bytes)
{
    return code_of(model_unmap(address, bytes));
}

static int set_access(uint64_t address, size_t bytes, const access_description *descriptions,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const plim_status status = model_access(address, bytes, descriptions[i].location_id);
        if (status != PLIM_OK) {
            return code_of(status);
        }
    }
    return DRIVER_SUCCESS;
}

static int export_handle(void *shareable, uint64_t handle, int type, unsigned long long flags)
{
    (void)shareable;
    (void)type;
    (void)flags;
    return code_of(model_export(handle));
}

static int refused(void)
{
    return DRIVER_NOT_SUPPORTED;
}

typedef void function(void);

static const struct {
    const char *name;
    function *call;
} functions[] = {
    { "cuDeviceGet", (function *)device_get },
    { "cuDeviceGetAttribute", (function *)device_get_attribute },
    { "cuGetErrorString", (function *)get_error_string },
    { "cuMemAddressFree", (function *)address_free },
    { "cuMemAddressReserve", (function *)address_reserve },
    { "cuMemCreate", (function *)create },
    { "cuMemExportToShareableHandle", (function *)export_handle },
    { "cuMemGetAllocationGranularity", (function *)granularity },
    { "cuMemMap", (function *)map },
    { "cuMemRelease", (function *)release },
    { "cuMemSetAccess", (function *)set_access },
    { "cuMemUnmap", (function *)unmap },
};

int cudaGetDriverEntryPointByVersion(const char *symbol, function **ret_call, unsigned version,
                                     unsigned long long flags, int *status);

int cudaGetDriverEntryPointByVersion(const char *symbol, function **ret_call, unsigned version,
                                     unsigned long long flags, int *status)
{
    (void)version;
    (void)flags;
    *ret_call = (function *)refused;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(symbol, functions[i].name) == 0) {
            *ret_call = functions[i].call;
        }
    }
    if (status != NULL) {
        *status = 0;
    }
    return 0;
}
