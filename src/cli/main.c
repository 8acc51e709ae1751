/*
 * main.c - the front door. One line per command; `plimsoll help` prints this table.
 *
 * Adding a command is a file cmd_<name>.c, a line here, a page docs/commands/<name>.md and its
 * help in tests/golden/help-<name>.txt; a test checks that all four are there.
 */
#include "cli/command.h"
#include "cli/output.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include "base/edit_distance.h"
#include "plimsoll/status.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const plim_command commands[] = {
    { "diagnose", plim_cmd_diagnose,
      "what happened, from which evidence, and what helps how much" },
    { "diff", plim_cmd_diff, "what grew: two recordings, two moments of one, or two jobs" },
    { "disable", plim_cmd_disable, "undo enable" },
    { "dump", plim_cmd_dump, "a snapshot of a program that runs under plimsoll run, now" },
    { "enable", plim_cmd_enable, "record every PyTorch program of a Python environment" },
    { "explain", plim_cmd_explain, "why did it run out: error texts and logs, and what to do" },
    { "export", plim_cmd_export,
      "a recording for other tools: flame graphs, speedscope, snapshots" },
    { "fit", plim_cmd_fit, "what to change so that it fits, and what that costs" },
    { "inspect", plim_cmd_inspect, "where did the memory go: peak, stacks, pools, failures" },
    { "query", plim_cmd_query, "a question of your own: a recording as tables, asked in SQL" },
    { "rehearse", plim_cmd_rehearse, "will it fit: run a PyTorch program without a GPU" },
    { "replay", plim_cmd_replay, "what if: a recording again, under other allocator settings" },
    { "run", plim_cmd_run, "run a PyTorch program; if memory runs out, it has said why" },
    { "tune", plim_cmd_tune, "which allocator settings would have saved it, as a line to paste" },
};

#define COMMAND_COUNT     (sizeof commands / sizeof commands[0])
#define COMMAND_BYTES_MAX 16u /* of a command */
#define RESEMBLES         2u  /* so many letters wrong still make a suggestion */

static const plim_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int say_unknown(const char *name)
{
    plim_say("plimsoll", "there is no command \"%s\"", name);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const size_t length = strlen(name);
        const bool is_start = length >= 2 && strncmp(commands[i].name, name, length) == 0;
        if (is_start || plim_edit_distance(name, commands[i].name) <= RESEMBLES) {
            plim_say("plimsoll", "did you mean \"plimsoll %s\"?", commands[i].name);
            return PLIM_EXIT_USAGE;
        }
    }
    plim_say("plimsoll", "\"plimsoll help\" lists the commands");
    return PLIM_EXIT_USAGE;
}

static int print_help(void)
{
    const plim_style style = plim_output_style(stdout, PLIM_COLOR_AUTO, 0);
    plim_text page;
    plim_text_init(&page, NULL, PLIM_OUTPUT_BYTES_MAX);
    plim_paragraph_write(&page, &style, 0, PLIM_TONE_PLAIN, "",
                         "Usage: plimsoll COMMAND [OPTION...] FILE...");
    plim_paragraph_write(&page, &style, 0, PLIM_TONE_PLAIN, "",
                         "GPU memory, explained: reads what allocators record and programs print, "
                         "and says where it went and why it ran out.");
    plim_text_append_char(&page, '\n');
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        plim_term_line line = plim_term_line_begin(&page, &style, 2);
        plim_term_line_add_cell(&line, PLIM_TONE_HEADING, commands[i].name, 10, PLIM_ALIGN_LEFT);
        plim_term_line_add(&line, PLIM_TONE_PLAIN, commands[i].summary);
        plim_term_line_end(&line);
    }
    plim_text_append_char(&page, '\n');
    plim_paragraph_write(&page, &style, 0, PLIM_TONE_PLAIN, "",
                         "\"plimsoll COMMAND --help\" explains a command, with an example. "
                         "\"plimsoll --version\" prints the version.");
    const int status = plim_output_page("plimsoll", stdout, &page);
    plim_text_deinit(&page);
    return status;
}

static int print_version(void)
{
    printf("plimsoll %s\n", plim_version());
    return plim_output_finish("plimsoll");
}

static int run_command(const plim_command *command, int argc, char **argv)
{
    char title[COMMAND_BYTES_MAX + sizeof "plimsoll "];
    snprintf(title, sizeof title, "plimsoll %s", command->name);
    argv[0] = title;
    return command->run(argc, argv);
}

/* `plimsoll help` and `plimsoll help inspect`. */
static int help(int argc, char **argv)
{
    if (argc < 2) {
        return print_help();
    }
    const plim_command *command = find_command(argv[1]);
    if (command == NULL) {
        return say_unknown(argv[1]);
    }
    char option[] = "--help";
    char *arguments[] = { argv[0], option, NULL };
    return run_command(command, 2, arguments);
}

int main(int argc, char **argv)
{
    /* A reader that leaves is an error to report (plim_output_finish), no reason to die. */
    signal(SIGPIPE, SIG_IGN);
    argp_err_exit_status = PLIM_EXIT_USAGE;
    plim_output_begin();
    if (argc < 2) {
        plim_say("plimsoll", "which command? \"plimsoll help\" lists them");
        return PLIM_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        return print_version();
    }
    if (strcmp(name, "help") == 0) {
        return help(argc - 1, argv + 1);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return print_help();
    }
    const plim_command *command = find_command(name);
    return command != NULL ? run_command(command, argc - 1, argv + 1) : say_unknown(name);
}
