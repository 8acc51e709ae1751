/*
 * values.c - the table of values. See values.h.
 */
#include "advice/values.h"

#include "base/hash.h" /* plim_uint128 */
#include "base/numbers.h"
#include "base/size.h"
#include "base/units.h"

#include <inttypes.h>
#include <string.h>

/* A rank of the same job that only has a context on the device holds less. */
#define SMALL_PROCESS_BYTES (2 * GIB)

typedef uint64_t fix_value_of(const plim_failed_request *request, const plim_judgement *judgement);

static uint64_t figure(const plim_failed_request *request, plim_figure_id id)
{
    return request->figures[id].bytes;
}

/* part / whole in hundredths, rounded up or down; unknown when either is, or whole is 0. */
static uint64_t percent(uint64_t part, uint64_t whole, bool up)
{
    if (part == PLIM_BYTES_UNKNOWN || whole == PLIM_BYTES_UNKNOWN || whole == 0) {
        return PLIM_FIX_VALUE_UNKNOWN;
    }
    const plim_uint128 hundredfold = (plim_uint128)part * 100 + (up ? whole - 1 : 0);
    const plim_uint128 result = hundredfold / whole;
    return result > UINT64_MAX ? PLIM_FIX_VALUE_UNKNOWN : (uint64_t)result;
}

/* Unknown unless it is from 1 to `max`. */
static uint64_t within(uint64_t value, uint64_t max)
{
    return value > 0 && value <= max ? value : PLIM_FIX_VALUE_UNKNOWN;
}

static uint64_t held(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)request;
    return judgement->held_bytes;
}

static uint64_t unused(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)request;
    return judgement->gap_bytes;
}

static uint64_t outside(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)request;
    return judgement->outside_bytes;
}

static uint64_t missing(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)request;
    return judgement->short_bytes;
}

static uint64_t bound(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)judgement; /* unknown is the largest */
    return plim_min(figure(request, PLIM_FIGURE_LIMIT), figure(request, PLIM_FIGURE_TOTAL));
}

/* --- the whole program, by a rehearsal --- */

static uint64_t need(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)judgement;
    return request->need_bytes > 0 ? request->need_bytes : PLIM_FIX_VALUE_UNKNOWN;
}

static uint64_t need_kept(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)judgement;
    return request->need_kept_bytes > 0 ? request->need_kept_bytes : PLIM_FIX_VALUE_UNKNOWN;
}

/* --- other processes --- */

static uint64_t other(const plim_failed_request *request, const plim_judgement *judgement)
{
    const plim_process_figure *const process = plim_largest_other(request, judgement);
    return process == NULL ? PLIM_FIX_VALUE_UNKNOWN : process->bytes;
}

static uint64_t other_pid(const plim_failed_request *request, const plim_judgement *judgement)
{
    const plim_process_figure *const process = plim_largest_other(request, judgement);
    return process == NULL ? PLIM_FIX_VALUE_UNKNOWN : process->pid;
}

static uint64_t small_processes(const plim_failed_request *request, const plim_judgement *judgement)
{
    uint64_t count = 0;
    for (size_t i = 0; i < request->process_count; i++) {
        const plim_process_figure *const process = &request->processes[i];
        const bool is_this = process->is_this || i == judgement->this_process;
        count += !is_this && process->bytes < SMALL_PROCESS_BYTES ? 1 : 0;
    }
    return count;
}

/* The neighbour of the device that failed: the first one is what most programs try. */
static uint64_t other_device(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)judgement;
    return request->subject.device <= 0 ? 1 : 0;
}

/* --- settings --- */

/*
 * PyTorch does not split blocks of this size or more for smaller requests. At or below the
 * request, so that the request finds such a block whole; a power of two, as users choose.
 */
static uint64_t split_mib(const plim_failed_request *request, const plim_judgement *judgement)
{
    const uint64_t requested = figure(request, PLIM_FIGURE_REQUESTED);
    uint64_t limit_mib = 32; /* below 20 MiB it is refused */
    (void)judgement;
    while (limit_mib < 512 && limit_mib * 2 * MIB <= requested) {
        limit_mib *= 2;
    }
    return requested == PLIM_BYTES_UNKNOWN ? 128 : limit_mib;
}

