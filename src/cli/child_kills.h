/*
 * child_kills.h - the kernel's count of processes that its out-of-memory killer took.
 */
#ifndef PLIMSOLL_CLI_CHILD_KILLS_H
#define PLIMSOLL_CLI_CHILD_KILLS_H

#include "cli/child.h"

#define PLIM_CHILD_KILLS_PATH_BYTES 4096u

/* A counter that was found, and what it stood at. */
typedef struct plim_child_kills {
    plim_child_kill_scope scope;
    uint64_t before;
    char path[PLIM_CHILD_KILLS_PATH_BYTES]; /* "" where the scope is unknown */
} plim_child_kills;

/**
 * Find the counter nearest to this process and read it.
 *
 * root  "" but in tests: a folder that stands for /
 */
void plim_child_kills_begin(plim_child_kills *kills, const char *root);

/** How far it rose since; 0 where it cannot be read any more. */
uint64_t plim_child_kills_since(const plim_child_kills *kills);

#endif
