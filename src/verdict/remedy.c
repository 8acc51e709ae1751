/*
 * remedy.c - what would have satisfied a request that found no memory.
 *
 * One paragraph of one to five sentences, from figures alone: what was needed and what there
 * was; then the steps that would have been enough, at most two; or, if no step is, the largest
 * steps that fall short, and by how much everything together does. A step is a row of a table: it
 * judges itself, and writes its sentence. Nothing is advised that the figures do not carry:
 * figures that contradict each other are cut down to what is certain first, and what is said of
 * an unknown figure is left out.
 */
#include "base/fixed_text.h"
#include "base/hash.h" /* plim_uint128 */
#include "base/numbers.h"
#include "base/size.h"
#include "base/total.h"
#include "verdict/request.h"

#define REMEDIES_MAX 2 /* that are shown */

/* Memory outside the allocator is named from this share of the device on: a context takes less. */
#define OUTSIDE_SHARE 10

/* --- the figures, cut down to what is certain --- */

typedef struct remedy {
    uint64_t range_bytes;  /* one free range of so much would have served the request, */
    uint64_t driver_bytes; /* or so much new memory: a segment, or whole pages, */
    bool has_pages;        /* which it is */
    bool is_rejected;
    bool has_device; /* the device reported what it has */
    bool has_pool;   /* it is known what is free where the request may take from */
    uint64_t total_bytes;
    uint64_t limit_bytes; /* or the highest number */
    uint64_t reserved_bytes;
    uint64_t page_bytes;
    uint64_t device_free_bytes;
    uint64_t cached_bytes; /* reserved and not allocated */
    uint64_t own_bytes;    /* of it, where the request may take from; */
    uint64_t hole_bytes;   /* the largest range there, */
    uint64_t hole_anywhere_bytes;
    uint64_t releasable_bytes;
    uint64_t pending_bytes;
    uint64_t pinned_bytes;
    uint64_t foreign_bytes;    /* cached for other streams */
    uint64_t private_bytes;    /* cached in private pools that are not the request's */
    uint64_t expandable_bytes; /* what expandable segments would leave reserved, */
    uint64_t joined_bytes;     /* and give back; 0: unknown, or they are on */
    uint64_t others_bytes;     /* of other processes, as far as it is known which are others */
    uint64_t outside_bytes;    /* held on the device by what is not known here */
} remedy;

/* The figure, or 0 where it is unknown: then nothing is said of it. */
static uint64_t known_or_0(const plim_failed_request *request, plim_figure_id id)
{
    return plim_request_has(request, id) ? request->figures[id].bytes : 0;
}

/* 0 unless our own process is known too: in a container it goes by another number, and would be
 * taken for another. */
static uint64_t bytes_of_others(const plim_failed_request *request)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < request->process_count; i++) {
        const plim_process_figure *const process = &request->processes[i];
        if (!process->is_this && process->bytes != PLIM_BYTES_UNKNOWN) {
            sum = plim_plus(sum, process->bytes);
        }
    }
    return plim_request_has(request, PLIM_FIGURE_PROCESS) ? sum : 0;
}

/* Expandable segments map whole pages. */
static uint64_t whole_pages(uint64_t page, uint64_t bytes)
{
    const uint64_t over = page > 0 ? bytes % page : 0;
    return plim_plus(bytes, over > 0 ? page - over : 0);
}

