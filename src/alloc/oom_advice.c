/*
 * oom_advice.c - what would have satisfied a request that found no memory.
 *
 * One paragraph of three to six sentences, from figures alone: what was needed and what there
 * was; then the steps that would have been enough, at most two; or, if no step is, the largest
 * steps that fall short, and by how much everything together does. A step is a row of a table: it
 * judges itself, and writes its sentence. Nothing is advised that the figures do not carry:
 * figures that contradict each other are cut down to what is certain first.
 */
#include "plimsoll/stats.h"

#include "base/fixed_text.h"
#include "base/hash.h" /* plim_uint128 */
#include "base/numbers.h"
#include "base/size.h"
#include "base/total.h"
#include "base/units.h"
#include "settings/rounding.h"

#define STEPS_MAX 2 /* that are told of */

/* What is held outside the allocator is told from this share of the device on: below, it is what
 * a context takes. */
#define OUTSIDE_SHARE 10

/* --- the figures, cut down to what is certain --- */

typedef struct oom_case {
    const plim_oom_facts *facts;
    uint64_t range_bytes;  /* one free range of so much would have served the request, */
    uint64_t driver_bytes; /* or so much new memory: a segment, or whole pages, */
    bool has_pages;        /* which it is */
    uint64_t device_free_bytes;
    uint64_t cached_bytes; /* reserved and not allocated */
    uint64_t own_bytes;    /* of it, where the request may take from; */
    uint64_t hole_bytes;   /* the largest range there */
    uint64_t releasable_bytes;
    uint64_t pending_bytes;
    uint64_t pinned_bytes;
    uint64_t foreign_bytes; /* cached for other streams */
    uint64_t private_bytes; /* cached in private pools that are not the request's */
    uint64_t
        joined_bytes; /* what expandable segments would give back; 0: unknown, or they are on */
    uint64_t others_bytes;  /* of other processes, as far as the driver tells which are others */
    uint64_t outside_bytes; /* held by nobody we know */
    bool has_device;        /* the device told what it has */
} oom_case;

/* 0 unless our own process is in the list too: in a container it goes by another number, and
 * would be taken for somebody else. */
static uint64_t bytes_of_others(const plim_oom_facts *facts)
{
    const size_t count = plim_min(facts->process_count, PLIM_OOM_PROCESSES_MAX);
    uint64_t sum = 0;
    bool has_own = false;
    for (size_t i = 0; i < count; i++) {
        const plim_device_process *const process = &facts->processes[i];
        if (process->pid == facts->pid) {
            has_own = true;
        } else if (process->used_bytes != PLIM_USED_UNKNOWN) {
            sum = plim_plus(sum, process->used_bytes);
        }
    }
    return has_own ? sum : 0;
}

/* Expandable segments map whole pages, as large as segments are by default. */
static uint64_t whole_pages(const plim_oom_facts *facts, uint64_t bytes)
{
    const uint64_t usual =
        facts->is_small ? PLIM_SMALL_SEGMENT_BYTES : plim_settings_default().large_segment_bytes;
    const uint64_t page = facts->handle_bytes > 0 ? facts->handle_bytes : usual;
    const uint64_t over = bytes % page;
    return plim_plus(bytes, over > 0 ? page - over : 0);
}

