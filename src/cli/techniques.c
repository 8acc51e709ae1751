/*
 * techniques.c - see techniques.h.
 */
#include "cli/techniques.h"

#include "plimsoll/technique.h"

#include <string.h>

#define LINES_BYTES_MAX 4096u

void plim_techniques_check(struct argp_state *state, const char *option, const char *lines,
                           const char *text)
{
    char one[LINES_BYTES_MAX];
    while (lines[0] != '\0') {
        const size_t length = strcspn(lines, " \n");
        memcpy(one, lines, length);
        one[length] = '\0';
        const char *const why = length > 0 ? plim_technique_excludes(one, text) : NULL;
        if (why != NULL) {
            argp_error(state, "--%s: %s and %s do not go together: %s", option, one, text, why);
        }
        lines += length + (lines[length] != '\0');
    }
}

void plim_techniques_take(struct argp_state *state, plim_text *techniques, const char *text,
                          const char **conf)
{
    const plim_technique *row = NULL;
    plim_error err = { 0 };
    if (plim_technique_find(text, &row, &err) != PLIM_OK) {
        argp_error(state, "--with: %s", err.message);
        return;
    }
    if (strcmp(row->name, "conf") == 0) {
        if (conf == NULL) {
            argp_error(state, "--with: conf is of rehearse; set PYTORCH_CUDA_ALLOC_CONF, or --conf "
                              "with --gpu");
            return;
        }
        *conf = plim_technique_value(text);
        return;
    }
    if (techniques->length == 0) {
        plim_text_init(techniques, NULL, LINES_BYTES_MAX);
    }
    plim_techniques_check(state, "with", plim_text_string(techniques), text);
    plim_text_append_format(techniques, "%s%s", techniques->length > 0 ? "\n" : "", text);
}
