/*
 * judge.c - the order of tests that leads from figures to a verdict.
 *
 * Every comparison leaves room for how figures were rounded when they were printed: `surely`
 * asks whether a relation holds wherever the truth lies, `maybe` whether it can. The thresholds
 * are argued in docs/design/explain.md.
 */
#include "verdict/request.h"
#include "verdict/thresholds.h"

/* An amount, and how far the truth may lie from it. */
typedef struct amount {
    uint64_t bytes; /* PLIM_BYTES_UNKNOWN: not known */
    uint64_t slack;
} amount;

static const amount nothing_known = { PLIM_BYTES_UNKNOWN, 0 };

static amount figure(const plim_failed_request *oom, plim_figure_id id)
{
    return (amount){ oom->figures[id].bytes, oom->figures[id].slack_bytes };
}

static bool known(amount a)
{
    return a.bytes != PLIM_BYTES_UNKNOWN;
}

/* Sums saturate just below "unknown": a request of 2^64 is a request. */
static amount plus(amount a, amount b)
{
    if (!known(a) || !known(b)) {
        return nothing_known;
    }
    const uint64_t most = PLIM_BYTES_UNKNOWN - 1;
    return (amount){ a.bytes > most - b.bytes ? most : a.bytes + b.bytes, a.slack + b.slack };
}

static amount minus(amount a, amount b)
{
    if (!known(a) || !known(b)) {
        return nothing_known;
    }
    return (amount){ a.bytes > b.bytes ? a.bytes - b.bytes : 0, a.slack + b.slack };
}

/* a >= b, whatever was rounded away; false when either is unknown. */
static bool surely_covers(amount a, amount b)
{
    const uint64_t slack = a.slack + b.slack;
    return known(a) && known(b) && a.bytes >= b.bytes && a.bytes - b.bytes >= slack;
}

/* a >= b for some values that round to the printed figures. */
static bool maybe_covers(amount a, amount b)
{
    const uint64_t slack = a.slack + b.slack;
    return known(a) && known(b) && (a.bytes >= b.bytes || b.bytes - a.bytes <= slack);
}

/* a >= b as they are printed: what a sentence that shows both may claim. */
static bool covers(amount a, amount b)
{
    return known(a) && known(b) && a.bytes >= b.bytes;
}

static bool is_share(amount part, amount whole, double share)
{
    return known(part) && known(whole) && (double)part.bytes >= share * (double)whole.bytes;
}

/* The figures of a case, and what follows from them by adding and taking away. */
typedef struct sums {
    amount requested, total, free, limit, allocated;
    amount held;      /* reserved, or allocated and unallocated, or what is known of it */
    amount gap;       /* held and not live */
    amount elsewhere; /* on the device, outside this process, as far as the figures show */
    amount outside;   /* in this process, beside the allocator */
    size_t this_process;
} sums;

static amount held_by_allocator(const plim_failed_request *oom)
{
    const amount reserved = figure(oom, PLIM_FIGURE_RESERVED);
    const amount allocated = figure(oom, PLIM_FIGURE_ALLOCATED);
    const amount unallocated = figure(oom, PLIM_FIGURE_RESERVED_UNALLOCATED);
    if (known(reserved)) {
        return reserved;
    }
    if (known(allocated) && known(unallocated)) {
        return plus(allocated, unallocated);
    }
    if (plim_held_counts_others(oom) && plim_request_has(oom, PLIM_FIGURE_OTHER_ALLOCATIONS)) {
        return plus(allocated, figure(oom, PLIM_FIGURE_OTHER_ALLOCATIONS));
    }
    return allocated;
}

static amount unused_by_allocator(const plim_failed_request *oom)
{
    const amount unallocated = figure(oom, PLIM_FIGURE_RESERVED_UNALLOCATED);
    const amount peak = figure(oom, PLIM_FIGURE_ALLOCATED_PEAK);
    if (known(unallocated)) {
        return unallocated;
    }
    if (oom->topic == PLIM_TOPIC_SUMMARY && known(peak)) {
        return minus(figure(oom, PLIM_FIGURE_RESERVED), peak); /* at least: it came later */
    }
    return minus(figure(oom, PLIM_FIGURE_RESERVED), figure(oom, PLIM_FIGURE_ALLOCATED));
}

/*
 * In a container the process that failed is listed under the host's number. It is the one nearest
 * above what the allocator holds, if a context and libraries explain the distance, or if it and
 * the allocator cannot both be on the card.
 */
