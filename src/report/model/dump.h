/*
 * dump.h - what came of requests for dumps: the files, or why they are missing.
 */
#ifndef PLIMSOLL_REPORT_MODEL_DUMP_H
#define PLIMSOLL_REPORT_MODEL_DUMP_H

#include "report/model/page.h"

#include "plimsoll/live.h"

#define PLIM_DUMP_PATH_BYTES (PLIM_LIVE_FOLDER_BYTES + PLIM_LIVE_NAME_BYTES + 16)

typedef enum plim_dump_outcome {
    PLIM_DUMP_DONE,
    PLIM_DUMP_FAILED,     /* the process answered, and wrote none */
    PLIM_DUMP_GONE,       /* it ended */
    PLIM_DUMP_UNFINISHED, /* it was at work when the time was up */
    PLIM_DUMP_NO_ANSWER,  /* it was not, and the request was withdrawn */
} plim_dump_outcome;

/* Of one process. */
typedef struct plim_dumped {
    plim_live_dump dump;
    plim_dump_outcome outcome;
    double age_seconds;                  /* of its figures, when they were last looked at */
    char document[PLIM_DUMP_PATH_BYTES]; /* paths; "": there is no such file */
    char snapshot[PLIM_DUMP_PATH_BYTES];
    char holders[PLIM_DUMP_PATH_BYTES];
} plim_dumped;

/** "done", "failed", … as documents have it. */
const char *plim_dump_outcome_name(plim_dump_outcome outcome);

void plim_dump_page(plim_page *page, const plim_dumped *dumps, size_t count);

#endif
