/*
 * test_inspect.c - the pages and the document as a whole, against approved copies.
 */
#include "golden.h"
#include "harness.h"
#include "sample.h"

#include "report/json/documents.h"
#include "report/model/ranks.h"

static const plim_style wide = { .utf8 = true, .width = 96 };
static const plim_style endless = { .utf8 = true, .width = 400 };
static const plim_style plain = { .width = 80 };
static const plim_style bright = { .utf8 = true, .color = true, .width = 100 };

static const struct {
    const char *golden;
    const plim_style *style;
    plim_inspect_view view;
} pages[] = {
    { "inspect-sample.txt", &wide, { 0 } },
    { "inspect-sample-ascii.txt", &plain, { .top = 2 } },
    { "inspect-sample-color.txt", &bright, { .top = 3 } },
    { "inspect-sample-frames.txt", &wide, { .frames = 3, .full_paths = true } },
    { "inspect-sample-all-frames.txt", &wide, { .frames = PLIM_INSPECT_FRAMES_ALL } },
    { "inspect-sample-other-device.txt", &wide, { .one_device = true, .device = 1 } },
    { "inspect-sample-no-device.txt", &wide, { .one_device = true, .device = 7 } },
};

static void pages_read_as_approved(void)
{
    plim_history *history = sample_history(SAMPLE_EVENTS);
    const plim_inspect_file file = sample_file(history, "runs/train_oom.pickle");
    for (size_t i = 0; i < T_COUNT(pages); i++) {
        plim_page page;
        T_CASE("%s", pages[i].golden);
        plim_page_init(&page, NULL);
        plim_inspect_page(&page, &pages[i].view, &file, 1);
        golden_check_page(pages[i].golden, &page, pages[i].style);
    }
    plim_history_destroy(history);
}

/* The page of some files, drawn. */
static plim_status draw(const plim_mem *mem, plim_text *out, const plim_style *style,
                        const plim_inspect_view *view, const plim_inspect_file *files, size_t count)
{
    plim_page page;
    plim_page_init(&page, mem);
    plim_inspect_page(&page, view, files, count);
    plim_text_init(out, mem, GOLDEN_BYTES_MAX);
    plim_page_draw(out, style, &page);
    plim_page_deinit(&page);
    return out->status;
}

/* No control byte but newlines and our own colours, no line too long, none with a blank end. */
static void nothing_hostile_reaches_the_terminal(void)
{
    plim_history *history = sample_history(SAMPLE_EVENTS);
    const plim_inspect_file file = sample_file(history, "evil\033]0;title\a\n.pickle");
    const plim_inspect_view view = { .top = 100,
                                     .frames = PLIM_INSPECT_FRAMES_ALL,
                                     .full_paths = true };
    for (uint32_t width = 60; width <= 160; width += 20) {
        const plim_style style = { .utf8 = false, .width = width };
        plim_text out;
        T_EQ_U64(draw(NULL, &out, &style, &view, &file, 1), PLIM_OK);
        size_t column = 0;
        for (size_t i = 0; i < out.length; i++) {
            const unsigned char c = (unsigned char)out.data[i];
            T_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
            T_TRUE(c != '\n' || i == 0 || out.data[i - 1] != ' ');
            column = c == '\n' ? 0 : column + 1;
            T_TRUE(column <= width);
        }
        plim_text_deinit(&out);
    }
    plim_history_destroy(history);
}

static plim_inspect_file failed_file(const char *path)
{
    return (plim_inspect_file){
        .path = path,
        .error = { .status = PLIM_CORRUPT, .offset = 17, .message = "damaged pickle: it ends here" }
    };
}

static plim_status write_json(const plim_mem *mem, plim_text *out, const plim_history *history,
                              size_t count)
{
    const plim_inspect_view view = { 0 };
    const plim_inspect_file files[] = { sample_file(history, "run/rank_1/s.pickle"),
                                        failed_file("run/rank_2/s.pickle"),
                                        sample_file(history, "run/rank_0/\xff.pickle") };
    plim_page page;
    plim_page_init(&page, mem);
    plim_inspect_page(&page, &view, files, count);
    plim_text_init(out, mem, GOLDEN_BYTES_MAX);
    const plim_status status =
        plim_inspect_json_write(plim_sink_to_text(out), &view, files, count, &page, NULL);
    plim_page_deinit(&page);
    return status;
}

static void the_document_is_as_approved(void)
{
    plim_history *history = sample_history(SAMPLE_EVENTS);
    static const char *const goldens[] = { "inspect-sample.json", "inspect-sample-ranks.json" };
    for (size_t i = 0; i < T_COUNT(goldens); i++) {
        plim_text out;
        T_CASE("%s", goldens[i]);
        T_EQ_U64(write_json(NULL, &out, history, i == 0 ? 1 : 3), PLIM_OK);
        golden_check(goldens[i], &out);
        plim_text_deinit(&out);
    }
    plim_history_destroy(history);
}

