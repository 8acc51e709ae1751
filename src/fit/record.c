/*
 * record.c - a sample as a trial: its answer, its label, its cost.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "base/units.h"
#include "fit/cost.h"
#include "fit/degree.h"
#include "fit/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONF "conf="

const char *plim_fit_keep(plim_fit_search *search, const char *text)
{
    return plim_arena_copy(search->arena, text, strlen(text));
}

/* ---- techniques ------------------------------------------------------------------------------ */

static plim_technique_label label_of(const plim_technique *technique, const char *word)
{
    static const char *const words[] = {
        [PLIM_TECHNIQUE_SAME] = "same",
        [PLIM_TECHNIQUE_IN_EXPECTATION] = "in_expectation",
        [PLIM_TECHNIQUE_CHANGED] = "changed",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], word) == 0) {
            return (plim_technique_label)i;
        }
    }
    return technique->label;
}

/* Of settings there is no report: the allocator takes them. */
static bool set_use(plim_fit_search *search, const char *text, const plim_fit_report *report,
                    plim_fit_use *ret)
{
    *ret = (plim_fit_use){ .text = plim_fit_keep(search, text), .state = "applied" };
    if (plim_technique_find(text, &ret->technique, NULL) != PLIM_OK || ret->text == NULL) {
        return false;
    }
    ret->label = ret->technique->label;
    if (report != NULL) {
        ret->label = label_of(ret->technique, report->label);
        ret->state = plim_fit_keep(search, report->state);
        ret->reason = report->text[0] != '\0' ? plim_fit_keep(search, report->text) : NULL;
    }
    return ret->state != NULL;
}

