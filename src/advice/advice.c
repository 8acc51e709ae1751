/*
 * advice.c - the choice of fixes that apply to a case, best first, and their wording.
 */
#include "advice/advice.h"

#include "advice/table.h"
#include "advice/values.h"
#include "base/error.h"
#include "base/text.h"

#include <string.h>

/* A text or a command is a sentence or two: far below this. */
#define LENGTH_MAX ((size_t)2000)

/* When memory had been growing before, so many fixes for a leak come first, */
#define LEAK_FIX_MAX 2
/* where growth can be the answer. */
#define LEAK_VERDICTS                                                                   \
    (PLIM_VERDICT_BIT(PLIM_VERDICT_EXHAUSTED) | PLIM_VERDICT_BIT(PLIM_VERDICT_CAPPED) | \
     PLIM_VERDICT_BIT(PLIM_VERDICT_FRAGMENTED) | PLIM_VERDICT_BIT(PLIM_VERDICT_UNKNOWN))

typedef struct advice_choice {
    const plim_fix_table *table;
    const plim_failed_request *request;
    const plim_judgement *judgement;
    const plim_fix *fixes[PLIM_ADVICE_MAX];
    size_t count;
} advice_choice;

static bool asks_and_lacks(uint64_t mask, uint64_t bits)
{
    return mask != 0 && (mask & bits) == 0;
}

static uint64_t value_of(const advice_choice *chosen, size_t value)
{
    return plim_fix_value_of(value, chosen->request, chosen->judgement);
}

static bool compares(const advice_choice *chosen, const plim_fix_condition *condition)
{
    const uint64_t left = value_of(chosen, condition->left);
    uint64_t right = condition->number;
    if (condition->right != PLIM_FIX_VALUE_NONE) {
        right = value_of(chosen, condition->right);
        right = right == PLIM_FIX_VALUE_UNKNOWN ? right : right / condition->number;
    }
    if (left == PLIM_FIX_VALUE_UNKNOWN || right == PLIM_FIX_VALUE_UNKNOWN) {
        return false;
    }
    switch (condition->relation[0]) {
    case '>':
        return left > right || (condition->relation[1] == '=' && left == right);
    case '<':
        return left < right || (condition->relation[1] == '=' && left == right);
    default:
        return true; /* known */
    }
}

static bool meets_conditions(const advice_choice *chosen, const plim_fix *fix)
{
    for (size_t i = 0; i < fix->conditions.count; i++) {
        const plim_fix_condition *const condition =
            &chosen->table->conditions[fix->conditions.first + i];
        if (compares(chosen, condition) == condition->is_negated) {
            return false;
        }
    }
    return true;
}

/* The verdict and the others that the figures allow as well. */
static uint64_t possible_verdicts(const plim_judgement *judgement)
{
    uint64_t mask = PLIM_VERDICT_BIT(judgement->verdict);
    for (size_t i = 0; i < judgement->alternative_count && i < PLIM_VERDICT_JUDGED_COUNT; i++) {
        mask |= PLIM_VERDICT_BIT(judgement->alternatives[i]);
    }
    return mask;
}

static bool is_chosen(const advice_choice *chosen, const char *id)
{
    for (size_t i = 0; i < chosen->count; i++) {
        if (strcmp(chosen->fixes[i]->id, id) == 0) {
            return true;
        }
    }
    return false;
}

static bool applies(const advice_choice *chosen, const plim_fix *fix)
{
    const plim_failed_request *const request = chosen->request;
    const uint64_t bits[PLIM_FIX_SETTING] = {
        [PLIM_FIX_VERDICT] = PLIM_VERDICT_BIT(chosen->judgement->verdict),
        [PLIM_FIX_PROGRAM] = PLIM_FAMILY_BIT(request->family),
        [PLIM_FIX_TOPIC] = PLIM_TOPIC_BIT(request->topic),
        [PLIM_FIX_REASON] = (uint64_t)1 << chosen->judgement->reason,
    };
    for (size_t i = 0; i < PLIM_FIX_SETTING; i++) {
        if (asks_and_lacks(fix->masks[i], bits[i])) {
            return false;
        }
    }
    return !asks_and_lacks(fix->maybe, possible_verdicts(chosen->judgement)) &&
           (request->in_force & fix->unless) == 0 && (request->in_force & fix->with) == fix->with &&
           meets_conditions(chosen, fix) &&
           (fix->not_beside == NULL || !is_chosen(chosen, fix->not_beside));
}

static bool is_for(const plim_fix *fix, const char *finding)
{
    return fix->finding == NULL || finding == NULL ? fix->finding == finding
                                                   : strcmp(fix->finding, finding) == 0;
}

/* Takes fixes of this place for the finding, as long as there is room for `max` in all. */
static void take(advice_choice *chosen, const char *finding, plim_fix_place place, size_t max)
{
    for (size_t i = 0; i < chosen->table->count && chosen->count < max; i++) {
        const plim_fix *const fix = &chosen->table->fixes[i];
        if (fix->place == place && is_for(fix, finding) && applies(chosen, fix)) {
            chosen->fixes[chosen->count++] = fix;
        }
    }
}

/* Fixes for a finding; NULL: for a failed request. The one that closes takes the last place. */
static void choose(advice_choice *chosen, const char *finding)
{
    take(chosen, finding, PLIM_FIX_LEADING, PLIM_ADVICE_MAX);
    take(chosen, finding, PLIM_FIX_IN_ORDER, PLIM_ADVICE_MAX);
    if (chosen->count == 0) {
        take(chosen, finding, PLIM_FIX_RESORT, PLIM_ADVICE_MAX);
    }
    advice_choice closing = *chosen;
    closing.count = 0;
    take(&closing, finding, PLIM_FIX_CLOSING, 1);
    if (closing.count > 0) {
        chosen->count -= chosen->count == PLIM_ADVICE_MAX ? 1 : 0;
        chosen->fixes[chosen->count++] = closing.fixes[0];
    }
}

