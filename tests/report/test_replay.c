/*
 * test_replay.c - the pages of replays and of searches, against approved copies.
 */
#include "golden.h"
#include "harness.h"
#include "replay_sample.h"

#include "report/model/replay.h"

#define PAGE_BYTES_MAX ((size_t)1 << 20)

static const plim_style wide = { .utf8 = true, .width = 96 };
static const plim_style narrow = { .utf8 = true, .width = 60 };
static const plim_style plain = { .width = 80 };
static const plim_style bright = { .utf8 = true, .color = true, .width = 100 };

static void as_it_is(replay_sample *sample)
{
    (void)sample;
}

static void recorded_only(replay_sample *sample)
{
    sample->row_count = 1;
    sample->rows[0].min_capacity_bytes = 0;
}

/* It parted from the recording, and there are reasons to doubt it. */
static void unlike(replay_sample *sample)
{
    plim_fidelity *fidelity = &sample->fidelity[0];
    fidelity->segment_events_matched = 35;
    fidelity->segment_events_predicted = 37;
    fidelity->share = 35.0 / 38;
    fidelity->placements_matched = 800;
    fidelity->reserved_bytes_max_difference = 20 * MIB;
    fidelity->reserved_bytes_mean_difference = 1234567.8;
    fidelity->predicted_peak_reserved_bytes = 23 * GIB - 20 * MIB;
    fidelity->diverges_at_event = 77;
    snprintf(fidelity->divergence, sizeof fidelity->divergence,
             "event 77: recorded segment_alloc of 20.0 MiB, predicted none");
    fidelity->caveats[PLIM_CAVEAT_START_BLOCKS] = 3;
    fidelity->caveats[PLIM_CAVEAT_PLACEMENT] = 24;
    fidelity->caveats[PLIM_CAVEAT_NO_SETTINGS] = 1;
    sample->facts[0].is_torn = true;
    sample->facts[0].start_allocations = 12;
    sample->facts[0].start_live_bytes = 3 * GIB;
}

static void nothing_to_compare(replay_sample *sample)
{
    sample->fidelity[0].segment_events_recorded = 0;
    sample->fidelity[0].segment_events_predicted = 0;
    sample->fidelity[0].segment_events_matched = 0;
    sample->fidelity[0].caveats[PLIM_CAVEAT_NO_DRIVER_CALLS] = 1;
}

static void calls_not_recorded(replay_sample *sample)
{
    nothing_to_compare(sample);
    sample->fidelity[0].segment_events_predicted = 46;
    sample->fidelity[0].share = 0;
    sample->fidelity[0].diverges_at_event = 0;
}

static void unknown_capacity(replay_sample *sample)
{
    sample->input.capacity_bytes = PLIM_UNLIMITED;
    sample->facts[0].capacity_source = PLIM_CAPACITY_UNKNOWN;
    sample->facts[0].oom_event = PLIM_NO_EVENT;
    sample->facts[0].events_after_oom = 0;
    for (size_t i = 0; i < 3; i++) {
        sample->results[i][0] = replay_survivor(0);
        sample->results[i][0].ooms_survived = 0;
        sample->tried[i].result = sample->results[i][0];
    }
    sample->tuning.is_saved = false;
}

static void of_a_gpu(replay_sample *sample)
{
    sample->input.capacity = PLIM_REPLAY_CAPACITY_GPU;
    sample->input.has_range = true;
    sample->input.scales = replay_scales;
    sample->input.scale_count = T_COUNT(replay_scales);
}

static void two_devices(replay_sample *sample)
{
    sample->input.device_count = 2;
    sample->facts[1].capacity_bytes = 40 * GIB;
    sample->facts[1].oom_event = PLIM_NO_EVENT;
    sample->results[0][1] = replay_survivor(1);
    sample->results[2][1] = replay_survivor(1);
}

static void too_large_a_start(replay_sample *sample)
{
    sample->rows[2].result = NULL;
    sample->rows[2].results = NULL;
    sample->rows[2].failure = "what stood before the first event needs 25.0 GiB";
    sample->tried[2].result = (plim_run_result){ .failed_event = PLIM_NO_EVENT };
}

static void hopeless(replay_sample *sample)
{
    sample->facts[0].floor_bytes = 26 * GIB;
    sample->tuning.floor_bytes = 26 * GIB;
    sample->tuning.is_hopeless = true;
    sample->tuning.is_saved = false;
    sample->tried[0].result = replay_casualty(0);
    sample->results[1][0] = replay_casualty(0);
}

static void unsaved(replay_sample *sample)
{
    sample->tuning.is_saved = false;
    sample->tried[0].result = replay_casualty(0);
    sample->tried[0].min_capacity_bytes = 24 * GIB + 400 * MIB;
}

static void nothing_better(replay_sample *sample)
{
    sample->tuning.is_saved = false;
    sample->tuning.best = 1;
    sample->tried[1].result = replay_survivor(0);
    sample->tried[1].result.ooms_survived = 0;
}

