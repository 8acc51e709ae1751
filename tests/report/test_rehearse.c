/*
 * test_rehearse.c - the pages of rehearsals and of searches, against approved copies.
 */
#include "golden.h"
#include "harness.h"
#include "rehearse_sample.h"

#include "report/term/line.h"

#define PAGE_BYTES_MAX ((size_t)1 << 20)

static const plim_style wide = { .utf8 = true, .width = 96 };
static const plim_style narrow = { .utf8 = true, .width = 60 };
static const plim_style widest = { .utf8 = true, .width = 200 };
static const plim_style plain = { .width = 80 };
static const plim_style bright = { .utf8 = true, .color = true, .width = 100 };

static void fits(rehearse_sample *sample)
{
    (void)sample;
}

static void ran_out(rehearse_sample *sample)
{
    sample_run_out(sample);
}

/* It requested too much, and tried less. */
static void ran_out_and_went_on(rehearse_sample *sample)
{
    sample_run_out(sample);
    sample->processes[0].ended = "exit";
    sample->processes[0].exception = NULL;
    sample->rehearsed.exit_status = 0;
    sample->rehearsed.ran_out = false;
    sample->rehearsed.message = NULL;
}

/* PyTorch noted nothing: its message came from a process that told nothing else. */
static void ran_out_unseen(rehearse_sample *sample)
{
    sample->rehearsed.exit_status = 1;
    sample->rehearsed.ran_out = true;
}

static const char *const in_a_trainer[] = {
    "/usr/lib/python3/site-packages/torch/nn/functional.py:2546 linear",
    "/usr/lib/python3/site-packages/transformers/models/llama/modeling_llama.py:176 forward",
    "/usr/lib/python3/site-packages/transformers/trainer.py:2325 train",
    "/home/user/project/train.py:90 <module>",
};

/* The user's own code is but the call of the Trainer. */
static void ran_out_in_a_trainer(rehearse_sample *sample)
{
    sample_run_out(sample);
    sample->oom.stack = in_a_trainer;
    sample->oom.stack_count = T_COUNT(in_a_trainer);
}

static const plim_rehearsed_technique switched[] = {
    { .name = "checkpoint",
      .value = "every:2",
      .state = "applied",
      .text = "6 of 12 Blocks of GPT.h are recomputed" },
    { .name = "accumulate",
      .value = "4",
      .state = "applied",
      .text = "batches of 16 go through in 4 pieces",
      .label = "changed",
      .label_text = "the program has batch normalization" },
    { .name = "optimizer",
      .value = "8bit",
      .state = "refused",
      .text = "bitsandbytes cannot be imported: No module named 'bitsandbytes'" },
    { .name = "set_to_none",
      .value = "",
      .state = "no_effect",
      .text = "gradients are freed already: it is PyTorch's default since 2.0" },
    { .name = "kv", .value = "static", .state = "waiting" },
};

static void switched_on(rehearse_sample *sample)
{
    sample->outcome.techniques = switched;
    sample->outcome.technique_count = T_COUNT(switched);
    sample->processes[0].techniques = switched;
    sample->processes[0].technique_count = T_COUNT(switched);
}

/* Of a hundred processes one has nothing to apply it to. */
static void switched_on_in_ranks(rehearse_sample *sample)
{
    static const plim_rehearsed_technique other = { .name = "checkpoint",
                                                    .value = "every:2",
                                                    .state = "no_effect" };
    sample_spread(sample, 3);
    sample->outcome.techniques = switched;
    sample->outcome.technique_count = 1;
    for (size_t i = 0; i < 3; i++) {
        sample->processes[i].techniques = i == 1 ? &other : switched;
        sample->processes[i].technique_count = 1;
    }
}

static void ran_out_with_need(rehearse_sample *sample)
{
    sample_run_out(sample);
    sample_need(sample);
}

static void ran_out_with_holes(rehearse_sample *sample)
{
    sample_run_out(sample);
    sample_tried(sample);
    sample->need.has_categories = false;
    sample->need.asks_for_free = true;
    sample->need.has_all = false;
}

