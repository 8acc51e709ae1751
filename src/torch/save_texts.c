/*
 * save_texts.c - what records of a snapshot share: texts, frames and stacks, each written once.
 *
 * Viewers depend on it: a stack is one object however many events have it, and so is a frame
 * (PyTorch 2.11, torch/csrc/cuda/memory_snapshot.cpp).
 */
#include "torch/save.h"

#include "base/error.h"
#include "base/utf8.h"

/* The importer joins the parts of torch.fx, each at most this long (stacks.c). */
#define FX_PART_BYTES_MAX 1024

static const struct {
    const char *text;
    size_t bytes;
} texts[TEXT_COUNT] = {
#define SAVE_TEXT_ROW(code, text) [TEXT_##code] = { text, sizeof text - 1 },
    SAVE_TEXT_LIST(SAVE_TEXT_ROW)
#undef SAVE_TEXT_ROW
};

plim_status plim_save_init_shared(plim_save *save)
{
    const plim_history *history = save->history;
    plim_map_init(&save->forwards, save->mem);
    plim_text_init(&save->scratch, save->mem, SIZE_MAX / 2 - 1);
    /* One more than there are, for there may be none. */
    save->strings = plim_mem_alloc_zeroed(save->mem, (size_t)plim_history_string_count(history) + 1,
                                          sizeof *save->strings);
    save->frames = plim_mem_alloc_zeroed(save->mem, (size_t)plim_history_frame_count(history) + 1,
                                         sizeof *save->frames);
    save->stacks = plim_mem_alloc_zeroed(save->mem, (size_t)plim_history_stack_count(history) + 1,
                                         sizeof *save->stacks);
    return save->strings != NULL && save->frames != NULL && save->stacks != NULL
               ? PLIM_OK
               : plim_fail_memory(save->err, "writing the snapshot");
}

void plim_save_deinit_shared(plim_save *save)
{
    const plim_history *history = save->history;
    plim_mem_free(save->mem, save->strings, (size_t)plim_history_string_count(history) + 1,
                  sizeof *save->strings);
    plim_mem_free(save->mem, save->frames, (size_t)plim_history_frame_count(history) + 1,
                  sizeof *save->frames);
    plim_mem_free(save->mem, save->stacks, (size_t)plim_history_stack_count(history) + 1,
                  sizeof *save->stacks);
    plim_map_deinit(&save->forwards);
    plim_text_deinit(&save->scratch);
}

/* Remembers what was written; beyond 2^32 objects it is written anew each time. */
static void remember(plim_save *save, uint32_t *slot)
{
    const uint64_t number = plim_emit_memoize(&save->out);
    *slot = number < UINT32_MAX ? (uint32_t)number + 1 : 0;
}

static bool put_known(plim_save *save, const uint32_t *slot)
{
    if (*slot != 0) {
        plim_emit_get(&save->out, *slot - 1);
    }
    return *slot != 0;
}

void plim_save_text(plim_save *save, save_text text)
{
    if (!put_known(save, &save->texts[text])) {
        plim_emit_string(&save->out, texts[text].text, texts[text].bytes);
        remember(save, &save->texts[text]);
    }
}

/*
 * Bytes of the character at `text`, 0 if it is not one: the rules of RFC 3629 but for
 * surrogates, which Python's pickles have and take ("surrogatepass").
 */
static size_t utf8_length(const char *text, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80) {
        return 1;
    }
    const size_t length = p[0] >= 0xf0 ? 4 : (p[0] >= 0xe0 ? 3 : 2);
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > bytes || (p[0] == 0xe0 && p[1] < 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/* The bytes of a text that are UTF-8, from its start. */
static size_t valid_bytes(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        const size_t length = utf8_length(text + at, bytes - at);
        if (length == 0) {
            break;
        }
        at += length;
    }
    return at;
}

/* Python refuses a pickle with a str that is not UTF-8: bytes that are not become U+FFFD. */
static void emit_string(plim_save *save, const char *text, size_t bytes)
{
    if (bytes > UINT32_MAX) { /* the viewer has no opcode for it */
        plim_emit_fail(&save->out, plim_fail(save->err, PLIM_LIMIT, "a text is above 4 GiB"));
        return;
    }
    size_t valid = valid_bytes(text, bytes);
    if (valid == bytes) {
        plim_emit_string(&save->out, text, bytes);
        return;
    }
    plim_text_reset(&save->scratch);
    for (;;) {
        plim_text_append(&save->scratch, text, valid);
        text += valid;
        bytes -= valid;
        if (bytes == 0) {
            break;
        }
        plim_text_append_string(&save->scratch, PLIM_UTF8_REPLACEMENT);
        text++;
        bytes--;
        valid = valid_bytes(text, bytes);
    }
    if (plim_text_status(&save->scratch, "writing the snapshot", save->err) != PLIM_OK) {
        plim_emit_fail(&save->out, save->scratch.status);
        return;
    }
    plim_emit_string(&save->out, plim_text_string(&save->scratch), save->scratch.length);
}

void plim_save_string(plim_save *save, uint32_t string)
{
    size_t bytes = 0;
    const char *text = plim_history_string(save->history, string, &bytes);
    if (string == PLIM_NONE || bytes == 0) {
        plim_save_text(save, TEXT_EMPTY);
    } else if (!put_known(save, &save->strings[string])) {
        emit_string(save, text, bytes);
        remember(save, &save->strings[string]);
    }
}

