/*
 * lines.h - which line of a program speaks for a request, and which requests belong to one call.
 *
 * Frames of a stack are numbered from the innermost, 0. A level is the number of a Python frame:
 * all requests whose stacks agree from that frame on outwards belong to one statement of it, while
 * no request comes between that does not.
 */
#ifndef PLIMSOLL_DIAGNOSE_ROOTS_LINES_H
#define PLIMSOLL_DIAGNOSE_ROOTS_LINES_H

#include "diagnose/case/case.h"

/* The innermost frame of the user's own code; without any, the outermost frame of a library that
 * is not PyTorch's, else the outermost Python frame. PLIM_NONE: no frame can speak. */
uint32_t plim_line_innermost(plim_case *one, uint32_t stack);

/* The innermost frame of the user's own code that is further out than `level` and outside the
 * call of a module that `level` lies in. PLIM_NONE: none. */
uint32_t plim_line_outside_module(plim_case *one, uint32_t stack, uint32_t level);

/* The outermost such: the line that calls the model as a whole. `level` itself where it lies in
 * no call of a module. */
uint32_t plim_line_outside_model(plim_case *one, uint32_t stack, uint32_t level);

/* The innermost frame that calls a module, below `level`; PLIM_NONE: none. */
uint32_t plim_line_module_call(const plim_case *one, uint32_t stack, uint32_t level);

/* True if `other` agrees with `stack` from frame `level` on outwards. Python frames alone count. */
bool plim_line_same_statement(const plim_case *one, uint32_t stack, uint32_t level, uint32_t other);

/* The place of a frame of a stack. */
plim_code_place plim_line_place(const plim_case *one, uint32_t stack, uint32_t level);

#endif
