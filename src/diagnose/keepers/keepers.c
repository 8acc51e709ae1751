/*
 * keepers.c - see keepers.h.
 */
#include "diagnose/keepers/keepers.h"

#include "base/error.h"
#include "diagnose/keepers/moment.h"

#include <string.h>

/* The share of a finding's bytes that an object must have to be named, … */
#define NAMED_SHARE 0.1
/* … to keep it as a whole, and so to speak for its cause, … */
#define KEEPS_SHARE 0.5
/* … and to leave next to nothing. */
#define NEARLY_ALL_SHARE 0.8

/* Of one holder: what it has of the finding. */
typedef struct holder_tally {
    uint64_t blocks;
    uint64_t bytes;
} holder_tally;

typedef struct keeper_search {
    plim_case *one;
    plim_diagnosis_finding *finding;
    holder_tally *tallies; /* by index of the document's holders */
    size_t count;
    uint64_t blocks; /* of the finding, live at the moment */
    uint64_t bytes;
} keeper_search;

static void tally(keeper_search *at, const uint64_t *ids, size_t id_count)
{
    const plim_case *const one = at->one;
    const int64_t moment = plim_holders_moment(one);
    for (size_t i = 0; i < id_count; i++) {
        const plim_allocation kept = plim_timeline_allocation(&one->view.timeline, ids[i]);
        if (kept.born > moment || kept.freed <= moment) {
            continue;
        }
        at->blocks++;
        at->bytes += kept.requested_bytes;
        const plim_holder *const holder = plim_holder_of(one, &kept);
        if (holder != NULL) {
            holder_tally *const row =
                &at->tallies[holder - plim_holders_at(one->options->holders, 0)];
            row->blocks++;
            row->bytes += kept.requested_bytes;
        }
    }
}

/* --- the holders --- */

static bool copy_text(plim_case *one, const char *text, const char **ret)
{
    *ret = text != NULL ? plim_arena_copy(one->arena, text, strlen(text)) : NULL;
    return text == NULL || *ret != NULL;
}

static bool copy_holder(const keeper_search *at, size_t index, plim_finding_holder *ret)
{
    const plim_holder *const from = plim_holders_at(at->one->options->holders, index);
    *ret = (plim_finding_holder){ .kind = from->kind,
                                  .line = from->line,
                                  .blocks = at->tallies[index].blocks,
                                  .bytes = at->tallies[index].bytes,
                                  .of_blocks = at->blocks,
                                  .of_bytes = at->bytes };
    const char *const text = from->text != NULL   ? from->text
                             : from->name != NULL ? from->name
                                                  : plim_holder_kind_name(from->kind);
    return copy_text(at->one, text, &ret->text) && copy_text(at->one, from->name, &ret->name) &&
           copy_text(at->one, from->type, &ret->type) &&
           copy_text(at->one, from->file, &ret->file) &&
           copy_text(at->one, from->function, &ret->function);
}

/* The holder with most bytes among those not taken yet; of two alike, the document's first. */
static size_t largest_of(const keeper_search *at)
{
    size_t largest = SIZE_MAX;
    for (size_t i = 0; i < at->count; i++) {
        if (at->tallies[i].bytes > 0 &&
            (largest == SIZE_MAX || at->tallies[i].bytes > at->tallies[largest].bytes)) {
            largest = i;
        }
    }
    return largest;
}

/* Sets the finding's holders; `ret_first` is the document's index of the largest. */
static bool keep_holders(keeper_search *at, size_t *ret_first)
{
    plim_finding_holder *const kept =
        plim_arena_alloc(at->one->arena, PLIM_FINDING_HOLDERS_MAX * sizeof *kept);
    size_t count = 0;
    while (kept != NULL && count < PLIM_FINDING_HOLDERS_MAX) {
        const size_t next = largest_of(at);
        if (next == SIZE_MAX || (double)at->tallies[next].bytes < NAMED_SHARE * (double)at->bytes) {
            break;
        }
        if (!copy_holder(at, next, &kept[count])) {
            return false;
        }
        *ret_first = count == 0 ? next : *ret_first;
        at->tallies[next].bytes = 0;
        count++;
    }
    at->finding->holders = kept;
    at->finding->holder_count = count;
    return kept != NULL;
}

/* --- the line --- */

static bool is_name(const plim_history *history, uint32_t string, const char *text)
{
    size_t bytes = 0;
    const char *const name = plim_history_string(history, string, &bytes);
    return strlen(text) == bytes && memcmp(name, text, bytes) == 0;
}

