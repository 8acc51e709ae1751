/*
 * words.c - a judgement in two plain sentences with its figures.
 *
 * The first sentence says what the figures say, the second what follows. Both are put together
 * from clauses. A clause whose figure is unknown is left out, and a claim is made only where the
 * figures, as they are printed, satisfy it. Where a topic decides without figures,
 * words_topics.c has the sentences.
 */
#include "base/fixed_text.h"
#include "base/size.h"
#include "base/units.h"
#include "verdict/request.h"
#include "verdict/words_topics.h"

#include <inttypes.h>

/* After the request; more would be a list, not a sentence. */
#define REASONS_MAX 2

/* Two sentences that are longer than this are not read; an addition takes up to 75. */
#define SENTENCE_LENGTH_MAX ((size_t)300)
#define ADDITION_MAX        ((size_t)75)

#define NAME_CHARS_MAX 31 /* of a process; Linux keeps 15 */

typedef struct why {
    plim_fixed_text *out;
    const plim_failed_request *request;
    const plim_judgement *judgement;
    size_t clause_count; /* of the first sentence, after its subject */
} why;

static bool known(uint64_t bytes)
{
    return bytes != PLIM_BYTES_UNKNOWN;
}

/* Both are known, and a is no smaller than b. */
static bool covers(uint64_t a, uint64_t b)
{
    return known(a) && known(b) && a >= b;
}

static uint64_t figure(const why *say, plim_figure_id id)
{
    return say->request->figures[id].bytes;
}

static uint64_t requested(const why *say)
{
    const uint64_t printed = figure(say, PLIM_FIGURE_REQUESTED);
    return known(printed) ? printed : figure(say, PLIM_FIGURE_REQUESTED_FROM_SHAPE);
}

static void put(const why *say, const char *words)
{
    plim_fixed_text_put(say->out, "%s", words);
}

static void put_bytes(const why *say, const char *before, uint64_t bytes, const char *after)
{
    plim_fixed_text_put(say->out, "%s%s%s", before, plim_format_bytes(bytes).text, after);
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
    const uint64_t beside = figure(say, PLIM_FIGURE_OTHER_ALLOCATIONS);
    const bool is_counted = plim_held_counts_others(say->request) && known(beside);
    if (known(held)) {
        begin_clause(say);
        put_bytes(say, "it held ", held, "");
        if (covers(held, gap)) {
            put_bytes(say, " (", gap, " of it unused)");
        } else if (is_counted) {
            put_bytes(say, " (", beside, " of it outside the allocator)");
        }
    } else if (known(live)) {
        begin_clause(say);
        put_bytes(say, "", live, " were live");
    }
    if (known(beside) && !is_counted) {
        begin_clause(say);
        put_bytes(say, "", beside, " more lay outside the allocator");
    }
}

