/*
 * stage.h - the rehearsal this process takes part in.
 *
 * Found through PLIMSOLL_STAGE in the environment, and only when a stand-in is really called or
 * asked: the stand-ins are preloaded into every process of a program, shells and compilers too.
 * A stage that is missing or cannot be read ends the process with one line: figures of the wrong
 * GPU would be worse than none.
 */
#ifndef PLIMSOLL_STANDIN_CORE_STAGE_H
#define PLIMSOLL_STANDIN_CORE_STAGE_H

#include "stage/stage.h"

/* Never NULL, never closed. */
plim_stage *plim_standin_stage(void);

/* Its settings: the GPU, the versions, … Constant. */
const plim_stage_settings *plim_standin_settings(void);

/* ---- traces: what the stand-ins made up ------------------------------------------------------ */

/*
 * If the rehearsal prints calls, stand-ins say on stderr where they guessed. Otherwise nothing.
 */

/* One line on stderr, "plimsoll: " before it. */
void plim_standin_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
