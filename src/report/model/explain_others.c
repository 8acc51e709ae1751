/*
 * explain_others.c - messages beside the main one, like ones together.
 *
 *   line 1,042  PyTorch: exhausted, GPU 1, requested 20.0 MiB (7 like it)
 *
 * A run of eight ranks fails eight times; a log of a night fails a thousand times. Like are
 * messages of one framework with one verdict.
 */
#include "report/model/explain_parts.h"

#include <string.h>

#define GROUPS_MAX 10u

typedef struct message_group {
    const plim_oom_message *first;
    uint64_t like_count; /* messages after the first, said as often as they were */
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

static void add_group(plim_page *page, const message_group *group)
{
    const plim_oom_message *first = group->first;
    const char *device = "";
    const char *requested = "";
    const char *like = "";
    if (group->device_max > group->device_min && group->device_min >= 0) {
        device = plim_page_text(
            page, ", GPUs {} to {}",
            PLIM_FACTS(plim_id(NULL, group->device_min), plim_id(NULL, group->device_max)));
    } else if (first->request.subject.device != PLIM_DEVICE_UNKNOWN) {
        device =
            plim_page_text(page, ", {}", PLIM_FACTS(plim_words(plim_explain_device(first).text)));
    }
    const uint64_t bytes = first->request.figures[PLIM_FIGURE_REQUESTED].bytes;
    if (bytes != PLIM_BYTES_UNKNOWN) {
        requested = plim_page_text(page, ", requested {}", PLIM_FACTS(plim_bytes(NULL, bytes)));
    }
    if (group->like_count > 0) {
        like =
            plim_page_text(page, " ({} like it)", PLIM_FACTS(plim_count(NULL, group->like_count)));
    }
    const char *follower = first->is_follower ? " (came after, and because of it)" : "";
    plim_page_cell_text(page, PLIM_TONE_FAINT, "line {}",
                        PLIM_FACTS(plim_count("line", first->line)));
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "{}: {}{}{}{}{}",
                        PLIM_FACTS(plim_words(plim_explain_framework(first->framework)),
                                   plim_words(plim_explain_verdict(first->judgement.verdict).text),
                                   plim_words(device), plim_words(requested),
                                   plim_toned(PLIM_TONE_FAINT, plim_words(like)),
                                   plim_toned(PLIM_TONE_FAINT, plim_words(follower))));
}

void plim_explained_others(const plim_explaining *self)
{
    static const plim_column columns[] = { { "line", PLIM_ALIGN_RIGHT, 0, 0 },
                                           { "message", PLIM_ALIGN_REST, 0, 0 } };
    const plim_explained *file = self->file;
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
    plim_page_heading(self->page, "Also in the text", NULL);
    plim_page_table(self->page, "others", columns, sizeof columns / sizeof columns[0])
        ->table.hides_titles = true;
    for (size_t i = 0; i < groups.count; i++) {
        add_group(self->page, &groups.items[i]);
    }
    if (groups.beyond > 0) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} more: --json lists them)",
                       PLIM_FACTS(plim_count_of("messages_left_out", groups.beyond, "message")));
    }
}
