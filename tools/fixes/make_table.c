/*
 * make_table.c - the program that writes fixes.txt as a C table while the library is built.
 *
 * Prints the table on standard output. A record that is not as docs/formats/fixes.md describes ends
 * it, and the build, with the line.
 */
#include "advice/table.h"

#include <inttypes.h>
#include <stdio.h>

static plim_fix_table table;

static void print_string(const char *member, const char *string)
{
    if (string == NULL) {
        return;
    }
    printf(".%s = \"", member);
    for (; *string != '\0'; string++) {
        printf(*string == '"' || *string == '\\' ? "\\%c" : "%c", *string);
    }
    printf("\", ");
}

static void print_run(const char *member, plim_fix_run run)
{
    printf(".%s = { %zu, %zu }, ", member, run.first, run.count);
}

static void print_fix(const plim_fix *fix)
{
    printf("{ ");
    print_string("id", fix->id);
    print_string("finding", fix->finding);
    print_string("not_beside", fix->not_beside);
    print_string("source", fix->source);
    print_run("conditions", fix->conditions);
    print_run("texts", fix->texts);
    print_run("commands", fix->commands);
    printf(".masks = { ");
    for (size_t i = 0; i < PLIM_FIX_SETTING; i++) {
        printf("%" PRIu64 "u, ", fix->masks[i]);
    }
    printf("}, .maybe = %" PRIu64 "u, .unless = %" PRIu64 "u, .with = %" PRIu64
           "u, .place = %d },\n",
           fix->maybe, fix->unless, fix->with, (int)fix->place);
}

static void print_wording(const plim_fix_wording *wording)
{
    printf("{ %" PRIu64 "u, %" PRIu64 "u, %" PRIu32 ", %" PRIu32 ", %" PRIu32 " },\n",
           wording->programs, wording->with, wording->line, wording->begin, wording->line_count);
}

static void print_condition(const plim_fix_condition *condition)
{
    printf("{ %d, \"%s\", %zuu, %zuu, %" PRIu64 "u },\n", condition->is_negated,
           condition->relation, condition->left, condition->right, condition->number);
}

/* Groups are of no use any more: masks have their members. */
static void print_table(void)
{
    printf("/* Generated from fixes.txt: change that. */\n#include \"advice/table.h\"\n\n"
           "const plim_fix_table plim_fixes = {\n.lines = plim_fixes_lines,\n.fixes = {\n");
    for (size_t i = 0; i < table.count; i++) {
        print_fix(&table.fixes[i]);
    }
    printf("},\n.wordings = {\n");
    for (size_t i = 0; i < table.wording_count; i++) {
        print_wording(&table.wordings[i]);
    }
    printf("},\n.conditions = {\n");
    for (size_t i = 0; i < table.condition_count; i++) {
        print_condition(&table.conditions[i]);
    }
    printf("},\n.words = {\n");
    for (size_t i = 0; i < table.word_count; i++) {
        printf("{ ");
        print_string("name", table.words[i].name);
        print_run("wordings", table.words[i].wordings);
        printf("},\n");
    }
    printf("},\n.count = %zu, .wording_count = %zu, .condition_count = %zu, .word_count = %zu };\n",
           table.count, table.wording_count, table.condition_count, table.word_count);
}

int main(void)
{
    plim_error err = { 0 };
    if (plim_fix_table_read(plim_fixes_lines, &table, &err) != PLIM_OK ||
        plim_fix_table_check(&table, &err) != PLIM_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    print_table();
    return 0;
}