static void ran_out_for_ever(rehearse_sample *sample)
{
    sample_run_out(sample);
    sample_need(sample);
    sample->need.why_at_least = "what it keeps grows with each step";
    sample->need.growth_bytes = 240 * MIB;
    sample->need.has_all = false;
    sample->need.has_categories = false;
}

static void ran_out_and_failed(rehearse_sample *sample)
{
    sample_run_out(sample);
    sample_need(sample);
    sample->need.why_at_least = "without the limit it ended with exit status 1: ValueError: no";
    sample->need.has_backward = false;
}

static void ran_out_and_then(rehearse_sample *sample)
{
    sample_run_out(sample);
    sample_need(sample);
    sample->need = (plim_rehearsed_need){ .why_unknown = "the second run was interrupted" };
}

static void failed(rehearse_sample *sample)
{
    sample->processes[0].ended = "error";
    sample->processes[0].exception = "ValueError: the batch does not divide by the world size";
    sample->rehearsed.exit_status = 2;
    sample->rehearsed.reason = (plim_rehearsed_reason){ "program", sample->processes[0].exception };
}

/* Of what failed before it used a GPU there are no figures. */
static void without_figures(rehearse_sample *sample, int exit_status, const char *word,
                            const char *text)
{
    sample->outcome.process_count = 0;
    sample->gpus[0] = (plim_rehearsed_gpu){ 0 };
    sample->rehearsed.exit_status = exit_status;
    sample->rehearsed.reason = (plim_rehearsed_reason){ word, text };
}

static void failed_early(rehearse_sample *sample)
{
    without_figures(sample, 1, "program", "ModuleNotFoundError: No module named 'tiktoken'");
}

static void failed_silently(rehearse_sample *sample)
{
    without_figures(sample, 9, "program", "exit status 9");
}

static void crashed_early(rehearse_sample *sample)
{
    without_figures(sample, 139, "signal", "SIGSEGV (segmentation fault)");
}

static void crashed(rehearse_sample *sample)
{
    sample->processes[0].ended = "running";
    sample->rehearsed.exit_status = 139;
    sample->rehearsed.reason = (plim_rehearsed_reason){ "signal", "SIGSEGV (segmentation fault)" };
}

static void no_gpu_used(rehearse_sample *sample)
{
    without_figures(sample, 0, "no_gpu_used", "PyTorch was imported and CUDA never used");
    sample->outcome.process_count = 1;
    sample->processes[0].device_count = 0;
}

static void no_kernels(rehearse_sample *sample)
{
    without_figures(sample, 0, "no_kernels",
                    "PyTorch 2.11.0+cu130 has no kernels for NVIDIA TITAN V, whose compute "
                    "capability is 7.0 (it has sm_75 sm_80): packages for cu126 have them");
}

/* Of 25 failures only 20 are there in full. */
static void ran_out_often(rehearse_sample *sample)
{
    static const plim_rehearsed_oom_place places[] = { { "train.py:9 main", 24 },
                                                       { "train.py:12 main", 1 } };
    ran_out_and_went_on(sample);
    sample_spread(sample, 2);
    for (size_t i = 0; i < 2; i++) {
        sample->processes[i].oom_total = 25;
        sample->processes[i].oom_places = places;
        sample->processes[i].oom_place_count = T_COUNT(places);
    }
}

static void ran_out_again(rehearse_sample *sample)
{
    static const plim_rehearsed_oom_place places[] = {
        { "train.py:9 main", 3 }, { "a.py:1 f", 1 }, { "b.py:1 f", 1 },
        { "c.py:1 f", 1 },        { "d.py:1 f", 1 }, { "e.py:1 f", 1 },
    };
    sample_run_out(sample);
    sample->processes[0].oom_total = 8;
    sample->processes[0].oom_places = places;
    sample->processes[0].oom_place_count = T_COUNT(places);
}

static void unanswered(rehearse_sample *sample)
{
    static const plim_rehearsed_call calls[] = {
        { "cudaMalloc", "answered", "", 118 },
        { "cudaNobodyKnowsThis", "unknown", "", 1 },
        { "cudaGraphInstantiateFancy", "refused", "graphs of another kind are not stood in for",
          2 },
    };
    sample->outcome.calls = calls;
    sample->outcome.call_count = T_COUNT(calls);
    sample->outcome.unanswered_count = 2;
    sample->rehearsed.exit_status = 1;
}