static size_t find_this_process(const plim_failed_request *oom, amount held, amount in_use)
{
    size_t best = SIZE_MAX;
    if (!known(held) || held.bytes == 0) {
        return best;
    }
    for (size_t i = 0; i < oom->process_count; i++) {
        const amount its = { oom->processes[i].bytes, held.slack };
        if (!maybe_covers(its, held)) {
            continue;
        }
        const bool is_near = its.bytes <= held.bytes || its.bytes - held.bytes <= CONTEXT_BYTES_MAX;
        const bool overlaps = known(in_use) && !maybe_covers(in_use, plus(its, held));
        if ((is_near || overlaps) && (best == SIZE_MAX || its.bytes < oom->processes[best].bytes)) {
            best = i;
        }
    }
    return best;
}

static void find_elsewhere(const plim_failed_request *oom, sums *s)
{
    const amount in_use = minus(s->total, s->free);
    amount mine = figure(oom, PLIM_FIGURE_PROCESS);
    s->this_process = SIZE_MAX;
    if (known(mine) && mine.bytes == 0) {
        mine = nothing_known; /* a look-up that failed, often inside Ray or vLLM workers */
    }
    if (!known(mine) && oom->process_count > 0) {
        s->this_process = find_this_process(oom, s->held, in_use);
        if (s->this_process != SIZE_MAX) {
            mine = (amount){ oom->processes[s->this_process].bytes, s->held.slack };
        }
    }
    s->outside = known(mine) ? minus(mine, s->held) : nothing_known;
    s->elsewhere = minus(in_use, known(mine) ? mine : s->held);
    if (!known(s->elsewhere) && oom->process_count > 0) {
        amount others = { 0, 0 };
        for (size_t i = 0; i < oom->process_count; i++) {
            if (i != s->this_process) {
                others = plus(others, (amount){ oom->processes[i].bytes, 0 });
            }
        }
        s->elsewhere = others;
    }
}

static sums add_up(const plim_failed_request *oom)
{
    sums s = {
        .requested = figure(oom, PLIM_FIGURE_REQUESTED),
        .total = figure(oom, PLIM_FIGURE_TOTAL),
        .free = figure(oom, PLIM_FIGURE_FREE),
        .limit = figure(oom, PLIM_FIGURE_LIMIT),
        .allocated = figure(oom, PLIM_FIGURE_ALLOCATED),
        .held = held_by_allocator(oom),
        .gap = unused_by_allocator(oom),
    };
    if (covers(s.free, s.total) && !maybe_covers(s.total, s.free)) {
        s.total = nothing_known; /* an APU's: the driver gives more than it reports as the device */
    }
    if (plim_topic_is_host(oom->topic)) {
        s.elsewhere = s.outside = nothing_known; /* its processes are none of the device's */
        s.this_process = SIZE_MAX;
    } else {
        find_elsewhere(oom, &s);
    }
    return s;
}

static plim_judgement say(plim_verdict verdict, plim_reason reason, double confidence)
{
    return (plim_judgement){ .verdict = verdict, .reason = reason, .confidence = confidence };
}

static void allow(plim_judgement *j, plim_verdict also)
{
    for (size_t i = 0; i < j->alternative_count; i++) {
        if (j->alternatives[i] == also) {
            return;
        }
    }
    if (also != j->verdict) {
        j->alternatives[j->alternative_count++] = also;
    }
}

/* Topics that decide alone, whatever figures stand beside them. */
static bool judge_topic(plim_oom_topic topic, plim_judgement *j)
{
    static const struct {
        plim_oom_topic from, to;
        plim_verdict verdict;
        double confidence;
    } rules[] = {
        { PLIM_TOPIC_CAP, PLIM_TOPIC_KV_CACHE, PLIM_VERDICT_CAPPED, SURE },
        { PLIM_TOPIC_BUFFER_MAX, PLIM_TOPIC_OVERFLOW, PLIM_VERDICT_OVERSIZED, SURE },
        { PLIM_TOPIC_HOST_RAM, PLIM_TOPIC_HOST_HEAP, PLIM_VERDICT_HOST, SURE },
        { PLIM_TOPIC_KERNEL, PLIM_TOPIC_PLACEMENT, PLIM_VERDICT_NOT_OOM, SURE },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (topic >= rules[i].from && topic <= rules[i].to) {
            *j = say(rules[i].verdict, PLIM_REASON_TOPIC, rules[i].confidence);
            break;
        }
        if (i + 1 == sizeof rules / sizeof rules[0]) {
            return false;
        }
    }
    if ((topic >= PLIM_TOPIC_CAP && topic <= PLIM_TOPIC_KV_CACHE) ||
        topic == PLIM_TOPIC_PLACEMENT) {
        allow(j, PLIM_VERDICT_EXHAUSTED);
    } else if (topic == PLIM_TOPIC_BUFFER_MAX) {
        allow(j, PLIM_VERDICT_CAPPED);
    } else if (topic == PLIM_TOPIC_HOST_KILLED || topic == PLIM_TOPIC_HOST_SIGNAL) {
        j->confidence = LIKELY; /* any SIGKILL prints the word */
    }
    return true;
}

