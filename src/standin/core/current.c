/* current.c - see current.h. */
#include "standin/core/current.h"

#include "standin/core/devices.h"

static _Thread_local int current_device;
static _Thread_local int last_error;

int plim_standin_current_device(void)
{
    return current_device;
}

bool plim_standin_current_device_set(int device)
{
    if (!plim_standin_is_device(device)) {
        return false;
    }
    current_device = device;
    return true;
}

int plim_standin_current_error_note(int error)
{
    if (error != 0) {
        last_error = error;
    }
    return error;
}

int plim_standin_current_error_peek(void)
{
    return last_error;
}

int plim_standin_current_error_take(void)
{
    const int error = last_error;
    last_error = 0;
    return error;
}