static void two_gpus(rehearse_sample *sample)
{
    sample->devices[1] = sample_device(sample, 1);
    sample->devices[1].peak_allocated_bytes = 20 * GIB;
    sample->devices[1].alloc_retries = 1;
    sample->processes[0].device_count = 2;
    sample->gpus[1] = sample->gpus[0];
    sample_peak(&sample->gpus[1], 21 * GIB);
    sample->gpus[1].libraries_bytes = 0;
    sample->outcome.device_count = 2;
}

static void ranks_alike(rehearse_sample *sample)
{
    sample_spread(sample, 8);
}

static void ranks_unlike(rehearse_sample *sample)
{
    sample_spread(sample, 8);
    sample->devices[3].peak_allocated_bytes = 70 * GIB;
    sample->devices[3].peak_reserved_bytes = 77 * GIB;
    sample->devices[3].peak_phase = "optimizer";
    sample_peak(&sample->gpus[3], 78 * GIB);
    sample->processes[5].ended = "running";
    sample->processes[6].warnings = sample_warnings;
    sample->processes[6].warning_count = 1;
}

static void ranks_many(rehearse_sample *sample)
{
    sample_spread(sample, SAMPLE_PROCESSES);
    sample->devices[99].peak_allocated_bytes = 70 * GIB;
    sample->devices[99].peak_reserved_bytes = 77 * GIB;
    sample_peak(&sample->gpus[99], 78 * GIB);
}

static void tight(rehearse_sample *sample)
{
    sample_peak(&sample->gpus[0], 78 * GIB + 800 * MIB);
}

static void within_the_margin(rehearse_sample *sample)
{
    sample_peak(&sample->gpus[0], 76 * GIB);
    sample->outcome.margin_bytes = 4 * GIB;
}

static void one_of_many(rehearse_sample *sample)
{
    sample->processes[0].rank = 5;
    sample->processes[0].world_size = 512;
}

/* A program of CUDA, or a Python that was started with -I. */
static void no_process(rehearse_sample *sample)
{
    sample->outcome.process_count = 0;
    sample->outcome.warnings = sample_warnings;
    sample->outcome.warning_count = 1;
}

static const plim_rehearsed_fact some_facts[] = {
    { "decides", "PyTorch", "2.11.0+cu130, CUDA 13.0", NULL, NULL },
    { "decides", "attention", "flash × 24, memory-efficient × 2", NULL, "Kernels launched." },
    { "decides", "allocator settings", "defaults", NULL,
      "PYTORCH_ALLOC_CONF asks for max_split_size_mb:64, and the allocator does not have it." },
    { "decides", "backward", "yes", NULL, NULL },
    { "decides", "dtype", "bfloat16 (97%), float32", NULL, NULL },
    { "technique", "LoRA", "64 modules", "yes", "0.3% of the parameters require gradients." },
    { "technique", "flash attention", "flash", "yes", "Kernels launched." },
    { "technique", "activation offloading", "1 region", "unknown", NULL },
    { "technique", "gradient checkpointing", "24 modules", "no",
      "It is on and saved nothing: no block was recomputed." },
};

static void facts(rehearse_sample *sample)
{
    sample->processes[0].facts = some_facts;
    sample->processes[0].fact_count = T_COUNT(some_facts);
}

/* One has another attention, and one has nothing to say. The setting is a technique, too. */
static void facts_of_ranks(rehearse_sample *sample)
{
    static const plim_rehearsed_fact other_facts[] = {
        { "decides", "attention", "math", NULL, NULL },
        { "technique", "gradient checkpointing", "24 modules", "yes", "24 were recomputed." },
        { "technique", "expandable segments", "expandable_segments:True", "no",
          "The allocator does not have it." },
    };
    sample_spread(sample, 4);
    facts(sample);
    sample->processes[2].facts = some_facts;
    sample->processes[2].fact_count = T_COUNT(some_facts);
    sample->processes[3].facts = other_facts;
    sample->processes[3].fact_count = T_COUNT(other_facts);
}