static void put_free(why *say)
{
    const uint64_t free_bytes = figure(say, PLIM_FIGURE_FREE);
    const uint64_t total = figure(say, PLIM_FIGURE_TOTAL);
    if (known(free_bytes)) {
        begin_clause(say);
        put_bytes(say, "", free_bytes, "");
        if (covers(total, free_bytes)) {
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
        put(say, "The program made a request that failed");
    } else if (say->request->topic == PLIM_TOPIC_STARTUP) {
        put_bytes(say, "At the start the program wanted ", bytes, "");
    } else if (say->request->topic == PLIM_TOPIC_PROGRAM) {
        put_bytes(say, "The compiled program needs ", bytes, "");
    } else if (known(figure(say, PLIM_FIGURE_REQUESTED))) {
        put_bytes(say, "The program requested ", bytes, "");
    } else {
        put_bytes(say, "By the shape of a tensor, the program requested ", bytes, "");
    }
}

/* Of a table: what it shows, without a request. */
static void put_table(const why *say)
{
    const uint64_t held = say->judgement->held_bytes;
    const uint64_t peak = figure(say, PLIM_FIGURE_ALLOCATED_PEAK);
    put(say, plim_words_of_topic(say->request->topic)->first);
    if (known(held)) {
        put_bytes(say, ": ", held, " were reserved");
        if (known(peak)) {
            put_bytes(say, ", and at most ", peak, " were allocated at once");
        }
    }
    put(say, ". ");
}

static void put_facts(why *say)
{
    if (say->request->topic == PLIM_TOPIC_SUMMARY) {
        put_table(say);
        return;
    }
    put_request(say);
    put_held(say);
    if (say->clause_count < REASONS_MAX) {
        put_free(say);
    }
    put(say, ". ");
}

/* --- additions to the second, one at most --- */

/* Memory held elsewhere would have been enough, and is much of the device. */
static bool elsewhere_suffices(const why *say)
{
    const uint64_t elsewhere = say->judgement->elsewhere_bytes;
    const uint64_t total = figure(say, PLIM_FIGURE_TOTAL);
    return covers(elsewhere, requested(say)) && known(total) && elsewhere >= total / 5;
}

static void put_addition(const why *say)
{
    const uint64_t pools = figure(say, PLIM_FIGURE_PRIVATE_POOLS);
    const uint64_t outside = say->judgement->outside_bytes;
    if (say->out->length > SENTENCE_LENGTH_MAX - ADDITION_MAX) {
        return;
    }
    if (elsewhere_suffices(say)) {
        put_bytes(say, "; ", say->judgement->elsewhere_bytes,
                  " were held elsewhere, and freeing that would have been enough");
    } else if (covers(pools, requested(say))) {
        put_bytes(say, "; ", pools, " lie in private pools, closed to ordinary requests");
    } else if (known(outside) && outside >= GIB) {
        put_bytes(say, "; ", outside, " more of this process are beside it (context, libraries)");
    }
}

/* --- the second sentence, one function for each reason --- */

static void free_enough(const why *say)
{
    put(say, "That contradicts the error: suspect a limit that is not printed, a virtual GPU, a "
             "Windows driver, or a reading that came too late");
}

static void over_limit(const why *say)
{
    const uint64_t limit = figure(say, PLIM_FIGURE_LIMIT);
    const uint64_t held = say->judgement->held_bytes;
    const uint64_t needed =
        known(held) ? plim_needed_bytes(say->request, say->judgement) : requested(say);
    if (!known(limit) || !known(needed)) {
        put(say, "A limit that was set is reached");
    } else if (needed > limit) {
        put(say, known(held) ? "Together that passes" : "That alone passes");
        put_bytes(say, " the limit of ", limit, "");
        put_bytes(say, " by ", needed - limit, "");
    } else {
        put_bytes(say, "Together that comes within ", limit - needed, "");
        put_bytes(say, " of the limit of ", limit, "");
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
        plim_known_sum(say->judgement->gap_bytes, figure(say, PLIM_FIGURE_FREE));
    put(say, "Unused and free together");
    if (known(together)) {
        put_bytes(say, ", ", together, ",");
    }
    put(say, " would have covered the ");
    put_or(say, requested(say), "request");
    put(say, ", but not in one piece");
    put_addition(say);
}

static void pool_gap(const why *say)
{
    put(say, "The pool's limit leaves ");
    put_or(
        say,
        plim_known_difference(figure(say, PLIM_FIGURE_LIMIT), figure(say, PLIM_FIGURE_ALLOCATED)),
        "enough");
    put(say, ", which would have covered the ");
    put_or(say, requested(say), "request");
    put(say, ", but not in one piece");
}

static void put_others(const why *say, const char *otherwise)
{
    const uint64_t elsewhere = say->judgement->elsewhere_bytes;
    const plim_process_figure *const other = plim_largest_other(say->request, say->judgement);
    put(say, "thers hold ");
    put_or(say, elsewhere, otherwise);
    if (other != NULL && covers(elsewhere, other->bytes)) {
        plim_fixed_text_put(say->out, " (process %" PRIu64 " alone %s)", other->pid,
                            plim_format_bytes(other->bytes).text);
    }
}

static void elsewhere(const why *say)
{
    put(say, "O");
    put_others(say, "the rest");
    put(say, ", more than this program: room is to be made there");
}

static void holds_little(const why *say)
{
    put(say, "This program holds a small part of the device: o");
    put_others(say, "nearly all the rest");
    put(say, ", and room is to be made there");
}

/* A full device: the strongest claim that the figures carry. */
static void full(const why *say)
{
    const uint64_t wanted = requested(say);
    const uint64_t free_bytes = figure(say, PLIM_FIGURE_FREE);
    const uint64_t there = plim_known_sum(say->judgement->gap_bytes, free_bytes);
    const uint64_t live = figure(say, PLIM_FIGURE_ALLOCATED);
    const uint64_t total = figure(say, PLIM_FIGURE_TOTAL);
    const uint64_t bound = known(total) ? total : figure(say, PLIM_FIGURE_LIMIT);
    const uint64_t needed = plim_known_sum(live, wanted);
    if (known(there) && known(wanted) && there < wanted) {
        put_bytes(say, "Live data and the request do not fit together: ", wanted - there,
                  " were missing, all free and unused space counted");
        put_addition(say);
    } else if (covers(needed, bound)) {
        put_bytes(say, "Live data and the request do not fit together: there are ", bound,
                  " for all of it");
        put_addition(say);
    } else if (known(wanted) && known(free_bytes) && free_bytes < wanted) {
        put_bytes(say, "What was free was too little by ", wanted - free_bytes,
                  "; how much of the rest is live is not known");
    } else {
        const char *const words = plim_words_of_topic(say->request->topic)->full;
        put(say, words != NULL ? words
                               : "The device had no more memory to give: how much was missing is "
                                 "not known");
    }
}

/* It would have fitted, but of what is held, under a tenth is unused: that is not the cause. */
static void full_nearly(const why *say)
{
    const uint64_t wanted = requested(say);
    const uint64_t unused = say->judgement->gap_bytes;
    const uint64_t free_bytes = figure(say, PLIM_FIGURE_FREE);
    if (covers(free_bytes, wanted)) {
        put_bytes(say, "The ", free_bytes, " that were free are the last of a full device: ");
        put(say, "the driver's granularity takes the difference");
    } else {
        const bool alone = covers(unused, wanted);
        const uint64_t together = plim_known_sum(unused, free_bytes);
        put(say, alone ? "The " : "Unused and free together, ");
        put_or(say, alone ? unused : together, "a little");
        put(say, alone ? " unused would have covered the " : ", would have covered the ");
        put_or(say, wanted, "request");
        put(say, ", but under a tenth of what is held is unused: hardly any fragmentation");
    }
    put_addition(say);
}

static void near_miss(const why *say)
{
    const uint64_t missing = say->judgement->short_bytes;
    put(say, "The share is missed by ");
    put_or(say, missing > 0 ? missing : PLIM_BYTES_UNKNOWN, "a little");
    put(say, " only: a slightly smaller one starts");
}

static void driver_pool(const why *say)
{
    const uint64_t rest = say->judgement->elsewhere_bytes;
    put(say, "Live data and the request would fit: ");
    if (known(rest)) {
        put_bytes(say, "the other ", rest, " are held");
    } else {
        put(say, "the rest is held");
    }
    put(say, " by the driver's pool, which keeps what was freed, or by other processes");
}

static void table(const why *say)
{
    if (say->judgement->verdict == PLIM_VERDICT_FRAGMENTED) {
        put_bytes(say, "So at least ", say->judgement->gap_bytes,
                  " lay unused, unless peaks were reset: that points to fragmentation");
    } else {
        put(say, "So nearly all of that was in use at the peak: that points to a full device");
    }
    put(say, ", though the table has neither the request nor what was free");
}

static void by_topic(const why *say)
{
    put(say, plim_words_of_topic(say->request->topic)->second);
}

static void put_consequence(const why *say)
{
    static void (*const sentences[])(const why *say) = {
        [PLIM_REASON_TOPIC] = by_topic,
        [PLIM_REASON_NO_FIGURES] = by_topic,
        [PLIM_REASON_FREE_ENOUGH] = free_enough,
        [PLIM_REASON_OVER_LIMIT] = over_limit,
        [PLIM_REASON_OVER_DEVICE] = over_device,
        [PLIM_REASON_OVER_ANY] = over_any,
        [PLIM_REASON_SPILLED] = spilled,
        [PLIM_REASON_GAP] = gap,
        [PLIM_REASON_GAP_AND_FREE] = gap_and_free,
        [PLIM_REASON_POOL_GAP] = pool_gap,
        [PLIM_REASON_HOLDS_LITTLE] = holds_little,
        [PLIM_REASON_ELSEWHERE] = elsewhere,
        [PLIM_REASON_STARTUP] = by_topic,
        [PLIM_REASON_FULL] = full,
        [PLIM_REASON_FULL_NEARLY] = full_nearly,
        [PLIM_REASON_NEAR_MISS] = near_miss,
        [PLIM_REASON_TABLE] = table,
        [PLIM_REASON_DRIVER_POOL] = driver_pool,
    };
    sentences[say->judgement->reason](say);
    put(say, ".");
}

/* --- topics --- */

/* Of a report or a library: what stands near it. */
static void put_found(why *say)
{
    static const struct {
        plim_figure_id id;
        const char *words;
    } shown[] = { { PLIM_FIGURE_ALLOCATED, " allocated" },
                  { PLIM_FIGURE_RESERVED, " reserved" },
                  { PLIM_FIGURE_ALLOCATED_PEAK, " allocated at most" },
                  { PLIM_FIGURE_RESERVED_PEAK, " reserved at most" } };
    if (say->request->topic == PLIM_TOPIC_HANDLE && known(figure(say, PLIM_FIGURE_FREE))) {
        put_free(say);
    }
    size_t count = 0;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const uint64_t bytes = figure(say, shown[i].id);
        if (say->request->topic == PLIM_TOPIC_REPORT && known(bytes)) {
            put_bytes(say, count++ == 0 ? ": " : ", ", bytes, shown[i].words);
        }
    }
}

/* The killer of a program's processes, and the holder of the limit that they met. */
typedef struct killer_words {
    plim_oom_family family;
    const char *killer;
    const char *limited;
} killer_words;

static const killer_words *killer_of(plim_oom_family family)
{
    static const killer_words killers[] = {
        { PLIM_FAMILY_LINUX, "The kernel", "its control group" },
        { PLIM_FAMILY_DOCKER, "The kernel", "its container" },
        { PLIM_FAMILY_KUBERNETES, "Kubernetes", "its container" },
        { PLIM_FAMILY_SLURM, "Slurm", "its job" },
        { PLIM_FAMILY_BATCH, "The batch system", "its job" },
        { PLIM_FAMILY_RAY, "Ray's memory monitor", "its node" },
        { PLIM_FAMILY_OOMD, "The memory daemon", "its unit" },
        { PLIM_FAMILY_COLAB, "Colab", "its session" },
        { PLIM_FAMILY_KAGGLE, "Kaggle", "its session" },
        { PLIM_FAMILY_MACOS, "macOS", "its process" },
        { PLIM_FAMILY_ANY, "The system", "its control group" },
    };
    size_t i = 0;
    while (killers[i].family != family && killers[i].family != PLIM_FAMILY_ANY) {
        i++;
    }
    return &killers[i];
}

static bool is_ended(plim_oom_topic topic)
{
    return topic == PLIM_TOPIC_HOST_KILLED || topic == PLIM_TOPIC_HOST_MACHINE ||
           topic == PLIM_TOPIC_HOST_CGROUP || topic == PLIM_TOPIC_HOST_EVICTED;
}

/* Figures of the process, the job or the machine. */
static void put_host_figures(const why *say)
{
    const uint64_t process = figure(say, PLIM_FIGURE_HOST_PROCESS);
    const uint64_t used = figure(say, PLIM_FIGURE_HOST_USED);
    const uint64_t limit = figure(say, PLIM_FIGURE_HOST_LIMIT);
    const uint64_t total = figure(say, PLIM_FIGURE_HOST_TOTAL);
    const uint64_t available = figure(say, PLIM_FIGURE_HOST_AVAILABLE);
    const char *before = ": ";
    if (known(process)) {
        put_bytes(say, before, process, " were resident");
        before = "; ";
    }
    if (known(used)) {
        put_bytes(say, before, used, "");
        if (known(total)) {
            put_bytes(say, " of ", total, "");
        }
        put(say, " were in use");
        before = "; ";
    } else if (known(total)) {
        put_bytes(say, before, total, " are all there is");
        before = "; ";
    }
    if (known(available) && !known(used)) {
        put_bytes(say, before, available, " were available");
        before = "; ";
    }
    if (known(limit)) {
        put_bytes(say, before, limit,
                  say->request->topic == PLIM_TOPIC_HOST_CGROUP ? " is the limit"
                                                                : " is the threshold");
    }
}

/* The process that was ended, where the text names it; else NULL. */
static const plim_process_figure *ended(const plim_failed_request *request)
{
    return request->process_count > 0 ? &request->processes[0] : NULL;
}

/* "The kernel killed process 935 (python) because …: 99.7 MiB were resident". */
static void put_ended(const why *say)
{
    const plim_process_figure *const process = ended(say->request);
    const killer_words *const words = killer_of(say->request->family);
    put(say, words->killer);
    if (say->request->topic == PLIM_TOPIC_HOST_EVICTED) {
        put(say, " evicted a pod");
    } else if (process != NULL && process->pid != 0) {
        plim_fixed_text_put(say->out, " killed process %" PRIu64, process->pid);
    } else {
        put(say, " killed a process");
    }
    if (process != NULL && process->name != NULL) {
        plim_fixed_text_put(say->out, " (%.*s)", NAME_CHARS_MAX, process->name);
    }
    put(say, plim_words_of_topic(say->request->topic)->first);
    put(say, say->request->topic == PLIM_TOPIC_HOST_CGROUP ? words->limited : "");
    put_host_figures(say);
    put(say, ". ");
}

/* "A kernel needs 160 KiB of shared memory, and 99.0 KiB are there. ", or what stands for it. */
static void put_topic_facts(why *say)
{
    const plim_topic_words *const words = plim_words_of_topic(say->request->topic);
    const uint64_t wanted =
        words->wanted_shared ? figure(say, PLIM_FIGURE_SHARED_REQUIRED) : requested(say);
    uint64_t bound = figure(say, words->bound);
    bound = known(bound) && bound < wanted ? bound : PLIM_BYTES_UNKNOWN;
    if (words->with_wanted == NULL || !known(wanted)) {
        put(say, words->first);
        put_found(say);
    } else {
        put_bytes(say, words->before_wanted, wanted, words->with_wanted);
        if (words->with_bound != NULL && known(bound)) {
            put_bytes(say, ", and ", bound, words->with_bound);
        }
    }
    put(say, ". ");
}

size_t plim_judgement_why(const plim_failed_request *request, const plim_judgement *judgement,
                          char *text, size_t bytes)
{
    plim_fixed_text out = plim_fixed_text_begin(text, bytes);
    why say = { .out = &out, .request = request, .judgement = judgement };
    if (judgement->reason != PLIM_REASON_TOPIC ||
        plim_words_of_topic(request->topic)->first == NULL) {
        put_facts(&say);
    } else if (is_ended(request->topic)) {
        put_ended(&say);
    } else {
        put_topic_facts(&say);
    }
    put_consequence(&say);
    return out.length;
}

/* --- one line --- */

size_t plim_verdict_headline(plim_verdict verdict, const char *device, char *text, size_t bytes)
{
    static const struct {
        const char *before, *after; /* the device; NULL: it is not named */
    } lines[PLIM_VERDICT_COUNT] = {
        [PLIM_VERDICT_UNKNOWN] = { "Out of memory: cause unknown", NULL },
        [PLIM_VERDICT_EXHAUSTED] = { "Out of memory: ", " is exhausted" },
        [PLIM_VERDICT_FRAGMENTED] = { "Out of memory: ", " is fragmented" },
        [PLIM_VERDICT_OTHER_PROCESS] = { "Out of memory: other processes hold ", "" },
        [PLIM_VERDICT_CAPPED] = { "Out of memory: capped by a limit, not by ", "" },
        [PLIM_VERDICT_OVERSIZED] = { "Out of memory: the request is oversized for ", "" },
        [PLIM_VERDICT_HOST] = { "Out of host memory", NULL },
        [PLIM_VERDICT_NOT_OOM] = { "Not out of memory", NULL },
        [PLIM_VERDICT_LEAK] = { "Memory leaks on ", "" },
        [PLIM_VERDICT_SPIKE] = { "A short burst sets the peak of ", "" },
        [PLIM_VERDICT_FIRST_STEP_GROWTH] = { "Memory of ", " grows in the first step" },
        [PLIM_VERDICT_HEALTHY] = { "Nothing is wrong with the memory of ", "" },
    };
    const size_t row = (size_t)verdict < PLIM_VERDICT_COUNT ? (size_t)verdict : 0;
    plim_fixed_text out = plim_fixed_text_begin(text, bytes);
    plim_fixed_text_put(&out, "%s%s%s", lines[row].before, lines[row].after != NULL ? device : "",
                        lines[row].after != NULL ? lines[row].after : "");
    return out.length;
}
