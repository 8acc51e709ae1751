/*
 * script.h - a history written down in a line: for tests that must be read.
 *
 *   "segment 0 2048; block 0 512 100 allocated @1; block 512 1536 0 free;"
 *   "alloc 0 100 @1; alloc 512 200; request 512 200; complete 512 200; oom 4096 1000"
 *
 * Words, each ended by ';':
 *   alloc|request|complete ADDR BYTES [@STACK]     segment_alloc|segment_free|map|unmap ADDR BYTES
 *   snapshot BYTES     oom BYTES FREE              time MICROSECONDS (of the events after it)
 *   segment ADDR BYTES [large|expandable|stream N|pool A B]…
 *   block ADDR BYTES REQUESTED allocated|pending|free [@STACK]   (of the segment before it)
 *   device N   capacity EVENTS   overflowed yes|no   divisions KEY VALUE   format NAME
 * Stack @N is one frame, function "fN" in /home/u/train.py.
 */
#ifndef PLIMSOLL_TESTS_SCRIPT_H
#define PLIMSOLL_TESTS_SCRIPT_H

#include "harness.h"
#include "history/builder.h"

typedef struct test_script {
    plim_history *history;
    plim_device_ranges ranges; /* of the device that is being written */
    plim_segment segment;      /* not pushed before its blocks are */
    bool has_segment;
    int64_t time_us;
    const char *cursor; /* in the line that is being read */
} test_script;