/* A limit below the device, which held and requested bytes together exceed. */
static bool judge_limit(const plim_failed_request *oom, const sums *s, plim_judgement *j)
{
    if (!known(s->limit) || maybe_covers(s->limit, s->total)) {
        return false; /* none, or as large as the device: a fraction of 1.0 */
    }
    if (oom->topic == PLIM_TOPIC_POOL) {
        return false; /* the pool is what it has: judge_pool() */
    }
    const amount wanted = plus(s->held, s->requested);
    const bool is_near = is_share(wanted, s->limit, NEAR_LIMIT_SHARE);
    const bool alone = !known(s->held) && surely_covers(s->requested, s->limit);
    if ((is_near || alone || maybe_covers(wanted, s->limit)) && s->requested.bytes > 0) {
        *j = say(PLIM_VERDICT_CAPPED, PLIM_REASON_OVER_LIMIT, SURE);
        if (known(s->gap) && maybe_covers(s->gap, s->requested)) {
            allow(j, PLIM_VERDICT_FRAGMENTED);
        }
        allow(j, PLIM_VERDICT_EXHAUSTED);
        return true;
    }
    return false;
}

static bool others_hold_more(const sums *s)
{
    return known(s->elsewhere) && known(s->held) && s->elsewhere.bytes > s->held.bytes;
}

static bool holds_little_of_device(const sums *s)
{
    return known(s->total) && known(s->held) && !is_share(s->held, s->total, LITTLE_SHARE);
}

static bool judge_request(const sums *s, plim_judgement *j)
{
    if (known(s->requested) && known(s->total) && s->total.bytes > 0 &&
        !maybe_covers(s->total, s->requested)) {
        *j = say(PLIM_VERDICT_OVERSIZED, PLIM_REASON_OVER_DEVICE, SURE);
        allow(j, PLIM_VERDICT_EXHAUSTED);
        return true;
    }
    if (known(s->requested) && !known(s->total) && s->requested.bytes > ANY_DEVICE_BYTES_MAX) {
        *j = say(PLIM_VERDICT_OVERSIZED, PLIM_REASON_OVER_ANY, LIKELY);
        allow(j, PLIM_VERDICT_UNKNOWN);
        allow(j, PLIM_VERDICT_EXHAUSTED);
        return true;
    }
    return false;
}

/* More free than requested, and not just the last crumbs of a full card. */
static bool judge_contradiction(const sums *s, plim_judgement *j)
{
    /* The device is no smaller than what is held and free. */
    const amount whole = known(s->total) ? s->total : plus(s->held, s->free);
    if (!covers(s->free, s->requested) ||
        (known(whole) && !is_share(s->free, whole, CRUMBS_SHARE))) {
        return false;
    }
    *j = say(PLIM_VERDICT_UNKNOWN, PLIM_REASON_FREE_ENOUGH, LIKELY);
    allow(j, PLIM_VERDICT_HOST);
    allow(j, PLIM_VERDICT_CAPPED);
    if (is_share(s->gap, s->held, GAP_SHARE)) {
        allow(j, PLIM_VERDICT_FRAGMENTED);
    }
    if (others_hold_more(s)) {
        allow(j, PLIM_VERDICT_OTHER_PROCESS);
    }
    allow(j, PLIM_VERDICT_EXHAUSTED);
    return true;
}

static bool judge_gap(const sums *s, plim_judgement *j)
{
    if (!known(s->requested) || !is_share(s->gap, s->held, GAP_SHARE)) {
        return false;
    }
    const bool holds_little =
        holds_little_of_device(s) && is_share(s->elsewhere, s->total, NEARLY_ALL_SHARE);
    const bool alone = covers(s->gap, s->requested);
    if (holds_little || (!alone && !covers(plus(s->gap, s->free), s->requested))) {
        return false;
    }
    *j = say(PLIM_VERDICT_FRAGMENTED, alone ? PLIM_REASON_GAP : PLIM_REASON_GAP_AND_FREE,
             alone ? SURE : LIKELY);
    if (!alone || !is_share(s->gap, s->held, 2 * GAP_SHARE)) {
        allow(j, PLIM_VERDICT_EXHAUSTED);
    }
    if (others_hold_more(s)) {
        allow(j, PLIM_VERDICT_OTHER_PROCESS);
    }
    return true;
}