/* --- wording --- */

static bool suits(const advice_choice *chosen, const plim_fix_wording *wording)
{
    return !asks_and_lacks(wording->programs, PLIM_FAMILY_BIT(chosen->request->family)) &&
           (chosen->request->in_force & wording->with) == wording->with;
}

/* False: it is unknown what the program calls it. */
static bool write_word(const advice_choice *chosen, const plim_fix_word *word, plim_text *text)
{
    for (size_t i = 0; word != NULL && i < word->wordings.count; i++) {
        const plim_fix_wording *const wording = &chosen->table->wordings[word->wordings.first + i];
        if (suits(chosen, wording)) {
            plim_text_append_string(text, plim_fix_line(chosen->table, wording, 0));
            return true;
        }
    }
    return false;
}

static bool write_placeholder(const advice_choice *chosen, const char *name, size_t bytes,
                              plim_text *text)
{
    const size_t value = plim_fix_value_find(name, bytes);
    if (value == PLIM_FIX_VALUE_NONE) {
        return write_word(chosen, plim_fix_word_find(chosen->table, name, bytes), text);
    }
    const uint64_t amount = value_of(chosen, value);
    if (amount != PLIM_FIX_VALUE_UNKNOWN) {
        plim_fix_value_write(text, value, amount);
    }
    return amount != PLIM_FIX_VALUE_UNKNOWN;
}

/* False: a figure is unknown. */
static bool write_line(const advice_choice *chosen, const char *line, plim_text *text)
{
    while (*line != '\0') {
        const char *name = NULL;
        size_t bytes = 0;
        if (plim_fix_placeholder(&line, &name, &bytes)) {
            if (!write_placeholder(chosen, name, bytes, text)) {
                return false;
            }
        } else {
            const size_t plain = 1 + strcspn(line + 1, "{");
            plim_text_append(text, line, plain);
            line += plain;
        }
    }
    return true;
}

static bool write_wording(const advice_choice *chosen, const plim_fix_wording *wording,
                          plim_text *text)
{
    bool is_written = suits(chosen, wording);
    for (size_t i = 0; i < wording->line_count && is_written; i++) {
        is_written = write_line(chosen, plim_fix_line(chosen->table, wording, i), text);
    }
    return is_written;
}

/* The first wording that suits and whose figures are known; NULL if none suits. */
static plim_status write_first(const advice_choice *chosen, plim_fix_run run, plim_text *text,
                               plim_arena *arena, const char **ret, plim_error *err)
{
    *ret = NULL;
    for (size_t i = 0; i < run.count && *ret == NULL; i++) {
        plim_text_reset(text);
        if (write_wording(chosen, &chosen->table->wordings[run.first + i], text)) {
            PLIM_TRY(plim_text_status(text, "writing advice", err));
            *ret = plim_arena_copy(arena, plim_text_string(text), text->length);
            if (*ret == NULL) {
                return plim_fail_memory(err, "writing advice");
            }
        }
    }
    return PLIM_OK;
}

static plim_status write_all(const advice_choice *chosen, plim_text *text, plim_arena *arena,
                             plim_advice *advice, plim_error *err)
{
    for (size_t i = 0; i < chosen->count; i++) {
        const plim_fix *const fix = chosen->fixes[i];
        advice[i] = (plim_advice){ .id = fix->id, .source = fix->source };
        PLIM_TRY(write_first(chosen, fix->texts, text, arena, &advice[i].text, err));
        PLIM_TRY(write_first(chosen, fix->commands, text, arena, &advice[i].command, err));
    }
    return PLIM_OK;
}

static plim_status finish(const advice_choice *chosen, plim_arena *arena, const plim_advice **ret,
                          size_t *ret_count, plim_error *err)
{
    plim_advice *const advice = plim_arena_alloc(arena, PLIM_ADVICE_MAX * sizeof *advice);
    if (advice == NULL) {
        return plim_fail_memory(err, "choosing advice");
    }
    plim_text text;
    plim_text_init(&text, arena->mem, LENGTH_MAX);
    const plim_status status = write_all(chosen, &text, arena, advice, err);
    plim_text_deinit(&text);
    PLIM_TRY(status);
    *ret = advice;
    *ret_count = chosen->count;
    return PLIM_OK;
}

plim_status plim_advise(const plim_failed_request *request, const plim_judgement *judgement,
                        plim_arena *arena, const plim_advice **ret, size_t *ret_count,
                        plim_error *err)
{
    advice_choice chosen = { .table = &plim_fixes, .request = request, .judgement = judgement };
    if (request->leaks && (PLIM_VERDICT_BIT(judgement->verdict) & LEAK_VERDICTS) != 0) {
        take(&chosen, PLIM_FINDING_LEAK, PLIM_FIX_IN_ORDER, LEAK_FIX_MAX);
        take(&chosen, PLIM_FINDING_LEAK, PLIM_FIX_RESORT, chosen.count == 0 ? 1 : 0);
    }
    choose(&chosen, NULL);
    return finish(&chosen, arena, ret, ret_count, err);
}

plim_status plim_advise_finding(const plim_finding *finding, const plim_failed_request *program,
                                plim_arena *arena, const plim_advice **ret, size_t *ret_count,
                                plim_error *err)
{
    const plim_judgement judgement = plim_judge(program); /* unknown: there are no figures */
    advice_choice chosen = { .table = &plim_fixes, .request = program, .judgement = &judgement };
    choose(&chosen, finding->id);
    return finish(&chosen, arena, ret, ret_count, err);
}
