/*
 * dump.c - a line for each file that was written, or why it is missing.
 */
#include "report/model/dump.h"

const char *plim_dump_outcome_name(plim_dump_outcome outcome)
{
    static const char *const names[] = { "done", "failed", "gone", "unfinished", "no_answer" };
    return names[outcome];
}

static plim_fact seconds_of(const char *name, double seconds)
{
    return plim_duration(name, (uint64_t)(seconds < 1e9 ? seconds * 1e6 : 1e15));
}

static void say_who(plim_page *page, const plim_live_page *live)
{
    plim_page_more(page, "process {}", PLIM_FACTS(plim_id("pid", live->pid)));
    if (live->rank >= 0) {
        plim_page_more(page, ", rank {}", PLIM_FACTS(plim_id("rank", live->rank)));
    }
}

static void say_path(plim_page *page, const char *id, const char *what, const char *path)
{
    plim_page_note(page, id, PLIM_TONE_PLAIN, "{}{}",
                   PLIM_FACTS(plim_words(what), plim_toned(PLIM_TONE_USER, plim_words(path))))
        ->layout = PLIM_LAYOUT_COPY;
}

static void say_done(plim_page *page, const plim_dumped *dumped)
{
    const plim_live_page *const live = &dumped->dump.live;
    plim_page_say(page, "dump.done", PLIM_TONE_PLAIN, "", NULL);
    say_who(page, live);
    plim_page_more(page, ", after {}: dumped in {}",
                   PLIM_FACTS(plim_count_of("steps", live->step_count, "step"),
                              seconds_of("seconds", dumped->dump.seconds)));
    if (dumped->snapshot[0] != '\0') {
        say_path(page, "dump.snapshot", "snapshot  ", dumped->snapshot);
    }
    if (dumped->holders[0] != '\0') {
        say_path(page, "dump.holders", "holders   ", dumped->holders);
    }
    if (dumped->document[0] != '\0') {
        say_path(page, "dump.document", "account   ", dumped->document);
    }
    if (dumped->snapshot[0] == '\0') {
        plim_page_warn(page, "dump.no_snapshot", "no snapshot was written: the account says why",
                       NULL);
    }
}

static void say_no_answer(plim_page *page, const plim_dumped *dumped)
{
    plim_page_more(page, " did not answer within {}; the request was withdrawn. ",
                   PLIM_FACTS(seconds_of("seconds", dumped->dump.seconds)));
    plim_page_more(page,
                   "Its figures are {} old: a long call holds Python's interpreter, or the process "
                   "is stopped.",
                   PLIM_FACTS(seconds_of("age", dumped->age_seconds)));
}

static void say_other(plim_page *page, const plim_dumped *dumped)
{
    const plim_live_page *const live = &dumped->dump.live;
    plim_page_say(page, "dump.failed", PLIM_TONE_BAD, "", NULL);
    say_who(page, live);
    switch (dumped->outcome) {
    case PLIM_DUMP_FAILED:
        plim_page_more(page, " could not dump: \"warnings\" of {}/process.json says why",
                       PLIM_FACTS(plim_words(live->folder)));
        break;
    case PLIM_DUMP_GONE:
        plim_page_more(page, " ended before it dumped", NULL);
        break;
    case PLIM_DUMP_UNFINISHED:
        plim_page_more(page, " is still writing its dump after {}, and goes on",
                       PLIM_FACTS(seconds_of("seconds", dumped->dump.seconds)));
        break;
    case PLIM_DUMP_NO_ANSWER:
    case PLIM_DUMP_DONE:
        say_no_answer(page, dumped);
        break;
    }
}

void plim_dump_page(plim_page *page, const plim_dumped *dumps, size_t count)
{
    const char *first = "";
    for (size_t i = 0; i < count; i++) {
        if (dumps[i].outcome == PLIM_DUMP_DONE) {
            say_done(page, &dumps[i]);
            first = first[0] == '\0' ? dumps[i].snapshot : first;
        } else {
            say_other(page, &dumps[i]);
        }
    }
    if (first[0] != '\0') {
        plim_page_gap(page);
        plim_page_say(page, "dump.next", PLIM_TONE_PLAIN, "look at it with: plimsoll diagnose {}",
                      PLIM_FACTS(plim_words(first)))
            ->layout = PLIM_LAYOUT_COPY;
    }
}
