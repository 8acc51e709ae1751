/*
 * test_progress.c - the bar at invented times, on a terminal that is a file.
 */
#include "harness.h"

#include "base/progress.h"
#include "base/units.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

static uint64_t fake_now_ns(void *ctx)
{
    const uint64_t *now_ns = ctx;
    return *now_ns;
}

typedef struct stage {
    uint64_t now_ns;
    plim_clock clock;
    FILE *file;
    char *text;
    size_t length;
    plim_progress_bar bar;
} stage;

static void stage_init(stage *self, const char *label, size_t columns, bool is_terminal)
{
    *self = (stage){ .now_ns = 5000 * MS };
    self->clock = (plim_clock){ .now_ns = fake_now_ns, .ctx = &self->now_ns };
    self->file = open_memstream(&self->text, &self->length);
    T_NOT_NULL(self->file);
    const plim_progress_options options = {
        .file = self->file,
        .clock = &self->clock,
        .is_terminal = is_terminal,
        .columns = columns,
    };
    plim_progress_bar_init(&self->bar, label, &options);
}

/* What was drawn since the last call. */
static const char *stage_drawn(stage *self)
{
    static char drawn[1024];
    fflush(self->file);
    T_TRUE(self->length < sizeof drawn);
    memcpy(drawn, self->text, self->length);
    drawn[self->length] = '\0';
    rewind(self->file);
    fflush(self->file);
    return drawn;
}

static void stage_deinit(stage *self)
{
    fclose(self->file);
    free(self->text);
}

static void quick_work_shows_nothing(void)
{
    stage s;
    stage_init(&s, "reading", 80, true);
    for (int i = 0; i < 499; i++) {
        s.now_ns += MS;
        T_TRUE(plim_progress_bar_update(&s.bar, 1, 2));
    }
    plim_progress_bar_finish(&s.bar);
    T_EQ_STR(stage_drawn(&s), "");
    stage_deinit(&s);
}

static void long_work_shows_a_bar_and_leaves_no_trace(void)
{
    stage s;
    stage_init(&s, "reading a.pickle", 80, true);
    s.now_ns += 500 * MS;
    plim_progress_bar_update(&s.bar, 128 * MIB, 512 * MIB);
    T_EQ_STR(stage_drawn(&s), "\rreading a.pickle  [#######.......................]  25%  "
                              "128 MiB of 512 MiB\033[K");
    s.now_ns += 99 * MS;
    plim_progress_bar_update(&s.bar, 256 * MIB, 512 * MIB);
    T_EQ_STR(stage_drawn(&s), "");
    s.now_ns += MS;
    plim_progress_bar_update(&s.bar, 512 * MIB, 512 * MIB);
    T_EQ_STR(stage_drawn(&s), "\rreading a.pickle  [##############################] 100%  "
                              "512 MiB of 512 MiB\033[K");
    plim_progress_bar_finish(&s.bar);
    T_EQ_STR(stage_drawn(&s), "\r\033[K");
    plim_progress_bar_finish(&s.bar);
    s.now_ns += 1000 * MS;
    plim_progress_bar_update(&s.bar, 512 * MIB, 512 * MIB);
    T_EQ_STR(stage_drawn(&s), "");
    stage_deinit(&s);
}

static void it_is_drawn_ten_times_a_second_at_most(void)
{
    stage s;
    stage_init(&s, "x", 80, true);
    size_t count = 0;
    for (int i = 0; i < 10500; i++) {
        s.now_ns += MS;
        plim_progress_bar_update(&s.bar, (uint64_t)i, 10500);
        count += stage_drawn(&s)[0] != '\0';
    }
    T_EQ_U64(count, 101);
    stage_deinit(&s);
}

