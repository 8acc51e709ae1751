/*
 * current.h - what CUDA keeps per thread: the current device and the last error.
 *
 * The runtime and the driver library share it, as the real ones share the
 * current context.
 */
#ifndef PLIMSOLL_STANDIN_CORE_CURRENT_H
#define PLIMSOLL_STANDIN_CORE_CURRENT_H

#include <stdbool.h>

int plim_standin_current_device(void);

/* False, and nothing changed, when there is no such device. */
bool plim_standin_current_device_set(int device);

/* Remembers a failure for cudaGetLastError() and returns it; 0 is not remembered. */
int plim_standin_current_error_note(int error);
int plim_standin_current_error_peek(void);
/* The last error, which is then forgotten. */
int plim_standin_current_error_take(void);

#endif