/* Cached memory, by where it lies. */
static void fill_cached(const plim_failed_request *request, remedy *oom)
{
    const uint64_t private_bytes = known_or_0(request, PLIM_FIGURE_PRIVATE_POOLS);
    const uint64_t live = plim_minus(known_or_0(request, PLIM_FIGURE_ALLOCATED),
                                     private_bytes); /* as PyTorch counts */
    const bool is_on =
        (request->in_force & PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_EXPANDABLE_SEGMENTS)) != 0;
    oom->cached_bytes = plim_minus(oom->reserved_bytes, live);
    oom->has_pool = plim_request_has(request, PLIM_FIGURE_POOL_FREE);
    oom->own_bytes = plim_min(known_or_0(request, PLIM_FIGURE_POOL_FREE), oom->cached_bytes);
    oom->hole_bytes = plim_min(known_or_0(request, PLIM_FIGURE_LARGEST_FREE), oom->own_bytes);
    oom->hole_anywhere_bytes =
        plim_min(known_or_0(request, PLIM_FIGURE_LARGEST_FREE_ANYWHERE), oom->cached_bytes);
    oom->releasable_bytes =
        plim_min(known_or_0(request, PLIM_FIGURE_RELEASABLE), oom->cached_bytes);
    oom->pending_bytes = plim_min(known_or_0(request, PLIM_FIGURE_PENDING), oom->cached_bytes);
    oom->pinned_bytes =
        plim_min(known_or_0(request, PLIM_FIGURE_INACTIVE_SPLIT), oom->cached_bytes);
    oom->foreign_bytes =
        plim_min(known_or_0(request, PLIM_FIGURE_OTHER_STREAMS_FREE), oom->cached_bytes);
    oom->private_bytes = request->subject.pool[0] != 0 || request->subject.pool[1] != 0
                             ? 0
                             : plim_min(private_bytes, oom->cached_bytes);
    oom->has_pages = is_on && oom->page_bytes > 0;
    oom->expandable_bytes = known_or_0(request, PLIM_FIGURE_EXPANDABLE_RESERVED);
    if (!is_on && plim_request_has(request, PLIM_FIGURE_EXPANDABLE_RESERVED) &&
        oom->expandable_bytes >= live) {
        oom->joined_bytes = plim_minus(oom->reserved_bytes, oom->expandable_bytes);
    }
}

static remedy remedy_of(const plim_failed_request *request)
{
    remedy oom = {
        .range_bytes = known_or_0(request, PLIM_FIGURE_BLOCK),
        .is_rejected = request->is_rejected,
        .has_device = known_or_0(request, PLIM_FIGURE_TOTAL) > 0,
        .total_bytes = known_or_0(request, PLIM_FIGURE_TOTAL),
        .limit_bytes = request->figures[PLIM_FIGURE_LIMIT].bytes,
        .reserved_bytes = known_or_0(request, PLIM_FIGURE_RESERVED),
        .page_bytes = known_or_0(request, PLIM_FIGURE_PAGE),
    };
    const uint64_t total = oom.total_bytes;
    fill_cached(request, &oom);
    oom.driver_bytes = oom.has_pages
                           ? whole_pages(oom.page_bytes, oom.range_bytes)
                           : plim_max(known_or_0(request, PLIM_FIGURE_REQUESTED), oom.range_bytes);
    oom.device_free_bytes = plim_min(known_or_0(request, PLIM_FIGURE_FREE), total);
    oom.outside_bytes = plim_minus(plim_minus(total, oom.device_free_bytes), oom.reserved_bytes);
    oom.others_bytes = plim_min(bytes_of_others(request), plim_minus(total, oom.device_free_bytes));
    return oom;
}

static uint64_t live_bytes(const remedy *oom)
{
    return oom->reserved_bytes - oom->cached_bytes;
}

/* The most that may be reserved beside what stays when `gained` bytes have gone back. */
static uint64_t room_with(const remedy *oom, uint64_t gained)
{
    const uint64_t free_bytes =
        plim_min(plim_plus(oom->device_free_bytes, gained), oom->total_bytes);
    const uint64_t stays = plim_minus(oom->reserved_bytes, gained);
    return plim_min(free_bytes, plim_minus(oom->limit_bytes, stays));
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
    uint64_t parts = 100; /* of a unit, that three digits distinguish */
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

static void put_need(plim_fixed_text *out, const remedy *oom)
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
    if (oom->is_rejected) {
        plim_fixed_text_put(out,
                            " It was refused without asking the device (throw_on_cudamalloc_oom).");
    }
}

