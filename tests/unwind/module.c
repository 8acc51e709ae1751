/*
 * module.c - what a program loads while it runs: a function that calls back.
 */
#include "unwind/module.h"

size_t t_module_line(void)
{
    return 14;
}

size_t t_module_call(t_module_callback *callback, void *ctx)
{
    /* The line after the call is the one that a return address by itself would name. */
    const size_t count = callback(ctx);
    t_module_depth++;
    return count;
}

volatile size_t t_module_depth;