static void hardly_better(replay_sample *sample)
{
    nothing_better(sample);
    sample->tuning.hardly_better = 0;
    sample->tuning.gain = 0.004;
    sample->tried[0].result.peak_reserved_bytes += 20 * MIB;
    sample->tried[1].min_capacity_bytes = sample->tried[0].min_capacity_bytes + 200 * MIB;
}

/* The device had so much or more: nothing is known to die on it. */
static void bound(replay_sample *sample)
{
    sample->facts[0].capacity_source = PLIM_CAPACITY_RETRIES;
    sample->facts[0].oom_event = PLIM_NO_EVENT;
    sample->tuning.is_saved = false;
    for (size_t i = 0; i < 3; i++) {
        sample->results[i][0].was_oom = false;
        sample->tried[i].result.was_oom = false;
    }
}

static void bound_unsaved(replay_sample *sample)
{
    bound(sample);
    sample->tried[0].result = replay_casualty(0);
    sample->tried[0].min_capacity_bytes = 24 * GIB + 400 * MIB;
}

/* Cached memory that stood at the start had to go. */
static void less_cache(replay_sample *sample)
{
    sample->facts[0].start_allocations = 12;
    sample->facts[0].start_live_bytes = 3 * GIB;
    sample->facts[0].start_reserved_bytes = 28 * GIB;
    sample->results[0][0] = replay_survivor(0);
    sample->results[0][0].ooms_survived = 0;
    sample->results[0][0].start_released_bytes = 8 * GIB;
}

static void survives_anyway(replay_sample *sample)
{
    sample->tuning.is_saved = false;
    sample->tried[1].result = replay_survivor(0);
    sample->tried[1].result.ooms_survived = 0;
}

/* The winner empties the cache, and is a list: a shell would take it apart. */
static void quoted(replay_sample *sample)
{
    sample->tried[0].conf = sample->confs[2];
    sample->tried[0].empty_cache = PLIM_EMPTY_AT_EVENT;
    sample->tried[0].empty_cache_event = 512;
    sample->tuning.is_incomplete = true;
    sample->tuning.baseline = 2;
    sample->tuning.reference = 2;
    sample->tried[2] = sample->tried[1];
    sample->tried[2].is_start_requested = true;
}

static void emptied_each_step(replay_sample *sample)
{
    sample->tried[0].conf = sample->confs[0];
    sample->tried[0].is_recorded = true;
    sample->tried[0].empty_cache = PLIM_EMPTY_AFTER_STEPS;
}

static replay_sample sample; /* large, and filled anew by each test */

typedef struct page_row {
    const char *golden;
    void (*change)(replay_sample *sample);
    const plim_style *style;
    bool shows_fidelity_whole;
} page_row;

static const page_row pages[] = {
    { "replay-died.txt", as_it_is, &wide, false },
    { "replay-died-color.txt", as_it_is, &bright, false },
    { "replay-died-narrow.txt", as_it_is, &narrow, false },
    { "replay-recorded-only.txt", recorded_only, &plain, false },
    { "replay-verified.txt", recorded_only, &wide, true },
    { "replay-unlike.txt", unlike, &wide, false },
    { "replay-unlike-verified.txt", unlike, &wide, true },
    { "replay-nothing-to-compare.txt", nothing_to_compare, &wide, false },
    { "replay-calls-not-recorded.txt", calls_not_recorded, &wide, false },
    { "replay-no-capacity.txt", unknown_capacity, &wide, false },
    { "replay-of-a-gpu.txt", of_a_gpu, &wide, false },
    { "replay-two-devices.txt", two_devices, &wide, true },
    { "replay-large-start.txt", too_large_a_start, &wide, false },
    { "replay-hopeless.txt", hopeless, &wide, false },
    { "replay-bound.txt", bound, &wide, false },
    { "replay-less-cache.txt", less_cache, &wide, false },
};

static const page_row searches[] = {
    { "tune-saved.txt", as_it_is, &wide, false },
    { "tune-saved-color.txt", as_it_is, &bright, false },
    { "tune-saved-narrow.txt", as_it_is, &narrow, false },
    { "tune-unsaved.txt", unsaved, &wide, false },
    { "tune-hopeless.txt", hopeless, &wide, false },
    { "tune-no-capacity.txt", unknown_capacity, &wide, false },
    { "tune-nothing-better.txt", nothing_better, &wide, false },
    { "tune-survives-anyway.txt", survives_anyway, &wide, false },
    { "tune-quoted.txt", quoted, &wide, false },
    { "tune-emptied.txt", emptied_each_step, &wide, false },
    { "tune-large-start.txt", too_large_a_start, &plain, false },
    { "tune-bound.txt", bound, &wide, false },
    { "tune-bound-unsaved.txt", bound_unsaved, &wide, false },
    { "tune-hardly.txt", hardly_better, &wide, false },
};

