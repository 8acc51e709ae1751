/*
 * test_one_judge.c - the same figures get the same verdict and the same sentences, whoever has
 * them: an error text, a history, a rehearsal, a replay, or the allocator itself.
 *
 * Figures come from every recording with an out-of-memory event and from every PyTorch message
 * among the samples. They are put into the form that each source has: PyTorch's message is written
 * with them and explained, and the others are filled in by hand.
 */
#include "base/units.h"
#include "harness.h"

#include "plimsoll/allocator.h"
#include "plimsoll/explain.h"
#include "plimsoll/inspect.h"
#include "plimsoll/load.h"
#include "plimsoll/stats.h"

#include <dirent.h>
#include <stdio.h>

#define RECORDINGS "tests/data/recordings"
#define MESSAGES   "tests/data/messages"

/* What a message of PyTorch says: all that the sources have in common. */
typedef struct figures {
    uint64_t requested, total, free, allocated, reserved;
} figures;

typedef struct judged {
    plim_verdict verdict;
    char why[PLIM_WHY_BYTES];
} judged;

static judged judge(const plim_failed_request *request)
{
    const plim_judgement judgement = plim_judge(request);
    judged said = { .verdict = judgement.verdict };
    T_TRUE(plim_judgement_why(request, &judgement, said.why, sizeof said.why) < sizeof said.why);
    T_EQ_STR(judgement.finding.id + strlen("oom."), plim_verdict_name(judgement.verdict));
    return said;
}

static plim_oom_facts facts_of(const figures *f)
{
    return (plim_oom_facts){
        .requested_bytes = f->requested,
        .rounded_bytes = f->requested,
        .segment_bytes = f->requested,
        .device_total_bytes = f->total,
        .device_free_bytes = f->free,
        .allowed_bytes = PLIM_UNLIMITED,
        .allocated_bytes = f->allocated,
        .reserved_bytes = f->reserved,
        /* what the allocator knows beyond: none of it may change verdict or sentence */
        .free_own_bytes = t_random_bytes(1, 1 * GIB),
        .largest_hole_bytes = t_random_bytes(1, 1 * GIB),
        .releasable_bytes = t_random_bytes(1, 1 * GIB),
        .pending_bytes = t_random_bytes(1, 1 * GIB),
        .expandable_reserved_bytes = t_random_bytes(1, 1 * GIB),
    };
}

/* The history of a failure, and the size of the device, which a history does not have. */
static judged judge_history(const figures *f)
{
    const plim_oom_moment oom = {
        .event = 7,
        .requested_bytes = f->requested,
        .segment_bytes = f->requested,
        .device_free_bytes = f->free,
        .has_device_free = true,
        .stack = PLIM_NONE,
        .moment = { .allocated_bytes = f->allocated,
                    .active_bytes = f->allocated + MIB,
                    .reserved_bytes = f->reserved },
    };
    const plim_device_inspection device = { .events = 8, .ooms = &oom, .oom_count = 1 };
    plim_failed_request request = plim_oom_request(&device, 0);
    request.figures[PLIM_FIGURE_TOTAL].bytes = f->total;
    return judge(&request);
}

/* Says what PyTorch would, explains it, and gives what the text has left of the figures. */
static judged judge_text(figures *f)
{
    char text[PLIM_OOM_TEXT_BYTES];
    const plim_oom_facts facts = facts_of(f);
    const size_t length = plim_oom_text(&facts, PLIM_TORCH_NEWEST, text, sizeof text);
    plim_explanation *explanation = NULL;
    T_EQ_U64(plim_explain_text(text, length, NULL, &explanation, NULL), PLIM_OK);
    T_EQ_U64(plim_explanation_message_count(explanation), 1);
    const plim_oom_message *const message = plim_explanation_message(explanation, 0);
    const plim_figure *const said = message->request.figures;
    judged words = { .verdict = message->judgement.verdict };
    snprintf(words.why, sizeof words.why, "%s", message->why);
    *f = (figures){
        .requested = said[PLIM_FIGURE_REQUESTED].bytes,
        .total = said[PLIM_FIGURE_TOTAL].bytes,
        .free = said[PLIM_FIGURE_FREE].bytes,
        .allocated = said[PLIM_FIGURE_ALLOCATED].bytes,
        .reserved =
            said[PLIM_FIGURE_ALLOCATED].bytes + said[PLIM_FIGURE_RESERVED_UNALLOCATED].bytes,
    };
    plim_explanation_destroy(explanation);
    return words;
}

/* A rehearsal's failure, and a replay's, have these figures and no others. */
static judged judge_plain(const figures *f)
{
    plim_failed_request request =
        plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
    request.figures[PLIM_FIGURE_REQUESTED].bytes = f->requested;
    request.figures[PLIM_FIGURE_TOTAL].bytes = f->total;
    request.figures[PLIM_FIGURE_FREE].bytes = f->free;
    request.figures[PLIM_FIGURE_ALLOCATED].bytes = f->allocated;
    request.figures[PLIM_FIGURE_RESERVED].bytes = f->reserved;
    return judge(&request);
}

