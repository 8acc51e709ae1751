/*
 * cuda_driver.c - filling the tables.
 *
 * cuGetProcAddress() is asked first: the driver knows best which of its forms of a function goes
 * by a version. What it does not find, and everything in drivers before CUDA 11.3, is an exported
 * symbol, whose suffix names the form.
 */
#include "device/cuda_driver.h"

#include "base/error.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef cu_result get_proc_address(const char *name, void **ret, int version, uint64_t flags,
                                   int *ret_status);

/* ISO C has no conversion from void * to a function pointer; POSIX promises the same bytes. */
#define SET_FUNCTION(field, pointer) memcpy(&(field), &(pointer), sizeof(pointer))

static const char *chosen(const char *path, const char *variable, const char *usual)
{
    if (path != NULL) {
        return path;
    }
    const char *const given = getenv(variable);
    return given != NULL && given[0] != '\0' ? given : usual;
}

static void *open_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void *find(void *library, get_proc_address *get, const char *name, const char *symbol,
                  int version)
{
    void *found = NULL;
    int status = 0;
    if (get != NULL && get(name, &found, version, CU_LOOKUP_LEGACY_STREAM, &status) == CU_SUCCESS &&
        status == 0 && found != NULL) {
        return found;
    }
    return dlsym(library, symbol);
}

/* Returns the symbol of a function that is missing, or NULL. */
static const char *fill(plim_cuda_driver *driver)
{
    get_proc_address *get = NULL;
    void *found = dlsym(driver->library, "cuGetProcAddress_v2");
    SET_FUNCTION(get, found);
    const char *missing = NULL;
#define FIND(field, name, symbol, version, parameters)         \
    found = find(driver->library, get, name, symbol, version); \
    SET_FUNCTION(driver->field, found);                        \
    missing = found == NULL && missing == NULL ? symbol : missing;
    CU_MAPPING_LIST(FIND)
    driver->can_map = missing == NULL;
    missing = NULL;
    CU_FUNCTION_LIST(FIND)
#undef FIND
    return missing;
}

plim_status plim_cuda_driver_open(plim_cuda_driver *driver, const char *path, plim_error *err)
{
    plim_cuda_driver opened = { 0 };
    const char *const name = chosen(path, "PLIMSOLL_CUDA_DRIVER", "libcuda.so.1");
    opened.library = open_library(name);
    if (opened.library == NULL) {
        const char *const why = dlerror();
        return plim_fail(err, PLIM_UNSUPPORTED, "cuda: no driver: %s", why != NULL ? why : name);
    }
    const char *const missing = fill(&opened);
    plim_status status = PLIM_OK;
    if (missing != NULL) {
        status = plim_fail(err, PLIM_UNSUPPORTED, "cuda: %s has no %s", name, missing);
    } else {
        status = plim_cuda_check(&opened, opened.init(0), "cuInit", err);
    }
    if (status != PLIM_OK) {
        plim_cuda_driver_close(&opened);
        return status;
    }
    *driver = opened;
    return PLIM_OK;
}

void plim_cuda_driver_close(plim_cuda_driver *driver)
{
    if (driver->library != NULL) {
        (void)dlclose(driver->library);
    }
    *driver = (plim_cuda_driver){ 0 };
}

plim_status plim_cuda_check(const plim_cuda_driver *driver, cu_result result, const char *call,
                            plim_error *err)
{
    if (result == CU_SUCCESS) {
        return PLIM_OK;
    }
    const char *name = NULL;
    const char *text = NULL;
    (void)driver->error_name(result, &name);
    (void)driver->error_string(result, &text);
    const plim_status status =
        plim_fail(err, result == CU_OUT_OF_MEMORY ? PLIM_OUT_OF_DEVICE_MEMORY : PLIM_IO,
                  "cuda: %s: %s: %s (%d)", call, name != NULL ? name : "unknown error",
                  text != NULL ? text : "the driver has no words for it", result);
    if (err != NULL) {
        err->native = result;
    }
    return status;
}

/* --- NVML --- */

static bool fill_nvml(plim_nvml *nvml)
{
    bool is_whole = true;
    void *found = NULL;
#define FIND(field, name, parameters)   \
    found = dlsym(nvml->library, name); \
    SET_FUNCTION(nvml->field, found);   \
    is_whole = is_whole && found != NULL;
    NVML_FUNCTION_LIST(FIND)
#undef FIND
    return is_whole;
}

bool plim_nvml_open(plim_nvml *nvml, const char *path, const char *bus_id)
{
    *nvml = (plim_nvml){ 0 };
    const char *const name = chosen(path, "PLIMSOLL_NVML", "libnvidia-ml.so.1");
    nvml->library = name[0] == '\0' ? NULL : open_library(name);
    if (nvml->library == NULL) {
        return false;
    }
    if (fill_nvml(nvml) && nvml->init() == NVML_SUCCESS) {
        if (nvml->device_by_bus_id(bus_id, &nvml->device) == NVML_SUCCESS) {
            return true;
        }
        (void)nvml->shutdown();
    }
    (void)dlclose(nvml->library);
    *nvml = (plim_nvml){ 0 };
    return false;
}

void plim_nvml_close(plim_nvml *nvml)
{
    if (nvml->library != NULL) {
        (void)nvml->shutdown();
        (void)dlclose(nvml->library);
    }
    *nvml = (plim_nvml){ 0 };
}