static void draw(plim_text *out, const plim_mem *mem, const plim_style *style, plim_page *page)
{
    plim_text_init(out, mem, PAGE_BYTES_MAX);
    plim_page_draw(out, style, page);
    plim_page_deinit(page);
}

static void write_replay(plim_text *out, const plim_mem *mem, const page_row *row)
{
    const plim_replay_view view = { .shows_fidelity_whole = row->shows_fidelity_whole,
                                    .predicted_path =
                                        row->shows_fidelity_whole ? "out.plim" : NULL };
    plim_page page;
    plim_page_init(&page, mem);
    plim_replay_page(&page, &view, &sample.input, sample.rows, sample.row_count);
    draw(out, mem, row->style, &page);
}

static void write_search(plim_text *out, const plim_mem *mem, const page_row *row)
{
    const plim_tune_view view = { .top = 1, .budget_s = 30 };
    plim_page page;
    plim_page_init(&page, mem);
    plim_tune_page(&page, &view, &sample.input, &sample.tuning);
    draw(out, mem, row->style, &page);
}

typedef void write_page(plim_text *out, const plim_mem *mem, const page_row *row);

static void check_pages(const page_row *rows, size_t count, write_page *write)
{
    for (size_t i = 0; i < count; i++) {
        plim_text out;
        T_CASE("%s", rows[i].golden);
        replay_sample_begin(&sample);
        rows[i].change(&sample);
        write(&out, NULL, &rows[i]);
        golden_check(rows[i].golden, &out);
        plim_text_deinit(&out);
        replay_sample_end(&sample);
    }
}

static void pages_read_as_approved(void)
{
    check_pages(pages, T_COUNT(pages), write_replay);
}

static void searches_read_as_approved(void)
{
    check_pages(searches, T_COUNT(searches), write_search);
}

/* ---- strangers ------------------------------------------------------------------------------- */

static const char *const hostile[] = {
    "\033]0;title\a\n\r\tred\x7f",
    "\xff\xfe\xc3(\xe2\x82",
    "\xe2\x80\xaeturned round\xe2\x80\xac",
    "",
    "%s%n%d",
};

/* Whatever a file's names and settings are: nothing but printable text and the style's own. */
static void strangers_cannot_speak_to_the_terminal(void)
{
    for (size_t i = 0; i < T_COUNT(hostile); i++) {
        replay_sample_begin(&sample);
        sample.input.path = hostile[i];
        sample.input.scales = &(plim_scale){ .what = hostile[i], .factor = 2 };
        sample.input.scale_count = 1;
        sample.rows[2].failure = hostile[i];
        sample.rows[2].result = NULL;
        for (size_t j = 0; j < 3; j++) {
            replay_set_conf(&sample, j, hostile[i]);
            sample.tried[j].conf = sample.confs[j];
        }
        snprintf(sample.fidelity[0].divergence, sizeof sample.fidelity[0].divergence, "%s",
                 hostile[i]);
        sample.fidelity[0].diverges_at_event = 5;
        sample.fidelity[0].segment_events_matched = 5;
        snprintf(sample.gpu.name, sizeof sample.gpu.name, "%s", hostile[i]);
        sample.input.capacity = PLIM_REPLAY_CAPACITY_GPU;
        write_page *const writers[] = { write_replay, write_search };
        for (size_t w = 0; w < T_COUNT(writers); w++) {
            plim_text out;
            const page_row row = { .style = &wide, .shows_fidelity_whole = true };
            T_CASE("%zu %zu", i, w);
            writers[w](&out, NULL, &row);
            T_EQ_U64(out.status, PLIM_OK);
            for (size_t c = 0; c < out.length; c++) {
                const unsigned char byte = (unsigned char)out.data[c];
                T_TRUE(byte == '\n' || (byte >= 0x20 && byte != 0x7f));
            }
            plim_text_deinit(&out);
        }
        replay_sample_end(&sample);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool write_both(const plim_mem *mem, void *ctx)
{
    const page_row *row = ctx;
    plim_text out;
    write_replay(&out, mem, row);
    bool is_whole = out.status == PLIM_OK;
    T_TRUE(is_whole || out.status == PLIM_OUT_OF_HOST_MEMORY);
    plim_text_deinit(&out);
    if (is_whole) {
        write_search(&out, mem, row);
        is_whole = out.status == PLIM_OK;
        T_TRUE(is_whole || out.status == PLIM_OUT_OF_HOST_MEMORY);
        plim_text_deinit(&out);
    }
    return is_whole;
}

static void no_allocation_fails_unnoticed(void)
{
    page_row row = { .style = &bright, .shows_fidelity_whole = true };
    replay_sample_begin(&sample);
    two_devices(&sample);
    quoted(&sample);
    t_fail_each_allocation(write_both, &row);
    replay_sample_end(&sample);
}

T_MAIN(T_TEST(pages_read_as_approved), T_TEST(searches_read_as_approved),
       T_TEST(strangers_cannot_speak_to_the_terminal), T_TEST(no_allocation_fails_unnoticed))