static oom_case case_of(const plim_oom_facts *facts)
{
    const uint64_t total = facts->device_total_bytes;
    const uint64_t reserved = facts->reserved_bytes;
    oom_case oom = { .facts = facts, .has_device = total > 0 };
    oom.range_bytes = plim_max(facts->rounded_bytes, facts->requested_bytes);
    if (oom.range_bytes == 0) {
        oom.range_bytes = facts->segment_bytes;
    }
    oom.has_pages = facts->has_expandable_segments && facts->handle_bytes > 0;
    oom.driver_bytes = oom.has_pages ? whole_pages(facts, oom.range_bytes)
                                     : plim_max(facts->segment_bytes, oom.range_bytes);
    oom.device_free_bytes = plim_min(facts->device_free_bytes, total);
    oom.cached_bytes = plim_minus(reserved, facts->allocated_bytes);
    oom.own_bytes = plim_min(facts->free_own_bytes, oom.cached_bytes);
    oom.hole_bytes = plim_min(facts->largest_hole_bytes, oom.own_bytes);
    oom.releasable_bytes = plim_min(facts->releasable_bytes, oom.cached_bytes);
    oom.pending_bytes = plim_min(facts->pending_bytes, oom.cached_bytes);
    oom.pinned_bytes = plim_min(facts->pinned_by_split_bytes, oom.cached_bytes);
    oom.foreign_bytes = plim_min(facts->free_other_stream_bytes, oom.cached_bytes);
    if (facts->pool.a == 0 && facts->pool.b == 0) {
        oom.private_bytes = plim_min(facts->private_pools_free_bytes, oom.cached_bytes);
    }
    if (!facts->has_expandable_segments &&
        facts->expandable_reserved_bytes >= facts->allocated_bytes) {
        oom.joined_bytes = plim_minus(reserved, facts->expandable_reserved_bytes);
    }
    oom.outside_bytes = plim_minus(plim_minus(total, oom.device_free_bytes), reserved);
    oom.others_bytes = plim_min(bytes_of_others(facts), plim_minus(total, oom.device_free_bytes));
    return oom;
}

static uint64_t live_bytes(const oom_case *oom)
{
    return oom->facts->reserved_bytes - oom->cached_bytes;
}

/* The most that may be reserved beside what stays when `gained` bytes have gone back. */
static uint64_t room_with(const oom_case *oom, uint64_t gained)
{
    const uint64_t free_bytes =
        plim_min(plim_plus(oom->device_free_bytes, gained), oom->facts->device_total_bytes);
    const uint64_t stays = plim_minus(oom->facts->reserved_bytes, gained);
    return plim_min(free_bytes, plim_minus(oom->facts->allowed_bytes, stays));
}

/* --- sentences --- */

/* The next number above that three digits can say: what is "at least" must not be rounded down. */
static uint64_t rounded_up(uint64_t bytes)
{
    uint64_t unit = 1;
    while (bytes / unit >= 1024) {
        unit <<= 10;
    }
    if (unit == 1) {
        return bytes;
    }
    uint64_t parts = 100; /* of a unit, that three digits tell apart */
    for (uint64_t whole = bytes / unit; whole >= 10 && parts > 1; whole /= 10) {
        parts /= 10;
    }
    const plim_uint128 count = ((plim_uint128)bytes * parts + unit - 1) / unit;
    const plim_uint128 result = (count * unit + parts - 1) / parts;
    return plim_total_bytes(result);
}

static plim_short_text amount_of(uint64_t bytes)
{
    const plim_short_text nothing = { "nothing" };
    return bytes > 0 ? plim_format_bytes(bytes) : nothing;
}

static void put_need(plim_fixed_text *out, const oom_case *oom)
{
    plim_fixed_text_put(out, "The request needs one free range of %s",
                        plim_format_bytes(oom->range_bytes).text);
    if (oom->driver_bytes > oom->range_bytes) {
        plim_fixed_text_put(out, oom->has_pages ? " or %s of new pages" : " or a new segment of %s",
                            plim_format_bytes(oom->driver_bytes).text);
    }
    if (oom->has_device) {
        plim_fixed_text_put(out, "; the device has %s left",
                            amount_of(oom->device_free_bytes).text);
    }
    plim_fixed_text_put(out, ".");
    if (oom->facts->is_rejection) {
        plim_fixed_text_put(out,
                            " It was refused without asking the device (throw_on_cudamalloc_oom).");
    }
}

