/*
 * rehearsing.h - one rehearsal from start to end: the program runs, and what it showed is kept.
 */
#ifndef PLIMSOLL_CLI_REHEARSING_H
#define PLIMSOLL_CLI_REHEARSING_H

#include "cli/child.h"
#include "report/model/rehearse.h"

/* Where the program's output goes. */
typedef enum plim_rehearsing_output {
    PLIM_REHEARSING_PASSES, /* stdout to ours, stderr to ours */
    PLIM_REHEARSING_STDERR, /* both to our stderr: stdout is for a document */
    PLIM_REHEARSING_KEPT,   /* both to a file that is shown only when the program fails */
} plim_rehearsing_output;

typedef struct plim_rehearsing {
    const char *who;
    plim_rehearse_options options;
    plim_rehearsing_output output;
    const char *record_path; /* NULL: nothing is recorded */
} plim_rehearsing;

typedef struct plim_rehearsing_result {
    plim_rehearsal *rehearsal;
    plim_child_result child;
    plim_rehearsed rehearsed; /* points into both */
    char **recordings;
    double seconds;
} plim_rehearsing_result;

/*
 * Run it. What goes wrong is said on stderr.
 *
 * argv     ends in NULL
 * ret      always filled; plim_rehearsing_deinit() frees it
 * returns  whether there is something to show
 */
bool plim_rehearsing_run(const plim_rehearsing *how, const char *const *argv,
                         plim_rehearsing_result *ret);

void plim_rehearsing_deinit(plim_rehearsing_result *result);

#endif
