/*
 * rehearse_facts.c - what decides the memory, and which techniques are switched on, of a rehearsal.
 *
 * The facts of all processes together: a fact is said once, as the first process has it, with how
 * many have another. Processes that have no facts, such as torchrun's own, do not count.
 */
#include "report/model/rehearse_parts.h"

#include <string.h>

#define ALLOCATOR_SETTINGS  "allocator settings"
#define EXPANDABLE_SEGMENTS "expandable segments"

typedef struct plim_rehearsed_fact fact;

static bool are_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The fact of that kind and name in a process, or NULL. */
static const fact *find(const plim_rehearsed_process *process, const char *kind, const char *name)
{
    for (size_t i = 0; i < process->fact_count; i++) {
        const fact *found = &process->facts[i];
        if (strcmp(found->kind, kind) == 0 && strcmp(found->name, name) == 0) {
            return found;
        }
    }
    return NULL;
}

/* How often a fact is found in all processes, and how often with this value and effect. */
typedef struct prevalence {
    size_t found;
    size_t same;
    bool is_first; /* no process before this one has it */
} prevalence;

static prevalence count_processes(const plim_rehearsal_outcome *outcome, size_t process,
                                  const fact *of)
{
    prevalence ret = { .is_first = true };
    for (size_t i = 0; i < outcome->process_count; i++) {
        const fact *other = find(&outcome->processes[i], of->kind, of->name);
        if (other == NULL) {
            continue;
        }
        const bool is_same =
            strcmp(other->value, of->value) == 0 && are_same(other->effect, of->effect);
        ret.found++;
        ret.same += is_same ? 1 : 0;
        ret.is_first = ret.is_first && i >= process;
    }
    return ret;
}

static void say_others(plim_page *page, const prevalence *among)
{
    if (among->same < among->found) {
        plim_page_more(page, " (otherwise in {} of {} processes)",
                       PLIM_FACTS(plim_count("others", among->found - among->same),
                                  plim_count("processes", among->found)));
    }
}

/* ---- what decides it ------------------------------------------------------------------------- */

/* PyTorch stands above the page, and that a backward pass ran shows in its phases. */
static bool is_shown(const fact *of)
{
    return strcmp(of->kind, "decides") == 0 && strcmp(of->name, "PyTorch") != 0 &&
           strcmp(of->name, "backward") != 0;
}

static void say_decides(const plim_rehearsing_page *self)
{
    plim_page *page = self->page;
    const plim_rehearsal_outcome *outcome = self->outcome;
    bool is_begun = false;
    for (size_t i = 0; i < outcome->process_count; i++) {
        for (size_t k = 0; k < outcome->processes[i].fact_count; k++) {
            const fact *of = &outcome->processes[i].facts[k];
            const prevalence among = count_processes(outcome, i, of);
            if (!is_shown(of) || !among.is_first) {
                continue;
            }
            if (!is_begun) {
                plim_page_heading(page, "What decides it", NULL);
                plim_page_note(page, "decides", PLIM_TONE_PLAIN, "", NULL);
            }
            plim_page_more(page, is_begun ? " · {} {}" : "{} {}",
                           PLIM_FACTS(plim_words(of->name), plim_words(of->value)));
            say_others(page, &among);
            is_begun = true;
        }
    }
}

/* Settings that were set and are not in effect, but for one that is a technique. */
static void say_ignored_settings(const plim_rehearsing_page *self)
{
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        const fact *of = find(process, "decides", ALLOCATOR_SETTINGS);
        if (of == NULL || of->evidence == NULL) {
            continue;
        }
        const fact *technique = find(process, "technique", EXPANDABLE_SEGMENTS);
        if (technique == NULL || !are_same(technique->effect, "no")) {
            plim_page_warn(self->page, "ignored_settings", "{}",
                           PLIM_FACTS(plim_words(of->evidence)));
        }
        return;
    }
}

/* ---- techniques ------------------------------------------------------------------------------ */

static void say_technique(const plim_rehearsing_page *self, const fact *of, const prevalence *among)
{
    plim_page *page = self->page;
    const char *evidence = of->evidence != NULL ? of->evidence : "";
    if (are_same(of->effect, "no")) {
        plim_page_warn(
            page, "without_effect", "{} ({}): no effect. {}",
            PLIM_FACTS(plim_words(of->name), plim_words(of->value), plim_words(evidence)));
    } else {
        plim_page_note(
            page, "technique", PLIM_TONE_FAINT, "{} ({}){} {}",
            PLIM_FACTS(plim_words(of->name), plim_words(of->value),
                       plim_words(are_same(of->effect, "unknown") ? ": effect unknown." : ":"),
                       plim_words(evidence)));
    }
    say_others(page, among);
}

/* A fused attention that ran stands in what decides it. */
static bool is_said_already(const fact *of)
{
    return strcmp(of->name, "flash attention") == 0 && are_same(of->effect, "yes");
}

/* Those of one effect; true if there was one. */
static bool say_techniques(const plim_rehearsing_page *self, const char *effect, bool is_begun)
{
    const plim_rehearsal_outcome *outcome = self->outcome;
    for (size_t i = 0; i < outcome->process_count; i++) {
        for (size_t k = 0; k < outcome->processes[i].fact_count; k++) {
            const fact *of = &outcome->processes[i].facts[k];
            const prevalence among = count_processes(outcome, i, of);
            if (strcmp(of->kind, "technique") != 0 || !are_same(of->effect, effect) ||
                !among.is_first || is_said_already(of)) {
                continue;
            }
            if (!is_begun) {
                plim_page_heading(self->page, "Switched on", NULL);
                is_begun = true;
            }
            say_technique(self, of, &among);
        }
    }
    return is_begun;
}

void plim_rehearsed_say_facts(const plim_rehearsing_page *self)
{
    static const char *const effects[] = { "no", "unknown", "yes" };
    say_decides(self);
    say_ignored_settings(self);
    bool is_begun = false;
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++) {
        is_begun = say_techniques(self, effects[i], is_begun);
    }
}
