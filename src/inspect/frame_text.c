/*
 * frame_text.c - cutting paths and C++ names down to what distinguishes frames.
 *
 * PyTorch records Python frames with a file and a line; C++ frames mostly as "??" and line 0,
 * with the whole signature as name.
 */
#include "inspect/frame_text.h"

#include "stacks/frames.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define CPP_NAME_BYTES_MAX 56u /* beyond it template arguments go too */

/* A run of bytes that belongs to the history. */
typedef struct text_span {
    const char *data;
    size_t bytes;
} text_span;

static text_span string_span(const plim_history *history, uint32_t string)
{
    text_span text = { 0 };
    text.data = plim_history_string(history, string, &text.bytes);
    return text;
}

static bool ends_with(text_span text, const char *end)
{
    const size_t bytes = strlen(end);
    return text.bytes >= bytes && memcmp(text.data + text.bytes - bytes, end, bytes) == 0;
}

static bool is_compiled(const plim_history *history, const plim_frame *place)
{
    return plim_frame_owner_of(plim_history_string(history, place->filename, NULL),
                               plim_history_string(history, place->name, NULL),
                               place->line) == PLIM_FRAME_NATIVE;
}

/* Windows paths are recorded with backslashes, whatever machine reads them. */
static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static text_span last_parts(text_span path, uint32_t parts)
{
    size_t first = path.bytes;
    while (first > 0) {
        if (is_separator(path.data[first - 1]) && --parts == 0) {
            break;
        }
        first--;
    }
    return (text_span){ path.data + first, path.bytes - first };
}

static text_span short_path(text_span path)
{
    const text_span name = last_parts(path, 1);
    return ends_with(name, "__init__.py") ? last_parts(path, 2) : name;
}

/* Without the argument list at its end: "f(int) const" is "f". */
static text_span without_arguments(text_span name)
{
    text_span kept = name;
    if (ends_with(kept, " const")) {
        kept.bytes -= strlen(" const");
    }
    if (kept.bytes == 0 || kept.data[kept.bytes - 1] != ')') {
        return name;
    }
    size_t depth = 0;
    for (size_t i = kept.bytes; i > 0; i--) {
        depth += kept.data[i - 1] == ')';
        depth -= kept.data[i - 1] == '(';
        if (depth == 0) {
            kept.bytes = i - 1;
            break;
        }
    }
    return kept.bytes > 0 ? kept : name;
}

/* Namespaces that every reader would skip. */
static const char *const silent[] = { "(anonymous namespace)::", "torch::autograd::generated::" };

/* The bytes of the silent namespace that the name begins with; 0 without one. */
static size_t silent_bytes(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        const size_t length = strlen(silent[i]);
        if (bytes >= length && memcmp(name, silent[i], length) == 0) {
            return length;
        }
    }
    return 0;
}

static void add_cpp_name(plim_text *out, text_span name)
{
    name = without_arguments(name);
    const bool keep_templates = name.bytes <= CPP_NAME_BYTES_MAX;
    size_t depth = 0;
    for (size_t i = 0; i < name.bytes;) {
        const size_t skipped = silent_bytes(name.data + i, name.bytes - i);
        if (skipped > 0) {
            i += skipped;
            continue;
        }
        const char c = name.data[i];
        const bool closes = c == '>' && depth > 0;
        depth -= closes;
        if (keep_templates || depth == 0) {
            plim_text_append(out, &name.data[i], 1);
        }
        depth += c == '<' && !keep_templates && i > 0 && !isspace((unsigned char)name.data[i - 1]);
        i++;
    }
}

static bool is_unknown_file(text_span file)
{
    return file.bytes == 0 || (file.bytes == 2 && memcmp(file.data, "??", 2) == 0);
}

void plim_frame_text_add(plim_text *out, const plim_history *history, uint32_t frame, bool full)
{
    const plim_frame *const place = plim_history_frame(history, frame);
    const text_span file = string_span(history, place->filename);
    const text_span name = string_span(history, place->name);
    const bool is_cpp = is_compiled(history, place);
    const bool shows_file = full ? !is_unknown_file(file) : !is_cpp || place->line > 0;
    if (shows_file) {
        const text_span path = full ? file : short_path(file);
        plim_text_append(out, path.data, path.bytes);
        if (place->line > 0) {
            plim_text_append_format(out, ":%" PRIu32, place->line);
        }
    }
    if (name.bytes == 0) {
        plim_text_append_string(out, shows_file ? "" : "(unknown)");
        return;
    }
    plim_text_append_string(out, shows_file ? " in " : "");
    if (full || !is_cpp) {
        plim_text_append(out, name.data, name.bytes);
    } else {
        add_cpp_name(out, name);
    }
}
