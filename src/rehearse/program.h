/*
 * program.h - the Python that a program will run in, from its name, without running it.
 */
#ifndef PLIMSOLL_REHEARSE_PROGRAM_H
#define PLIMSOLL_REHEARSE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The Python of a program: itself, when it is one; that of its first line, when it is a script
 * (torchrun, accelerate); else python3, or python, in PATH. False if there is none.
 *
 * program  a path from plim_path_find()
 */
bool plim_program_python(const char *program, char *path, size_t path_bytes);

#endif