/* True if both name one file: one of the paths may be cut short at its front. */
static bool is_file(const plim_history *history, uint32_t string, const char *file)
{
    size_t bytes = 0;
    const char *const path = plim_history_string(history, string, &bytes);
    const size_t length = strlen(file);
    const bool is_longer = bytes > length;
    const char *const whole = is_longer ? path : file;
    const size_t more = is_longer ? bytes - length : length - bytes;
    return memcmp(whole + more, is_longer ? file : path, is_longer ? length : bytes) == 0 &&
           (more == 0 || whole[more - 1] == '/') && length > 0 && bytes > 0;
}

static uint32_t find_frame(const plim_history *history, const plim_finding_holder *holder)
{
    const uint32_t count = plim_history_frame_count(history);
    for (uint32_t i = 0; i < count; i++) {
        const plim_frame *const frame = plim_history_frame(history, i);
        if (frame->line == holder->line && is_file(history, frame->filename, holder->file) &&
            (holder->function == NULL || is_name(history, frame->name, holder->function))) {
            return i;
        }
    }
    return PLIM_NONE;
}

static uint32_t find_stack(const plim_history *history, uint32_t frame)
{
    const uint32_t count = plim_history_stack_count(history);
    for (uint32_t i = 0; i < count; i++) {
        const plim_stack stack = plim_history_stack(history, i);
        for (uint32_t k = 0; k < stack.frame_count; k++) {
            if (stack.frames[k] == frame) {
                return i;
            }
        }
    }
    return PLIM_NONE;
}

static void place_keeper(const keeper_search *at)
{
    const plim_finding_holder *const first = &at->finding->holders[0];
    const double share = (double)first->bytes / (double)first->of_bytes;
    at->finding->keeper_confidence = share >= NEARLY_ALL_SHARE ? 0.97
                                     : share >= KEEPS_SHARE    ? 0.9
                                                               : 0.7;
    if (first->file == NULL || first->line == 0) {
        return;
    }
    const uint32_t frame = find_frame(at->one->history, first);
    const uint32_t stack = frame != PLIM_NONE ? find_stack(at->one->history, frame) : PLIM_NONE;
    if (stack != PLIM_NONE) {
        at->finding->keeper = (plim_code_place){ .stack = stack, .frame = frame };
    }
}

/* --- the cause --- */