static size_t count_lines(const char *lines)
{
    size_t count = lines != NULL && lines[0] != '\0';
    for (const char *at = lines; at != NULL && (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    return count;
}

static plim_status set_uses(plim_fit_search *search, const plim_fit_sample *sample,
                            const char *techniques, plim_fit_trial *trial, plim_error *err)
{
    plim_fit_use *const uses = plim_arena_alloc(search->arena, PLIM_FIT_USES_MAX * sizeof(*uses));
    size_t reported = count_lines(search->options->rehearse.techniques);
    trial->uses = uses;
    for (const char *line = techniques; uses != NULL && line[0] != '\0';) {
        char text[PLIM_FIT_LINES_BYTES];
        const size_t length = strcspn(line, "\n");
        (void)snprintf(text, sizeof(text), "%.*s", (int)length, line);
        const bool is_conf = strncmp(text, CONF, strlen(CONF)) == 0;
        const plim_fit_report *report = NULL;
        if (!is_conf && sample != NULL && reported < sample->report_count) {
            report = &sample->reports[reported++];
        }
        if (trial->use_count < PLIM_FIT_USES_MAX) {
            plim_fit_use *const use = &uses[trial->use_count++];
            if (!set_use(search, text, report, use)) {
                return plim_fail_memory(err, "keeping a trial");
            }
            trial->label = use->label > trial->label ? use->label : trial->label;
        }
        line += length + (line[length] == '\n');
    }
    return uses != NULL ? PLIM_OK : plim_fail_memory(err, "keeping a trial");
}

/* The first technique of a trial in a state. */
static const plim_fit_use *find_state(const plim_fit_trial *trial, const char *state)
{
    for (size_t i = 0; i < trial->use_count; i++) {
        if (strcmp(trial->uses[i].state, state) == 0) {
            return &trial->uses[i];
        }
    }
    return NULL;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Of one technique among several; alone it needs no name. */
static const char *say(plim_fit_search *search, const plim_fit_trial *trial,
                       const plim_fit_use *use, const char *otherwise)
{
    char text[PLIM_FIT_TEXT_BYTES + 64];
    const char *const why = use->reason != NULL ? use->reason : otherwise;
    const bool is_alone = trial->use_count == 1;
    (void)snprintf(text, sizeof(text), "%s%s%s", is_alone ? "" : use->text, is_alone ? "" : ": ",
                   why);
    return plim_fit_keep(search, text);
}

static plim_fit_answer answer_of_failure(plim_fit_search *search, const plim_fit_sample *sample,
                                         const plim_fit_trial *trial, const char **ret_reason)
{
    if (!sample->is_done || sample->status != PLIM_OK) {
        *ret_reason =
            plim_fit_keep(search, sample->error[0] != '\0' ? sample->error
                                                           : "the rehearsal's process ended early");
        return PLIM_FIT_UNKNOWN;
    }
    *ret_reason =
        plim_fit_keep(search, sample->reason[0] != '\0' ? sample->reason : "the program failed");
    return trial->use_count > 0 && !sample->is_out_of_time ? PLIM_FIT_BROKEN : PLIM_FIT_UNKNOWN;
}

static const char *say_short(plim_fit_search *search, const plim_fit_trial *trial)
{
    char text[PLIM_FIT_TEXT_BYTES];
    if (!plim_fit_has_host(search, trial->host_bytes)) {
        (void)snprintf(text, sizeof(text), "it needs %s of host memory, and there are %s",
                       plim_format_bytes(trial->host_bytes).text,
                       plim_format_bytes(search->host_bytes).text);
    } else if (trial->verdict == PLIM_REHEARSED_OUT_OF_MEMORY) {
        (void)snprintf(text, sizeof(text), "%s were not enough either",
                       plim_format_bytes(search->far_bytes).text);
    } else {
        const uint64_t wanted = plim_plus(trial->bar.high_bytes, search->margin_bytes);
        (void)snprintf(text, sizeof(text), "%s are missing",
                       plim_format_bytes(plim_minus(wanted, search->capacity_bytes)).text);
    }
    return plim_fit_keep(search, text);
}

bool plim_fit_sample_fits(const plim_fit_sample *sample)
{
    return sample->is_done && sample->status == PLIM_OK &&
           (sample->verdict == PLIM_REHEARSED_FITS || sample->verdict == PLIM_REHEARSED_AT_LEAST);
}

bool plim_fit_sample_failed(const plim_fit_sample *sample)
{
    return !sample->is_done || sample->status != PLIM_OK ||
           sample->verdict == PLIM_REHEARSED_FAILED || sample->verdict == PLIM_REHEARSED_UNANSWERED;
}

static void set_answer(plim_fit_search *search, const plim_fit_sample *sample, size_t index)
{
    plim_fit_trial *const trial = &search->trials[index];
    const plim_fit_use *const refused = find_state(trial, "refused");
    const plim_fit_use *idle = find_state(trial, "no_effect");
    idle = idle != NULL ? idle : find_state(trial, "waiting");
    const plim_fit_limit own = { search->capacity_bytes, false };
    if (refused != NULL) {
        trial->answer = PLIM_FIT_REFUSED;
        trial->reason = say(search, trial, refused, "it could not be switched on");
    } else if (plim_fit_sample_failed(sample)) {
        trial->answer = answer_of_failure(search, sample, trial, &trial->reason);
    } else if (idle != NULL) {
        trial->answer = PLIM_FIT_NO_EFFECT;
        trial->reason = say(search, trial, idle, "what it works on never came");
    } else if (plim_fit_is_within(search, index, own)) {
        trial->answer = PLIM_FIT_FITS;
    } else {
        trial->answer = PLIM_FIT_SHORT;
        trial->reason = say_short(search, trial);
    }
    search->known[index].is_bad = trial->answer != PLIM_FIT_FITS && trial->answer != PLIM_FIT_SHORT;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t phase_at(plim_fit_search *search, const char *name)
{
    size_t i = 0;
    while (i < search->phase_count && strcmp(search->phase_names[i], name) != 0) {
        i++;
    }
    if (i == search->phase_count && i < PLIM_FIT_PHASES_MAX) {
        (void)snprintf(search->phase_names[i], sizeof(search->phase_names[i]), "%s", name);
        search->phase_count++;
    }
    return i < PLIM_FIT_PHASES_MAX ? i : PLIM_FIT_PHASES_MAX - 1;
}

/* If the agent says nothing of phases, the whole is one; where PyTorch says nothing at all, what
 * the device says. */
static void set_memory(plim_fit_search *search, const plim_fit_sample *sample,
                       plim_fit_known *known)
{
    known->is_measured =
        !plim_fit_sample_failed(sample) && sample->verdict != PLIM_REHEARSED_OUT_OF_MEMORY;
    known->high_bytes = plim_minus(sample->bar.high_bytes, sample->waiting_bytes);
    known->allocated_bytes = sample->peak.allocated_bytes;
    known->beside_bytes = plim_minus(known->high_bytes, sample->peak.reserved_bytes);
    for (size_t i = 0; i < sample->phase_count; i++) {
        uint64_t *const bytes = &known->phase_bytes[phase_at(search, sample->phases[i].name)];
        *bytes = plim_max(*bytes, sample->phases[i].allocated_bytes);
    }
    memcpy(known->card_seconds, sample->card_seconds, sizeof(known->card_seconds));
    known->piece_rows = sample->piece_rows > 0 ? sample->piece_rows : sample->batch_rows;
    search->batch_rows = search->batch_rows > 0 ? search->batch_rows : sample->batch_rows;
    known->end_bytes = sample->end_bytes;
    if (sample->phase_count == 0) {
        known->phase_bytes[phase_at(search, "program")] =
            known->allocated_bytes > 0 ? known->allocated_bytes : known->high_bytes;
    }
}

static plim_status set_documents(plim_fit_search *search, const plim_fit_sample *sample,
                                 plim_fit_known *known, plim_error *err)
{
    known->began = sample->began;
    known->documents_bytes = sample->documents_bytes;
    known->documents =
        sample->documents_bytes == 0
            ? ""
            : plim_arena_copy(search->arena, sample->documents, sample->documents_bytes);
    return known->documents != NULL ? PLIM_OK : plim_fail_memory(err, "keeping a trial");
}

/* ---- a trial --------------------------------------------------------------------------------- */

double plim_fit_trial_slowdown(const plim_fit_cost *plain, const plim_fit_cost *with,
                               const plim_fit_trial *trial)
{
    const char *texts[PLIM_FIT_USES_MAX];
    for (size_t i = 0; i < trial->use_count; i++) {
        texts[i] = trial->uses[i].text;
    }
    return trial->use_count == 0 ? 1 : plim_fit_slowdown(plain, with, texts, trial->use_count);
}

void plim_fit_trial_write(const plim_fit_trial *trial, plim_fit_which which, char separator,
                          char *text, size_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < trial->use_count; i++) {
        const char *const one = trial->uses[i].text;
        if (which == PLIM_FIT_ALL_USES || !plim_fit_decides_rows(one)) {
            length = plim_fit_add_technique(text, bytes, length, separator, one);
        }
    }
}

/* Settings of a stack over those that are in force without it. */
static const char *merge_settings(plim_fit_search *search, const char *lines)
{
    const char *const conf = strstr(lines, CONF);
    if (conf == NULL) {
        return search->options->rehearse.settings;
    }
    const char *base = search->options->rehearse.settings;
    base = base != NULL ? base : getenv("PYTORCH_ALLOC_CONF"); /* of both, PyTorch takes this one */
    base = base != NULL ? base : getenv("PYTORCH_CUDA_ALLOC_CONF");
    base = base != NULL ? base : "";
    char text[PLIM_FIT_LINES_BYTES];
    const char *const ours = conf + strlen(CONF);
    (void)snprintf(text, sizeof(text), "%s%s%.*s", base, base[0] != '\0' ? "," : "",
                   (int)strcspn(ours, "\n"), ours);
    return plim_fit_keep(search, text);
}

static plim_status set_settings(plim_fit_search *search, const char *lines, plim_fit_trial *trial,
                                plim_error *err)
{
    trial->settings = merge_settings(search, lines);
    return trial->settings != NULL || strstr(lines, CONF) == NULL
               ? PLIM_OK
               : plim_fail_memory(err, "keeping a trial");
}

/* By the nearest trial if the work of a step was not counted, as of one that is too long, so that
 * modelled and typical figures are not held against each other. */
static double slowdown_of(const plim_fit_search *search, const plim_fit_trial *trial,
                          const plim_fit_stack *stack)
{
    const plim_fit_cost *const plain = &search->trials[0].cost;
    return stack != NULL && plain->seconds > 0 && trial->cost.seconds <= 0
               ? plim_fit_guess_slowdown(search, stack)
               : plim_fit_trial_slowdown(plain, &trial->cost, trial);
}

plim_status plim_fit_record(plim_fit_search *search, const plim_fit_sample *sample,
                            const plim_fit_stack *stack, const char *techniques, bool is_also,
                            plim_error *err)
{
    if (search->count == PLIM_FIT_KEPT_MAX) {
        return plim_fail(err, PLIM_LIMIT, "more than %d trials", PLIM_FIT_KEPT_MAX);
    }
    const size_t index = search->count;
    plim_fit_trial *const trial = &search->trials[index];
    plim_fit_known *const known = &search->known[index];
    *trial = (plim_fit_trial){
        .verdict =
            sample->is_done && sample->status == PLIM_OK ? sample->verdict : PLIM_REHEARSED_FAILED,
        .peak = sample->peak,
        .bar = sample->bar,
        .host_bytes = sample->host_bytes,
        .cost = sample->cost,
        .is_also = is_also,
        .seconds = sample->seconds,
    };
    *known = (plim_fit_known){ .is_of_space = stack != NULL };
    if (stack != NULL) {
        known->stack = *stack;
    }
    PLIM_TRY(set_uses(search, sample, techniques, trial, err));
    PLIM_TRY(set_documents(search, sample, known, err));
    set_memory(search, sample, known);
    PLIM_TRY(set_settings(search, techniques, trial, err));
    trial->slowdown = known->is_measured ? slowdown_of(search, trial, stack) : 0;
    set_answer(search, sample, index);
    if (trial->answer != PLIM_FIT_FITS && trial->reason == NULL) {
        return plim_fail_memory(err, "keeping a trial");
    }
    search->steps = plim_max(search->steps, sample->steps);
    search->count++;
    if (search->options->tried != NULL) {
        search->options->tried(search->options->tried_ctx, trial, search->made,
                               plim_max(search->expected, search->made));
    }
    return PLIM_OK;
}

plim_status plim_fit_record_predicted(plim_fit_search *search, const plim_fit_stack *stack,
                                      plim_fit_answer answer, const char *reason, plim_error *err)
{
    if (search->count == PLIM_FIT_KEPT_MAX) {
        return PLIM_OK;
    }
    char lines[PLIM_FIT_LINES_BYTES];
    plim_fit_stack_write(&search->space, stack, '\n', lines, sizeof(lines));
    plim_fit_trial *const trial = &search->trials[search->count];
    *trial = (plim_fit_trial){ .answer = answer, .is_predicted = true };
    search->known[search->count] =
        (plim_fit_known){ .stack = *stack, .is_of_space = true, .is_bad = true };
    PLIM_TRY(set_uses(search, NULL, lines, trial, err));
    PLIM_TRY(set_settings(search, lines, trial, err));
    trial->reason = plim_fit_keep(search, reason);
    if (trial->reason == NULL) {
        return plim_fail_memory(err, "keeping a trial");
    }
    search->count++;
    return PLIM_OK;
}

/* ---- many ------------------------------------------------------------------------------------ */

/* Lines without those of settings, after those that are on in every rehearsal. */
static const char *agents_lines(plim_fit_search *search, const char *lines)
{
    const char *const always = search->options->rehearse.techniques;
    char text[PLIM_FIT_LINES_BYTES * 2];
    size_t used = (size_t)snprintf(text, sizeof(text), "%.*s", (int)PLIM_FIT_LINES_BYTES - 1,
                                   always != NULL ? always : "");
    while (lines[0] != '\0') {
        const size_t length = strcspn(lines, "\n");
        if (strncmp(lines, CONF, strlen(CONF)) != 0 && used < sizeof(text)) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s",
                                     used > 0 ? "\n" : "", (int)length, lines);
        }
        lines += length + (lines[length] == '\n');
    }
    return plim_fit_keep(search, text);
}

plim_status plim_fit_request_make(plim_fit_search *search, const char *lines,
                                  uint64_t capacity_bytes, plim_fit_request *ret, plim_error *err)
{
    const bool is_trial = capacity_bytes == search->far_bytes;
    *ret = (plim_fit_request){
        .techniques = agents_lines(search, lines),
        .settings = merge_settings(search, lines),
        .gpu = search->gpu->key,
        .capacity_bytes = capacity_bytes,
        .seconds_max = search->seconds_max,
        .is_trial = is_trial,
        .counts_step = is_trial ? (search->steps < 2 ? 1 : 2) : 0,
        /* The program as it is and an answer that is confirmed take the time that they need. */
        .until = search->made > 0 && capacity_bytes != search->capacity_bytes ? search->until : 0,
    };
    const bool has_conf = strstr(lines, CONF) != NULL;
    return ret->techniques != NULL && (ret->settings != NULL || !has_conf)
               ? PLIM_OK
               : plim_fail_memory(err, "preparing a trial");
}

plim_status plim_fit_run(plim_fit_search *search, const plim_fit_request *requests, size_t count,
                         plim_error *err)
{
    memset(search->samples, 0, count * sizeof(*search->samples));
    const plim_status status =
        search->runner->run(search->runner->ctx, requests, count, search->samples, err);
    search->made += count;
    return status;
}

plim_status plim_fit_run_stacks(plim_fit_search *search, const plim_fit_stack *stacks, size_t count,
                                plim_error *err)
{
    char lines[PLIM_FIT_LINES_BYTES];
    plim_fit_request requests[PLIM_FIT_ROUND_MAX] = { { 0 } };
    for (size_t i = 0; i < count; i++) {
        plim_fit_stack_write(&search->space, &stacks[i], '\n', lines, sizeof(lines));
        PLIM_TRY(plim_fit_request_make(search, lines, search->far_bytes, &requests[i], err));
    }
    return plim_fit_run(search, requests, count, err);
}

plim_status plim_fit_record_stacks(plim_fit_search *search, const plim_fit_stack *stacks,
                                   const plim_fit_sample *samples, size_t count, plim_error *err)
{
    char lines[PLIM_FIT_LINES_BYTES];
    for (size_t i = 0; i < count; i++) {
        plim_fit_stack_write(&search->space, &stacks[i], '\n', lines, sizeof(lines));
        PLIM_TRY(plim_fit_record(search, &samples[i], &stacks[i], lines, false, err));
    }
    return PLIM_OK;
}

plim_status plim_fit_try(plim_fit_search *search, const plim_fit_stack *stacks, size_t count,
                         plim_error *err)
{
    PLIM_TRY(plim_fit_run_stacks(search, stacks, count, err));
    return plim_fit_record_stacks(search, stacks, search->samples, count, err);
}

bool plim_fit_may_go_on(plim_fit_search *search, size_t more)
{
    const double now = (double)plim_clock_now_ns(&plim_clock_system) / (double)NS_PER_S;
    if (search->until > 0 && now >= search->until) {
        search->stopped = "budget";
    } else if (search->made + more >= search->made_max) {
        search->stopped = "trials";
        return false;
    }
    return search->until <= 0 || now < search->until;
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool plim_fit_has_host(const plim_fit_search *search, uint64_t bytes)
{
    return search->host_bytes == 0 || bytes <= search->host_bytes;
}

bool plim_fit_has_answer(const plim_fit_search *search, size_t index)
{
    const plim_fit_known *const known = &search->known[index];
    return known->is_measured && !known->is_bad &&
           (search->options->allows_changed ||
            search->trials[index].label != PLIM_TECHNIQUE_CHANGED);
}

bool plim_fit_is_allowed(const plim_fit_search *search, size_t index)
{
    return plim_fit_has_answer(search, index) && !search->known[index].is_refuted &&
           plim_fit_has_host(search, search->trials[index].host_bytes);
}

static uint64_t stuck_of(const plim_fit_search *search, const plim_fit_trial *trial)
{
    const bool is_expandable = trial->settings != NULL && plim_fit_is_expandable(trial->settings);
    return search->stuck_bytes[is_expandable];
}

bool plim_fit_is_close(const plim_fit_search *search, size_t index, plim_fit_limit limit)
{
    const plim_fit_limit far = { limit.capacity_bytes, false };
    return !search->trials[index].is_confirmed && !plim_fit_is_within(search, index, far);
}

bool plim_fit_is_within(const plim_fit_search *search, size_t index, plim_fit_limit limit)
{
    const plim_fit_trial *const trial = &search->trials[index];
    const plim_fit_known *const known = &search->known[index];
    const uint64_t least = plim_plus(known->allocated_bytes, known->beside_bytes);
    const uint64_t held = plim_plus(least, stuck_of(search, trial));
    const uint64_t high = trial->bar.high_bytes;
    const uint64_t bytes = limit.is_own && held < high ? held : high;
    const bool was_confirmed = trial->is_confirmed && limit.is_own;
    return known->is_measured && plim_fit_has_host(search, trial->host_bytes) &&
           (was_confirmed || plim_plus(bytes, search->margin_bytes) <= limit.capacity_bytes);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int plim_fit_compare(const plim_fit_search *search, size_t a, size_t b)
{
    const plim_fit_trial *const x = &search->trials[a];
    const plim_fit_trial *const y = &search->trials[b];
    int order =
        compare_u64((uint64_t)llround(x->slowdown * 100), (uint64_t)llround(y->slowdown * 100));
    order = order != 0 ? order : compare_u64(x->use_count, y->use_count);
    order = order != 0 ? order : compare_u64(x->label, y->label);
    order = order != 0 ? order : compare_u64(x->bar.high_bytes, y->bar.high_bytes);
    return order != 0 ? order : compare_u64(a, b);
}
