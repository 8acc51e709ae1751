/*
 * ending.c - the end of processes that a rehearsal left: see ending.h.
 */
#include "fit/ending.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS   2000000L
#define TERM_TICK 0   /* SIGTERM first, */
#define KILL_TICK 250 /* half a second later SIGKILL, to what is left and what comes after it */
#define LAST_TICK 1000

/* The parent of a process; 0: it has ended. */
static pid_t parent_of(const char *pid)
{
    char path[300];
    char text[512];
    (void)snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    FILE *const file = fopen(path, "re");
    const size_t length = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    text[length] = '\0';
    /* "123 (any name) S 45 …" */
    const char *const name_end = strrchr(text, ')');
    return name_end != NULL && strlen(name_end) > 4 ? (pid_t)strtol(name_end + 4, NULL, 10) : 0;
}

void plim_fit_signal_children(pid_t parent, int signal)
{
    DIR *const folder = opendir("/proc");
    if (folder == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == parent) {
            (void)kill((pid_t)strtol(entry->d_name, NULL, 10), signal);
        }
    }
    (void)closedir(folder);
}

void plim_fit_adopt_orphans(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Takes children that have ended. False: there are no others. */
static bool has_children(void)
{
    pid_t pid = 0;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    return pid == 0;
}

void plim_fit_end_orphans(void)
{
    const struct timespec tick = { .tv_nsec = TICK_NS };
    for (int i = 0; i < LAST_TICK && has_children(); i++) {
        if (i == TERM_TICK || i >= KILL_TICK) {
            plim_fit_signal_children(getpid(), i == TERM_TICK ? SIGTERM : SIGKILL);
        }
        (void)nanosleep(&tick, NULL);
    }
}