static void odd_circumstances_are_drawn_as_well_as_they_can_be(void)
{
    static const struct {
        const char *name;
        const char *label;
        size_t columns;
        uint64_t done_bytes;
        uint64_t total_bytes;
        const char *drawn;
    } cases[] = {
        { "no total", "reading -", 80, 3 * MIB, 0, "\rreading -  3.00 MiB\033[K" },
        { "more than all", "x", 80, 3 * MIB, MIB,
          "\rx  [##############################] 100%  3.00 MiB of 1.00 MiB\033[K" },
        { "a narrow terminal", "reading", 49, MIB, 2 * MIB,
          "\rreading  [#####.....]  50%  1.00 MiB of 2.00 MiB\033[K" },
        { "no room for a bar", "reading", 40, MIB, 2 * MIB,
          "\rreading   50%  1.00 MiB of 2.00 MiB\033[K" },
        { "no room for much", "reading something", 12, MIB, 2 * MIB, "\rreadi   50%\033[K" },
        { "one column", "reading", 1, MIB, 2 * MIB, "\r\033[K" },
        { "characters of two bytes", "\xc3\xa4\xc3\xb6\xc3\xbc", 7, MIB, 0,
          "\r\xc3\xa4\xc3\xb6\xc3\xbc  1\033[K" },
        { "a name that talks to terminals", "a\033[2Jb", 80, MIB, 0, "\ra?[2Jb  1.00 MiB\033[K" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        stage s;
        stage_init(&s, cases[i].label, cases[i].columns, true);
        s.now_ns += 1000 * MS;
        plim_progress_bar_update(&s.bar, cases[i].done_bytes, cases[i].total_bytes);
        T_EQ_STR(stage_drawn(&s), cases[i].drawn);
        stage_deinit(&s);
    }
}

static void a_line_never_fills_the_terminal(void)
{
    char label[400];
    memset(label, 'x', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    for (size_t columns = 1; columns < 400; columns++) {
        stage s;
        stage_init(&s, label + t_random_between(0, sizeof label - 1), columns, true);
        s.now_ns += 1000 * MS;
        plim_progress_bar_update(&s.bar, t_random(), t_random());
        const char *drawn = stage_drawn(&s);
        T_TRUE(strlen(drawn) - strlen("\r\033[K") < columns);
        stage_deinit(&s);
    }
}

static void what_is_counted_has_its_name(void)
{
    stage s;
    stage_init(&s, "replaying", 80, true);
    s.bar.noun = "events";
    s.now_ns += 500 * MS;
    plim_progress_bar_update(&s.bar, 10000, 40000);
    T_EQ_STR(stage_drawn(&s), "\rreplaying  [#######.......................]  25%  "
                              "10,000 of 40,000 events\033[K");
    s.now_ns += 100 * MS;
    plim_progress_bar_update(&s.bar, 10000, 0);
    T_EQ_STR(stage_drawn(&s), "\rreplaying  10,000 events\033[K");
    stage_deinit(&s);
}

/* --- lines for a program --- */

typedef struct channel {
    uint64_t now_ns;
    plim_clock clock;
    int ends[2];
    plim_progress_bar bar;
} channel;

static void channel_init(channel *self, const char *label, const char *noun)
{
    *self = (channel){ .now_ns = 5000 * MS };
    self->clock = (plim_clock){ .now_ns = fake_now_ns, .ctx = &self->now_ns };
    T_EQ_I64(pipe(self->ends), 0);
    T_EQ_I64(fcntl(self->ends[0], F_SETFL, O_NONBLOCK), 0);
    const plim_progress_options options = {
        .clock = &self->clock, .is_terminal = true, .noun = noun, .channel = self->ends[1]
    };
    plim_progress_bar_init(&self->bar, label, &options);
}

/* What was written since the last call. */
static const char *channel_read(channel *self)
{
    static char text[1024];
    const ssize_t bytes = read(self->ends[0], text, sizeof text - 1);
    text[bytes > 0 ? bytes : 0] = '\0';
    return text;
}

static void channel_deinit(channel *self)
{
    close(self->ends[0]);
    close(self->ends[1]);
}

static void a_program_is_sent_lines(void)
{
    channel c;
    channel_init(&c, "reading a\nb.pickle", NULL);
    c.now_ns += 499 * MS;
    plim_progress_bar_update(&c.bar, 1, 2);
    T_EQ_STR(channel_read(&c), "");
    c.now_ns += MS;
    plim_progress_bar_update(&c.bar, 128 * MIB, 512 * MIB);
    plim_progress_bar_update(&c.bar, 129 * MIB, 512 * MIB);
    T_EQ_STR(channel_read(&c), "134217728 536870912 bytes reading a?b.pickle\n");
    c.now_ns += 100 * MS;
    plim_progress_bar_update(&c.bar, 130 * MIB, 0);
    plim_progress_bar_finish(&c.bar);
    plim_progress_bar_finish(&c.bar);
    T_EQ_STR(channel_read(&c), "136314880 0 bytes reading a?b.pickle\n\n");
    channel_deinit(&c);
}

static void a_program_is_sent_the_noun(void)
{
    channel c;
    channel_init(&c, "tuning", "runs");
    c.now_ns += 500 * MS;
    plim_progress_bar_update(&c.bar, UINT64_MAX, UINT64_MAX);
    T_EQ_STR(channel_read(&c), "18446744073709551615 18446744073709551615 runs tuning\n");
    channel_deinit(&c);
}

static void quick_work_sends_nothing(void)
{
    channel c;
    channel_init(&c, "tuning", "runs");
    plim_progress_bar_update(&c.bar, 1, 2);
    plim_progress_bar_finish(&c.bar);
    T_EQ_STR(channel_read(&c), "");
    channel_deinit(&c);
}

/* It would block for ever here. */
static void a_slow_reader_misses_lines(void)
{
    channel c;
    channel_init(&c, "reading", NULL);
    for (int i = 0; i < 100000; i++) {
        c.now_ns += 500 * MS;
        T_TRUE(plim_progress_bar_update(&c.bar, 1, 2));
    }
    T_EQ_STR(strrchr(channel_read(&c), 'r') != NULL ? "some came" : "none", "some came");
    plim_progress_bar_finish(&c.bar);
    channel_deinit(&c);
}

static void a_reader_that_has_gone_is_no_failure(void)
{
    channel c;
    channel_init(&c, "reading", NULL);
    void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
    close(c.ends[0]);
    for (int i = 0; i < 3; i++) {
        c.now_ns += 500 * MS;
        T_TRUE(plim_progress_bar_update(&c.bar, 1, 2));
    }
    plim_progress_bar_finish(&c.bar);
    signal(SIGPIPE, before);
    close(c.ends[1]);
}

static void files_get_no_bar(void)
{
    FILE *file = tmpfile();
    T_NOT_NULL(file);
    uint64_t now_ns = 0;
    const plim_clock clock = { .now_ns = fake_now_ns, .ctx = &now_ns };
    plim_progress_bar bar;
    plim_progress_bar_init(&bar, "x", &(plim_progress_options){ .file = file, .clock = &clock });
    now_ns += 1000 * MS;
    T_TRUE(plim_progress_bar_update(&bar, 1, 2));
    plim_progress_bar_finish(&bar);
    T_EQ_I64(ftell(file), 0);
    fclose(file);

    plim_progress_bar zeroed = { 0 };
    plim_progress_bar_finish(&zeroed);
    plim_progress_bar_init(&bar, "x", NULL);
    plim_progress_bar_finish(&bar);
}

T_MAIN(T_TEST(a_program_is_sent_lines), T_TEST(a_program_is_sent_the_noun),
       T_TEST(quick_work_sends_nothing), T_TEST(a_slow_reader_misses_lines),
       T_TEST(a_reader_that_has_gone_is_no_failure), T_TEST(quick_work_shows_nothing),
       T_TEST(long_work_shows_a_bar_and_leaves_no_trace),
       T_TEST(it_is_drawn_ten_times_a_second_at_most),
       T_TEST(odd_circumstances_are_drawn_as_well_as_they_can_be),
       T_TEST(a_line_never_fills_the_terminal), T_TEST(what_is_counted_has_its_name),
       T_TEST(files_get_no_bar))