static void put_cached(plim_fixed_text *out, const remedy *oom)
{
    if (!oom->has_pool) {
        ; /* where the free memory lies is not known */
    } else if (oom->hole_bytes == 0) {
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
    if (oom->pinned_bytes > 0 && !oom->is_rejected) {
        plim_fixed_text_put(
            out, " In all, %s is free in segments that are partly used and cannot go back.",
            plim_format_bytes(oom->pinned_bytes).text);
    }
}

/* --- steps --- */

/* The effect that a step would have had. */
typedef enum step_effect {
    EFFECT_NONE, /* there is nothing of the kind */
    EFFECT_TOO_LITTLE,
    EFFECT_PERHAPS,
    EFFECT_ENOUGH,
} step_effect;

static step_effect judge_asking(const remedy *oom)
{
    if (!oom->has_device || room_with(oom, 0) < oom->driver_bytes) {
        return EFFECT_NONE;
    }
    return oom->is_rejected ? EFFECT_ENOUGH : EFFECT_PERHAPS;
}

static void say_asking(plim_fixed_text *out, const remedy *oom, step_effect effect)
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
static step_effect judge_limit(const remedy *oom)
{
    const uint64_t needed = plim_plus(oom->reserved_bytes, oom->driver_bytes);
    const bool helps = needed > oom->limit_bytes && needed <= oom->total_bytes &&
                       oom->device_free_bytes >= oom->driver_bytes;
    return helps ? EFFECT_ENOUGH : EFFECT_NONE;
}

static void say_limit(plim_fixed_text *out, const remedy *oom, step_effect effect)
{
    const uint64_t needed = rounded_up(plim_plus(oom->reserved_bytes, oom->driver_bytes));
    plim_fixed_text_put(
        out,
        " Only the limit of this process, %s, is in the way: at %s or more the request would "
        "have fit.",
        plim_format_bytes(oom->limit_bytes).text,
        plim_format_bytes(plim_min(needed, oom->total_bytes)).text);
    (void)effect;
}

static step_effect judge_release(const remedy *oom)
{
    if (oom->releasable_bytes == 0) {
        return EFFECT_NONE;
    }
    const uint64_t room = oom->has_device ? room_with(oom, oom->releasable_bytes) : 0;
    if (room >= oom->driver_bytes) {
        return EFFECT_ENOUGH;
    }
    /* Pages may be joined to a free range that ends where they begin, which is not known. */
    const bool may_join = oom->has_pages && plim_plus(room, oom->hole_bytes) >= oom->driver_bytes;
    return may_join ? EFFECT_NONE : EFFECT_TOO_LITTLE;
}

static void say_release(plim_fixed_text *out, const remedy *oom, step_effect effect)
{
    plim_fixed_text_put(out, " Wholly free segments hold %s; releasing them (empty_cache) %s.",
                        plim_format_bytes(oom->releasable_bytes).text,
                        effect == EFFECT_ENOUGH ? "would have made room"
                                                : "would not have been enough");
}

/* Perhaps: the places of the blocks are unknown, and so is whether they join. */
static step_effect judge_waiting(const remedy *oom)
{
    if (oom->pending_bytes == 0) {
        return EFFECT_NONE;
    }
    const uint64_t with_own = plim_plus(oom->own_bytes, oom->pending_bytes);
    const bool fits = oom->has_device && room_with(oom, oom->pending_bytes) >= oom->driver_bytes;
    return with_own >= oom->range_bytes || fits ? EFFECT_PERHAPS : EFFECT_TOO_LITTLE;
}

static void say_waiting(plim_fixed_text *out, const remedy *oom, step_effect effect)
{
    plim_fixed_text_put(
        out, " Freed blocks of %s wait for other streams: a synchronize would free them, which %s.",
        plim_format_bytes(oom->pending_bytes).text,
        effect == EFFECT_PERHAPS ? "may be enough" : "is not enough");
}

/* Perhaps: the size class of the range is unknown. */
static step_effect judge_elsewhere(const remedy *oom)
{
    const uint64_t hole = oom->hole_anywhere_bytes;
    if (oom->has_pool && hole >= oom->range_bytes && oom->hole_bytes < oom->range_bytes) {
        return EFFECT_PERHAPS;
    }
    return oom->foreign_bytes > 0 || oom->private_bytes > 0 ? EFFECT_TOO_LITTLE : EFFECT_NONE;
}

static void say_elsewhere(plim_fixed_text *out, const remedy *oom, step_effect effect)
{
    if (effect == EFFECT_PERHAPS) {
        plim_fixed_text_put(
            out,
            " Another stream or pool has a free range of %s: allocated there, the request may have "
            "fit.",
            plim_format_bytes(oom->hole_anywhere_bytes).text);
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

static step_effect judge_expandable(const remedy *oom)
{
    if (oom->joined_bytes == 0 || !oom->has_device) {
        return EFFECT_NONE;
    }
    const uint64_t needed = whole_pages(oom->page_bytes, oom->range_bytes);
    return room_with(oom, oom->joined_bytes) >= needed ? EFFECT_ENOUGH : EFFECT_TOO_LITTLE;
}

static void say_expandable(plim_fixed_text *out, const remedy *oom, step_effect effect)
{
    plim_fixed_text_put(
        out,
        " With expandable_segments:True what is live would keep %s reserved and leave %s for "
        "one range: %s.",
        amount_of(oom->expandable_bytes).text, amount_of(room_with(oom, oom->joined_bytes)).text,
        effect == EFFECT_ENOUGH ? "the request would have fit" : "not enough either");
}

static step_effect judge_others(const remedy *oom)
{
    const uint64_t limit_room = plim_minus(oom->limit_bytes, oom->reserved_bytes);
    const uint64_t without = plim_plus(oom->device_free_bytes, oom->others_bytes);
    if (oom->others_bytes > 0) {
        return plim_min(without, limit_room) >= oom->driver_bytes ? EFFECT_ENOUGH
                                                                  : EFFECT_TOO_LITTLE;
    }
    const bool is_much = oom->outside_bytes > oom->total_bytes / OUTSIDE_SHARE;
    return is_much ? EFFECT_TOO_LITTLE : EFFECT_NONE;
}

static void say_others(plim_fixed_text *out, const remedy *oom, step_effect effect)
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
    step_effect (*judge)(const remedy *oom);
    void (*say)(plim_fixed_text *out, const remedy *oom, step_effect effect);
} oom_step;

/* The cheapest first. */
static const oom_step steps[] = {
    { judge_asking, say_asking },       { judge_limit, say_limit },
    { judge_release, say_release },     { judge_waiting, say_waiting },
    { judge_elsewhere, say_elsewhere }, { judge_expandable, say_expandable },
    { judge_others, say_others },
};

/* Says up to REMEDIES_MAX steps of at least one effect and at most another. returns how many */
static size_t put_steps(plim_fixed_text *out, const remedy *oom, step_effect least,
                        step_effect most)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && count < REMEDIES_MAX; i++) {
        const step_effect effect = steps[i].judge(oom);
        if (effect >= least && effect <= most) {
            steps[i].say(out, oom, effect);
            count++;
        }
    }
    return count;
}