void plim_save_action(plim_save *save, uint8_t action)
{
    if (!put_known(save, &save->actions[action])) {
        const char *name = plim_history_action_name(save->history, action);
        emit_string(save, name, strlen(name));
        remember(save, &save->actions[action]);
    }
}

/* --- torch.fx --- */

static bool is_fx_operation(const char *text, size_t bytes)
{
    static const char *const names[] = { "placeholder", "get_attr",    "call_function",
                                         "call_module", "call_method", "output" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes == strlen(names[i]) && memcmp(text, names[i], bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* The bytes of the first line if another follows, of all if there is one; 0 if a later part has
 * to take the text. */
static size_t first_line(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\n', bytes);
    if (end == NULL) {
        return bytes <= FX_PART_BYTES_MAX ? bytes : 0;
    }
    const size_t line = (size_t)(end - text);
    return line + 1 < bytes && line <= FX_PART_BYTES_MAX ? line : 0;
}

/* Of a text that is longer than a part can be, as many lines as a part can hold; else 0. */
static size_t lines_too_many(const char *text, size_t bytes)
{
    size_t end = bytes > FX_PART_BYTES_MAX ? FX_PART_BYTES_MAX : 0;
    while (end > 0 && text[end] != '\n') {
        end--;
    }
    return end;
}

/*
 * The parts the importer joined: the operation is known by its name, and then the node's name
 * follows; the rest is the trace. Joined again, they are the same text.
 */
static void put_fx(plim_save *save, uint32_t fx)
{
    static const save_text keys[] = { TEXT_FX_NODE_OP, TEXT_FX_NODE_NAME, TEXT_FX_NODE_INFO,
                                      TEXT_FX_ORIGINAL_TRACE };
    size_t bytes = 0;
    const char *text = plim_history_string(save->history, fx, &bytes);
    const bool has_operation = is_fx_operation(text, first_line(text, bytes));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t part =
            has_operation && i < 2 ? first_line(text, bytes) : lines_too_many(text, bytes);
        part = keys[i] == TEXT_FX_ORIGINAL_TRACE ? bytes : part;
        if (part > 0) {
            plim_save_text(save, keys[i]);
            emit_string(save, text, part);
            part += part < bytes; /* the line's end */
            text += part;
            bytes -= part;
        }
    }
}

/* --- frames --- */

static void put_frame(plim_save *save, uint32_t number)
{
    const plim_frame *frame = plim_history_frame(save->history, number);
    plim_emit_opcode(&save->out, PLIM_PICKLE_OP_EMPTY_DICT);
    remember(save, &save->frames[number]);
    plim_emit_opcode(&save->out, PLIM_PICKLE_OP_MARK);
    plim_save_text(save, TEXT_NAME);
    plim_save_string(save, frame->name);
    plim_save_text(save, TEXT_FILENAME);
    plim_save_string(save, frame->filename);
    plim_save_text(save, TEXT_LINE);
    plim_emit_uint(&save->out, frame->line);
    if (frame->fx != PLIM_NONE && save->torch >= PLIM_TORCH(2, 10)) {
        put_fx(save, frame->fx);
    }
    plim_save_end_record(save);
}

void plim_save_stack(plim_save *save, uint32_t stack)
{
    plim_emitter *out = &save->out;
    if (stack == PLIM_NONE) {
        plim_emit_opcode(out, PLIM_PICKLE_OP_EMPTY_LIST);
        return;
    }
    if (put_known(save, &save->stacks[stack])) {
        return;
    }
    const plim_stack frames = plim_history_stack(save->history, stack);
    plim_emit_opcode(out, PLIM_PICKLE_OP_EMPTY_LIST);
    remember(save, &save->stacks[stack]);
    for (uint32_t i = 0; i < frames.frame_count && plim_emit_value(out) == PLIM_OK; i++) {
        plim_emit_between(out, &plim_emit_list, i, frames.frame_count);
        if (!put_known(save, &save->frames[frames.frames[i]])) {
            put_frame(save, frames.frames[i]);
        }
    }
    plim_emit_between(out, &plim_emit_list, frames.frame_count, frames.frame_count);
}

void plim_save_lines(plim_save *save, uint32_t string)
{
    plim_emitter *out = &save->out;
    const uint64_t known = plim_map_get(&save->forwards, string);
    if (known != PLIM_MAP_ABSENT) {
        plim_emit_get(out, known);
        return;
    }
    plim_emit_opcode(out, PLIM_PICKLE_OP_EMPTY_LIST);
    if (!plim_map_put(&save->forwards, string, plim_emit_memoize(out))) {
        plim_emit_fail(out, plim_fail_memory(save->err, "writing the snapshot"));
        return;
    }
    size_t bytes = 0;
    const char *text = plim_history_string(save->history, string, &bytes);
    uint64_t count = 1;
    for (size_t i = 0; i < bytes; i++) {
        count += text[i] == '\n';
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *end = memchr(text, '\n', bytes);
        const size_t line = end == NULL ? bytes : (size_t)(end - text);
        plim_emit_between(out, &plim_emit_list, i, count);
        emit_string(save, text, line);
        text += end == NULL ? line : line + 1;
        bytes -= end == NULL ? line : line + 1;
    }
    plim_emit_between(out, &plim_emit_list, count, count);
}
