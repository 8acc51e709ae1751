/*
 * test_fit.c - the page of a search for techniques and the document `fit/1`, against approved
 * copies; hostile texts; allocations that fail.
 */
#include "golden.h"
#include "harness.h"

#include "base/units.h"
#include "report/json/documents.h"
#include "report/model/fit.h"

#include <yajl/yajl_tree.h>

#define TEXT_BYTES_MAX ((size_t)1 << 22)
#define TRIALS_MAX     12
#define USES_MAX       20
#define CAPACITY       (12 * GIB)

static const plim_style wide = { .utf8 = true, .width = 96 };
static const plim_style narrow = { .utf8 = true, .width = 60 };
static const plim_style ascii = { .width = 80 };

static const char *const argv[] = { "python", "train my model.py", "--batch", "64", NULL };
static const plim_gpu gpu = { .key = "rtx3060",
                              .name = "NVIDIA GeForce RTX 3060",
                              .memory_bytes = CAPACITY };
static const plim_gpu larger = { .key = "a100", .name = "NVIDIA A100", .memory_bytes = 40 * GIB };

/* All that a result points to. */
typedef struct fit_sample {
    plim_fit_use uses[TRIALS_MAX][USES_MAX];
    plim_fit_trial trials[TRIALS_MAX];
    plim_fit_change changes[4];
    plim_fitted fitted;
} fit_sample;

static fit_sample sample;

/* ---- samples --------------------------------------------------------------------------------- */

