/*
 * module.h - what tests call in the module that they load.
 */
#ifndef PLIMSOLL_TESTS_UNWIND_MODULE_H
#define PLIMSOLL_TESTS_UNWIND_MODULE_H

#include <stddef.h>

typedef size_t t_module_callback(void *ctx);

extern volatile size_t t_module_depth;

size_t t_module_line(void); /* of the call in t_module_call() */
size_t t_module_call(t_module_callback *callback, void *ctx);

#endif
