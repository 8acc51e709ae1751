/*
 * words.c - a judgement in two plain sentences with its figures.
 *
 * The first sentence says what the figures say, the second what follows. Both are put together
 * from clauses, and a clause whose figure nobody gave is left out: nothing is invented. Where a
 * topic decides without figures, words_topics.c has the sentences.
 */
#include "verdict/words.h"

#include "base/size.h"
#include "base/units.h"
#include "verdict/fix.h"
#include "verdict/words_topics.h"

#include <inttypes.h>

/* Behind the request; more would be a list, not a sentence. */
#define CLAUSES_MAX 2

/* Two sentences that are longer than this are not read; an addition takes up to 75. */
#define LENGTH_MAX   ((size_t)300)
#define ADDITION_MAX ((size_t)75)

typedef struct why {
    plim_text *out;
    const plim_oom_case *oom;
    const plim_judgement *judgement;
    size_t start;        /* where in `out` the words begin */
    size_t clause_count; /* of the first sentence, behind its subject */
} why;

static bool known(uint64_t bytes)
{
    return bytes != PLIM_BYTES_UNKNOWN;
}

static uint64_t figure(const why *say, plim_figure_id id)
{
    return say->oom->figures[id].bytes;
}

static uint64_t requested(const why *say)
{
    const uint64_t printed = figure(say, PLIM_FIGURE_REQUESTED);
    return known(printed) ? printed : figure(say, PLIM_FIGURE_REQUESTED_FROM_SHAPE);
}

static void put(const why *say, const char *words)
{
    plim_text_append_string(say->out, words);
}

static void put_bytes(const why *say, const char *before, uint64_t bytes, const char *behind)
{
    plim_text_append_format(say->out, "%s%s%s", before, plim_format_bytes(bytes).text, behind);
}

/* The figure where it is known, else words that stand for it. */
static void put_or(const why *say, uint64_t bytes, const char *otherwise)
{
    put(say, known(bytes) ? plim_format_bytes(bytes).text : otherwise);
}

/* --- the first sentence --- */

/* "… while a, and b": there is no third. */
static void begin_clause(why *say)
{
    put(say, say->clause_count == 0 ? " while " : ", and ");
    say->clause_count++;
}

static void put_held(why *say)
{
    const uint64_t held = say->judgement->held_bytes;
    const uint64_t gap = say->judgement->gap_bytes;
    const uint64_t live = figure(say, PLIM_FIGURE_ALLOCATED);
    if (known(held)) {
        begin_clause(say);
        put_bytes(say, "the program held ", held, "");
        if (known(gap)) {
            put_bytes(say, " (", gap, " of it unused)");
        }
    } else if (known(live)) {
        begin_clause(say);
        put_bytes(say, "", live, " were live");
    }
    if (known(figure(say, PLIM_FIGURE_OTHER_ALLOCATIONS))) {
        begin_clause(say);
        put_bytes(say, "", figure(say, PLIM_FIGURE_OTHER_ALLOCATIONS),
                  " more were allocated beside it");
    }
}

static void put_free(why *say)
{
    const uint64_t free_bytes = figure(say, PLIM_FIGURE_FREE);
    const uint64_t total = figure(say, PLIM_FIGURE_TOTAL);
    if (known(free_bytes)) {
        begin_clause(say);
        put_bytes(say, "", free_bytes, "");
        if (known(total)) {
            put_bytes(say, " of ", total, "");
        }
        put(say, " were free");
    } else if (known(total)) {
        begin_clause(say);
        put_bytes(say, "the device has ", total, "");
    }
}

static void put_request(const why *say)
{
    const uint64_t bytes = requested(say);
    if (!known(bytes)) {
        put(say, "A request failed");
    } else if (say->oom->topic == PLIM_TOPIC_STARTUP) {
        put_bytes(say, "At the start ", bytes, " were wanted");
    } else if (say->oom->topic == PLIM_TOPIC_PROGRAM) {
        put_bytes(say, "The compiled program needs ", bytes, "");
    } else if (known(figure(say, PLIM_FIGURE_REQUESTED))) {
        put_bytes(say, "", bytes, " were asked for");
    } else {
        put_bytes(say, "By the shape of a tensor, ", bytes, " were asked for");
    }
}

