/*
 * result.h - what a command has found, on its way out: a page for people, a document for programs.
 *
 *                    without options    --json             --document=FILE    --page=FILE
 *     page           its stream         nowhere            its stream         FILE
 *     document       nowhere            standard output    FILE               nowhere
 *
 * --json and --page go together, and so do --document and --page. A file appears under its name
 * when it is whole.
 */
#ifndef PLIMSOLL_CLI_RESULT_H
#define PLIMSOLL_CLI_RESULT_H

#include "base/save_file.h"
#include "cli/options.h"
#include "report/model/page.h"

#include <stdio.h>

typedef struct plim_result {
    bool has_document; /* the caller writes it to `sink`, and what became of that to `err` */
    plim_sink sink;
    plim_error err;
    bool is_said;     /* by the caller: why `err` */
    bool has_page;    /* true, until a caller finds that there is nothing to show */
    bool prints_page; /* on its stream; a page that has a file is written to that alone */

    /* of result.c */
    const char *who;
    const plim_asked *asked;
    FILE *stream;
    bool is_open;
    bool is_out; /* of memory, for the page: which was said */
    plim_save_file file;
    plim_sink_buffer buffer;
} plim_result;

/** True if there will be a document: some parts of it are gathered while the command works. */
bool plim_result_wants_document(const plim_asked *asked);

/**
 * Begin a result, before its document is written.
 *
 * stream  of the page: stdout; or stderr, where stdout belongs to the program that the command runs
 * asked   borrowed until the end
 */
void plim_result_begin(plim_result *self, const char *who, FILE *stream, const plim_asked *asked);

/** Draw the page, which is freed, and finish the document. Says what failed; the exit status. */
int plim_result_end(plim_result *self, plim_page *page);

#endif
