/*
 * test_table.c - the tables of messages: those that are built in read well, a bad row is refused
 * with its file, its line and what is wrong.
 */
#include "harness.h"
#include "oomtext/table.h"

static plim_message_table table;
static char texts[PLIM_TABLE_TEXT_BYTES];

static void the_tables_read_well(void)
{
    const plim_message_lines lines = { plim_forms_lines, plim_clauses_lines, plim_words_lines };
    plim_error err = { 0 };
    memset(&table, 0, sizeof table);
    if (plim_message_table_read(&lines, &table, texts, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    T_TRUE(table.form_count > 0 && table.clause_count > 0 && table.mark_count > 0);
    for (int list = 0; list < PLIM_WORDS_COUNT; list++) {
        T_TRUE(table.words[list][0] != NULL);
    }
}

/* Fields of a form in the order of the file; those that matter here. */
#define FORM(name, program, topic, phrases, clauses, says, before, reads)                     \
    name "\tp\t\t" program "\t" topic "\t" phrases "\t\t\t\t" clauses "\t" says "\t\t" before \
         "\t9\t" reads
#define FORM_HEADER                                                                            \
    "form\tframework\tversions\tprogram\ttopic\tphrases\twith\talso\twithout\tclauses\tsays\t" \
    "lacks\tbefore\tafter\treads"
#define CLAUSE_HEADER "clauses\treads\tphrase\tbefore\tafter"
#define MARK_HEADER   "phrase\tin_force\tprogram\tfollows"

static const char *const good_forms[] = {
    "[forms]", FORM_HEADER, FORM("f", "ray", "bare", "some phrase", "torch", "free", "1", "plain"),
    NULL
};
static const char *const good_clauses[] = { CLAUSE_HEADER, "torch\t\tfree\t\t{free}", NULL };
static const char *const good_words[] = { "[words]", "list\twords", "shells\tsh", NULL };

static const struct {
    const char *const lines[5]; /* of the file that the message names */
    const char *message;
} bad[] = {
    { { CLAUSE_HEADER, "torch\t\tfree\t{free}", NULL },
      "clauses.tsv:2: 4 fields, where a row has 5" },
    { { CLAUSE_HEADER, "torch\tsoon\tfree\t\t{free}", NULL },
      "clauses.tsv:2: reads 'soon' is unknown" },
    { { CLAUSE_HEADER, "torch\t\tfree\t\t{fre}", NULL },
      "clauses.tsv:2: the pattern has a fault at '{fre}'" },
    { { CLAUSE_HEADER, "torch\t\tfree\t\t{free:x}", NULL },
      "clauses.tsv:2: the pattern has a fault at '{free:x}'" },
    { { CLAUSE_HEADER, "torch\t\tfree\t\t{free", NULL },
      "clauses.tsv:2: the pattern has a fault at '{free'" },
    { { CLAUSE_HEADER, "torch\t\tfree\tx{free}\t", NULL },
      "clauses.tsv:2: the pattern has a fault at 'x{free}'" },
    { { CLAUSE_HEADER, "torch\t\tfree\t\t[a[b]]", NULL },
      "clauses.tsv:2: the pattern has a fault at '[b]]'" },
    { { CLAUSE_HEADER, "torch\t\tfree\t\t[a", NULL },
      "clauses.tsv:2: the pattern has a fault at '[a'" },
    { { CLAUSE_HEADER, "torch\t\t-\t\t{free}", NULL },
      "clauses.tsv:2: phrase '-' has 0 letters and digits, not 2 to 64" },
    { { "[forms]", FORM_HEADER, FORM("f", "rai", "bare", "some phrase", "", "", "1", ""), NULL },
      "forms.tsv:3: program 'rai' is unknown" },
    { { "[forms]", FORM_HEADER, FORM("f", "ray", "bear", "some phrase", "", "", "1", ""), NULL },
      "forms.tsv:3: topic 'bear' is unknown" },
    { { "[forms]", FORM_HEADER, FORM("f", "ray", "bare", "oom", "", "", "1", ""), NULL },
      "forms.tsv:3: phrase 'oom' has 3 letters and digits, not 6 to 64" },
    { { "[forms]", FORM_HEADER, FORM("f", "ray", "bare", "@none", "", "", "1", ""), NULL },
      "forms.tsv:3: there is no list '@none' above" },
    { { "[forms]", FORM_HEADER, FORM("f", "ray", "bare", "some phrase", "ray", "", "1", ""), NULL },
      "forms.tsv:3: no clause is of the set 'ray'" },
    { { "[forms]", FORM_HEADER, FORM("f", "ray", "bare", "some phrase", "", "fee", "1", ""), NULL },
      "forms.tsv:3: figure 'fee' is unknown" },
    { { "[forms]", FORM_HEADER, FORM("f", "ray", "bare", "some phrase", "", "", "far", ""), NULL },
      "forms.tsv:3: before is 'far', not a number from 1 to 4096" },
    { { "[forms]", FORM_HEADER, FORM("f", "ray", "bare", "some phrase", "", "", "1", "loud"),
        NULL },
      "forms.tsv:3: reads 'loud' is unknown" },
    { { "[words]", "list\twords", "shell\tsh", NULL }, "words.tsv:3: list 'shell' is unknown" },
    { { "[marks]", MARK_HEADER, "some phrase\tlora\tpytorches\t", NULL },
      "words.tsv:3: program 'pytorches' is unknown" },
    { { "[marks]", MARK_HEADER, "some phrase\tloral\t\t", NULL },
      "words.tsv:3: in_force 'loral' is unknown" },
};

static void a_bad_row_is_refused(void)
{
    for (size_t i = 0; i < T_COUNT(bad); i++) {
        plim_message_lines lines = { good_forms, good_clauses, good_words };
        if (bad[i].message[0] == 'f') {
            lines.forms = bad[i].lines;
        } else if (bad[i].message[0] == 'c') {
            lines.clauses = bad[i].lines;
        } else {
            lines.words = bad[i].lines;
        }
        plim_error err = { 0 };
        T_CASE("%s", bad[i].message);
        memset(&table, 0, sizeof table);
        T_EQ_U64(plim_message_table_read(&lines, &table, texts, &err), PLIM_CORRUPT);
        T_EQ_STR(err.message, bad[i].message);
    }
}

T_MAIN(T_TEST(the_tables_read_well), T_TEST(a_bad_row_is_refused))