static void ignored_setting_is_a_technique(rehearse_sample *sample)
{
    static const plim_rehearsed_fact ignored[] = {
        { "decides", "allocator settings", "defaults", NULL, "It is said below." },
        { "technique", "expandable segments", "expandable_segments:True", "no",
          "The allocator does not have it." },
    };
    sample->processes[0].facts = ignored;
    sample->processes[0].fact_count = T_COUNT(ignored);
}

static void many_steps(rehearse_sample *sample)
{
    sample->devices[0].step_count = SAMPLE_STEPS;
    sample->processes[0].steps = 25000;
}

/* A mask, of which there are two ranks, and a value that is only printed. */
static void hangs_on_values(rehearse_sample *sample)
{
    static plim_rehearsed_read reads[2];
    reads[0] = sample_reads[0];
    reads[1] = sample_reads[1];
    reads[0].what = "boolean mask";
    reads[0].why = "how many elements it selects was not computed (layers/moe.py:78)";
    sample_spread(sample, 2);
    for (size_t i = 0; i < 2; i++) {
        sample->processes[i].reads = reads;
        sample->processes[i].read_count = T_COUNT(reads);
    }
}

static void never_ends(rehearse_sample *sample)
{
    hangs_on_values(sample);
    sample->processes[1].ended = "stopped";
    sample->processes[1].stop_reason = "endless_loop";
    sample->processes[1].stop_text =
        "The loop at generation/utils.py:3229 did not end: 37 tokens, where max_length is 36. Its "
        "end hangs on a value that was not computed.";
}

static bool lists_calls; /* of the next page */

static void recorded(rehearse_sample *sample)
{
    static const char *const recordings[] = { "run.plim", "run.rank1.plim" };
    sample->rehearsed.recordings = recordings;
    sample->rehearsed.recording_count = T_COUNT(recordings);
    lists_calls = true;
}

static const struct {
    const char *golden;
    void (*change)(rehearse_sample *sample);
    const plim_style *style;
} pages[] = {
    { "rehearse-fits.txt", fits, &wide },
    { "rehearse-fits-ascii.txt", fits, &plain },
    { "rehearse-fits-narrow.txt", fits, &narrow },
    { "rehearse-fits-wide.txt", fits, &widest },
    { "rehearse-with.txt", switched_on, &wide },
    { "rehearse-with-ranks.txt", switched_on_in_ranks, &wide },
    { "rehearse-facts.txt", facts, &wide },
    { "rehearse-facts-narrow.txt", facts, &narrow },
    { "rehearse-facts-ranks.txt", facts_of_ranks, &wide },
    { "rehearse-facts-ignored.txt", ignored_setting_is_a_technique, &wide },
    { "rehearse-oom.txt", ran_out, &wide },
    { "rehearse-oom-color.txt", ran_out, &bright },
    { "rehearse-oom-survived.txt", ran_out_and_went_on, &wide },
    { "rehearse-oom-unseen.txt", ran_out_unseen, &wide },
    { "rehearse-oom-trainer.txt", ran_out_in_a_trainer, &wide },
    { "rehearse-oom-need.txt", ran_out_with_need, &wide },
    { "rehearse-oom-holes.txt", ran_out_with_holes, &wide },
    { "rehearse-oom-leak.txt", ran_out_for_ever, &wide },
    { "rehearse-oom-need-failed.txt", ran_out_and_failed, &wide },
    { "rehearse-oom-need-unknown.txt", ran_out_and_then, &narrow },
    { "rehearse-failed.txt", failed, &wide },
    { "rehearse-failed-early.txt", failed_early, &wide },
    { "rehearse-failed-silently.txt", failed_silently, &wide },
    { "rehearse-crashed-early.txt", crashed_early, &wide },
    { "rehearse-crashed.txt", crashed, &wide },
    { "rehearse-no-gpu-used.txt", no_gpu_used, &wide },
    { "rehearse-no-kernels.txt", no_kernels, &wide },
    { "rehearse-oom-often.txt", ran_out_often, &wide },
    { "rehearse-oom-again.txt", ran_out_again, &wide },
    { "rehearse-unanswered.txt", unanswered, &wide },
    { "rehearse-two-gpus.txt", two_gpus, &wide },
    { "rehearse-ranks-alike.txt", ranks_alike, &wide },
    { "rehearse-ranks-unlike.txt", ranks_unlike, &wide },
    { "rehearse-ranks-many.txt", ranks_many, &wide },
    { "rehearse-tight.txt", tight, &wide },
    { "rehearse-margin.txt", within_the_margin, &wide },
    { "rehearse-one-of-many.txt", one_of_many, &wide },
    { "rehearse-no-process.txt", no_process, &wide },
    { "rehearse-many-steps.txt", many_steps, &wide },
    { "rehearse-at-least.txt", hangs_on_values, &wide },
    { "rehearse-endless.txt", never_ends, &wide },
    { "rehearse-recorded.txt", recorded, &wide },
};