static bool is_of_hook(const plim_holder *holder)
{
    for (size_t i = 0; i < holder->path_count; i++) {
        if (strstr(holder->path[i], "_hooks") != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_table(const plim_holder *holder)
{
    return holder->type != NULL && strstr(holder->type, "ict") != NULL; /* dict, OrderedDict, … */
}

static bool is_cache_by_name(const plim_holder *holder)
{
    return holder->name != NULL &&
           (strstr(holder->name, "cache") != NULL || strstr(holder->name, "memo") != NULL);
}

/* A collection that a variable has, and that grows. */
static plim_cause cause_by_collection(const plim_holder *holder)
{
    return !is_table(holder)          ? PLIM_CAUSE_OUTPUTS_KEPT
           : is_cache_by_name(holder) ? PLIM_CAUSE_GROWING_CACHE
                                      : PLIM_CAUSE_REGISTRY_BY_STEP;
}

/* What a graph keeps was recorded for a backward pass. */
static plim_cause cause_by_graph(const plim_case *one, plim_cause suggested)
{
    const bool is_open = suggested == PLIM_CAUSE_KEPT || suggested == PLIM_CAUSE_OUTPUTS_KEPT ||
                         suggested == PLIM_CAUSE_HOOK_KEPT;
    if (is_open && !one->passes.has_backward) {
        return PLIM_CAUSE_EVALUATION_WITH_GRAD;
    }
    return suggested == PLIM_CAUSE_HOOK_KEPT ? PLIM_CAUSE_KEPT : suggested;
}

/* The cause that a holder of most of the bytes proves; else the one that the stacks suggest. */
static plim_cause cause_by(const plim_case *one, const plim_holder *holder, plim_cause suggested)
{
    if (holder->kind == PLIM_HOLDER_TRACEBACK) {
        return PLIM_CAUSE_TRACEBACK_KEPT;
    }
    if (holder->kind == PLIM_HOLDER_GARBAGE) {
        return PLIM_CAUSE_REFERENCE_CYCLE;
    }
    if (is_of_hook(holder)) {
        return PLIM_CAUSE_HOOK_KEPT;
    }
    if (holder->kind == PLIM_HOLDER_CACHE) {
        return PLIM_CAUSE_GROWING_CACHE;
    }
    if (holder->kind == PLIM_HOLDER_GRAPH) {
        return cause_by_graph(one, suggested);
    }
    const bool is_variable =
        holder->kind == PLIM_HOLDER_LOCAL || holder->kind == PLIM_HOLDER_GLOBAL ||
        holder->kind == PLIM_HOLDER_ATTRIBUTE || holder->kind == PLIM_HOLDER_CLOSURE ||
        holder->kind == PLIM_HOLDER_NOTEBOOK_OUTPUT;
    const bool is_open = suggested == PLIM_CAUSE_KEPT || suggested == PLIM_CAUSE_OUTPUTS_KEPT ||
                         suggested == PLIM_CAUSE_EVALUATION_WITH_GRAD || /* no graph has it */
                         suggested == PLIM_CAUSE_HIDDEN_STATE_KEPT;
    if (!is_variable || !is_open) {
        return suggested;
    }
    return plim_holder_is_collection(holder)      ? cause_by_collection(holder)
           : suggested == PLIM_CAUSE_OUTPUTS_KEPT ? suggested
                                                  : PLIM_CAUSE_KEPT;
}

/* --- the sentences --- */

/* Sentences of causes.c that leave open what the holders show. */
static bool is_doubt(const plim_evidence_line *line)
{
    static const char *const ids[] = { "kept",         "locals",  "outputs",     "inputs",
                                       "hook",         "numbers", "no_backward", "passed_by",
                                       "not_released", "released" };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (strcmp(line->id, ids[i]) == 0) {
            return true;
        }
    }
    return false;
}

static plim_evidence_line line_of(const plim_finding_holder *holder)
{
    const bool is_all = (double)holder->bytes >= KEEPS_SHARE * (double)holder->of_bytes;
    return (plim_evidence_line){ .id = "holder",
                                 .text = is_all ? "kept by {}: {} in {} of {} blocks"
                                                : "in part kept by {}: {} in {} of {} blocks",
                                 .figures = { plim_say_word("holder", holder->text),
                                              plim_say_bytes("held_bytes", holder->bytes),
                                              plim_say_amount("held_blocks", holder->blocks),
                                              plim_say_amount("live_blocks", holder->of_blocks) },
                                 .figure_count = 4 };
}

static bool say_holders(const keeper_search *at, size_t judged, bool is_proven)
{
    plim_diagnosis_finding *const finding = at->finding;
    const size_t room = finding->holder_count + finding->evidence_count;
    plim_evidence_line *const lines = plim_arena_alloc(at->one->arena, room * sizeof *lines);
    size_t count = 0;
    if (lines == NULL) {
        return false;
    }
    for (size_t i = 0; i < finding->holder_count; i++) {
        lines[count++] = line_of(&finding->holders[i]);
    }
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (!is_proven || i < judged || !is_doubt(&finding->evidence[i])) {
            lines[count++] = finding->evidence[i];
        }
    }
    finding->evidence = lines;
    finding->evidence_count = count;
    return true;
}

static bool name_keepers(keeper_search *at, const uint64_t *ids, size_t id_count, size_t judged)
{
    size_t first = SIZE_MAX;
    tally(at, ids, id_count);
    if (!keep_holders(at, &first)) {
        return false;
    }
    if (at->finding->holder_count == 0) {
        return true;
    }
    place_keeper(at);
    const plim_finding_holder *const holder = &at->finding->holders[0];
    const bool is_proven = (double)holder->bytes >= KEEPS_SHARE * (double)holder->of_bytes;
    const plim_cause cause =
        cause_by(at->one, plim_holders_at(at->one->options->holders, first), at->finding->cause);
    return (!is_proven || plim_case_name_cause(at->one, at->finding, cause)) &&
           say_holders(at, judged, is_proven);
}

plim_status plim_keepers_name(plim_case *one, const uint64_t *ids, size_t id_count, size_t judged,
                              plim_diagnosis_finding *finding, plim_error *err)
{
    const plim_holders *const holders = one->options->holders;
    const size_t count = holders != NULL ? plim_holders_count(holders) : 0;
    if (count == 0) {
        return PLIM_OK;
    }
    keeper_search at = { .one = one, .finding = finding, .count = count };
    at.tallies = plim_mem_alloc_zeroed(one->mem, count, sizeof *at.tallies);
    const bool is_done = at.tallies != NULL && name_keepers(&at, ids, id_count, judged);
    plim_mem_free(one->mem, at.tallies, count, sizeof *at.tallies);
    return is_done ? PLIM_OK : plim_fail_memory(err, "naming what keeps memory");
}