static bool judge_elsewhere(const sums *s, plim_judgement *j)
{
    if (!others_hold_more(s)) {
        return false;
    }
    const bool little = holds_little_of_device(s);
    *j = say(PLIM_VERDICT_OTHER_PROCESS, little ? PLIM_REASON_HOLDS_LITTLE : PLIM_REASON_ELSEWHERE,
             little ? SURE : LIKELY);
    if (covers(plus(s->gap, s->free), s->requested)) {
        allow(j, PLIM_VERDICT_FRAGMENTED);
    }
    allow(j, PLIM_VERDICT_EXHAUSTED);
    return true;
}

static plim_judgement judge_full(const sums *s)
{
    const bool would_do = covers(s->gap, s->requested) || covers(s->free, s->requested) ||
                          covers(plus(s->gap, s->free), s->requested);
    plim_judgement j =
        say(PLIM_VERDICT_EXHAUSTED, would_do ? PLIM_REASON_FULL_NEARLY : PLIM_REASON_FULL,
            would_do ? LIKELY : SURE);
    if (!known(s->requested)) {
        j.confidence = is_share(s->free, s->total, CRUMBS_SHARE) ? GUESS : LIKELY;
    }
    if (would_do) {
        allow(&j, PLIM_VERDICT_FRAGMENTED);
    }
    if (covers(s->elsewhere, s->requested) && is_share(s->elsewhere, s->total, NOTABLE_SHARE)) {
        allow(&j, PLIM_VERDICT_OTHER_PROCESS);
    }
    return j;
}

static plim_judgement judge_unknown(void)
{
    plim_judgement j = say(PLIM_VERDICT_UNKNOWN, PLIM_REASON_NO_FIGURES, GUESS);
    allow(&j, PLIM_VERDICT_EXHAUSTED);
    allow(&j, PLIM_VERDICT_OTHER_PROCESS);
    return j;
}

/* A caching allocator whose figures are all there, or nearly. */
static plim_judgement judge_allocation(const sums *s)
{
    plim_judgement j;
    if (judge_gap(s, &j) || judge_elsewhere(s, &j)) {
        return j;
    }
    if (known(s->total) && known(s->free) && known(s->held)) {
        return judge_full(s);
    }
    if (known(s->total) && known(s->allocated) &&
        surely_covers(plus(s->allocated, s->requested), s->total)) {
        return judge_full(s); /* Intel's text may lack the free figure */
    }
    if (known(s->total) && known(s->free) && !maybe_covers(s->free, s->requested)) {
        j = say(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL, GUESS); /* by which process is unknown */
        allow(&j, PLIM_VERDICT_OTHER_PROCESS);
        allow(&j, PLIM_VERDICT_UNKNOWN);
        return j;
    }
    const bool is_counted = known(s->gap) && known(s->requested);
    if (!known(s->total) && known(s->free) && known(s->allocated) &&
        (is_counted || s->allocated.bytes >= LARGE_BYTES)) {
        j = judge_full(s);
        j.confidence = is_counted && s->allocated.bytes >= LARGE_BYTES ? LIKELY : GUESS;
        allow(&j, PLIM_VERDICT_OTHER_PROCESS); /* how much others hold, only a total would show */
        return j;
    }
    return judge_unknown();
}

/* The driver's pool does not print its cache: live and request fit, yet nothing is free. */
static plim_judgement judge_async_pool(const sums *s)
{
    if (!known(s->total) || !known(s->allocated) || !known(s->requested)) {
        return judge_unknown();
    }
    if (!maybe_covers(s->total, plus(s->allocated, s->requested))) {
        return judge_full(s);
    }
    const bool little = others_hold_more(s);
    plim_judgement j = say(little ? PLIM_VERDICT_OTHER_PROCESS : PLIM_VERDICT_FRAGMENTED,
                           PLIM_REASON_DRIVER_POOL, LIKELY);
    allow(&j, PLIM_VERDICT_FRAGMENTED);
    allow(&j, PLIM_VERDICT_OTHER_PROCESS);
    allow(&j, PLIM_VERDICT_EXHAUSTED);
    allow(&j, PLIM_VERDICT_UNKNOWN);
    return j;
}

