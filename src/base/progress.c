/*
 * progress.c - when to draw the bar, and the bar.
 */
#include "base/progress.h"

#include "base/size.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SHOW_AFTER_NS   ((uint64_t)500000000) /* quick work should not flicker */
#define REDRAW_AFTER_NS ((uint64_t)100000000) /* ten times a second looks smooth */
#define COLUMNS_DEFAULT 80
#define BAR_CELLS_MAX   30
#define BAR_CELLS_MIN   8
#define LINE_BYTES      512 /* of the channel: below PIPE_BUF, pipe(7) */

static bool can_erase_lines(FILE *file)
{
    const char *term = getenv("TERM");
    return isatty(fileno(file)) == 1 && term != NULL && strcmp(term, "dumb") != 0;
}

/* --- lines for a program --- */

/* A line that a slow reader has no room for is left out; after a failure there are no more. */
static void send_line(plim_progress_bar *bar, const char *line, size_t bytes)
{
    struct pollfd ready = { .fd = bar->channel, .events = POLLOUT };
    if (bar->channel == 0 || poll(&ready, 1, 0) <= 0) {
        return;
    }
    /* A pipe that is ready has room for PIPE_BUF bytes, which is more: write() does not wait. */
    if ((ready.revents & POLLOUT) == 0 || write(bar->channel, line, bytes) != (ssize_t)bytes) {
        bar->is_wanted = false;
        bar->channel = 0;
    }
}

/* A path may hold anything; a terminal obeys some of it, and a line has one end. */
static void clean(char *text)
{
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
}

static void send_step(plim_progress_bar *bar, uint64_t done, uint64_t total)
{
    char line[LINE_BYTES];
    const int length = snprintf(line, sizeof line - 1, "%" PRIu64 " %" PRIu64 " %.20s %.128s", done,
                                total, bar->noun != NULL ? bar->noun : "bytes", bar->label);
    if (length > 0 && (size_t)length < sizeof line - 1) {
        clean(line);
        line[length] = '\n';
        bar->is_drawn = true;
        send_line(bar, line, (size_t)length + 1);
    }
}

/* --- the bar --- */

void plim_progress_bar_init(plim_progress_bar *bar, const char *label,
                            const plim_progress_options *options)
{
    static const plim_progress_options defaults = { 0 };
    if (options == NULL) {
        options = &defaults;
    }
    FILE *file = options->file != NULL ? options->file : stderr;
    const plim_clock *clock = options->clock != NULL ? options->clock : &plim_clock_system;
    *bar = (plim_progress_bar){
        .label = label,
        .file = file,
        .clock = clock,
        .channel = options->channel,
        .is_wanted = options->channel != 0 || options->is_terminal || can_erase_lines(file),
        .columns = options->columns,
        .noun = options->noun,
        .start_ns = plim_clock_now_ns(clock),
    };
}

static size_t columns_of(const plim_progress_bar *bar)
{
    struct winsize size = { 0 };
    size_t columns = bar->columns;
    if (columns == 0 && ioctl(fileno(bar->file), TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col;
    }
    if (columns == 0) {
        columns = COLUMNS_DEFAULT;
    }
    return columns;
}

/* At most so many characters, not bytes: labels may be UTF-8. */
static void cut(char *text, size_t characters_max)
{
    size_t characters = 0;
    for (char *c = text; *c != '\0'; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80) {
            continue; /* within a character */
        }
        if (characters == characters_max) {
            *c = '\0';
            return;
        }
        characters++;
    }
}

static size_t character_count(const char *text)
{
    size_t count = 0;
    for (const char *c = text; *c != '\0'; c++) {
        count += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return count;
}

static plim_short_text format_amount(const plim_progress_bar *bar, uint64_t amount)
{
    return bar->noun != NULL ? plim_format_count(amount) : plim_format_bytes(amount);
}

/* The part after the label: "[####....]  41%  210 MiB of 512 MiB". */
static void describe(const plim_progress_bar *bar, char *text, size_t text_bytes, size_t room,
                     uint64_t done_bytes, uint64_t total_bytes)
{
    const plim_short_text done = format_amount(bar, done_bytes);
    const char *blank = bar->noun != NULL ? " " : "";
    const char *noun = bar->noun != NULL ? bar->noun : "";
    if (total_bytes == 0) {
        snprintf(text, text_bytes, "%s%s%.20s", done.text, blank, noun);
        return;
    }
    /* A file that grows while it is read is never more than all read. */
    const double share = done_bytes < total_bytes ? (double)done_bytes / (double)total_bytes : 1.0;
    char words[112];
    snprintf(words, sizeof words, "%3d%%  %s of %s%s%.20s", (int)(share * 100), done.text,
             format_amount(bar, total_bytes).text, blank, noun);
    const size_t used = strlen(words) + 3; /* brackets and a blank */
    size_t cells = room > used ? room - used : 0;
    cells = cells < BAR_CELLS_MAX ? cells : BAR_CELLS_MAX;
    if (cells < BAR_CELLS_MIN) {
        snprintf(text, text_bytes, "%s", words);
        return;
    }
    char full[BAR_CELLS_MAX + 1];
    const size_t full_cells = (size_t)(share * (double)cells);
    memset(full, '#', full_cells);
    memset(full + full_cells, '.', cells - full_cells);
    full[cells] = '\0';
    snprintf(text, text_bytes, "[%s] %s", full, words);
}

static void draw(plim_progress_bar *bar, uint64_t done_bytes, uint64_t total_bytes)
{
    const size_t room = columns_of(bar) - 1; /* a full line would wrap */
    char label[128];
    snprintf(label, sizeof label, "%s", bar->label);
    cut(label, room / 2);
    const size_t used = character_count(label) + 2;
    char facts[160];
    describe(bar, facts, sizeof facts, room > used ? room - used : 0, done_bytes, total_bytes);
    char line[sizeof label + 2 + sizeof facts];
    snprintf(line, sizeof line, "%s  %s", label, facts);
    cut(line, room);
    clean(line);
    fprintf(bar->file, "\r%s\033[K", line); /* erase what a longer line has left */
    fflush(bar->file);
    bar->is_drawn = true;
}

bool plim_progress_bar_update(void *bar, uint64_t done_bytes, uint64_t total_bytes)
{
    plim_progress_bar *self = bar;
    if (!self->is_wanted) {
        return true;
    }
    const uint64_t now_ns = plim_clock_now_ns(self->clock);
    const bool is_due = self->is_drawn ? now_ns - self->drawn_ns >= REDRAW_AFTER_NS
                                       : now_ns - self->start_ns >= SHOW_AFTER_NS;
    if (is_due) {
        self->drawn_ns = now_ns;
        if (self->channel != 0) {
            send_step(self, done_bytes, total_bytes);
        } else {
            draw(self, done_bytes, total_bytes);
        }
    }
    return true;
}

void plim_progress_bar_finish(plim_progress_bar *bar)
{
    if (bar->is_drawn && bar->channel != 0) {
        send_line(bar, "\n", 1);
    } else if (bar->is_drawn && bar->is_wanted) {
        fprintf(bar->file, "\r\033[K");
        fflush(bar->file);
    }
    bar->is_drawn = false;
    bar->is_wanted = false;
}
