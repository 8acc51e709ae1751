/*
 * run_holders.c - the objects that hold the memory of the device that ran out, largest first.
 */
#include "report/model/run_parts.h"

#include "base/numbers.h"

/* The share of live bytes from which something is worth a line. */
#define WORTH_SHARE 0.01

static const plim_holders_device *device_of(const plim_ran_page *self)
{
    const plim_ran_dump *const dump = self->ran->main_dump;
    const plim_holders *const holders = self->found->holders;
    const plim_holders_device *most = NULL;
    for (size_t i = 0; holders != NULL && i < plim_holders_device_count(holders); i++) {
        const plim_holders_device *const one = plim_holders_device_at(holders, i);
        if (dump != NULL && dump->has_failure && one->device == dump->failure.subject.device) {
            return one;
        }
        most = most == NULL || one->live_bytes > most->live_bytes ? one : most;
    }
    return most;
}

static void say_row(const plim_ran_page *self, uint64_t bytes, uint64_t tensors, plim_tone tone,
                    const char *text)
{
    plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_bytes("bytes", bytes));
    if (tensors > 0) {
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_count_of("tensors", tensors, "tensor"));
    } else {
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_words(""));
    }
    plim_page_cell(self->page, tone, plim_words(text));
}

static const char *text_of(const plim_holder *holder)
{
    return holder->text != NULL   ? holder->text
           : holder->name != NULL ? holder->name
                                  : plim_holder_kind_name(holder->kind);
}

/* Rows of the first holders of a device. Returns the count of others. */
static size_t say_rows(const plim_ran_page *self, const plim_holders_device *device)
{
    const plim_holders *const holders = self->found->holders;
    const uint64_t least = plim_whole(WORTH_SHARE * (double)device->live_bytes);
    size_t shown = 0;
    size_t left = 0;
    for (size_t i = 0; i < plim_holders_count(holders); i++) {
        const plim_holder *const holder = plim_holders_at(holders, i);
        if (holder->device != device->device || holder->kind == PLIM_HOLDER_UNKNOWN) {
            continue;
        }
        if (!self->view->all &&
            (shown == PLIM_RUN_HOLDERS_SHOWN || (shown > 0 && holder->bytes < least))) {
            left++;
            continue;
        }
        say_row(self, holder->bytes, holder->tensors, PLIM_TONE_USER, text_of(holder));
        shown++;
    }
    return left;
}

static void say_rest(const plim_ran_page *self, const plim_holders_device *device)
{
    const uint64_t known = device->held_bytes + device->graph_bytes + device->engine_bytes;
    const uint64_t rest = known >= device->held_bytes ? plim_minus(device->live_bytes, known) : 0;
    if ((double)rest > WORTH_SHARE * (double)device->live_bytes) {
        say_row(self, rest, 0, PLIM_TONE_FAINT, "no Python object that was found");
    }
}

static void say_notes(const plim_ran_page *self, const plim_holders_device *device)
{
    const plim_holders_facts *const facts = plim_holders_facts_of(self->found->holders);
    if ((double)facts->garbage.bytes > WORTH_SHARE * (double)device->live_bytes) {
        plim_page_note(self->page, "garbage", PLIM_TONE_PLAIN,
                       "{} wait for Python's collector: gc.collect() would give them back.",
                       PLIM_FACTS(plim_bytes("garbage_bytes", facts->garbage.bytes)));
    }
    if (!facts->is_complete) {
        plim_page_warn(
            self->page, "incomplete", "The search for holders ended early{}{}.",
            PLIM_FACTS(plim_words(facts->why_incomplete != NULL ? ": " : ""),
                       plim_words(facts->why_incomplete != NULL ? facts->why_incomplete : "")));
    }
}

void plim_run_holders(const plim_ran_page *self)
{
    static const plim_column columns[] = {
        { "bytes", PLIM_ALIGN_RIGHT, 0, 9 },
        { "tensors", PLIM_ALIGN_RIGHT, 1, 0 },
        { "held by", PLIM_ALIGN_REST, 0, 0 },
    };
    const plim_holders_device *const device = device_of(self);
    if (device == NULL || device->live_bytes == 0) {
        return;
    }
    plim_page_heading(self->page, "What held the {} that were allocated",
                      PLIM_FACTS(plim_bytes("live_bytes", device->live_bytes)));
    plim_page_table(self->page, "holders", columns, sizeof columns / sizeof columns[0])
        ->table.hides_titles = true;
    const size_t left = say_rows(self, device);
    say_rest(self, device);
    if (left > 0 && !self->view->all) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} more: --all shows them)",
                       PLIM_FACTS(plim_count("holders_left_out", left)));
    }
    say_notes(self, device);
}