static void put_facts(why *say)
{
    put_request(say);
    put_held(say);
    if (say->clause_count < CLAUSES_MAX) {
        put_free(say);
    }
    put(say, ". ");
}

/* --- additions to the second, one at most --- */

/* Whether what is held elsewhere would have been enough, and is much of the device. */
static bool elsewhere_suffices(const why *say)
{
    const uint64_t elsewhere = say->judgement->elsewhere_bytes;
    const uint64_t total = figure(say, PLIM_FIGURE_TOTAL);
    return known(elsewhere) && known(requested(say)) && known(total) &&
           elsewhere >= requested(say) && elsewhere >= total / 5;
}

static void put_addition(const why *say)
{
    const uint64_t pools = figure(say, PLIM_FIGURE_PRIVATE_POOLS);
    const uint64_t outside = say->judgement->outside_bytes;
    if (say->out->length - say->start > LENGTH_MAX - ADDITION_MAX) {
        return;
    }
    if (elsewhere_suffices(say)) {
        put_bytes(say, "; ", say->judgement->elsewhere_bytes,
                  " were held elsewhere, and freeing that would have been enough");
    } else if (known(pools) && known(requested(say)) && pools >= requested(say)) {
        put_bytes(say, "; ", pools, " lie in private pools, closed to ordinary requests");
    } else if (known(outside) && outside >= GIB) {
        put_bytes(say, "; ", outside, " more of this process are beside it (context, libraries)");
    }
}

/* --- the second sentence, one function for each reason --- */

static void no_figures(const why *say)
{
    put(say, plim_words_of_topic(say->oom->topic)->unknown);
}

static void free_enough(const why *say)
{
    put(say, "That contradicts the error: suspect a limit that is not printed, a virtual GPU, a "
             "Windows driver, or a reading that came too late");
}

static void over_limit(const why *say)
{
    const uint64_t limit = figure(say, PLIM_FIGURE_LIMIT);
    put(say, "Together that passes ");
    if (known(limit)) {
        put_bytes(say, "the limit of ", limit, "");
    } else {
        put(say, "a limit that was set");
    }
    const uint64_t over = plim_fix_difference(plim_fix_needed(say->oom, say->judgement), limit);
    if (known(over) && over > 0) {
        put_bytes(say, " by ", over, "");
    }
    put(say, ": the limit refused it, not the device");
}

static void over_device(const why *say)
{
    const uint64_t total = figure(say, PLIM_FIGURE_TOTAL);
    const uint64_t limit = figure(say, PLIM_FIGURE_LIMIT);
    put(say, "That one request exceeds ");
    if (known(limit) && limit < total) {
        put_bytes(say, "the ", limit, " that may be had at once");
    } else if (known(total)) {
        put_bytes(say, "the whole device of ", total, "");
    } else {
        put(say, "the whole device");
    }
    put(say, ", so nothing that is freed can make it fit");
}

static void over_any(const why *say)
{
    put(say, "No device is that large: the size is computed wrongly somewhere, or overflowed");
}

static void spilled(const why *say)
{
    put(say, "More is allocated than the device has, as when a driver for Windows or WSL lets it "
             "spill into the host's: the device is more than full");
}

static void gap(const why *say)
{
    put_or(say, say->judgement->gap_bytes, "What is");
    put(say, " reserved but unused would have covered the ");
    put_or(say, requested(say), "request");
    put(say, ", but not in one piece");
    put_addition(say);
}

static void gap_and_free(const why *say)
{
    const uint64_t together =
        plim_fix_sum(say->judgement->gap_bytes, figure(say, PLIM_FIGURE_FREE));
    put(say, "Unused and free together");
    if (known(together)) {
        put_bytes(say, ", ", together, ",");
    }
    put(say, " would have covered the ");
    put_or(say, requested(say), "request");
    put(say, ", but not in one piece");
    put_addition(say);
}

static void elsewhere(const why *say)
{
    const plim_process_figure *const other = plim_fix_largest_other(say->oom, say->judgement);
    put(say, "Others hold ");
    put_or(say, say->judgement->elsewhere_bytes, "the rest");
    if (other != NULL && known(other->bytes)) {
        plim_text_append_format(say->out, " (process %" PRIu64 " alone %s)", other->pid,
                                plim_format_bytes(other->bytes).text);
    }
    put(say, ", more than this program: room is to be made there");
}

