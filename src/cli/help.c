/*
 * help.c - laying out options beside what they do.
 */
#include "cli/help.h"

#include "cli/output.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <stdio.h>
#include <string.h>

#define OPTION_INDENT 2u
#define DOC_COLUMN    26u

static void add_usage(plim_text *page, const plim_style *style, const char *who,
                      const plim_usage *usage)
{
    char words[256];
    snprintf(words, sizeof words, "Usage: %s [OPTION...] %s", who, usage->arguments);
    plim_paragraph_write(page, style, 0, PLIM_TONE_PLAIN, "", words);
}

/* "-h, --help" or "    --top=N". */
static void name_option(char *name, size_t name_bytes, const plim_option *option)
{
    const char letter[] = { '-', option->letter, ',', '\0' };
    snprintf(name, name_bytes, "%3s --%s%s%s", option->letter != 0 ? letter : "", option->name,
             option->argument != NULL ? "=" : "", option->argument != NULL ? option->argument : "");
}

/* The paragraph beside the name, wrapped in the second column. */
static void add_option(plim_text *page, const plim_style *style, const plim_option *option)
{
    char name[64];
    char lead[96];
    name_option(name, sizeof name, option);
    snprintf(lead, sizeof lead, "%-*s", (int)(DOC_COLUMN - OPTION_INDENT - 1), name);
    plim_paragraph_write(page, style, OPTION_INDENT, PLIM_TONE_PLAIN, lead, option->purpose);
}

static int finish(const char *who, plim_text *page)
{
    const int status = plim_output_page(who, stdout, page);
    plim_text_deinit(page);
    return status;
}

int plim_help_print_usage(const char *who, const plim_usage *usage)
{
    const plim_style style = plim_output_style(stdout, PLIM_COLOR_AUTO, 0);
    plim_text page;
    plim_text_init(&page, NULL, PLIM_OUTPUT_BYTES_MAX);
    add_usage(&page, &style, who, usage);
    return finish(who, &page);
}

int plim_help_print(const char *who, const plim_usage *usage)
{
    const plim_style style = plim_output_style(stdout, PLIM_COLOR_AUTO, 0);
    plim_text page;
    plim_text_init(&page, NULL, PLIM_OUTPUT_BYTES_MAX);
    add_usage(&page, &style, who, usage);
    plim_paragraph_write(&page, &style, 0, PLIM_TONE_PLAIN, "", usage->purpose);
    plim_text_append_char(&page, '\n');
    plim_option option;
    for (size_t i = 0; plim_usage_option(usage, i, &option); i++) {
        if (!option.is_hidden) {
            add_option(&page, &style, &option);
        }
    }
    plim_text_append_string(&page, "\nExamples:\n");
    for (const char *const *example = usage->examples; *example != NULL; example += 2) {
        plim_term_line line = plim_term_line_begin(&page, &style, OPTION_INDENT);
        plim_term_line_add(&line, PLIM_TONE_HEADING, example[0]);
        plim_term_line_end(&line);
        plim_paragraph_write(&page, &style, 2 * OPTION_INDENT + 2, PLIM_TONE_PLAIN, "", example[1]);
    }
    plim_text_append_char(&page, '\n');
    plim_paragraph_write(&page, &style, 0, PLIM_TONE_PLAIN, "", usage->closing);
    return finish(who, &page);
}
