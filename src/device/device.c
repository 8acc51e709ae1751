/*
 * device.c - what all devices have in common: how they end, and what their calls are called.
 */
#include "plimsoll/device.h"

#include "base/assert.h"

void plim_device_destroy(plim_device *device)
{
    if (device != NULL && device->ops != NULL) {
        device->ops->destroy(device->self);
        *device = (plim_device){ 0 };
    }
}

const char *plim_device_call_name(plim_device_call call)
{
    static const char *const names[] = {
#define CALL_NAME(code, name) [code] = name,
        PLIM_DEVICE_CALL_LIST(CALL_NAME)
#undef CALL_NAME
    };
    _Static_assert(sizeof names / sizeof names[0] == PLIM_DEVICE_CALL_COUNT, "one for each");
    return (size_t)call < PLIM_DEVICE_CALL_COUNT ? names[call] : "unknown";
}
