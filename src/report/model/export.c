/*
 * export.c - the closing lines of an export: the file, a line for each profile in it, and the next
 * command to type.
 */
#include "report/model/export.h"

#include "report/model/inspect_parts.h"

#include <string.h>

static void say_file(plim_page *page, const plim_exported *exported)
{
    const plim_export_result *const result = exported->result;
    const bool is_stdout = strcmp(exported->path, "-") == 0;
    plim_item *const item =
        plim_page_say(page, "export.wrote", PLIM_TONE_PLAIN, "wrote {} ({}",
                      PLIM_FACTS(plim_words(is_stdout ? "standard output" : exported->path),
                                 plim_words(result->format->name)));
    if (result->written_bytes > 0) {
        plim_page_more(page, ", {}", PLIM_FACTS(plim_bytes("file_bytes", result->written_bytes)));
    }
    plim_page_more(page, ")", NULL);
    item->layout = PLIM_LAYOUT_COPY;
}

/* "peak (event 497)" */
static void add_moment(plim_page *page, plim_moment_choice choice, int64_t event)
{
    char text[PLIM_MOMENT_TEXT_BYTES];
    plim_moment_text(choice, text);
    plim_page_more(page, "{}", PLIM_FACTS(plim_words(text)));
    if (event != PLIM_AT_START && choice.kind != PLIM_MOMENT_EVENT) {
        plim_page_more(page, " (event {})", PLIM_FACTS(plim_count("event", (uint64_t)event)));
    }
}

static void say_part(plim_page *page, const plim_exported *exported, const plim_export_part *part)
{
    plim_page_note(page, "export.part", PLIM_TONE_PLAIN, "{}, {} ",
                   PLIM_FACTS(plim_words(plim_device_name(page, part->device)),
                              plim_words(plim_export_what_name(exported->what))));
    if (exported->what != PLIM_EXPORT_LIVE) {
        plim_page_more(page, "from ", NULL);
        add_moment(page, part->span_from, part->from);
        plim_page_more(page, " to ", NULL);
    } else {
        plim_page_more(page, "at ", NULL);
    }
    add_moment(page, part->moment, part->event);
    plim_page_more(page, ": ", NULL);
    if (exported->what == PLIM_EXPORT_DIFFERENCE) {
        plim_page_more(page, "{} before, ",
                       PLIM_FACTS(plim_bytes("before_bytes", part->before_bytes)));
    }
    plim_page_more(page, "{}", PLIM_FACTS(plim_bytes("bytes", part->bytes)));
    if (exported->what == PLIM_EXPORT_DIFFERENCE) {
        plim_page_more(page, " after", NULL);
    } else if (exported->what != PLIM_EXPORT_GROWTH) {
        plim_page_more(page, ", {}",
                       PLIM_FACTS(plim_count_of("allocations", part->count, "allocation")));
    }
    plim_page_more(page, ", {}", PLIM_FACTS(plim_count_of("stacks", part->stacks, "stack")));
    if (part->shrunk_bytes > 0) {
        plim_page_more(page, "; other stacks hold {} less",
                       PLIM_FACTS(plim_bytes("shrunk_bytes", part->shrunk_bytes)));
    }
}

/* Files that the tool wants plain are unpacked first; it is given the name that they have then. */
static size_t plain_name_bytes(plim_page *page, const plim_exported *exported)
{
    const plim_export_format *const format = exported->result->format;
    const size_t bytes = strlen(exported->path);
    const size_t end = strlen(".gz");
    if (format->gzip != PLIM_EXPORT_GZIP_BY_NAME || format->opens_gzip || bytes <= end ||
        strcmp(exported->path + bytes - end, ".gz") != 0) {
        return bytes;
    }
    plim_page_say(page, "export.unpack", PLIM_TONE_PLAIN, "unpack it with: gunzip {}",
                  PLIM_FACTS(plim_words(exported->path)))
        ->layout = PLIM_LAYOUT_COPY;
    return bytes - end;
}

/* The file's name stands where the format's hint has a hole. */
static void say_opens(plim_page *page, const plim_exported *exported)
{
    const char *const opens = exported->result->format->opens;
    const char *const hole = strstr(opens, "%s");
    if (strcmp(exported->path, "-") == 0) {
        return; /* there is no file to be named */
    }
    const size_t bytes = plain_name_bytes(page, exported);
    plim_item *const item = plim_page_say(
        page, "export.opens", PLIM_TONE_PLAIN, "open it with: {}",
        PLIM_FACTS(plim_words_of(opens, hole != NULL ? (size_t)(hole - opens) : strlen(opens))));
    if (hole != NULL) {
        plim_page_more(page, "{}{}",
                       PLIM_FACTS(plim_words_of(exported->path, bytes), plim_words(hole + 2)));
    }
    item->layout = PLIM_LAYOUT_COPY;
}

void plim_export_page(plim_page *page, const plim_exported *exported)
{
    say_file(page, exported);
    for (size_t i = 0; i < exported->result->part_count; i++) {
        say_part(page, exported, &exported->result->parts[i]);
    }
    say_opens(page, exported);
}
