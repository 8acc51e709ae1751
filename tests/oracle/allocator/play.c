/* play.c - one operation after the other. See play.h. */
#include "play.h"

#include "text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 65536
#define TRACE_MAX  65536

static plim_addr addrs[BLOCKS_MAX]; /* of blocks by their name, kept when they are freed */
static play_entry trace[TRACE_MAX];
static size_t trace_count;
static bool is_tracing;    /* the operation is `trace` */
static bool is_in_segment; /* of a snapshot: its line is open */

static plim_addr addr_of(uint64_t block)
{
    return block < BLOCKS_MAX ? addrs[block] : 0;
}

void play_call(const plim_device_record *record)
{
    text_call_begin(record);
}

void play_observed(int32_t device, uint64_t asked_bytes, uint64_t limit_bytes, uint64_t free_bytes)
{
    text_calls_write();
    (void)printf("observed %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", device, asked_bytes,
                 limit_bytes, free_bytes);
}

static void end_segment(void)
{
    if (is_in_segment) {
        (void)printf("\n");
    }
    is_in_segment = false;
}

/* The operation whose stack something has. */
static void write_line(uint32_t line)
{
    if (line > 0) {
        (void)printf("@%" PRIu32, line);
    }
}

void play_snapshot_segment(const play_segment *segment)
{
    end_segment();
    (void)printf("segment ");
    text_addr(segment->addr);
    (void)printf(" %" PRIu64 " %" PRIu64 " %s%s", segment->bytes, segment->stream,
                 segment->is_large ? "large" : "small",
                 segment->is_expandable ? " expandable" : "");
    if (segment->pool.a != 0 || segment->pool.b != 0) {
        (void)printf(" %" PRIu64 ".%" PRIu64, segment->pool.a, segment->pool.b);
    }
    write_line(segment->line);
    (void)printf(":");
    is_in_segment = true;
}

void play_snapshot_block(const play_block *block)
{
    if (block->state == PLIM_BLOCK_INACTIVE) {
        (void)printf(" %" PRIu64 "i", block->bytes); /* what was requested of it before is stale */
    } else {
        (void)printf(" %" PRIu64 "%c%" PRIu64, block->bytes,
                     block->state == PLIM_BLOCK_ACTIVE_ALLOCATED ? 'a' : 'p',
                     block->requested_bytes);
    }
    write_line(block->line);
}

void play_event(const play_entry *entry)
{
    if (trace_count == TRACE_MAX) {
        abort();
    }
    trace[trace_count++] = *entry;
}

void play_told(const play_entry *entry)
{
    if (!is_tracing && entry->action != PLIM_SNAPSHOT) {
        play_event(entry);
    }
}

static int compare_entries(const void *left, const void *right)
{
    const play_entry *const a = left;
    const play_entry *const b = right;
    return a->addr != b->addr ? (a->addr < b->addr ? -1 : 1) : 0;
}

/* Which order says nothing: 1 frees that complete together for several streams, 2 what several
 * pools give back in one go; 0: the order counts. */
static int family_of(const play_entry *entry, const script_setup *setup)
{
    if (entry->action == PLIM_FREE_COMPLETED) {
        return 1;
    }
    const bool is_release =
        entry->action == PLIM_SEGMENT_FREE || entry->action == PLIM_SEGMENT_UNMAP;
    return is_release && setup->has_any_release_order ? 2 : 0;
}

/* From an entry on, the end of those whose order says nothing; at least one. */
static size_t end_of_run(size_t from, const script_setup *setup)
{
    const int family = family_of(&trace[from], setup);
    size_t end = from + 1;
    while (family != 0 && end < trace_count && trace[end].device == trace[from].device &&
           family_of(&trace[end], setup) == family) {
        end++;
    }
    return end;
}