static void compare(figures f)
{
    const judged exact = judge_plain(&f);
    const judged text = judge_text(&f); /* from here on f is what the text says */
    char advice[PLIM_OOM_ADVICE_BYTES];
    plim_process_figure processes[PLIM_OOM_PROCESSES_MAX];
    const plim_oom_facts facts = facts_of(&f);
    const plim_failed_request request = plim_oom_facts_request(&facts, processes);
    const judged others[] = { judge_plain(&f), judge_history(&f), judge(&request) };
    T_CASE("%.120s", text.why);
    T_EQ_U64(exact.verdict, text.verdict);
    for (size_t i = 0; i < T_COUNT(others); i++) {
        T_EQ_U64(others[i].verdict, text.verdict);
        T_EQ_STR(others[i].why, text.why);
    }
    (void)plim_oom_advice(&facts, advice, sizeof advice);
    T_EQ_MEM(advice, text.why, strlen(text.why));
}

/* --- recordings --- */

static size_t compare_recording(const char *path)
{
    size_t count = 0;
    plim_history *history = NULL;
    plim_inspection *inspection = NULL;
    T_EQ_U64(plim_history_load(path, NULL, &history, NULL), PLIM_OK);
    T_EQ_U64(plim_inspect(history, NULL, &inspection, NULL), PLIM_OK);
    for (size_t d = 0; d < plim_inspection_device_count(inspection); d++) {
        const plim_device_inspection *const device = plim_inspection_device(inspection, d);
        for (size_t i = 0; i < device->oom_count; i++) {
            const plim_failed_request request = plim_oom_request(device, i);
            const plim_figure *const known = request.figures;
            figures f = { .requested = known[PLIM_FIGURE_REQUESTED].bytes,
                          .free = known[PLIM_FIGURE_FREE].bytes,
                          .allocated = known[PLIM_FIGURE_ALLOCATED].bytes,
                          .reserved = known[PLIM_FIGURE_RESERVED].bytes };
            f.total = f.reserved + f.free; /* what the driver would have given this process */
            const judged with_total = judge_plain(&f);
            const judged without = judge(&request);
            T_CASE("%s: %.100s", path, without.why);
            T_EQ_U64(without.verdict, with_total.verdict);
            T_EQ_STR(strstr(without.why, " were free. "), strstr(with_total.why, " were free. "));
            compare(f);
            count++;
        }
    }
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
    return count;
}

static size_t for_each_file(const char *folder, size_t (*visit)(const char *path))
{
    size_t count = 0;
    DIR *const files = opendir(folder);
    T_NOT_NULL(files);
    for (const struct dirent *file = readdir(files); file != NULL; file = readdir(files)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        count += file->d_name[0] != '.' ? visit(path) : 0;
    }
    closedir(files);
    return count;
}

static size_t visit_recording(const char *path)
{
    return strstr(path, ".pickle") != NULL ? compare_recording(path) : 0;
}

static void recordings_are_judged_as_their_messages_are(void)
{
    T_TRUE(for_each_file(RECORDINGS, visit_recording) >= 3);
}

/* --- messages --- */

static size_t compare_message(const plim_oom_message *message)
{
    const plim_figure *const said = message->request.figures;
    const uint64_t unused = said[PLIM_FIGURE_RESERVED_UNALLOCATED].bytes;
    figures f = { .requested = said[PLIM_FIGURE_REQUESTED].bytes,
                  .total = said[PLIM_FIGURE_TOTAL].bytes,
                  .free = said[PLIM_FIGURE_FREE].bytes,
                  .allocated = said[PLIM_FIGURE_ALLOCATED].bytes,
                  .reserved = said[PLIM_FIGURE_RESERVED].bytes };
    f.reserved = f.reserved == PLIM_BYTES_UNKNOWN && unused != PLIM_BYTES_UNKNOWN
                     ? f.allocated + unused
                     : f.reserved;
    const uint64_t *const all[] = { &f.requested, &f.total, &f.free, &f.allocated, &f.reserved };
    bool has_all = message->request.topic == PLIM_TOPIC_ALLOCATION;
    for (size_t i = 0; i < T_COUNT(all); i++) {
        has_all = has_all && *all[i] < UINT64_C(1) << 60;
    }
    /* a history that holds nothing has no segments, and does not say what is reserved */
    if (has_all && f.requested > 0 && f.reserved > 0 && f.reserved >= f.allocated) {
        compare(f);
        return 1;
    }
    return 0;
}

static size_t visit_message(const char *path)
{
    size_t count = 0;
    plim_explanation *explanation = NULL;
    T_EQ_U64(plim_explain_file(path, NULL, &explanation, NULL), PLIM_OK);
    for (size_t i = 0; i < plim_explanation_message_count(explanation); i++) {
        count += compare_message(plim_explanation_message(explanation, i));
    }
    plim_explanation_destroy(explanation);
    return count;
}

static void messages_are_judged_as_other_sources_are(void)
{
    T_TRUE(for_each_file(MESSAGES, visit_message) >= 5);
    FILE *const others = fopen("../shared/data/oom-messages.jsonl", "rb");
    if (others != NULL) { /* other people's, where they are present */
        fclose(others);
        T_TRUE(visit_message("../shared/data/oom-messages.jsonl") > 10);
    }
}

/* --- any figures --- */

static void any_figures_are_judged_alike(void)
{
    for (int i = 0; i < 3000; i++) {
        figures f = { .total = t_random_bytes(GIB, 200 * GIB) };
        f.reserved = t_random_between(1, f.total);
        f.allocated = t_random_between(0, f.reserved);
        f.free = t_random_between(0, f.total - f.reserved);
        f.requested = t_random_bytes(2 * MIB, 2 * f.total);
        judge_text(&f); /* as a text says them: rounding may tip the verdict */
        compare(f);
    }
}

T_MAIN(T_TEST(recordings_are_judged_as_their_messages_are),
       T_TEST(messages_are_judged_as_other_sources_are), T_TEST(any_figures_are_judged_alike))