/* One pool with a limit: TensorFlow's and JAX's. Chunks do not move. */
static plim_judgement judge_pool(const sums *s)
{
    plim_judgement j;
    if (!known(s->limit) || !known(s->allocated)) {
        return judge_unknown();
    }
    const amount left = minus(s->limit, s->allocated);
    if (known(s->requested) && !maybe_covers(s->limit, s->requested)) {
        j = say(PLIM_VERDICT_OVERSIZED, PLIM_REASON_OVER_DEVICE, SURE);
        allow(&j, PLIM_VERDICT_CAPPED);
        return j;
    }
    if (covers(left, s->requested)) {
        j = say(PLIM_VERDICT_FRAGMENTED, PLIM_REASON_POOL_GAP, LIKELY);
        allow(&j, PLIM_VERDICT_EXHAUSTED);
        allow(&j, PLIM_VERDICT_CAPPED);
        return j;
    }
    if (known(s->requested) || is_share(s->allocated, s->limit, POOL_FULL_SHARE)) {
        const bool round =
            s->limit.bytes % POOL_ROUND_BYTES == 0 && s->limit.bytes < POOL_USER_BYTES_MAX;
        j = say(round ? PLIM_VERDICT_CAPPED : PLIM_VERDICT_EXHAUSTED,
                round ? PLIM_REASON_OVER_LIMIT : PLIM_REASON_FULL, LIKELY);
        allow(&j, PLIM_VERDICT_CAPPED);
        allow(&j, PLIM_VERDICT_EXHAUSTED);
        return j;
    }
    j = judge_unknown();
    allow(&j, PLIM_VERDICT_FRAGMENTED);
    allow(&j, PLIM_VERDICT_CAPPED);
    return j;
}

/* A share of the device was wanted at start and is not free. */
static plim_judgement judge_startup(const sums *s)
{
    plim_judgement j = say(PLIM_VERDICT_OTHER_PROCESS, PLIM_REASON_STARTUP, LIKELY);
    const amount missing = minus(s->requested, s->free);
    if (known(missing) && known(s->total) && !is_share(missing, s->total, NEAR_MISS_SHARE)) {
        j.reason = PLIM_REASON_NEAR_MISS;
        allow(&j, PLIM_VERDICT_CAPPED);
    }
    return j;
}

static plim_judgement judge_watermark(const sums *s)
{
    plim_judgement j;
    if (known(s->held) && s->held.bytes == 0 && s->requested.bytes == 0) {
        j = say(PLIM_VERDICT_UNKNOWN, PLIM_REASON_NO_FIGURES, GUESS); /* no real device */
        allow(&j, PLIM_VERDICT_CAPPED);
        allow(&j, PLIM_VERDICT_HOST);
        return j;
    }
    if (!known(s->limit) && known(s->held)) {
        return say(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL, LIKELY); /* no upper limit: real */
    }
    j = judge_unknown();
    allow(&j, PLIM_VERDICT_CAPPED);
    return j;
}

/* Statistics that were printed after the failure: what was requested or free is not in them. */
static plim_judgement judge_summary(const sums *s)
{
    if (!known(s->held) || !known(s->gap)) {
        return judge_unknown();
    }
    const bool has_gap = is_share(s->gap, s->held, GAP_SHARE);
    plim_judgement j =
        say(has_gap ? PLIM_VERDICT_FRAGMENTED : PLIM_VERDICT_EXHAUSTED, PLIM_REASON_TABLE, GUESS);
    allow(&j, PLIM_VERDICT_EXHAUSTED);
    allow(&j, PLIM_VERDICT_OTHER_PROCESS);
    return j;
}

/* cuBLAS and cuDNN say "not initialized", or find no algorithm, of a full device, and of one with
 * an earlier error. */
static plim_judgement judge_handle(const sums *s)
{
    const bool has_room = known(s->free) && s->free.bytes >= HANDLE_BYTES_MAX;
    plim_judgement j = say(has_room ? PLIM_VERDICT_NOT_OOM : PLIM_VERDICT_EXHAUSTED,
                           PLIM_REASON_TOPIC, known(s->free) ? LIKELY : GUESS);
    allow(&j, PLIM_VERDICT_EXHAUSTED);
    allow(&j, PLIM_VERDICT_OTHER_PROCESS);
    allow(&j, PLIM_VERDICT_NOT_OOM);
    return j;
}

