/*
 * test_course.c - a device over time: counters that add up, spans that close, whatever a history
 * claims; and the writers above it with each allocation failing.
 */
#include "export/course.h"

#include "history/script.h"
#include "inspect/programs.h"
#include "plimsoll/export.h"

#include <unistd.h>

/* --- a course, watched --- */

typedef struct watched {
    uint64_t values[PLIM_COURSE_COUNTER_COUNT];
    uint64_t counts[PLIM_COURSE_TRACK_COUNT];
    uint64_t points;
    uint64_t bytes[PLIM_COURSE_TRACK_COUNT]; /* of spans */
    uint64_t not_begun;
    uint64_t not_ended;
    uint64_t peaks;
    uint64_t ooms;
    int64_t now_us;
    plim_figures peak;
} watched;

static void watch_counter(void *ctx, int64_t time_us, size_t counter, uint64_t bytes)
{
    watched *const self = ctx;
    T_TRUE(counter < PLIM_COURSE_COUNTER_COUNT);
    T_TRUE(time_us >= self->now_us);
    self->now_us = time_us;
    self->values[counter] = bytes;
    self->points++;
}

static void watch_span(void *ctx, const plim_course_span *span)
{
    watched *const self = ctx;
    T_TRUE(span->begin_us <= span->end_us);
    T_TRUE(span->begin_us >= 0);
    self->counts[span->track]++;
    self->bytes[span->track] += span->bytes;
    self->not_begun += !span->is_begun;
    self->not_ended += !span->is_ended;
}

static uint64_t live_by_category(const watched *self)
{
    uint64_t sum = 0;
    for (size_t i = PLIM_COURSE_CATEGORIES; i < PLIM_COURSE_COUNTER_COUNT; i++) {
        sum += self->values[i];
    }
    return sum;
}

static void check_sums(const watched *self, const plim_figures *figures)
{
    T_EQ_U64(self->values[PLIM_COURSE_REQUESTED], figures->requested_bytes);
    T_EQ_U64(self->values[PLIM_COURSE_ALLOCATED], figures->allocated_bytes);
    T_EQ_U64(self->values[PLIM_COURSE_ACTIVE], figures->active_bytes);
    T_EQ_U64(self->values[PLIM_COURSE_RESERVED], figures->reserved_bytes);
    T_EQ_U64(live_by_category(self), figures->requested_bytes);
}

static void watch_mark(void *ctx, const plim_course_mark *mark)
{
    watched *const self = ctx;
    *(mark->is_oom ? &self->ooms : &self->peaks) += 1;
    check_sums(self, &mark->figures);
    if (!mark->is_oom) {
        self->peak = mark->figures;
    }
}

/* Of the first device. */
static watched watch(const plim_history *history, uint64_t lives_min_bytes)
{
    watched seen = { .now_us = 0 };
    const plim_course_sink sink = {
        .counter = watch_counter, .span = watch_span, .mark = watch_mark, .ctx = &seen
    };
    plim_device_view view;
    T_TRUE(plim_device_view_init(&view, history, plim_history_device(history, 0), NULL, NULL) ==
           PLIM_OK);
    T_TRUE(plim_course_run(&view, lives_min_bytes, &sink, NULL) == PLIM_OK);
    T_EQ_U64(seen.peaks, 1);
    plim_cursor cursor;
    plim_cursor_init(&cursor, &view.timeline);
    while (plim_cursor_next(&cursor)) {
    }
    const plim_figures end = plim_cursor_figures(&cursor);
    check_sums(&seen, &end);
    plim_device_view_deinit(&view);
    return seen;
}

/* --- what histories claim --- */

static const struct {
    const char *name;
    const char *script;
    uint64_t lives, segments, not_begun, not_ended, points;
} claims[] = {
    { "no events", "", 0, 0, 0, 0, 11 },
    { "one event", "alloc 0 100", 1, 0, 0, 1, 11 + 4 },
    { "a value that comes again is drawn once",
      "alloc 0 100; request 0 100; complete 0 100; snapshot 0; snapshot 0", 1, 0, 0, 0,
      11 + 4 + 3 + 1 },
    { "what was there before began before",
      "segment 0 4096; block 0 512 100 allocated; block 512 3584 0 free; request 512 300; "
      "complete 512 300",
      2, 1, 3, 2, 11 + 4 + 1 - 1 },
    { "an allocation over a live one ends it", "alloc 0 100; alloc 0 50", 2, 0, 0, 1, 11 + 4 + 2 },
    { "a double free changes nothing", "alloc 0 100; request 0 100; request 0 100", 1, 0, 0, 0,
      11 + 4 + 4 },
    { "segments come and go",
      "segment_alloc 0 1024; segment_alloc 4096 512; segment_free 0 1024; segment 4096 512; "
      "block 4096 512 0 free",
      0, 2, 0, 1, 11 + 3 },
    { "expandable ones are in the counter alone", "map 0 1024; map 1024 1024; unmap 0 2048", 0, 0,
      0, 0, 11 + 3 },
    { "a failure is marked", "alloc 0 100; oom 4096 1000", 1, 0, 0, 1, 11 + 4 },
};