static void put_cached(plim_fixed_text *out, const oom_case *oom)
{
    if (oom->hole_bytes == 0) {
        plim_fixed_text_put(out, " Nothing is free in its pool and stream.");
    } else if (oom->hole_bytes >= oom->range_bytes) {
        plim_fixed_text_put(
            out,
            " A free range of %s is large enough, but settings such as max_split_size_mb may keep "
            "it for other sizes.",
            plim_format_bytes(oom->hole_bytes).text);
    } else {
        plim_fixed_text_put(out, " Its pool and stream have %s free, but the largest range is %s.",
                            plim_format_bytes(oom->own_bytes).text,
                            plim_format_bytes(oom->hole_bytes).text);
    }
    if (oom->pinned_bytes > 0 && !oom->facts->is_rejection) {
        plim_fixed_text_put(
            out, " In all, %s is free in segments that are partly used and cannot go back.",
            plim_format_bytes(oom->pinned_bytes).text);
    }
}

/* --- steps --- */

/* What a step would have done. */
typedef enum step_effect {
    EFFECT_NONE, /* there is nothing of the kind */
    EFFECT_TOO_LITTLE,
    EFFECT_PERHAPS,
    EFFECT_ENOUGH,
} step_effect;

static step_effect judge_asking(const oom_case *oom)
{
    if (!oom->has_device || room_with(oom, 0) < oom->driver_bytes) {
        return EFFECT_NONE;
    }
    return oom->facts->is_rejection ? EFFECT_ENOUGH : EFFECT_PERHAPS;
}

static void say_asking(plim_fixed_text *out, const oom_case *oom, step_effect effect)
{
    if (effect == EFFECT_ENOUGH) {
        plim_fixed_text_put(
            out, " Without that setting the device would have been asked, and it has enough.");
    } else {
        plim_fixed_text_put(
            out, " The device has enough and refused all the same: others may have held it for a "
                 "moment, and a second try may do.");
    }
    (void)oom;
}

/* The limit alone is in the way: the device has the memory. */
static step_effect judge_limit(const oom_case *oom)
{
    const plim_oom_facts *const facts = oom->facts;
    const uint64_t needed = plim_plus(facts->reserved_bytes, oom->driver_bytes);
    const bool helps = needed > facts->allowed_bytes && needed <= facts->device_total_bytes &&
                       oom->device_free_bytes >= oom->driver_bytes;
    return helps ? EFFECT_ENOUGH : EFFECT_NONE;
}

static void say_limit(plim_fixed_text *out, const oom_case *oom, step_effect effect)
{
    const plim_oom_facts *const facts = oom->facts;
    const uint64_t needed = rounded_up(plim_plus(facts->reserved_bytes, oom->driver_bytes));
    plim_fixed_text_put(
        out,
        " Only the limit of this process, %s, is in the way: at %s or more the request would "
        "have fit.",
        plim_format_bytes(facts->allowed_bytes).text,
        plim_format_bytes(plim_min(needed, facts->device_total_bytes)).text);
    (void)effect;
}

static step_effect judge_release(const oom_case *oom)
{
    if (oom->releasable_bytes == 0) {
        return EFFECT_NONE;
    }
    const uint64_t room = oom->has_device ? room_with(oom, oom->releasable_bytes) : 0;
    if (room >= oom->driver_bytes) {
        return EFFECT_ENOUGH;
    }
    /* Pages may be joined to a free range that ends where they begin: nobody knows. */
    const bool may_join = oom->has_pages && plim_plus(room, oom->hole_bytes) >= oom->driver_bytes;
    return may_join ? EFFECT_NONE : EFFECT_TOO_LITTLE;
}

static void say_release(plim_fixed_text *out, const oom_case *oom, step_effect effect)
{
    plim_fixed_text_put(out, " Wholly free segments hold %s; releasing them (empty_cache) %s.",
                        plim_format_bytes(oom->releasable_bytes).text,
                        effect == EFFECT_ENOUGH ? "would have made room"
                                                : "would not have been enough");
}