static inline uint32_t script_stack(plim_history *history, uint64_t number)
{
    static const char file[] = "/home/u/train.py";
    char name[32];
    const int bytes = snprintf(name, sizeof name, "f%" PRIu64, number);
    plim_frame frame = { .line = 1, .fx = PLIM_NONE };
    uint32_t frame_id = 0;
    uint32_t stack = 0;
    T_TRUE(plim_history_add_string(history, file, sizeof file - 1, &frame.filename, NULL) ==
           PLIM_OK);
    T_TRUE(plim_history_add_string(history, name, (size_t)bytes, &frame.name, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_frame(history, &frame, &frame_id, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_stack(history, &frame_id, 1, &stack, NULL) == PLIM_OK);
    return stack;
}

/* True if a stack of a finished history is @number. */
static inline bool script_is_stack(const plim_history *history, uint32_t stack, uint64_t number)
{
    char name[32];
    (void)snprintf(name, sizeof name, "f%" PRIu64, number);
    const plim_stack frames = plim_history_stack(history, stack);
    return frames.frame_count == 1 &&
           strcmp(plim_history_string(history, plim_history_frame(history, frames.frames[0])->name,
                                      NULL),
                  name) == 0;
}

static inline void script_word(test_script *script, char word[32])
{
    size_t length = 0;
    while (*script->cursor == ' ' || *script->cursor == '\n') {
        script->cursor++;
    }
    while (*script->cursor != '\0' && strchr(" \n;", *script->cursor) == NULL) {
        T_TRUE(length < 31);
        word[length++] = *script->cursor++;
    }
    word[length] = '\0';
}

static inline uint64_t script_number(test_script *script)
{
    char word[32];
    script_word(script, word);
    char *end = NULL;
    const uint64_t number = strtoull(word, &end, 0);
    if (end == word || *end != '\0') {
        fail_msg("'%s' is no number", word);
    }
    return number;
}

static inline uint32_t script_stack_here(test_script *script)
{
    char word[32];
    script_word(script, word);
    return word[0] != '@' ? PLIM_NONE : script_stack(script->history, strtoull(word + 1, NULL, 10));
}

static inline void script_event(test_script *script, plim_action action)
{
    plim_event event = { .action = action,
                         .time_ns = plim_time_ns(script->time_us),
                         .stack = PLIM_NONE };
    if (action == PLIM_SNAPSHOT || action == PLIM_OOM) {
        event.bytes = script_number(script);
        event.addr = action == PLIM_OOM ? script_number(script) : 0;
    } else {
        event.addr = script_number(script);
        event.bytes = script_number(script);
    }
    event.stack = script_stack_here(script);
    T_TRUE(plim_history_push_event(script->history, &event, NULL) == PLIM_OK);
    script->ranges.events.count++;
}

static inline void script_end_segment(test_script *script)
{
    if (script->has_segment) {
        T_TRUE(plim_history_push_segment(script->history, &script->segment, NULL) == PLIM_OK);
        script->ranges.segments.count++;
    }
    script->has_segment = false;
}

static inline void script_segment(test_script *script)
{
    script_end_segment(script);
    script->has_segment = true;
    script->segment = (plim_segment){ .addr = script_number(script),
                                      .bytes = script_number(script),
                                      .stack = PLIM_NONE,
                                      .block_first = script->ranges.blocks.count };
    uint64_t stream = 0;
    char word[32];
    for (script_word(script, word); word[0] != '\0'; script_word(script, word)) {
        if (strcmp(word, "large") == 0) {
            script->segment.is_large = true;
        } else if (strcmp(word, "expandable") == 0) {
            script->segment.is_expandable = true;
        } else if (strcmp(word, "stream") == 0) {
            stream = script_number(script);
        } else if (strcmp(word, "pool") == 0) {
            script->segment.pool.a = script_number(script);
            script->segment.pool.b = script_number(script);
        } else {
            fail_msg("a segment has no '%s'", word);
        }
    }
    T_TRUE(plim_history_add_stream(script->history, stream, &script->segment.stream, NULL) ==
           PLIM_OK);
}

static inline void script_block(test_script *script)
{
    plim_block block = { .addr = script_number(script),
                         .bytes = script_number(script),
                         .requested_bytes = script_number(script) };
    char state[32];
    script_word(script, state);
    block.state = strcmp(state, "allocated") == 0 ? PLIM_BLOCK_ACTIVE_ALLOCATED
                  : strcmp(state, "pending") == 0 ? PLIM_BLOCK_ACTIVE_PENDING_FREE
                                                  : PLIM_BLOCK_INACTIVE;
    block.stack = script_stack_here(script);
    T_TRUE(script->has_segment);
    T_TRUE(plim_history_push_block(script->history, &block, NULL) == PLIM_OK);
    script->ranges.blocks.count++;
    script->segment.block_count++;
}

static inline void script_end_device(test_script *script)
{
    script_end_segment(script);
    T_TRUE(plim_history_add_device(script->history, &script->ranges, NULL) == PLIM_OK);
}

static inline void script_device(test_script *script, int32_t device)
{
    plim_device_ranges *const ranges = &script->ranges;
    *ranges = (plim_device_ranges){
        .device = device,
        .events = { ranges->events.first + ranges->events.count, 0 },
        .segments = { ranges->segments.first + ranges->segments.count, 0 },
        .blocks = { ranges->blocks.first + ranges->blocks.count, 0 },
    };
}

static inline void script_divisions(test_script *script)
{
    char key[32];
    script_word(script, key);
    static const char group[] = "roundup_power2_divisions";
    plim_setting setting = { .kind = PLIM_SETTING_INTEGER };
    setting.value.integer = (int64_t)script_number(script);
    T_TRUE(plim_history_add_string(script->history, group, sizeof group - 1, &setting.group,
                                   NULL) == PLIM_OK);
    T_TRUE(plim_history_add_string(script->history, key, strlen(key), &setting.name, NULL) ==
           PLIM_OK);
    T_TRUE(plim_history_push_setting(script->history, &setting, NULL) == PLIM_OK);
}

static inline void script_overflowed(test_script *script)
{
    char word[32];
    script_word(script, word);
    script->ranges.overflowed = strcmp(word, "yes") == 0 ? PLIM_YES : PLIM_NO;
}

/* What the history was read from: "plim", "pickle", "json". */
static inline void script_format(test_script *script)
{
    static const char *const formats[] = { "pickle", "json", "plim" };
    char word[32];
    script_word(script, word);
    plim_source source = plim_history_source(script->history);
    for (size_t i = 0; i < T_COUNT(formats); i++) {
        if (strcmp(word, formats[i]) == 0) {
            source.format = formats[i];
            plim_history_set_source(script->history, &source);
            return;
        }
    }
    fail_msg("a script has no format '%s'", word);
}

static inline void script_statement(test_script *script, const char *word)
{
    static const struct {
        const char *word;
        plim_action action;
    } events[] = { { "alloc", PLIM_ALLOC },
                   { "request", PLIM_FREE_REQUESTED },
                   { "complete", PLIM_FREE_COMPLETED },
                   { "segment_alloc", PLIM_SEGMENT_ALLOC },
                   { "segment_free", PLIM_SEGMENT_FREE },
                   { "map", PLIM_SEGMENT_MAP },
                   { "unmap", PLIM_SEGMENT_UNMAP },
                   { "snapshot", PLIM_SNAPSHOT },
                   { "oom", PLIM_OOM } };
    for (size_t i = 0; i < T_COUNT(events); i++) {
        if (strcmp(word, events[i].word) == 0) {
            script_event(script, events[i].action);
            return;
        }
    }
    if (strcmp(word, "segment") == 0) {
        script_segment(script);
    } else if (strcmp(word, "block") == 0) {
        script_block(script);
    } else if (strcmp(word, "time") == 0) {
        script->time_us = (int64_t)script_number(script);
    } else if (strcmp(word, "capacity") == 0) {
        script->ranges.capacity_events = script_number(script);
    } else if (strcmp(word, "overflowed") == 0) {
        script_overflowed(script);
    } else if (strcmp(word, "format") == 0) {
        script_format(script);
    } else if (strcmp(word, "divisions") == 0) {
        script_divisions(script);
    } else if (strcmp(word, "device") == 0) {
        script_end_device(script);
        script_device(script, (int32_t)script_number(script));
    } else if (word[0] != '\0') {
        fail_msg("a script has no '%s'", word);
    }
}

/* The history that a script tells; its first device is 0. The caller's, to be destroyed. */
static inline plim_history *script_history(const char *text)
{
    test_script script = { .cursor = text, .time_us = PLIM_TIME_UNKNOWN };
    T_TRUE(plim_history_create(NULL, &script.history, NULL) == PLIM_OK);
    while (*script.cursor != '\0') {
        char word[32];
        script_word(&script, word);
        script_statement(&script, word);
        while (*script.cursor != '\0' && *script.cursor != ';') {
            script.cursor++;
        }
        script.cursor += *script.cursor == ';';
    }
    script_end_device(&script);
    plim_history_seal(script.history);
    return script.history;
}

#endif
