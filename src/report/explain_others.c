/*
 * explain_others.c - messages beside the main one, like ones together.
 *
 *   line 1,042  PyTorch: exhausted, GPU 1, requested 20.0 MiB (7 like it)
 *
 * A run of eight ranks fails eight times; a log of a night fails a thousand times. Like are
 * messages of one framework with one verdict.
 */
#include "base/size.h"
#include "report/counted.h"
#include "report/explain_page.h"
#include "report/explain_words.h"
#include "report/term/line.h"

#include <stdio.h>
#include <string.h>

#define GROUPS_MAX 10u

typedef struct message_group {
    const plim_oom_message *first;
    uint64_t like_count; /* messages behind the first, said as often as they were */
    int32_t device_min;
    int32_t device_max;
} message_group;

typedef struct message_groups {
    message_group items[GROUPS_MAX];
    size_t count;
    uint64_t beyond; /* messages for which there was no room */
} message_groups;

static bool is_like(const plim_oom_message *a, const plim_oom_message *b)
{
    return a->judgement.verdict == b->judgement.verdict && a->is_follower == b->is_follower &&
           strcmp(a->framework, b->framework) == 0;
}

static void add_message(message_groups *groups, const plim_oom_message *message)
{
    for (size_t i = 0; i < groups->count; i++) {
        message_group *group = &groups->items[i];
        if (is_like(group->first, message)) {
            group->like_count += message->count;
            group->device_min = message->request.subject.device < group->device_min
                                    ? message->request.subject.device
                                    : group->device_min;
            group->device_max = message->request.subject.device > group->device_max
                                    ? message->request.subject.device
                                    : group->device_max;
            return;
        }
    }
    if (groups->count == GROUPS_MAX) {
        groups->beyond += message->count;
        return;
    }
    groups->items[groups->count++] =
        (message_group){ .first = message,
                         .like_count = message->count - 1,
                         .device_min = message->request.subject.device,
                         .device_max = message->request.subject.device };
}

static void write_group(const plim_explain_page *page, const message_group *group, int line_columns)
{
    const plim_oom_message *first = group->first;
    plim_line line = plim_line_begin(page->out, page->style, 2);
    plim_line_format(&line, PLIM_TONE_FAINT, "line %*s  ", line_columns,
                     plim_format_count(first->line).text);
    plim_line_format(&line, PLIM_TONE_PLAIN, "%s: %s", plim_explain_framework(first->framework),
                     plim_explain_verdict(first->judgement.verdict).text);
    if (group->device_max > group->device_min && group->device_min >= 0) {
        plim_line_format(&line, PLIM_TONE_PLAIN, ", GPUs %d to %d", group->device_min,
                         group->device_max);
    } else if (first->request.subject.device != PLIM_DEVICE_UNKNOWN) {
        plim_line_format(&line, PLIM_TONE_PLAIN, ", %s", plim_explain_device(first).text);
    }
    if (first->request.figures[PLIM_FIGURE_REQUESTED].bytes != PLIM_BYTES_UNKNOWN) {
        plim_line_format(
            &line, PLIM_TONE_PLAIN, ", requested %s",
            plim_format_bytes(first->request.figures[PLIM_FIGURE_REQUESTED].bytes).text);
    }
    if (group->like_count > 0) {
        plim_line_format(&line, PLIM_TONE_FAINT, " (%s like it)",
                         plim_format_count(group->like_count).text);
    }
    if (first->is_follower) {
        plim_line_add(&line, PLIM_TONE_FAINT, " (came after, and because of it)");
    }
    plim_line_end(&line);
}

void plim_explain_others(const plim_explain_page *page)
{
    const plim_explained *file = page->file;
    message_groups groups = { .count = 0 };
    for (size_t i = 0; i < file->message_count; i++) {
        if (file->messages[i] != file->main_message) {
            add_message(&groups, file->messages[i]);
        }
    }
    groups.beyond += file->unkept_count;
    if (groups.count == 0) {
        return;
    }
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, "Also in the text");
    plim_line_end(&line);
    size_t widest = 0;
    for (size_t i = 0; i < groups.count; i++) {
        const size_t columns = strlen(plim_format_count(groups.items[i].first->line).text);
        widest = columns > widest ? columns : widest;
    }
    for (size_t i = 0; i < groups.count; i++) {
        write_group(page, &groups.items[i], (int)widest);
    }
    if (groups.beyond > 0) {
        line = plim_line_begin(page->out, page->style, 2);
        plim_line_format(&line, PLIM_TONE_FAINT, "(%s more: --json lists them)",
                         plim_counted(groups.beyond, "message").text);
        plim_line_end(&line);
    }
}
