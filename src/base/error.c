/*
 * error.c - statuses as text, and errors as they are filled in.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef PLIM_VERSION
#define PLIM_VERSION "0.0.0"
#endif

const char *plim_status_name(plim_status status)
{
    switch (status) {
#define NAME_CASE(code, text) \
    case code:                \
        return #code;
        PLIM_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }
    return "PLIM_STATUS_UNKNOWN";
}

const char *plim_status_text(plim_status status)
{
    switch (status) {
#define TEXT_CASE(code, text) \
    case code:                \
        return text;
        PLIM_STATUS_LIST(TEXT_CASE)
#undef TEXT_CASE
    }
    return "an unknown status";
}

const char *plim_version(void)
{
    return PLIM_VERSION;
}

static void fill(plim_error *err, plim_status status, uint64_t offset, int64_t native,
                 const char *format, va_list arguments)
{
    if (err == NULL) {
        return;
    }
    err->status = status;
    err->offset = offset;
    err->native = native;
    const int written = vsnprintf(err->message, sizeof err->message, format, arguments);
    if (written < 0) {
        err->message[0] = '\0';
    }
    /* Names from hostile files may hold control characters; a message is one clean line. */
    for (char *c = err->message; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
}

plim_status plim_fail(plim_error *err, plim_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(err, status, PLIM_NO_OFFSET, 0, format, arguments);
    va_end(arguments);
    return status;
}

plim_status plim_fail_at(plim_error *err, plim_status status, uint64_t offset, const char *format,
                         ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(err, status, offset, 0, format, arguments);
    va_end(arguments);
    return status;
}

plim_status plim_fail_errno(plim_error *err, int errno_value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(err, PLIM_IO, PLIM_NO_OFFSET, errno_value, format, arguments);
    va_end(arguments);
    if (err != NULL) {
        char text[96];
        if (strerror_r(errno_value, text, sizeof text) != 0) {
            snprintf(text, sizeof text, "error %d", errno_value);
        }
        const size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used, ": %s", text);
    }
    return PLIM_IO;
}

plim_status plim_fail_memory(plim_error *err, const char *doing)
{
    return plim_fail(err, PLIM_OUT_OF_HOST_MEMORY, "out of host memory while %s", doing);
}
