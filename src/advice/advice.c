/*
 * advice.c - the choice of fixes that apply to a case, best first.
 */
#include "advice/advice.h"

#include "advice/fix.h"
#include "base/error.h"
#include "base/text.h"

#include <string.h>

/* A text or a command is a sentence or two: far below this. */
#define LENGTH_MAX ((size_t)2000)

/* When memory had been growing before, so many fixes for a leak come first, */
#define LEAK_FIX_MAX 2
/* where growth can be the answer. */
#define LEAK_VERDICTS                                                     \
    (PLIM_VERDICTS_TOO_MUCH | PLIM_VERDICT_BIT(PLIM_VERDICT_FRAGMENTED) | \
     PLIM_VERDICT_BIT(PLIM_VERDICT_UNKNOWN))

typedef struct choice {
    const plim_failed_request *oom;
    const plim_judgement *judgement;
    const plim_fix *fixes[PLIM_ADVICE_MAX];
    size_t count;
} choice;

static bool asks_and_lacks(uint64_t mask, uint64_t bit)
{
    return mask != 0 && (mask & bit) == 0;
}

static bool applies(const plim_fix *fix, const choice *chosen)
{
    const plim_failed_request *const oom = chosen->oom;
    return !asks_and_lacks(fix->verdicts, PLIM_VERDICT_BIT(chosen->judgement->verdict)) &&
           !asks_and_lacks(fix->families, PLIM_FAMILY_BIT(oom->family)) &&
           !asks_and_lacks(fix->topics, PLIM_TOPIC_BIT(oom->topic)) &&
           (oom->in_force & fix->unless) == 0 &&
           (oom->in_force & fix->only_with) == fix->only_with &&
           (fix->applies == NULL || fix->applies(oom, chosen->judgement));
}

/* Takes rows of the list that stand in this place, as long as there is room for `max` in all. */
static void take(choice *chosen, const plim_fix_list *list, plim_fix_place place, size_t max)
{
    for (size_t i = 0; i < list->count && chosen->count < max; i++) {
        if (list->fixes[i].place == place && applies(&list->fixes[i], chosen)) {
            chosen->fixes[chosen->count++] = &list->fixes[i];
        }
    }
}

static void take_from_all(choice *chosen, plim_fix_place place)
{
    for (size_t i = 0; i < plim_fix_list_count(); i++) {
        take(chosen, plim_fix_list_at(i), place, PLIM_ADVICE_MAX);
    }
}

/* The one row that closes, if there is one: it takes the place of the last when all are taken. */
static void close_with(choice *chosen, const plim_fix_list *list)
{
    choice closing = { .oom = chosen->oom, .judgement = chosen->judgement };
    take(&closing, list, PLIM_FIX_CLOSING, 1);
    if (closing.count > 0) {
        chosen->count -= chosen->count == PLIM_ADVICE_MAX ? 1 : 0;
        chosen->fixes[chosen->count++] = closing.fixes[0];
    }
}

/* What `write` has to say of the case takes the place of the constant in *ret. */
static plim_status write_figures(const choice *chosen, plim_fix_write *write, plim_text *text,
                                 plim_arena *arena, const char **ret, plim_error *err)
{
    if (write == NULL) {
        return PLIM_OK;
    }
    plim_text_reset(text);
    write(text, chosen->oom, chosen->judgement);
    PLIM_TRY(plim_text_status(text, "writing advice", err));
    if (text->length == 0) {
        return PLIM_OK;
    }
    const char *const copy = plim_arena_copy(arena, plim_text_string(text), text->length);
    if (copy == NULL) {
        return plim_fail_memory(err, "writing advice");
    }
    *ret = copy;
    return PLIM_OK;
}

static plim_status write_all(const choice *chosen, plim_text *text, plim_arena *arena,
                             plim_advice *advice, plim_error *err)
{
    for (size_t i = 0; i < chosen->count; i++) {
        const plim_fix *const fix = chosen->fixes[i];
        plim_advice *const item = &advice[i];
        *item = (plim_advice){ fix->id, fix->text, fix->command, fix->source };
        PLIM_TRY(write_figures(chosen, fix->write_text, text, arena, &item->text, err));
        PLIM_TRY(write_figures(chosen, fix->write_command, text, arena, &item->command, err));
    }
    return PLIM_OK;
}

static plim_status finish(const choice *chosen, plim_arena *arena, const plim_advice **ret,
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

plim_status plim_advise(const plim_failed_request *oom, const plim_judgement *judgement,
                        plim_arena *arena, const plim_advice **ret, size_t *ret_count,
                        plim_error *err)
{
    choice chosen = { .oom = oom, .judgement = judgement };
    if (oom->leaks && (PLIM_VERDICT_BIT(judgement->verdict) & LEAK_VERDICTS) != 0) {
        take(&chosen, &plim_fixes_leak, PLIM_FIX_IN_ORDER, LEAK_FIX_MAX);
    }
    take_from_all(&chosen, PLIM_FIX_LEADING);
    take_from_all(&chosen, PLIM_FIX_IN_ORDER);
    if (chosen.count == 0) {
        take_from_all(&chosen, PLIM_FIX_RESORT);
    }
    close_with(&chosen, &plim_fixes_torch);
    return finish(&chosen, arena, ret, ret_count, err);
}

plim_status plim_advise_finding(const plim_finding *finding, const plim_failed_request *program,
                                plim_arena *arena, const plim_advice **ret, size_t *ret_count,
                                plim_error *err)
{
    static const struct {
        const char *id;
        const plim_fix_list *fixes;
    } lists[] = {
        { PLIM_FINDING_LEAK, &plim_fixes_leak },
    };
    const plim_judgement judgement = plim_judge(program); /* unknown: there are no figures */
    choice chosen = { .oom = program, .judgement = &judgement };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(finding->id, lists[i].id) == 0) {
            take(&chosen, lists[i].fixes, PLIM_FIX_IN_ORDER, PLIM_ADVICE_MAX);
            close_with(&chosen, lists[i].fixes);
        }
    }
    return finish(&chosen, arena, ret, ret_count, err);
}
