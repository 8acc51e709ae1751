/*
 * rehearse_limitations.c - the limitations of a rehearsal: values read, models, calls.
 */
#include "base/numbers.h"
#include "report/model/rehearse_parts.h"

#include <string.h>

#define READS_SHOWN   6u
#define CAVEATS_SHOWN 4u

static bool is_same_text(const char *one, const char *other)
{
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static bool is_same_place(const plim_rehearsed_read *one, const plim_rehearsed_read *other)
{
    return strcmp(one->where, other->where) == 0 && strcmp(one->what, other->what) == 0 &&
           is_same_text(one->why, other->why);
}

/* A walk over the places of all processes, those of several ranks once. */
typedef struct {
    const plim_rehearsal_outcome *outcome;
    size_t process;
    size_t next;
} place_walk;

static bool came_before(const place_walk *walk, const plim_rehearsed_read *read)
{
    for (size_t i = 0; i < walk->process; i++) {
        const plim_rehearsed_process *process = &walk->outcome->processes[i];
        for (size_t j = 0; j < process->read_count; j++) {
            if (is_same_place(&process->reads[j], read)) {
                return true;
            }
        }
    }
    return false;
}

static const plim_rehearsed_read *next_place(place_walk *walk)
{
    for (; walk->process < walk->outcome->process_count; walk->process++, walk->next = 0) {
        const plim_rehearsed_process *process = &walk->outcome->processes[walk->process];
        while (walk->next < process->read_count) {
            const plim_rehearsed_read *read = &process->reads[walk->next++];
            if (!came_before(walk, read)) {
                return read;
            }
        }
    }
    return NULL;
}

/* The count of all processes. */
static uint64_t count_at(const plim_rehearsal_outcome *outcome, const plim_rehearsed_read *read)
{
    uint64_t count = 0;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        for (size_t j = 0; j < process->read_count; j++) {
            count += is_same_place(&process->reads[j], read) ? process->reads[j].count : 0;
        }
    }
    return count;
}

static void say_place(const plim_rehearsing_page *self, const plim_rehearsed_read *read)
{
    plim_page_note(
        self->page, "value_read", PLIM_TONE_FAINT, "{} {} × {}: {}",
        PLIM_FACTS(plim_toned(PLIM_TONE_USER, plim_words(read->where)), plim_words(read->what),
                   plim_plain("count", count_at(self->outcome, read)), plim_words(read->why)));
}

static void say_reads(const plim_rehearsing_page *self)
{
    plim_page *page = self->page;
    size_t deciding = 0;
    size_t others = 0;
    place_walk walk = { .outcome = self->outcome };
    for (const plim_rehearsed_read *read = next_place(&walk); read != NULL;
         read = next_place(&walk)) {
        if (read->why == NULL) {
            others++;
            continue;
        }
        if (deciding == 0) {
            plim_page_heading(page, "Values that were not computed, and decide sizes or the way",
                              NULL);
        }
        if (deciding++ < READS_SHOWN) {
            say_place(self, read);
        }
    }
    if (deciding > READS_SHOWN) {
        plim_page_note(
            page, "more", PLIM_TONE_FAINT, "and {} more",
            PLIM_FACTS(plim_count_of("places_left_out", deciding - READS_SHOWN, "place")));
    }
    if (others > 0) {
        plim_page_gap(page);
        plim_page_say(
            page, "values_read", PLIM_TONE_FAINT,
            "Values read in {} (--json lists them) decide no size and no loop, as far as "
            "the source shows.",
            PLIM_FACTS(plim_count_of("places", others, deciding > 0 ? "other place" : "place")));
    }
}

static void say_modelled(const plim_rehearsing_page *self)
{
    size_t count = 0;
    plim_page_say(self->page, "modelled", PLIM_TONE_FAINT, "", NULL);
    for (size_t i = 0; i < self->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &self->outcome->calls[i];
        if (strcmp(call->kind, "modelled") == 0) {
            plim_page_more(
                self->page,
                count == 0 ? "Modelled: the memory of context and libraries, and the answers of {}"
                           : ", {}",
                PLIM_FACTS(plim_words(call->name)));
            count++;
        }
    }
    plim_page_more(self->page,
                   count > 0
                       ? "."
                       : "Modelled: the memory of context and libraries. All else is PyTorch's "
                         "own allocation.",
                   NULL);
}

