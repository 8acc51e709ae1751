/*
 * command.h - what a command is to the front door: a name, a function, a line of help.
 */
#ifndef PLIMSOLL_CLI_COMMAND_H
#define PLIMSOLL_CLI_COMMAND_H

/* Exit statuses, the same for every command (docs/commands/README.md). */
enum {
    PLIM_EXIT_OK = 0,
    PLIM_EXIT_FOUND = 1, /* what a --fail-on asked about is there */
    PLIM_EXIT_USAGE = 2,
    PLIM_EXIT_FAILED = 3, /* the input, the output or the device failed */
};

typedef struct plim_command {
    const char *name;
    /* argv[0] is what messages are headed with, "plimsoll inspect". Returns the exit status. */
    int (*run)(int argc, char **argv);
    const char *summary;
} plim_command;

int plim_cmd_diagnose(int argc, char **argv);
int plim_cmd_diff(int argc, char **argv);
int plim_cmd_disable(int argc, char **argv);
int plim_cmd_dump(int argc, char **argv);
int plim_cmd_enable(int argc, char **argv);
int plim_cmd_explain(int argc, char **argv);
int plim_cmd_export(int argc, char **argv);
int plim_cmd_inspect(int argc, char **argv);
int plim_cmd_query(int argc, char **argv);
int plim_cmd_fit(int argc, char **argv);
int plim_cmd_rehearse(int argc, char **argv);
int plim_cmd_replay(int argc, char **argv);
int plim_cmd_run(int argc, char **argv);
int plim_cmd_tune(int argc, char **argv);

#endif
