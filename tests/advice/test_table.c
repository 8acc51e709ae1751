/*
 * fixes.txt reads well, and what is not as docs/formats/fixes.md says is refused with its line.
 */
#include "advice/table.h"

#include "harness.h"

#define FIX    "fix: a-fix"
#define TEXT   "text: Do this."
#define SOURCE "source: a manual"

static plim_fix_table table;

static plim_status read_lines(const char *const *lines, plim_error *err)
{
    memset(&table, 0, sizeof table);
    return plim_fix_table_read(lines, &table, err);
}

static void the_file_reads_well(void)
{
    plim_error err = { 0 };
    if (read_lines(plim_fixes_lines, &err) != PLIM_OK ||
        plim_fix_table_check(&table, &err) != PLIM_OK) {
        T_EQ_STR(err.message, "");
    }
    T_TRUE(table.count < PLIM_FIXES_MAX - 50); /* there is room for more */
    T_TRUE(table.wording_count < PLIM_FIX_WORDINGS_MAX - 200);
}

static void a_bad_line_is_refused_with_its_number(void)
{
    static const struct {
        const char *lines[8];
        const char *says;
    } bad[] = {
        { { "verdict: host" }, "1: a record begins with fix, group or word, and not 'verdict'" },
        { { FIX, TEXT }, "2: fix 'a-fix' has no source" },
        { { FIX, SOURCE }, "2: fix 'a-fix' has no text" },
        { { FIX, "verdict" }, "2: a line is 'key: value'" },
        { { FIX, "verdict: " }, "2: a line is 'key: value'" },
        { { FIX, "colour: red" }, "2: no key is called 'colour'" },
        { { FIX, "verdict: full" }, "2: no verdict is called 'full'" },
        { { FIX, "verdict: host not capped" }, "2: no verdict is called 'not'" },
        { { FIX, "program: not" }, "2: no program is named" },
        { { FIX, "topic: disc" }, "2: no topic is called 'disc'" },
        { { FIX, "unless: luck" }, "2: no setting is called 'luck'" },
        { { FIX, "with: lora", "unless: quantized lora", TEXT, SOURCE },
          "5: fix 'a-fix' wants a setting and its absence" },
        { { FIX, "place: first" }, "2: no place is called 'first'" },
        { { FIX, "if: size" }, "2: no figure is called 'size'" },
        { { FIX, "if: free =" }, "2: a condition is '[not] figure [>= figure [/ digit]]'" },
        { { FIX, "if: free > 12" }, "2: '12' is neither a figure nor a size" },
        { { FIX, "if: free > total / 10" }, "2: a figure is divided by one digit" },
        { { FIX, "if: free > 1GiB / 2" }, "2: a figure is divided by one digit" },
        { { FIX, SOURCE, "  and another" }, "3: only a text and a command go on" },
        { { FIX, "text to jax: Do this." }, "2: no key is called so" },
        { { FIX, TEXT, "command: true", TEXT }, "4: texts stand together" },
        { { "group: all" }, "1: a group names nothing" },
        { { "group: all", "place: resort" }, "2: a group has one line more" },
        { { "word: it", "jax: that" }, "2: no key is called so" },
    };
    for (size_t i = 0; i < T_COUNT(bad); i++) {
        plim_error err = { 0 };
        char says[200];
        T_CASE("%s", bad[i].says);
        T_EQ_U64(read_lines(bad[i].lines, &err), PLIM_CORRUPT);
        snprintf(says, sizeof says, "fixes.txt:%s", bad[i].says);
        if (strncmp(err.message, says, strlen(says)) != 0) {
            T_EQ_STR(err.message, says);
        }
    }
}

static void a_bad_fix_is_refused_with_its_id(void)
{
    static const struct {
        const char *lines[8];
        const char *says;
    } bad[] = {
        { { FIX, TEXT, SOURCE, "", FIX, TEXT, SOURCE }, "stands twice" },
        { { FIX, "not beside: b-fix", TEXT, SOURCE }, "is not beside 'b-fix', which is not above" },
        { { FIX, "text: Use", "  {size}.", SOURCE },
          "names {size}, which is neither figure nor word" },
        { { FIX, TEXT, "command: {size}", SOURCE },
          "names {size}, which is neither figure nor word" },
        { { FIX, "text: Of {free}.", SOURCE }, "needs a last text for all cases, without figures" },
        { { FIX, "text: Of", "  {free}.", SOURCE },
          "needs a last text for all cases, without figures" },
        { { FIX, "text for jax: Do this.", SOURCE },
          "needs a last text for all cases, without figures" },
        { { FIX, TEXT, "text with lora: Do this.", SOURCE },
          "needs a last text for all cases, without figures" },
    };
    for (size_t i = 0; i < T_COUNT(bad); i++) {
        plim_error err = { 0 };
        char says[200];
        T_EQ_U64(read_lines(bad[i].lines, NULL), PLIM_OK);
        T_EQ_U64(plim_fix_table_check(&table, &err), PLIM_CORRUPT);
        snprintf(says, sizeof says, "fixes.txt: fix 'a-fix' %s", bad[i].says);
        T_EQ_STR(err.message, says);
    }
}

static void a_record_may_have_all_keys(void)
{
    static const char *const lines[] = {
        "# a comment",
        "group: both",
        "program: jax tpu",
        "",
        "word: it",
        "for both: that",
        "",
        FIX,
        "finding: memory.leak",
        "place: leading",
        "verdict: not host",
        "program: both vllm",
        "topic: bare",
        "reason: full",
        "maybe: fragmented",
        "unless: lora",
        "with: quantized",
        "not beside: another",
        "if: not free >= total / 2",
        "if: other_pid",
        "text with quantized: Use {free}",
        "  of {it}.",
        TEXT,
        "command for tpu: {it} {\"x\": 1}",
        SOURCE,
        NULL,
    };
    T_EQ_U64(read_lines(lines, NULL), PLIM_OK);
    const plim_fix *const fix = &table.fixes[0];
    T_EQ_STR(fix->finding, "memory.leak");
    T_EQ_U64(fix->place, PLIM_FIX_LEADING);
    T_EQ_U64(fix->masks[PLIM_FIX_VERDICT],
             ((1u << PLIM_VERDICT_COUNT) - 1) & ~PLIM_VERDICT_BIT(PLIM_VERDICT_HOST));
    T_EQ_U64(fix->masks[PLIM_FIX_PROGRAM], PLIM_FAMILY_BIT(PLIM_FAMILY_JAX) |
                                               PLIM_FAMILY_BIT(PLIM_FAMILY_TPU) |
                                               PLIM_FAMILY_BIT(PLIM_FAMILY_VLLM));
    T_EQ_U64(fix->conditions.count, 2);
    T_TRUE(table.conditions[0].is_negated);
    T_EQ_U64(table.conditions[0].number, 2);
    T_EQ_U64(fix->texts.count, 2);
    T_EQ_U64(table.wordings[fix->texts.first].line_count, 2);
    T_EQ_U64(fix->commands.count, 1);
    T_EQ_STR(fix->not_beside, "another");
}

T_MAIN(T_TEST(the_file_reads_well), T_TEST(a_bad_fix_is_refused_with_its_id),
       T_TEST(a_bad_line_is_refused_with_its_number), T_TEST(a_record_may_have_all_keys))