/* The rest of that sentence: what it may cost. */
static void say_waiting(const plim_rehearsing_page *self, uint64_t most)
{
    const plim_rehearsed_late *late = self->rehearsed->late;
    if (late != NULL && late->why_unknown == NULL && !late->ran_out) {
        plim_page_more(self->page,
                       ": a second run, in which they waited as long as a GPU could need, had {} "
                       "reserved.",
                       PLIM_FACTS(plim_bytes("late_reserved_bytes", late->peak.reserved_bytes)));
        return;
    }
    plim_page_more(self->page, ": up to {} more may be reserved, which \"possible\" includes",
                   PLIM_FACTS(plim_bytes("waiting_bytes", most)));
    if (late == NULL) {
        plim_page_more(self->page, ". --late shows the most.", NULL);
    } else if (late->ran_out) {
        plim_page_more(self->page,
                       ". A second run, in which they waited as long as a GPU could need, ran out "
                       "of memory.",
                       NULL);
    } else {
        plim_page_more(self->page, "; it is not known more exactly: {}.",
                       PLIM_FACTS(plim_words(late->why_unknown)));
    }
}

/* What the caching allocator could not have again at once. */
static void say_waits(const plim_rehearsing_page *self)
{
    uint64_t count = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < self->outcome->device_count; i++) {
        count += self->outcome->gpus[i].wait_count;
        most = plim_max(most, self->outcome->gpus[i].waiting_bytes);
    }
    if (count == 0) {
        return;
    }
    if (self->outcome->ends_late) {
        plim_page_say(self->page, "waits", PLIM_TONE_FAINT,
                      "Blocks that several streams used were reserved as long as a GPU could need "
                      "them: reserved is the most that it can be.",
                      NULL);
    } else {
        plim_page_say(
            self->page, "waits", PLIM_TONE_WARN,
            "{} {} freed while another stream could still use {} on a GPU, and can be had "
            "again later there",
            PLIM_FACTS(plim_count(NULL, count),
                       plim_words(count == 1 ? "block was" : "blocks were"),
                       plim_words(count == 1 ? "it" : "them")));
        say_waiting(self, most);
    }
}

static void say_warnings(plim_page *page, const char *const *warnings, size_t count)
{
    for (size_t i = 0; i < count && i < CAVEATS_SHOWN; i++) {
        plim_page_warn(page, "warning", "{}", PLIM_FACTS(plim_words(warnings[i])));
    }
}

void plim_rehearsed_say_warnings(const plim_rehearsing_page *self)
{
    say_warnings(self->page, self->outcome->warnings, self->outcome->warning_count);
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        say_warnings(self->page, process->warnings, process->warning_count);
    }
}

static void say_processes(const plim_rehearsing_page *self)
{
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        say_warnings(self->page, process->warnings, process->warning_count);
        if (strcmp(process->ended, "running") == 0) {
            plim_page_say(self->page, "killed", PLIM_TONE_WARN,
                          "Process {} was killed; its figures lack its last seconds.",
                          PLIM_FACTS(plim_id("pid", process->pid)));
        }
    }
    if (self->outcome->process_count == 0) {
        plim_page_say(self->page, "no_process", PLIM_TONE_WARN,
                      "No process reported PyTorch: it did not import it, started Python with -I, "
                      "-E or -S, or was killed early. Only the device's own figures are known.",
                      NULL);
    }
}

static void say_calls(const plim_rehearsing_page *self)
{
    static const plim_column columns[] = { { "calls", PLIM_ALIGN_RIGHT, 0, 0 },
                                           { "function", PLIM_ALIGN_LEFT, 0, 0 },
                                           { "is", PLIM_ALIGN_LEFT, 0, 0 },
                                           { "", PLIM_ALIGN_LEFT, 0, 0 } };
    plim_page *page = self->page;
    plim_page_heading(page, "Functions called", NULL);
    plim_page_table(page, "calls", columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < self->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &self->outcome->calls[i];
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, call->count));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(call->name));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(call->kind));
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words(call->note));
    }
}

void plim_rehearsed_say_limitations(const plim_rehearsing_page *self)
{
    say_reads(self);
    plim_page_gap(self->page);
    say_modelled(self);
    say_waits(self);
    say_warnings(self->page, self->outcome->warnings, self->outcome->warning_count);
    say_processes(self);
    for (size_t i = 0; i < self->rehearsed->recording_count; i++) {
        plim_page_say(self->page, "recorded", PLIM_TONE_FAINT,
                      "Recorded: plimsoll inspect {} shows it, plimsoll diagnose says what helps",
                      PLIM_FACTS(plim_words(self->rehearsed->recordings[i])));
    }
    if (self->lists_calls) {
        say_calls(self);
    }
}