static plim_fit_trial *add_trial(const char *stack, plim_fit_answer answer, uint64_t bytes)
{
    static char words[TRIALS_MAX][1024];
    const size_t index = sample.fitted.trial_count++;
    plim_fit_trial *const trial = &sample.trials[index];
    char *rest = NULL;
    *trial = (plim_fit_trial){ .uses = sample.uses[index], .answer = answer, .seconds = 4.5 };
    (void)snprintf(words[index], sizeof(words[index]), "%s", stack);
    for (char *word = strtok_r(words[index], " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        plim_fit_use *const use = &sample.uses[index][trial->use_count++];
        *use = (plim_fit_use){ .text = word, .state = "applied" };
        if (plim_technique_find(word, &use->technique, NULL) == PLIM_OK) {
            use->label = use->technique->label;
        }
        trial->label = use->label > trial->label ? use->label : trial->label;
    }
    trial->verdict = PLIM_REHEARSED_FITS;
    if (bytes > 0) {
        trial->peak = (plim_rehearsed_peak){ bytes - 2 * GIB, bytes - GIB / 4, bytes };
        trial->bar = (plim_rehearsed_bar){ bytes - MIB, bytes, bytes + MIB };
        trial->slowdown = 1;
        trial->cost.seconds = 0.25;
    }
    return trial;
}

static void begin(void)
{
    sample = (fit_sample){ 0 };
    sample.fitted = (plim_fitted){ .gpu = &gpu,
                                   .capacity_bytes = CAPACITY,
                                   .trials = sample.trials,
                                   .plain = sample.trials,
                                   .changes = sample.changes,
                                   .steps = 3 };
}

static plim_fit_trial *add_plain(plim_fit_answer answer, uint64_t bytes, const char *reason)
{
    plim_fit_trial *const plain = add_trial("", answer, bytes);
    plain->reason = reason;
    plain->is_confirmed = answer == PLIM_FIT_FITS;
    return plain;
}

static void add_useless(void)
{
    plim_fit_trial *trial = add_trial("set_to_none", PLIM_FIT_NO_EFFECT, 0);
    trial->is_predicted = true;
    trial->reason = "gradients are freed already: it is PyTorch's default since 2.0";
    trial = add_trial("attention=flash", PLIM_FIT_REFUSED, 20 * GIB);
    trial->reason = "attention=flash: a mask of shape [4, 1, 8, 8] is given";
    trial = add_trial("optimizer=in_backward loss=chunked", PLIM_FIT_BROKEN, 3 * GIB);
    trial->verdict = PLIM_REHEARSED_FAILED;
    trial->slowdown = 0;
    trial->reason = "AttributeError: 'NoneType' object has no attribute 'norm'";
    trial = add_trial("offload=all_saved", PLIM_FIT_SHORT, 0);
    trial->is_predicted = true;
    trial->reason = "what the backward pass needs may be more than the host's memory";
}

static void add_changes(void)
{
    sample.changes[0] = (plim_fit_change){
        .text = "autocast=bf16",
        .pytorch =
            "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    output = model(inputs)",
        .arguments = "bf16=True",
        .framework = "Trainer(precision=\"bf16-mixed\")",
        .diff = "--- a/train.py\n+++ b/train.py\n@@ -4 +4,2 @@\n-y = model(x)\n"
                "+with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n+    y = model(x)",
    };
    sample.changes[1] = (plim_fit_change){ .text = "accumulate=8",
                                           .pytorch = "(loss / 8).backward()",
                                           .note = "no diff: there are 2 places of the backward" };
    sample.fitted.change_count = 2;
    sample.fitted.diff = sample.changes[0].diff;
}

static void winner(void)
{
    add_plain(PLIM_FIT_SHORT, 86 * GIB, "74 GiB are missing");
    add_trial("accumulate=2", PLIM_FIT_SHORT, 43 * GIB)->slowdown = 1.02;
    add_trial("empty_cache", PLIM_FIT_SHORT, 87 * GIB)->slowdown = 1.01;
    plim_fit_trial *const dear = add_trial("offload=optimizer", PLIM_FIT_SHORT, 80 * GIB);
    dear->host_bytes = 3 * GIB / 2;
    dear->slowdown = 1.21;
    add_useless();
    plim_fit_trial *const best = add_trial("autocast=bf16 accumulate=8", PLIM_FIT_FITS, 11 * GIB);
    plim_fit_trial *const roomy =
        add_trial("conf=expandable_segments:True autocast=bf16 offload=optimizer accumulate=8 "
                  "checkpoint=fraction:0.75",
                  PLIM_FIT_FITS, 10 * GIB);
    best->slowdown = 0.69;
    best->is_confirmed = roomy->is_confirmed = true;
    roomy->slowdown = 1.4;
    roomy->host_bytes = 32 * GIB;
    roomy->settings = "max_split_size_mb:64,expandable_segments:True";
    add_trial("optimizer=sgd", PLIM_FIT_SHORT, 70 * GIB)->slowdown = 0;
    sample.fitted.cheapest = best;
    sample.fitted.roomy = roomy;
    add_changes();
}

/* The search ended before the answer was confirmed, and nothing leaves a tenth. */
static void unconfirmed(void)
{
    add_plain(PLIM_FIT_SHORT, 86 * GIB, "74 GiB are missing");
    plim_fit_trial *const cut = add_trial("checkpoint", PLIM_FIT_UNKNOWN, 0);
    cut->reason = "the budget of time ended";
    cut->verdict = PLIM_REHEARSED_FAILED;
    sample.fitted.cheapest = add_trial("accumulate=8", PLIM_FIT_FITS, 11 * GIB);
    sample.fitted.stopped = "budget";
}

static void fits_as_it_is(void)
{
    sample.fitted.cheapest = add_plain(PLIM_FIT_FITS, 9 * GIB, NULL);
    sample.fitted.roomy = sample.fitted.cheapest;
}

static void fits_at_least_and_closely(void)
{
    plim_fit_trial *const plain = add_plain(PLIM_FIT_FITS, 11 * GIB, NULL);
    plain->verdict = PLIM_REHEARSED_AT_LEAST;
    sample.fitted.cheapest = plain;
    plim_fit_trial *const roomy = add_trial("checkpoint", PLIM_FIT_FITS, 7 * GIB);
    roomy->slowdown = 1.3;
    sample.fitted.roomy = roomy;
}

static void smallest_gpu(void)
{
    sample.fitted.cheapest = add_plain(PLIM_FIT_FITS, 11 * GIB, NULL);
    sample.fitted.enough = &gpu;
    sample.fitted.is_enough_rehearsed = true;
}

static void smallest_gpu_unrehearsed(void)
{
    smallest_gpu();
    sample.fitted.is_enough_rehearsed = false;
    sample.fitted.cheapest = sample.trials;
    sample.trials[0].is_confirmed = false;
}

static void nothing_fits(void)
{
    add_plain(PLIM_FIT_SHORT, 86 * GIB, "74 GiB are missing");
    sample.fitted.smallest = add_trial("loss=chunked checkpoint", PLIM_FIT_SHORT, 21 * GIB);
    sample.fitted.missing_bytes = 9 * GIB;
    sample.fitted.enough = &larger;
    sample.fitted.is_enough_rehearsed = true;
    add_useless();
}

static void nothing_fits_and_stopped(void)
{
    nothing_fits();
    sample.fitted.is_enough_rehearsed = false;
    sample.fitted.stopped = "trials";
}

/* The peak is below the capacity: its bar or a margin is not. */
static void nothing_fits_by_little(void)
{
    sample.fitted.smallest = add_plain(PLIM_FIT_SHORT, 12 * GIB - MIB / 2, "512 KiB are missing");
    sample.fitted.missing_bytes = MIB / 2;
}

/* More than sixteen times as much memory was not enough either. */
static void nothing_is_enough(void)
{
    plim_fit_trial *const plain =
        add_plain(PLIM_FIT_SHORT, 255 * GIB, "256 GiB were not enough either");
    plain->verdict = PLIM_REHEARSED_OUT_OF_MEMORY;
    plain->slowdown = 0;
    sample.fitted.smallest = plain;
    sample.fitted.missing_bytes = 243 * GIB;
}

static void program_fails(void)
{
    plim_fit_trial *const plain = add_plain(
        PLIM_FIT_UNKNOWN, 0, "FileNotFoundError: [Errno 2] No such file or directory: 'data.bin'");
    plain->verdict = PLIM_REHEARSED_FAILED;
}

static void hostile(void)
{
    static char reason[] = "Error: \x1b[31m\xff\xfe\x01 \"quoted\" {} %s \xe2\x80? end";
    reason[sizeof(reason) - sizeof("? end")] = '\xae'; /* a right-to-left override */
    add_plain(PLIM_FIT_SHORT, 86 * GIB, "74 GiB are missing");
    add_trial("checkpoint", PLIM_FIT_BROKEN, 0)->reason = reason;
    plim_fit_trial *const many =
        add_trial("a b=1 c d e f g h i j k l m n o p q r s \x1b[2Jt", PLIM_FIT_SHORT, 80 * GIB);
    many->host_bytes = UINT64_MAX;
    many->slowdown = 1e9;
    sample.changes[0] = (plim_fit_change){ .text = "a", .pytorch = reason, .note = reason };
    sample.fitted.change_count = 1;
}

static void batches(void)
{
    winner();
    sample.fitted.training = (plim_fit_batch){
        .now = 64,
        .largest = 71,
        .stack = "autocast=bf16",
        .peak = { 9 * GIB, 11 * GIB, CAPACITY - MIB },
        .rehearsals = 10,
    };
    sample.fitted.evaluation = sample.fitted.training;
    sample.fitted.evaluation.largest = 12000;
    sample.fitted.evaluation.stack = "autocast=bf16 accumulate=8";
    sample.fitted.evaluation.why_not_more = "the dataset has 12000 rows";
}

static void batches_that_are_not_known(void)
{
    fits_as_it_is();
    sample.fitted.training = (plim_fit_batch){ .now = 64, .stack = "", .rehearsals = 4 };
    sample.fitted.evaluation = (plim_fit_batch){
        .why_unknown = "no torch.utils.data.DataLoader that the program evaluates with was found",
        .stack = "",
        .rehearsals = 2,
    };
}

/* Three diffs, of which two go together, and a stack that is short by its error bar alone. */
static void one_diff_of_several(void)
{
    winner();
    sample.changes[2] = sample.changes[0];
    sample.changes[2].text = "fused";
    sample.changes[2].arguments = sample.changes[2].framework = NULL;
    sample.changes[3] = sample.changes[2];
    sample.changes[3].text = "checkpoint";
    sample.changes[3].is_left_out = true;
    sample.fitted.change_count = 4;
    add_trial("fused", PLIM_FIT_SHORT, CAPACITY - MIB / 2)->reason = "512 KiB are missing";
}

static void cards(void)
{
    static plim_fit_row rows[3];
    winner();
    rows[0] = (plim_fit_row){
        .nominal_bytes = 8 * GIB, .gpu = &gpu, .device_bytes = 9 * GIB, .missing_bytes = GIB
    };
    rows[1] = (plim_fit_row){ .nominal_bytes = 12 * GIB,
                              .gpu = &gpu,
                              .trial = &sample.trials[1],
                              .device_bytes = 10 * GIB,
                              .rows = 8,
                              .rows_most = 11,
                              .slowdown = 0.69,
                              .step_seconds = 0.5 };
    rows[2] = (plim_fit_row){ .nominal_bytes = 40 * GIB,
                              .gpu = &larger,
                              .trial = &sample.trials[0],
                              .device_bytes = 22 * GIB,
                              .rows = 64 };
    sample.fitted.rows = rows;
    sample.fitted.row_count = T_COUNT(rows);
}

static const struct {
    const char *golden;
    void (*make)(void);
    const plim_style *style;
} pages[] = {
    { "fit-winner", winner, &wide },
    { "fit-winner-narrow", winner, &narrow },
    { "fit-winner-ascii", winner, &ascii },
    { "fit-unconfirmed", unconfirmed, &wide },
    { "fit-as-it-is", fits_as_it_is, &wide },
    { "fit-closely", fits_at_least_and_closely, &wide },
    { "fit-smallest-gpu", smallest_gpu, &wide },
    { "fit-smallest-gpu-unrehearsed", smallest_gpu_unrehearsed, &wide },
    { "fit-nothing", nothing_fits, &wide },
    { "fit-nothing-stopped", nothing_fits_and_stopped, &wide },
    { "fit-nothing-by-little", nothing_fits_by_little, &wide },
    { "fit-nothing-is-enough", nothing_is_enough, &wide },
    { "fit-fails", program_fails, &wide },
    { "fit-batches", batches, &wide },
    { "fit-batches-unknown", batches_that_are_not_known, &wide },
    { "fit-one-diff", one_diff_of_several, &wide },
    { "fit-cards", cards, &wide },
    { "fit-hostile", hostile, &wide },
};

/* ---- tests ----------------------------------------------------------------------------------- */

static plim_status draw(plim_text *out, const plim_style *style, const plim_mem *mem)
{
    plim_page page;
    plim_page_init(&page, mem);
    plim_fit_page(&page, argv, &sample.fitted);
    plim_text_init(out, mem, TEXT_BYTES_MAX);
    plim_page_draw(out, style, &page);
    plim_page_deinit(&page);
    return out->status;
}

static plim_status write(plim_text *out, const plim_mem *mem)
{
    plim_page page;
    plim_page_init(&page, mem);
    plim_fit_page(&page, argv, &sample.fitted);
    plim_text_init(out, mem, TEXT_BYTES_MAX);
    const plim_status status =
        plim_fit_json_write(plim_sink_to_text(out), argv, &sample.fitted, &page, NULL);
    plim_page_deinit(&page);
    return status;
}

static void pages_read_as_approved(void)
{
    for (size_t i = 0; i < T_COUNT(pages); i++) {
        char name[64];
        plim_text out;
        (void)snprintf(name, sizeof(name), "%s.txt", pages[i].golden);
        T_CASE("%s", name);
        begin();
        pages[i].make();
        T_EQ_U64(draw(&out, pages[i].style, NULL), PLIM_OK);
        golden_check(name, &out);
        plim_text_deinit(&out);
    }
}

static void documents_are_as_approved(void)
{
    for (size_t i = 0; i < T_COUNT(pages); i++) {
        char name[64];
        plim_text out;
        (void)snprintf(name, sizeof(name), "%s.json", pages[i].golden);
        T_CASE("%s", name);
        if (pages[i].style != &wide) {
            continue;
        }
        begin();
        pages[i].make();
        T_EQ_U64(write(&out, NULL), PLIM_OK);
        golden_check(name, &out);
        plim_text_deinit(&out);
    }
}

static yajl_val get(yajl_val of, const char *key)
{
    const char *path[] = { key, NULL };
    return yajl_tree_get(of, path, yajl_t_any);
}

/* A figure of zero would be read as a measurement. */
static void what_was_not_rehearsed_has_no_figures(void)
{
    static const char *const figures[] = {
        "verdict",     "peak_allocated_bytes", "peak_reserved_bytes", "peak_device_bytes",
        "peak_device", "host_bytes",           "model_seconds",       "slowdown",
        "seconds",
    };
    plim_text out;
    size_t predicted = 0;
    begin();
    winner();
    T_EQ_U64(write(&out, NULL), PLIM_OK);
    yajl_val root = yajl_tree_parse(plim_text_string(&out), NULL, 0);
    T_NOT_NULL(root);
    yajl_val trials = get(root, "trials");
    for (size_t i = 0; i < YAJL_GET_ARRAY(trials)->len; i++) {
        yajl_val trial = YAJL_GET_ARRAY(trials)->values[i];
        const bool is_predicted = YAJL_IS_TRUE(get(trial, "is_predicted"));
        predicted += is_predicted;
        for (size_t j = 0; j < T_COUNT(figures) && is_predicted; j++) {
            T_CASE("%s", figures[j]);
            T_TRUE(YAJL_IS_NULL(get(trial, figures[j])));
        }
        T_TRUE(is_predicted || !YAJL_IS_NULL(get(trial, "verdict")));
    }
    T_EQ_U64(predicted, 2);
    yajl_tree_free(root);
    plim_text_deinit(&out);
}

static bool try_to_draw(const plim_mem *mem, void *ctx)
{
    plim_text out;
    (void)ctx;
    const bool is_drawn = draw(&out, &wide, mem) == PLIM_OK;
    plim_text_deinit(&out);
    return is_drawn;
}

static bool try_to_write(const plim_mem *mem, void *ctx)
{
    plim_text out;
    (void)ctx;
    const bool is_written = write(&out, mem) == PLIM_OK;
    plim_text_deinit(&out);
    return is_written;
}

static void every_allocation_may_fail(void)
{
    for (size_t i = 0; i < T_COUNT(pages); i++) {
        T_CASE("%s", pages[i].golden);
        begin();
        pages[i].make();
        t_fail_each_allocation(try_to_draw, NULL);
        t_fail_each_allocation(try_to_write, NULL);
    }
}

T_MAIN(T_TEST(pages_read_as_approved), T_TEST(documents_are_as_approved),
       T_TEST(what_was_not_rehearsed_has_no_figures), T_TEST(every_allocation_may_fail))