static void holds_little(const why *say)
{
    const plim_process_figure *const other = plim_fix_largest_other(say->oom, say->judgement);
    put(say, "That is a small part of the device: others hold ");
    put_or(say, say->judgement->elsewhere_bytes, "nearly all the rest");
    if (other != NULL && known(other->bytes)) {
        plim_text_append_format(say->out, " (process %" PRIu64 " alone %s)", other->pid,
                                plim_format_bytes(other->bytes).text);
    }
    put(say, ", and room is to be made there");
}

static void full(const why *say)
{
    const uint64_t missing = say->judgement->short_bytes;
    put(say, "Live data and the request do not fit together");
    if (known(missing) && missing > 0) {
        put_bytes(say, ": ", missing, " were missing, all free and unused space counted");
    }
    put_addition(say);
}

static void full_nearly(const why *say)
{
    put(say, "A piece of the ");
    put_or(say, say->judgement->gap_bytes, "little");
    put(say, " that is unused would have done, but the device is as good as full");
    put_addition(say);
}

static void near_miss(const why *say)
{
    const uint64_t missing = say->judgement->short_bytes;
    put(say, "The share is missed by ");
    put_or(say, missing, "a little");
    put(say, " only: a slightly smaller one starts");
}

static void driver_pool(const why *say)
{
    const uint64_t rest = say->judgement->elsewhere_bytes;
    put(say, "What is live and the request would fit: ");
    if (known(rest)) {
        put_bytes(say, "the other ", rest, " are held");
    } else {
        put(say, "the rest is held");
    }
    put(say, " by the driver's pool, which keeps what was freed, or by other processes");
}

static void by_topic(const why *say)
{
    put(say, plim_words_of_topic(say->oom->topic)->second);
}

static void put_consequence(const why *say)
{
    static void (*const sentences[])(const why *say) = {
        [PLIM_REASON_TOPIC] = by_topic,
        [PLIM_REASON_NO_FIGURES] = no_figures,
        [PLIM_REASON_FREE_ENOUGH] = free_enough,
        [PLIM_REASON_OVER_LIMIT] = over_limit,
        [PLIM_REASON_OVER_DEVICE] = over_device,
        [PLIM_REASON_OVER_ANY] = over_any,
        [PLIM_REASON_SPILLED] = spilled,
        [PLIM_REASON_GAP] = gap,
        [PLIM_REASON_GAP_AND_FREE] = gap_and_free,
        [PLIM_REASON_HOLDS_LITTLE] = holds_little,
        [PLIM_REASON_ELSEWHERE] = elsewhere,
        [PLIM_REASON_FULL] = full,
        [PLIM_REASON_FULL_NEARLY] = full_nearly,
        [PLIM_REASON_NEAR_MISS] = near_miss,
        [PLIM_REASON_DRIVER_POOL] = driver_pool,
    };
    sentences[say->judgement->reason](say);
    put(say, ".");
}

/* --- topics --- */

/* "A kernel needs 160 KiB of shared memory, and 99.0 KiB are there. ", or what stands for it. */
static void put_topic_facts(const why *say)
{
    const plim_topic_words *const words = plim_words_of_topic(say->oom->topic);
    const uint64_t wanted =
        words->wanted_shared ? figure(say, PLIM_FIGURE_SHARED_REQUIRED) : requested(say);
    uint64_t bound = figure(say, words->bound);
    bound = known(bound) && bound < wanted ? bound : PLIM_BYTES_UNKNOWN;
    if (words->with_wanted == NULL || !known(wanted)) {
        put(say, words->first);
    } else {
        put_bytes(say, words->before_wanted, wanted, words->with_wanted);
        if (words->with_bound != NULL && known(bound)) {
            put_bytes(say, ", and ", bound, words->with_bound);
        }
    }
    put(say, ". ");
}

void plim_words_why(plim_text *out, const plim_oom_case *oom, const plim_judgement *judgement)
{
    why say = { .out = out, .oom = oom, .judgement = judgement, .start = out->length };
    if (judgement->reason == PLIM_REASON_TOPIC) {
        put_topic_facts(&say);
    } else {
        put_facts(&say);
    }
    put_consequence(&say);
}
