/*
 * output.c - writing to stdout and stderr without needing memory, and noticing when it fails.
 */
#include "cli/output.h"

#include "cli/command.h"
#include "report/term/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_BYTES_MAX   8192u /* of a message: a path of 4096 and its reason */
#define CHANNEL_VARIABLE "PLIMSOLL_PROGRESS_FD"

static int progress_channel; /* of this process; 0: without */

static void take_channel(void)
{
    const char *const text = getenv(CHANNEL_VARIABLE);
    if (text == NULL) {
        return;
    }
    char *end = NULL;
    const long number = strtol(text, &end, 10);
    if (end != text && *end == '\0' && number > STDERR_FILENO && number <= INT32_MAX &&
        fcntl((int)number, F_SETFD, FD_CLOEXEC) == 0) {
        progress_channel = (int)number;
    }
    (void)unsetenv(CHANNEL_VARIABLE);
}

void plim_output_begin(void)
{
    /* stdio would take its buffer from the heap, and without one write byte by byte. */
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    take_channel();
}

void plim_output_progress(plim_progress_bar *bar, const char *label, const char *noun)
{
    plim_progress_bar_init(bar, label,
                           &(plim_progress_options){ .noun = noun, .channel = progress_channel });
}

static uint32_t terminal_columns(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_col;
}

plim_style plim_output_style(FILE *stream, plim_color_choice color, uint32_t width)
{
    const int descriptor = stream != NULL ? fileno(stream) : -1;
    const plim_terminal terminal = {
        .is_terminal = isatty(descriptor) == 1,
        .columns = terminal_columns(descriptor),
        .no_color = getenv("NO_COLOR"),
        .term = getenv("TERM"),
        .lc_all = getenv("LC_ALL"),
        .lc_ctype = getenv("LC_CTYPE"),
        .lang = getenv("LANG"),
    };
    return plim_style_decide(&terminal, color, width);
}

void plim_say(const char *who, const char *format, ...)
{
    char message[LINE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: ", who);
    const size_t bytes = written > 0 ? strlen(message) : 0;
    for (size_t i = 0; i < bytes;) {
        plim_printable one;
        i += plim_printable_next(message + i, bytes - i, true, &one);
        fwrite(one.bytes, 1, one.byte_count, stderr);
    }
    fputc('\n', stderr);
}

int plim_output_page(const char *who, FILE *stream, const plim_text *page)
{
    plim_error err = { 0 };
    if (plim_text_status(page, "writing the page", &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    fwrite(plim_text_string(page), 1, page->length, stream);
    return stream == stdout ? plim_output_finish(who) : PLIM_EXIT_OK;
}

void plim_output_unwritten(const char *who, const plim_launched *launched)
{
    static const char *const names[PLIM_LAUNCH_STREAMS] = { "output", "error" };
    for (int i = 0; i < PLIM_LAUNCH_STREAMS; i++) {
        const int code = launched->write_errno[i];
        if (code != 0 && code != EPIPE) {
            plim_say(who, "cannot write standard %s: %s", names[i], strerror(code));
        }
    }
}

int plim_output_finish(const char *who)
{
    int code = ferror(stdout) != 0 ? errno : 0; /* of the write that failed just before */
    if (fflush(stdout) != 0) {
        code = errno;
    }
    if (ferror(stdout) != 0) {
        plim_say(who, "cannot write standard output: %s",
                 code != 0 ? strerror(code) : "an earlier write failed");
        return PLIM_EXIT_FAILED;
    }
    return PLIM_EXIT_OK;
}