/* Where the blocks lie, and whether they join, is not known: perhaps. */
static step_effect judge_waiting(const oom_case *oom)
{
    if (oom->pending_bytes == 0) {
        return EFFECT_NONE;
    }
    const uint64_t with_own = plim_plus(oom->own_bytes, oom->pending_bytes);
    const bool fits = oom->has_device && room_with(oom, oom->pending_bytes) >= oom->driver_bytes;
    return with_own >= oom->range_bytes || fits ? EFFECT_PERHAPS : EFFECT_TOO_LITTLE;
}

static void say_waiting(plim_fixed_text *out, const oom_case *oom, step_effect effect)
{
    plim_fixed_text_put(
        out, " Freed blocks of %s wait for other streams: a synchronize would free them, which %s.",
        plim_format_bytes(oom->pending_bytes).text,
        effect == EFFECT_PERHAPS ? "may be enough" : "is not enough");
}

/* Whether the range is of the request's size class is not known: perhaps. */
static step_effect judge_elsewhere(const oom_case *oom)
{
    const uint64_t hole = plim_min(oom->facts->largest_hole_anywhere_bytes, oom->cached_bytes);
    if (hole >= oom->range_bytes && oom->hole_bytes < oom->range_bytes) {
        return EFFECT_PERHAPS;
    }
    return oom->foreign_bytes > 0 || oom->private_bytes > 0 ? EFFECT_TOO_LITTLE : EFFECT_NONE;
}

static void say_elsewhere(plim_fixed_text *out, const oom_case *oom, step_effect effect)
{
    if (effect == EFFECT_PERHAPS) {
        plim_fixed_text_put(
            out,
            " Another stream or pool has a free range of %s: allocated there, the request may have "
            "fit.",
            plim_format_bytes(plim_min(oom->facts->largest_hole_anywhere_bytes, oom->cached_bytes))
                .text);
        return;
    }
    plim_fixed_text_put(out, " Free but not for this request is");
    if (oom->foreign_bytes > 0) {
        plim_fixed_text_put(out, " %s of other streams",
                            plim_format_bytes(oom->foreign_bytes).text);
    }
    if (oom->private_bytes > 0) {
        plim_fixed_text_put(out, "%s %s in private pools", oom->foreign_bytes > 0 ? " and" : "",
                            plim_format_bytes(oom->private_bytes).text);
    }
    plim_fixed_text_put(out, ".");
}

static step_effect judge_expandable(const oom_case *oom)
{
    if (oom->joined_bytes == 0 || !oom->has_device) {
        return EFFECT_NONE;
    }
    const uint64_t needed = whole_pages(oom->facts, oom->range_bytes);
    return room_with(oom, oom->joined_bytes) >= needed ? EFFECT_ENOUGH : EFFECT_TOO_LITTLE;
}

static void say_expandable(plim_fixed_text *out, const oom_case *oom, step_effect effect)
{
    plim_fixed_text_put(
        out,
        " With expandable_segments:True what is live would keep %s reserved and leave %s for "
        "one range: %s.",
        amount_of(oom->facts->expandable_reserved_bytes).text,
        amount_of(room_with(oom, oom->joined_bytes)).text,
        effect == EFFECT_ENOUGH ? "the request would have fit" : "not enough either");
}

static step_effect judge_others(const oom_case *oom)
{
    const uint64_t limit_room = plim_minus(oom->facts->allowed_bytes, oom->facts->reserved_bytes);
    const uint64_t without = plim_plus(oom->device_free_bytes, oom->others_bytes);
    if (oom->others_bytes > 0) {
        return plim_min(without, limit_room) >= oom->driver_bytes ? EFFECT_ENOUGH
                                                                  : EFFECT_TOO_LITTLE;
    }
    const bool is_much = oom->outside_bytes > oom->facts->device_total_bytes / OUTSIDE_SHARE;
    return is_much ? EFFECT_TOO_LITTLE : EFFECT_NONE;
}

