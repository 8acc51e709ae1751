/*
 * kills.h - the kernel's count of processes that its out-of-memory killer took.
 */
#ifndef PLIMSOLL_LAUNCH_KILLS_H
#define PLIMSOLL_LAUNCH_KILLS_H

#include "plimsoll/launch.h"

#define PLIM_LAUNCH_KILLS_PATH_BYTES 4096u

/* A counter that was found, and what it stood at. */
typedef struct plim_launch_kills {
    plim_launch_kill_scope scope;
    uint64_t before;
    char path[PLIM_LAUNCH_KILLS_PATH_BYTES]; /* "" where the scope is unknown */
} plim_launch_kills;

/**
 * Find the counter nearest to this process and read it.
 *
 * root  "" but in tests: a folder that stands for /
 */
void plim_launch_kills_begin(plim_launch_kills *kills, const char *root);

/** The increase since; 0 where the counter cannot be read any more. */
uint64_t plim_launch_kills_since(const plim_launch_kills *kills);

#endif