static rehearse_sample sample; /* large, and filled anew by each test */

/* The page of the sample, or of a search, drawn. */
static plim_status draw(const plim_mem *mem, plim_text *out, const plim_style *style,
                        const plim_rehearse_tries *search)
{
    plim_page page;
    plim_page_init(&page, mem);
    if (search != NULL) {
        plim_rehearse_tries_page(&page, search);
    } else {
        plim_rehearse_page(&page, &sample.rehearsed, lists_calls);
    }
    plim_text_init(out, mem, PAGE_BYTES_MAX);
    plim_page_draw(out, style, &page);
    plim_page_deinit(&page);
    return out->status;
}

static void pages_read_as_approved(void)
{
    for (size_t i = 0; i < T_COUNT(pages); i++) {
        plim_text out;
        T_CASE("%s", pages[i].golden);
        sample_begin(&sample);
        pages[i].change(&sample);
        T_EQ_U64(draw(NULL, &out, pages[i].style, NULL), PLIM_OK);
        golden_check(pages[i].golden, &out);
        plim_text_deinit(&out);
    }
}

/* ---- searches -------------------------------------------------------------------------------- */

static const plim_gpu searched_gpu = { .key = "h100", .name = "NVIDIA H100 80GB HBM3" };

static plim_rehearse_try tries[] = {
    { 1, PLIM_REHEARSED_FITS, { 8 * GIB, 9 * GIB, 10 * GIB }, 4.5 },
    { 16, PLIM_REHEARSED_FITS, { 70 * GIB, 74 * GIB, 75 * GIB }, 5 },
    { 17, PLIM_REHEARSED_OUT_OF_MEMORY, { 71 * GIB, 78 * GIB, 79 * GIB }, 3 },
    { 1000000000, PLIM_REHEARSED_UNANSWERED, { 0, 0, 0 }, 0 },
    { UINT64_MAX, PLIM_REHEARSED_FAILED, { UINT64_MAX, UINT64_MAX, UINT64_MAX }, 0 },
};

static void tables_of_tries_read_as_approved(void)
{
    static plim_rehearse_try unsure[] = {
        { 1, PLIM_REHEARSED_AT_LEAST, { 8 * GIB, 9 * GIB, 10 * GIB }, 4.5 },
        { 2, PLIM_REHEARSED_AT_LEAST, { 9 * GIB, 10 * GIB, 11 * GIB }, 4.5 },
        { 4, PLIM_REHEARSED_TIGHT, { 70 * GIB, 78 * GIB, 79 * GIB }, 5 },
    };
    static const struct {
        const char *golden;
        plim_rehearse_tries tries;
        const plim_style *style;
    } rows[] = {
        { "rehearse-tries.txt",
          { .items = tries, .count = 3, .best = 16, .is_complete = true },
          &wide },
        { "rehearse-tries-color.txt",
          { .items = tries, .count = 3, .best = 16, .is_complete = true },
          &bright },
        { "rehearse-tries-narrow.txt",
          { .items = tries, .count = 3, .best = 16, .is_complete = true },
          &narrow },
        { "rehearse-tries-none-fits.txt",
          { .items = tries + 2, .count = 1, .is_complete = true },
          &plain },
        { "rehearse-tries-incomplete.txt", { .items = tries, .count = 5 }, &wide },
        { "rehearse-tries-at-least.txt",
          { .items = unsure, .count = 2, .is_complete = true },
          &wide },
        { "rehearse-tries-unsure.txt",
          { .items = unsure, .count = 3, .is_complete = true },
          &wide },
        { "rehearse-tries-none.txt", { .items = tries, .is_complete = true }, &plain },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_text out;
        T_CASE("%s", rows[i].golden);
        plim_rehearse_tries search = rows[i].tries;
        search.gpu = &searched_gpu;
        search.device_count = 1;
        search.capacity_bytes = 79 * GIB;
        T_EQ_U64(draw(NULL, &out, rows[i].style, &search), PLIM_OK);
        golden_check(rows[i].golden, &out);
        plim_text_deinit(&out);
    }
}