static void write_entry(const play_entry *e)
{
    static const char *const names[] = {
#define PLAY_ACTION(code, name) [code] = (name),
        PLIM_ACTION_LIST(PLAY_ACTION)
#undef PLAY_ACTION
    };
    (void)printf("event %d %s ", e->device, names[e->action]);
    if (e->action == PLIM_OOM) {
        (void)printf("%" PRIu64, e->addr);
    } else {
        text_addr(e->addr);
    }
    (void)printf(" %" PRIu64 " %" PRIu64, e->bytes, e->stream);
    write_line(e->line);
    (void)printf("\n");
}

static void write_trace(const script_setup *setup)
{
    for (size_t i = 0; i < trace_count;) {
        const size_t end = end_of_run(i, setup);
        /* A ring may begin in the middle of such a run: which of them are left is open too. */
        const bool is_first = i == 0 || trace[i - 1].device != trace[i].device;
        const bool is_cut = is_tracing && is_first && setup->has_any_completion_order &&
                            family_of(&trace[i], setup) != 0;
        qsort(&trace[i], end - i, sizeof(*trace), compare_entries);
        for (; i < end; i++) {
            if (is_cut) {
                (void)printf("event %d ?\n", trace[i].device);
            } else {
                write_entry(&trace[i]);
            }
        }
    }
    trace_count = 0;
}

static void write_answer(const play_answer *answer)
{
    switch (answer->verdict) {
    case PLAY_OK:
        (void)printf("=");
        if (answer->has_addr) {
            text_addr(answer->addr);
        }
        if (answer->has_number) {
            (void)printf(" %" PRIu64, answer->number);
        }
        if (answer->has_fraction) {
            (void)printf(" %.9g", answer->fraction);
        }
        (void)printf("\n");
        break;
    case PLAY_OOM:
        (void)printf("!oom %s\n", answer->text);
        break;
    case PLAY_REFUSED:
        (void)printf("# %s\n!refused\n", answer->text);
        break;
    case PLAY_BROKEN:
        (void)printf("# %s\n!broken\n", answer->text);
        break;
    }
}

/* Fills in what the script leaves to the player. */
static void complete(script_op *op, int32_t current)
{
    if (op->device < 0) {
        op->device = current;
    }
    op->addr = addr_of(op->block);
    for (size_t i = 0; i < op->block_count; i++) {
        op->addrs[i] = addr_of(op->blocks[i]);
    }
}

void play(const char *path, const play_subject *subject)
{
    static script_op op;
    static play_answer answer;
    static char out[1 << 20];
    script_setup setup;
    plim_device_stats stats;
    int32_t current = 0;
    uint64_t count = 0; /* of operations */

    (void)setvbuf(stdout, out, _IOFBF, sizeof(out));
    script *const s = script_open(path, &setup);
    if (setup.has_any_release_order) {
        text_any_release_order();
    }
    if (setup.has_any_completion_order) {
        text_any_completion_order();
    }
    subject->start(&setup);
    while (script_next(s, &op)) {
        complete(&op, current);
        if (op.kind == OP_DEVICE) {
            current = op.device;
        }
        is_tracing = op.kind == OP_TRACE;
        memset(&answer, 0, offsetof(play_answer, text) + 1);
        if (op.kind != OP_RECORD_STREAM || op.addr != 0) { /* the request for it had failed */
            subject->perform(&op, &answer);
        }
        if (op.kind == OP_MALLOC && op.block < BLOCKS_MAX) {
            addrs[op.block] = answer.verdict == PLAY_OK ? answer.addr : 0;
        }
        text_calls_write();
        end_segment();
        write_trace(&setup);
        count++;
        for (int32_t i = 0; count % setup.stats_every == 0 && i < setup.device_count; i++) {
            subject->stats(i, &stats);
            text_stats(i, &stats);
        }
        write_answer(&answer);
    }
    for (int32_t i = 0; i < setup.device_count; i++) {
        subject->stats(i, &stats);
        text_stats_all(i, &stats);
    }
    script_close(s);
    (void)fflush(stdout);
    subject->finish();
}
