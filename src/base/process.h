/*
 * process.h - another process, as /proc/<pid>/stat describes it (proc(5)).
 */
#ifndef PLIMSOLL_BASE_PROCESS_H
#define PLIMSOLL_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plim_process {
    char state;     /* 'R', 'S', 'D', 'T' stopped, 'Z' ended and not waited for, … */
    int64_t parent; /* its number; 0: outside of this namespace */
    uint64_t start; /* ticks since the machine began: numbers are used again, pairs are not */
} plim_process;

/** False where there is no such process, or no /proc; *ret is then untouched. */
bool plim_process_read(int64_t pid, plim_process *ret);

/** The same of a file's text. */
bool plim_process_parse(const char *text, plim_process *ret);

#endif