/* ---- strangers ------------------------------------------------------------------------------- */

static char endless[5000]; /* a word without an end */

static const char *const hostile[] = {
    "\033]0;title\a\n\r\tred\x7f",
    "\xff\xfe\xc3(\xe2\x82",
    "\xe2\x80\xaeturned round\xe2\x80\xac",
    "",
    "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97 wide",
    "%s%n%d",
    endless,
};

/* Every string of an outcome is the same hostile one. */
static void poison(rehearse_sample *all, const char *text, const char **list)
{
    static plim_rehearsed_phase phases[T_COUNT(sample_phases)];
    static plim_rehearsed_read reads[T_COUNT(hostile) + 1];
    static plim_rehearsed_call calls[4];
    for (size_t i = 0; i < T_COUNT(phases); i++) {
        phases[i] = sample_phases[i];
        phases[i].name = text;
    }
    for (size_t i = 0; i < T_COUNT(reads); i++) {
        reads[i] = (plim_rehearsed_read){ text, text, 2, list, 3, text };
    }
    static const char *const kinds[T_COUNT(calls)] = { "unknown", "refused", "modelled",
                                                       "modelled" };
    for (size_t i = 0; i < T_COUNT(calls); i++) {
        calls[i] = (plim_rehearsed_call){ text, kinds[i], text, UINT64_MAX };
    }
    list[0] = list[1] = list[2] = text;
    snprintf(all->gpu.name, sizeof(all->gpu.name), "%.63s", text);
    for (size_t i = 0; i < SAMPLE_PROCESSES; i++) {
        plim_rehearsed_process *process = &all->processes[i];
        all->devices[i].peak_phase = text;
        all->devices[i].phases = phases;
        process->torch = process->ended = process->exception = process->settings = text;
        process->reads = reads;
        process->read_count = T_COUNT(reads);
        process->warnings = list;
        process->warning_count = 3;
    }
    all->oom.phase = all->oom.text = text;
    all->oom.stack = list;
    all->oom.stack_count = 3;
    all->outcome.calls = calls;
    all->outcome.call_count = T_COUNT(calls);
    all->outcome.warnings = list;
    all->outcome.warning_count = 3;
    all->rehearsed.argv = list;
    all->rehearsed.recordings = list;
    all->rehearsed.recording_count = 3;
    lists_calls = true;
}

/* No control byte but newlines, no line too long, none with a blank end, no nonsense numbers. */
static void check_page(const plim_style *style)
{
    plim_text out;
    T_EQ_U64(draw(NULL, &out, style, NULL), PLIM_OK);
    size_t begin = 0;
    for (size_t i = 0; i < out.length; i++) {
        const unsigned char c = (unsigned char)out.data[i];
        T_TRUE(c == '\n' || (c >= 0x20 && c != 0x7f && (style->utf8 || c < 0x7f)));
        if (c == '\n') {
            out.data[i] = '\0';
            T_TRUE(plim_style_columns(style, out.data + begin) <= plim_style_width(style));
            T_TRUE(i == begin || out.data[i - 1] != ' ');
            T_NULL(strstr(out.data + begin, "nan"));
            T_NULL(strstr(out.data + begin, "inf"));
            T_NULL(strstr(out.data + begin, "(null)"));
            begin = i + 1;
        }
    }
    T_EQ_U64(begin, out.length); /* the last line is a whole one */
    plim_text_deinit(&out);
}

