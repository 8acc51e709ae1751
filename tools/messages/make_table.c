/*
 * make_table.c - forms.tsv, clauses.tsv and words.tsv as a constant table in C, on standard output.
 *
 * Run while building. A malformed row ends the build with its file, its line and what is wrong.
 */
#include "oomtext/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static plim_message_table table;
static char texts[PLIM_TABLE_TEXT_BYTES];

static void put_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\' || *text == '?') {
            putchar('\\');
        }
        putchar(*text);
    }
    fputs("\", ", stdout);
}

static void put_forms(void)
{
    for (size_t i = 0; i < table.form_count; i++) {
        const plim_form *const form = &table.forms[i];
        fputs("        { ", stdout);
        put_text(form->name);
        put_text(form->framework);
        put_text(form->versions);
        printf("%d, %d, ", (int)form->family, (int)form->topic);
        put_text(form->phrases);
        put_text(form->with);
        put_text(form->also);
        put_text(form->without);
        printf("UINT64_C(%" PRIu64 "), %uu, %uu, %uu, %uu, %uu },\n", form->sets, form->says,
               form->lacks, form->before, form->after, form->flags);
    }
}

static void put_clauses(void)
{
    for (size_t i = 0; i < table.clause_count; i++) {
        const plim_clause *const clause = &table.clauses[i];
        printf("        { UINT64_C(%" PRIu64 "), %uu, ", clause->sets, clause->flags);
        put_text(clause->phrase);
        put_text(clause->before);
        put_text(clause->after);
        puts("},");
    }
}

static void put_words(void)
{
    for (size_t i = 0; i < PLIM_WORDS_COUNT; i++) {
        fputs("        { ", stdout);
        for (size_t k = 0; table.words[i][k] != NULL; k++) {
            put_text(table.words[i][k]);
        }
        puts("NULL },");
    }
}

int main(void)
{
    const plim_message_lines lines = { plim_forms_lines, plim_clauses_lines, plim_words_lines };
    plim_error err = { 0 };
    if (plim_message_table_read(&lines, &table, texts, &err) != PLIM_OK) {
        fprintf(stderr, "%s\n", err.message);
        return EXIT_FAILURE;
    }
    puts("/* Generated from forms.tsv, clauses.tsv and words.tsv: change those. */\n"
         "#include \"oomtext/table.h\"\n\n"
         "const plim_message_table plim_own_messages = {\n    .forms = {");
    put_forms();
    puts("    },\n    .clauses = {");
    put_clauses();
    puts("    },\n    .marks = {");
    for (size_t i = 0; i < table.mark_count; i++) {
        fputs("        { ", stdout);
        put_text(table.marks[i].phrase);
        printf("%u, %u, ", table.marks[i].what, table.marks[i].program);
        put_text(table.marks[i].follows);
        puts("},");
    }
    puts("    },\n    .words = {");
    put_words();
    puts("    },\n    .sets = {");
    for (size_t i = 0; i < table.set_count; i++) {
        put_text(table.sets[i]);
    }
    printf("},\n    .form_count = %zu, .clause_count = %zu, .mark_count = %zu, .set_count = "
           "%zu,\n};\n",
           table.form_count, table.clause_count, table.mark_count, table.set_count);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