static plim_judgement judge_bare(plim_oom_topic topic)
{
    plim_judgement j = judge_unknown();
    if (topic == PLIM_TOPIC_ARENA) {
        allow(&j, PLIM_VERDICT_HOST);
    } else if (topic == PLIM_TOPIC_TACTIC) {
        allow(&j, PLIM_VERDICT_NOT_OOM);
        allow(&j, PLIM_VERDICT_OVERSIZED);
    } else if (topic == PLIM_TOPIC_WEIGHTS || topic == PLIM_TOPIC_COMPUTE) {
        allow(&j, PLIM_VERDICT_OVERSIZED);
    } else if (topic == PLIM_TOPIC_WARMUP) {
        j = say(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_TOPIC, GUESS);
        allow(&j, PLIM_VERDICT_UNKNOWN);
        allow(&j, PLIM_VERDICT_CAPPED);
    }
    return j;
}

static plim_judgement judge_figures(const plim_failed_request *oom, const sums *s)
{
    plim_judgement j;
    if (oom->topic == PLIM_TOPIC_STARTUP) {
        return judge_startup(s);
    }
    if (oom->topic == PLIM_TOPIC_SUMMARY) {
        return judge_summary(s);
    }
    if (oom->topic == PLIM_TOPIC_HANDLE || oom->topic == PLIM_TOPIC_NO_ENGINE) {
        return judge_handle(s);
    }
    if (judge_request(s, &j) || judge_limit(oom, s, &j)) {
        return j;
    }
    if (oom->topic == PLIM_TOPIC_POOL) {
        return judge_pool(s); /* free is what is left of the limit, no contradiction */
    }
    if (oom->topic == PLIM_TOPIC_WATERMARK) {
        return judge_watermark(s);
    }
    if (judge_contradiction(s, &j)) {
        return j;
    }
    if (known(s->total) && known(s->allocated) && !maybe_covers(s->total, s->allocated)) {
        return say(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_SPILLED, LIKELY);
    }
    if (oom->topic == PLIM_TOPIC_ASYNC_POOL) {
        return judge_async_pool(s);
    }
    if (oom->topic == PLIM_TOPIC_ALLOCATION) {
        return judge_allocation(s);
    }
    if (oom->topic == PLIM_TOPIC_PROGRAM) {
        j = say(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL, known(s->free) ? LIKELY : GUESS);
        allow(&j, PLIM_VERDICT_UNKNOWN);
        allow(&j, PLIM_VERDICT_OVERSIZED);
        return j;
    }
    return judge_bare(oom->topic);
}

/* The verdict as a finding: its id, how sure it is, and all figures that are known. */
static plim_finding finding_of(const plim_failed_request *oom, const plim_judgement *j)
{
#define ID(code, name) "oom." name,
    static const char *const ids[] = { PLIM_VERDICT_LIST(ID) };
#undef ID
    plim_finding finding = {
        .id = ids[j->verdict],
        .severity = j->verdict == PLIM_VERDICT_NOT_OOM ? PLIM_SEVERITY_NOTE : PLIM_SEVERITY_FAILURE,
        .certainty = plim_certainty_of(j->confidence, j->alternative_count > 0),
        .subject = oom->subject,
    };
    plim_finding_add(&finding, "held_bytes", j->held_bytes);
    plim_finding_add(&finding, "unused_bytes", j->gap_bytes);
    plim_finding_add(&finding, "elsewhere_bytes", j->elsewhere_bytes);
    plim_finding_add(&finding, "outside_bytes", j->outside_bytes);
    plim_finding_add(&finding, "missing_bytes", j->short_bytes);
    for (int i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        plim_finding_add(&finding, plim_figure_name((plim_figure_id)i), oom->figures[i].bytes);
    }
    return finding;
}

plim_judgement plim_judge(const plim_failed_request *request)
{
    const sums s = add_up(request);
    plim_judgement j;
    if (!judge_topic(request->topic, &j)) {
        j = judge_figures(request, &s);
    }
    j.held_bytes = s.held.bytes;
    j.gap_bytes = s.gap.bytes;
    j.elsewhere_bytes = s.elsewhere.bytes;
    j.outside_bytes = s.outside.bytes;
    j.this_process = s.this_process;
    j.short_bytes = PLIM_BYTES_UNKNOWN;
    if (known(s.requested) && known(s.free)) {
        const amount there = known(s.gap) ? plus(s.gap, s.free) : s.free;
        j.short_bytes = minus(s.requested, there).bytes;
    }
    j.finding = finding_of(request, &j);
    return j;
}