static void histories_are_drawn_as_they_claim(void)
{
    for (size_t i = 0; i < T_COUNT(claims); i++) {
        T_CASE("%s", claims[i].name);
        plim_history *const history = script_history(claims[i].script);
        const watched seen = watch(history, 1);
        T_EQ_U64(seen.counts[PLIM_COURSE_ALLOCATIONS], claims[i].lives);
        T_EQ_U64(seen.counts[PLIM_COURSE_SEGMENTS], claims[i].segments);
        T_EQ_U64(seen.not_begun, claims[i].not_begun);
        T_EQ_U64(seen.not_ended, claims[i].not_ended);
        T_EQ_U64(seen.points, claims[i].points);
        plim_history_destroy(history);
    }
}

/* Counters add up at the peak and at the end, and each allocation has one life, for the truth and
 * for noise. */
static void random_histories_add_up(void)
{
    static toy_program toy;
    for (int i = 0; i < 300; i++) {
        T_CASE("%d", i);
        if (i % 2 == 0) {
            program_of_toy(&toy, (size_t)t_random_between(1, 100));
        } else {
            program_of_noise(&toy, (size_t)t_random_between(0, 60));
        }
        plim_history *const history =
            program_history(&toy, (size_t)t_random_between(0, toy.event_count));
        (void)watch(history, 1);
        plim_history_destroy(history);
    }
}

static uint64_t extreme(void)
{
    static const uint64_t values[] = {
        0, 1, 512, UINT64_MAX, UINT64_MAX - 1, INT64_MAX, 0x8000000000000000
    };
    return t_random_between(0, 2) == 0 ? t_random() : values[t_random_between(0, 6)];
}

/* Any number in any field: each format is written, and nothing is read past its end. */
static void numbers_may_be_anything(void)
{
    static const char *const formats[] = { "perfetto", "chrome", "pprof" };
    static toy_program toy;
    for (size_t round = 0; round < 300; round++) {
        T_CASE("extremes %zu", round);
        program_of_noise(&toy, (size_t)t_random_between(0, 40));
        for (size_t i = 0; i < toy.event_count; i++) {
            toy.events[i].addr = extreme();
            toy.events[i].bytes = extreme();
            toy.events[i].time_ns = (int64_t)extreme();
        }
        plim_history *const history = program_history(&toy, 0);
        const char *const format = formats[round % T_COUNT(formats)];
        const plim_export_options options = { .format = plim_export_format_named(format),
                                              .lives_min_bytes =
                                                  strcmp(format, "pprof") == 0 ? 0 : 1 };
        plim_export_result result = { 0 };
        T_TRUE(plim_history_export(history, "/dev/null", &options, &result, NULL) == PLIM_OK);
        plim_export_result_deinit(&result);
        plim_history_destroy(history);
    }
}

/* --- memory --- */

typedef struct attempt_context {
    const plim_history *history;
    const char *format;
    plim_export_what what;
    char folder[64];
} attempt_context;

static bool write_with(const plim_mem *mem, void *ctx)
{
    const attempt_context *const self = ctx;
    char path[96];
    (void)snprintf(path, sizeof path, "%s/out", self->folder);
    const bool has_lives = strcmp(self->format, "pprof") != 0;
    const plim_export_options options = { .mem = mem,
                                          .format = plim_export_format_named(self->format),
                                          .what = self->what,
                                          .title = "a \xff title",
                                          .replaces = true,
                                          .lives_min_bytes = has_lives ? 1 : 0 };
    plim_export_result result = { 0 };
    plim_error err = { 0 };
    const plim_status status = plim_history_export(self->history, path, &options, &result, &err);
    plim_export_result_deinit(&result);
    if (status != PLIM_OK) {
        T_TRUE(status == PLIM_OUT_OF_HOST_MEMORY);
        T_TRUE(access(path, F_OK) != 0); /* nothing is left */
    } else {
        T_TRUE(unlink(path) == 0);
    }
    return status == PLIM_OK;
}

static void each_failing_allocation_surfaces(void)
{
    attempt_context self = { .folder = "/tmp/plim_test_course_XXXXXX" };
    T_NOT_NULL(mkdtemp(self.folder));
    plim_history *const history = script_history(
        "time 10; segment_alloc 0 4096 @3; alloc 0 100 @1; alloc 512 300 @2; request 512 300; "
        "time 20; complete 512 300; alloc 1024 50; alloc 0 7 @1; request 2048 9 @4; "
        "complete 2048 9; oom 4096 10 @2; segment 0 4096; block 0 512 100 allocated; "
        "block 512 3584 0 free; device 1; alloc 0 600");
    self.history = history;
    static const char *const formats[] = { "perfetto", "chrome", "pprof" };
    for (size_t i = 0; i < T_COUNT(formats); i++) {
        T_CASE("%s", formats[i]);
        self.format = formats[i];
        t_fail_each_allocation(write_with, &self);
    }
    self.what = PLIM_EXPORT_CHURN;
    t_fail_each_allocation(write_with, &self);
    T_TRUE(rmdir(self.folder) == 0);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(random_histories_add_up), T_TEST(numbers_may_be_anything),
       T_TEST(each_failing_allocation_surfaces), T_TEST(histories_are_drawn_as_they_claim))