/* Whole MiB that a pool needs at least. Live bytes count where the pool's own size is unknown. */
static uint64_t pool_mib(const plim_failed_request *request, const plim_judgement *judgement)
{
    uint64_t needed = plim_needed_bytes(request, judgement);
    if (needed == PLIM_BYTES_UNKNOWN) {
        needed = plim_known_sum(figure(request, PLIM_FIGURE_ALLOCATED),
                                figure(request, PLIM_FIGURE_REQUESTED));
    }
    const bool fits = needed != PLIM_BYTES_UNKNOWN && needed < PLIM_BYTES_UNKNOWN - MIB &&
                      needed <= figure(request, PLIM_FIGURE_TOTAL);
    return fits && needed > 0 ? (needed + MIB - 1) / MIB : PLIM_FIX_VALUE_UNKNOWN;
}

static uint64_t pool_bytes(const plim_failed_request *request, const plim_judgement *judgement)
{
    const uint64_t mib = pool_mib(request, judgement);
    return mib == PLIM_FIX_VALUE_UNKNOWN ? mib : mib * MIB;
}

static uint64_t free_share(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)judgement;
    return within(
        percent(figure(request, PLIM_FIGURE_FREE), figure(request, PLIM_FIGURE_TOTAL), false), 100);
}

/* The share of the requested length that fits the KV cache, as the server estimates it. */
static uint64_t cache_percent(const plim_failed_request *request, const plim_judgement *judgement)
{
    (void)judgement;
    return within(
        percent(figure(request, PLIM_FIGURE_LIMIT), figure(request, PLIM_FIGURE_REQUESTED), false),
        99);
}

/* One percent more than what would have let the request pass: figures are rounded. */
static uint64_t fraction(const plim_failed_request *request, const plim_judgement *judgement)
{
    const uint64_t least =
        percent(plim_needed_bytes(request, judgement), figure(request, PLIM_FIGURE_TOTAL), true);
    return least == 0 || least >= 99 ? 100 : least + 1;
}

/* --- the table --- */

typedef enum fix_value_form {
    FIX_VALUE_BYTES,
    FIX_VALUE_NUMBER,
    FIX_VALUE_SHARE, /* in hundredths */
} fix_value_form;

static const struct {
    const char *name;
    fix_value_form form;
    fix_value_of *of;
} values[] = {
    { "held", FIX_VALUE_BYTES, held },
    { "needed", FIX_VALUE_BYTES, plim_needed_bytes },
    { "unused", FIX_VALUE_BYTES, unused },
    { "outside", FIX_VALUE_BYTES, outside },
    { "missing", FIX_VALUE_BYTES, missing },
    { "bound", FIX_VALUE_BYTES, bound },
    { "need", FIX_VALUE_BYTES, need },
    { "need_kept", FIX_VALUE_BYTES, need_kept },
    { "other", FIX_VALUE_BYTES, other },
    { "other_pid", FIX_VALUE_NUMBER, other_pid },
    { "other_device", FIX_VALUE_NUMBER, other_device },
    { "small_processes", FIX_VALUE_NUMBER, small_processes },
    { "split_mib", FIX_VALUE_NUMBER, split_mib },
    { "pool_mib", FIX_VALUE_NUMBER, pool_mib },
    { "pool_bytes", FIX_VALUE_NUMBER, pool_bytes },
    { "cache_percent", FIX_VALUE_NUMBER, cache_percent },
    { "free_share", FIX_VALUE_SHARE, free_share },
    { "fraction", FIX_VALUE_SHARE, fraction },
};

#define VALUE_COUNT (sizeof values / sizeof values[0])

/* Values of the table come first, then the figures. */
size_t plim_fix_value_find(const char *name, size_t bytes)
{
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        if (strlen(values[i].name) == bytes && memcmp(values[i].name, name, bytes) == 0) {
            return i;
        }
    }
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        const char *const figure_name = plim_figure_name((plim_figure_id)i);
        if (strncmp(figure_name, name, bytes) == 0 && strcmp(figure_name + bytes, "_bytes") == 0) {
            return VALUE_COUNT + i;
        }
    }
    return PLIM_FIX_VALUE_NONE;
}

uint64_t plim_fix_value_of(size_t value, const plim_failed_request *request,
                           const plim_judgement *judgement)
{
    return value < VALUE_COUNT ? values[value].of(request, judgement)
                               : figure(request, (plim_figure_id)(value - VALUE_COUNT));
}

void plim_fix_value_write(plim_text *out, size_t value, uint64_t amount)
{
    switch (value < VALUE_COUNT ? values[value].form : FIX_VALUE_BYTES) {
    case FIX_VALUE_BYTES:
        plim_text_append_string(out, plim_format_bytes(amount).text);
        break;
    case FIX_VALUE_NUMBER:
        plim_text_append_format(out, "%" PRIu64, amount);
        break;
    case FIX_VALUE_SHARE:
        plim_text_append_format(out, "%" PRIu64 ".%02" PRIu64, amount / 100, amount % 100);
        break;
    }
}