static void nothing_hostile_reaches_the_terminal(void)
{
    memset(endless, 'x', sizeof(endless) - 1);
    static const uint32_t widths[] = { 60, 96, 200, 400 };
    const char *list[4] = { NULL };
    for (size_t i = 0; i < T_COUNT(hostile) * T_COUNT(pages) * T_COUNT(widths) * 2; i++) {
        const plim_style style = { .utf8 = i % 2 == 1, .width = widths[i / 2 % T_COUNT(widths)] };
        const size_t page = i / 2 / T_COUNT(widths) % T_COUNT(pages);
        const char *text = hostile[i / 2 / T_COUNT(widths) / T_COUNT(pages)];
        T_CASE("\"%.20s\" in %s, %u columns", text, pages[page].golden, style.width);
        sample_begin(&sample);
        pages[page].change(&sample);
        poison(&sample, text, list);
        check_page(&style);
    }
}

/* What no rehearsal should give: the page has no figures then, but it is one. */
static void figures_of_zero_and_beyond_are_no_nonsense(void)
{
    static const uint64_t capacities[] = { 0, 1, 79 * GIB, UINT64_MAX };
    static const uint64_t peaks[] = { 0, 1, 80 * GIB, UINT64_MAX };
    for (size_t i = 0; i < T_COUNT(capacities) * T_COUNT(peaks) * T_COUNT(pages); i++) {
        const size_t page = i / (T_COUNT(capacities) * T_COUNT(peaks));
        const uint64_t peak = peaks[i / T_COUNT(capacities) % T_COUNT(peaks)];
        sample_begin(&sample);
        pages[page].change(&sample);
        sample.outcome.capacity_bytes = capacities[i % T_COUNT(capacities)];
        sample.gpus[0].peak_bytes = peak;
        sample.devices[0].peak_allocated_bytes = peak;
        sample.devices[0].peak_reserved_bytes = peak;
        sample.devices[0].peak_step = peak;
        sample.devices[0].alloc_retries = peak;
        T_CASE("%s, %" PRIu64 " of %" PRIu64, pages[page].golden, peak,
               sample.outcome.capacity_bytes);
        check_page(&narrow);
        check_page(&wide);
        plim_text out;
        T_EQ_U64(draw(NULL, &out, &wide, NULL), PLIM_OK);
        /* Of nothing there is no share; and nobody has less than nothing to spare. */
        T_NULL(strstr(out.data, "-1"));
        T_NULL(strstr(out.data, "100000000000000.0%"));
        plim_text_deinit(&out);
    }
}

/* A process without a device of its own, a device that the driver has not seen. */
static void what_does_not_belong_together_is_no_fault(void)
{
    sample_begin(&sample);
    sample.processes[0].device_count = 0;
    check_page(&wide);
    sample_begin(&sample);
    sample.devices[0].device = 63;
    check_page(&wide);
    sample_begin(&sample);
    sample_run_out(&sample);
    sample.oom.request.subject.device = 63;
    sample.oom.stack_count = 0;
    check_page(&wide);
    sample_begin(&sample);
    sample_spread(&sample, 8);
    sample.outcome.device_count = 0;
    for (size_t i = 0; i < 8; i++) {
        sample.processes[i].device_count = 0;
    }
    check_page(&wide);
}

/* ---- lack of memory -------------------------------------------------------------------------- */

static bool write_page(const plim_mem *mem, void *ctx)
{
    const plim_style *style = ctx;
    plim_text out;
    const bool ok = draw(mem, &out, style, NULL) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static bool write_tries(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    const plim_rehearse_tries search = { .items = tries, .count = 5 };
    plim_text out;
    const bool ok = draw(mem, &out, &wide, &search) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static void lack_of_memory_is_never_a_success(void)
{
    for (size_t i = 0; i < T_COUNT(pages); i++) {
        T_CASE("%s", pages[i].golden);
        sample_begin(&sample);
        pages[i].change(&sample);
        plim_style style = *pages[i].style;
        t_fail_each_allocation(write_page, &style);
    }
    t_fail_each_allocation(write_tries, NULL);
}

T_MAIN(T_TEST(pages_read_as_approved), T_TEST(tables_of_tries_read_as_approved),
       T_TEST(nothing_hostile_reaches_the_terminal),
       T_TEST(figures_of_zero_and_beyond_are_no_nonsense),
       T_TEST(what_does_not_belong_together_is_no_fault), T_TEST(lack_of_memory_is_never_a_success))