static void say_others(plim_fixed_text *out, const oom_case *oom, step_effect effect)
{
    if (oom->others_bytes == 0) {
        plim_fixed_text_put(
            out,
            " Outside this allocator %s of the device is taken: contexts, libraries, perhaps "
            "other processes.",
            plim_format_bytes(oom->outside_bytes).text);
    } else {
        plim_fixed_text_put(out, " Other processes hold %s of the device%s.",
                            plim_format_bytes(oom->others_bytes).text,
                            effect == EFFECT_ENOUGH ? "; without them the request would have fit"
                                                    : "");
    }
}

typedef struct oom_step {
    step_effect (*judge)(const oom_case *oom);
    void (*say)(plim_fixed_text *out, const oom_case *oom, step_effect effect);
} oom_step;

/* The cheapest first. */
static const oom_step steps[] = {
    { judge_asking, say_asking },       { judge_limit, say_limit },
    { judge_release, say_release },     { judge_waiting, say_waiting },
    { judge_elsewhere, say_elsewhere }, { judge_expandable, say_expandable },
    { judge_others, say_others },
};

/* Says up to STEPS_MAX steps of at least one effect and at most another. returns how many */
static size_t put_steps(plim_fixed_text *out, const oom_case *oom, step_effect least,
                        step_effect most)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && count < STEPS_MAX; i++) {
        const step_effect effect = steps[i].judge(oom);
        if (effect >= least && effect <= most) {
            steps[i].say(out, oom, effect);
            count++;
        }
    }
    return count;
}

/* No step is enough: what everything together does. */
static void put_shortfall(plim_fixed_text *out, const oom_case *oom)
{
    const uint64_t limit_bytes = oom->facts->allowed_bytes;
    const uint64_t all = room_with(oom, oom->cached_bytes);
    if (!oom->has_device || oom->hole_bytes >= oom->range_bytes) {
        return;
    }
    if (oom->has_pages && room_with(oom, 0) >= oom->range_bytes) {
        plim_fixed_text_put(out,
                            " What the device has left would hold the request, but memory is "
                            "mapped in whole pages of %s.",
                            plim_format_bytes(oom->facts->handle_bytes).text);
        return;
    }
    if (all >= oom->range_bytes) {
        plim_fixed_text_put(out,
                            " All that is free, %s, would hold the request, but not in one place "
                            "that it may take.",
                            plim_format_bytes(all).text);
        return;
    }
    plim_fixed_text_put(out, " Even with all that is cached");
    if (limit_bytes < oom->facts->device_total_bytes &&
        all == plim_minus(limit_bytes, live_bytes(oom))) {
        plim_fixed_text_put(out, ", under the limit of %s,", plim_format_bytes(limit_bytes).text);
    }
    plim_fixed_text_put(out, " the request is %s short: so much less has to be live.",
                        plim_format_bytes(rounded_up(oom->range_bytes - all)).text);
}

size_t plim_oom_advice(const plim_oom_facts *facts, char *text, size_t bytes)
{
    const oom_case oom = case_of(facts);
    plim_fixed_text out = plim_fixed_text_begin(text, bytes);
    if (oom.range_bytes == 0) {
        plim_fixed_text_put(&out, "Nothing is known of the request that failed.");
        return out.length;
    }
    put_need(&out, &oom);
    if (oom.has_device && oom.range_bytes > facts->device_total_bytes) {
        plim_fixed_text_put(
            &out, " That is more than the whole device, %s: only a smaller request can succeed.",
            plim_format_bytes(facts->device_total_bytes).text);
        return out.length;
    }
    put_cached(&out, &oom);
    if (put_steps(&out, &oom, EFFECT_PERHAPS, EFFECT_ENOUGH) == 0) {
        (void)put_steps(&out, &oom, EFFECT_TOO_LITTLE, EFFECT_TOO_LITTLE);
        put_shortfall(&out, &oom);
    }
    return out.length;
}