/* No step is enough: what everything together does. */
static void put_shortfall(plim_fixed_text *out, const remedy *oom)
{
    const uint64_t limit_bytes = oom->limit_bytes;
    const uint64_t all = room_with(oom, oom->cached_bytes);
    if (!oom->has_device || oom->hole_bytes >= oom->range_bytes) {
        return;
    }
    if (oom->has_pages && room_with(oom, 0) >= oom->range_bytes) {
        plim_fixed_text_put(out,
                            " What the device has left would hold the request, but memory is "
                            "mapped in whole pages of %s.",
                            plim_format_bytes(oom->page_bytes).text);
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
    if (limit_bytes < oom->total_bytes && all == plim_minus(limit_bytes, live_bytes(oom))) {
        plim_fixed_text_put(out, ", under the limit of %s,", plim_format_bytes(limit_bytes).text);
    }
    plim_fixed_text_put(out, " the request is %s short: so much less has to be live.",
                        plim_format_bytes(rounded_up(oom->range_bytes - all)).text);
}

size_t plim_remedy_text(const plim_failed_request *request, char *text, size_t bytes)
{
    const remedy oom = remedy_of(request);
    plim_fixed_text out = plim_fixed_text_begin(text, bytes);
    if (oom.range_bytes == 0 || !plim_request_has(request, PLIM_FIGURE_RESERVED) ||
        !plim_request_has(request, PLIM_FIGURE_ALLOCATED)) {
        return 0;
    }
    put_need(&out, &oom);
    if (oom.has_device && oom.range_bytes > oom.total_bytes) {
        plim_fixed_text_put(
            &out, " That is more than the whole device, %s: only a smaller request can succeed.",
            plim_format_bytes(oom.total_bytes).text);
        return out.length;
    }
    put_cached(&out, &oom);
    if (put_steps(&out, &oom, EFFECT_PERHAPS, EFFECT_ENOUGH) == 0) {
        (void)put_steps(&out, &oom, EFFECT_TOO_LITTLE, EFFECT_TOO_LITTLE);
        put_shortfall(&out, &oom);
    }
    return out.length;
}