/* What a page says of a device that lacks events, by what the file is. */
static void missing_events_are_told_as_the_file_loses_them(void)
{
    static const struct {
        const char *format;
        const char *words;
    } kinds[] = {
        { "pickle", "Earlier events are lost: the recorder's buffer was full; because. Memory "
                    "allocated before has no history here." },
        { "plim", "Events are missing: because. What they did is worked out from what followed." },
    };
    for (size_t i = 0; i < T_COUNT(kinds); i++) {
        T_CASE("%s", kinds[i].format);
        plim_history *const history = sample_history(SAMPLE_EVENTS);
        plim_source source = plim_history_source(history);
        source.format = kinds[i].format;
        plim_history_set_source(history, &source);
        plim_device_inspection lacking = sample_devices[0];
        lacking.truncated = true;
        lacking.truncated_because = "because";
        const plim_device_inspection *const list[] = { &lacking };
        plim_inspect_file file = sample_file(history, "run.file");
        file.devices = list;
        file.device_count = 1;
        const plim_inspect_view view = { .top = 2 };
        plim_text out;
        T_EQ_U64(draw(NULL, &out, &endless, &view, &file, 1), PLIM_OK);
        T_NOT_NULL(strstr(out.data, kinds[i].words));
        plim_text_deinit(&out);
        plim_history_destroy(history);
    }
}

static void ranks_are_compared_as_approved(void)
{
    plim_history *history = sample_history(SAMPLE_EVENTS);
    plim_device_inspection smaller = sample_devices[0];
    smaller.peak.requested_bytes = 500 * MIB;
    smaller.peak.reserved_bytes = 700 * MIB;
    smaller.oom_count = 0;
    smaller.truncated = true;
    const plim_device_inspection *const smaller_list[] = { &smaller };
    plim_inspect_file files[] = { sample_file(history, "run/snapshot_rank10.pickle"),
                                  sample_file(history, "run/snapshot_rank2.pickle"),
                                  failed_file("run/snapshot_rank3.pickle") };
    files[1].devices = smaller_list;
    files[1].device_count = 1;
    const plim_inspect_view view = { .top = 2 };
    plim_text out;
    T_EQ_U64(draw(NULL, &out, &wide, &view, files, T_COUNT(files)), PLIM_OK);
    golden_check("inspect-sample-ranks.txt", &out);
    plim_text_deinit(&out);
    plim_history_destroy(history);
}

static const struct {
    const char *path;
    bool found;
    uint64_t rank;
} paths[] = {
    { "snapshot_rank3.pickle", true, 3 },
    { "rank_0.pickle", true, 0 },
    { "rank-12.pkl", true, 12 },
    { "Rank.7.pickle", true, 7 },
    { "mem_r3.pickle", true, 3 },
    { "mem_r3_iter10.pickle", true, 3 },
    { "r0.pickle", true, 0 },
    { "run/rank_4/snapshot.pickle", true, 4 },
    { "rank1/rank2.pickle", true, 2 },
    { "frank3.pickle", false, 0 },
    { "snapshot.pickle", false, 0 },
    { "error3.pickle", false, 0 },
    { "rank.pickle", false, 0 },
    { "rank1234567890.pickle", false, 0 },
    { "", false, 0 },
    { "-", false, 0 },
    { "/", false, 0 },
    { "rank", false, 0 },
    { "car3.pickle", false, 0 },
    { "rank_of_r5.pickle", true, 5 },
};

static void ranks_are_found_in_names(void)
{
    for (size_t i = 0; i < T_COUNT(paths); i++) {
        uint64_t rank = 99;
        T_CASE("%s", paths[i].path);
        T_EQ_U64(plim_rank_of_path(paths[i].path, &rank), paths[i].found);
        T_EQ_U64(rank, paths[i].found ? paths[i].rank : 99);
    }
}

static bool write_page(const plim_mem *mem, void *ctx)
{
    const plim_inspect_file file = sample_file(ctx, "a.pickle");
    const plim_inspect_view view = { 0 };
    plim_text out;
    const bool ok = draw(mem, &out, &bright, &view, &file, 1) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static bool write_ranks(const plim_mem *mem, void *ctx)
{
    const plim_inspect_file files[] = { sample_file(ctx, "r0.pickle"),
                                        sample_file(ctx, "r1.pickle") };
    const plim_inspect_view view = { 0 };
    plim_text out;
    const bool ok = draw(mem, &out, &wide, &view, files, T_COUNT(files)) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static bool write_document(const plim_mem *mem, void *ctx)
{
    plim_text out;
    const bool ok = write_json(mem, &out, ctx, 3) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static void lack_of_memory_is_never_a_success(void)
{
    plim_history *history = sample_history(SAMPLE_EVENTS);
    t_fail_each_allocation(write_page, history);
    t_fail_each_allocation(write_ranks, history);
    t_fail_each_allocation(write_document, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(pages_read_as_approved), T_TEST(nothing_hostile_reaches_the_terminal),
       T_TEST(the_document_is_as_approved), T_TEST(missing_events_are_told_as_the_file_loses_them),
       T_TEST(ranks_are_compared_as_approved), T_TEST(ranks_are_found_in_names),
       T_TEST(lack_of_memory_is_never_a_success))
