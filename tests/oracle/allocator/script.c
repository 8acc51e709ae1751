/* script.c - lines into operations. See script.h. */
#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096

struct script {
    FILE *file;
    const char *path;
    int line_number;
    bool is_held; /* `line` was read but not taken */
    char line[LINE_BYTES];
};

static const struct {
    const char *word;
    const char *parameters;
} forms[] = {
#define SCRIPT_FORM(code, word, parameters) [code] = { word, parameters },
    SCRIPT_OP_LIST(SCRIPT_FORM)
#undef SCRIPT_FORM
};

_Noreturn static void die(const script *s, const char *what, const char *word)
{
    (void)fprintf(stderr, "%s:%d: %s: %s\n", s->path, s->line_number, what,
                  word != NULL ? word : "nothing there");
    exit(2);
}

/* The next line that says something, without its end, in s->line. */
static bool next_line(script *s)
{
    if (s->is_held) {
        s->is_held = false;
        return true;
    }
    while (fgets(s->line, LINE_BYTES, s->file) != NULL) {
        s->line_number++;
        s->line[strcspn(s->line, "\n#")] = '\0';
        size_t end = strlen(s->line);
        while (end > 0 && s->line[end - 1] == ' ') {
            s->line[--end] = '\0';
        }
        if (end > 0) {
            return true;
        }
    }
    return false;
}

static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " ");
    if (*word == '\0') {
        return NULL;
    }
    const size_t length = strcspn(word, " ");
    *rest = word + length;
    if (**rest != '\0') {
        *(*rest)++ = '\0';
    }
    return word;
}

static uint64_t number_of(const script *s, const char *word)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long number = word != NULL ? strtoull(word, &end, 0) : 0;
    if (word == NULL || errno != 0 || *end != '\0') {
        die(s, "a number was expected", word);
    }
    return number;
}

static plim_pool_id pool_of(const script *s, char *word)
{
    char *const dot = word != NULL ? strchr(word, '.') : NULL;
    if (dot == NULL) {
        die(s, "a pool a.b was expected", word);
    }
    *dot = '\0';
    return (plim_pool_id){ number_of(s, word), number_of(s, dot + 1) };
}

static plim_stack_level level_of(const script *s, const char *word)
{
    static const char *const words[] = { "never", "state", "alloc", "all" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i]) == 0) {
            return (plim_stack_level)i;
        }
    }
    die(s, "never, state, alloc or all was expected", word);
}

static plim_device_call call_of(const script *s, const char *word)
{
    static const char *const names[] = {
#define SCRIPT_CALL(code, name) [code] = (name),
        PLIM_DEVICE_CALL_LIST(SCRIPT_CALL)
#undef SCRIPT_CALL
    };
    for (int i = 0; word != NULL && i < PLIM_DEVICE_CALL_COUNT; i++) {
        if (strcmp(word, names[i]) == 0) {
            return (plim_device_call)i;
        }
    }
    die(s, "a call was expected", word);
}

static void take_blocks(const script *s, script_op *op, char **rest)
{
    for (char *word = next_word(rest); word != NULL; word = next_word(rest)) {
        if (op->block_count == SCRIPT_BLOCKS_MAX) {
            die(s, "too many blocks", word);
        }
        op->blocks[op->block_count++] = number_of(s, word);
    }
}

static void take(const script *s, script_op *op, char letter, char *word)
{
    switch (letter) {
    case 'B':
        op->block = number_of(s, word);
        break;
    case 'D':
        op->device = (int32_t)number_of(s, word);
        break;
    case 'F':
        op->fraction = word != NULL ? strtod(word, NULL) : 0;
        break;
    case 'G':
        op->stacks = level_of(s, word);
        break;
    case 'K':
        op->call = call_of(s, word);
        break;
    case 'N':
        op->number = number_of(s, word);
        break;
    case 'P':
        op->pool = pool_of(s, word);
        op->has_pool = true;
        break;
    case 'S':
        op->stream = number_of(s, word);
        op->has_stream = true;
        break;
    case 'W':
        op->status = word != NULL && strcmp(word, "oom") == 0 ? PLIM_OUT_OF_DEVICE_MEMORY : PLIM_IO;
        break;
    default:
        die(s, "a parameter this reader does not know", word);
    }
}

static void parse(script *s, script_op *op)
{
    char *rest = s->line;
    const char *const name = next_word(&rest);
    int kind = 0;
    while (kind < SCRIPT_OP_COUNT && strcmp(name, forms[kind].word) != 0) {
        kind++;
    }
    if (kind == SCRIPT_OP_COUNT) {
        die(s, "an operation was expected", name);
    }
    memset(op, 0, sizeof(*op));
    op->kind = (script_kind)kind;
    op->line = s->line_number;
    op->device = -1;
    bool is_optional = false;
    for (const char *letter = forms[kind].parameters; *letter != '\0'; letter++) {
        if (*letter == '?') {
            is_optional = true;
        } else if (*letter == 'T') {
            (void)snprintf(op->text, sizeof(op->text), "%s", rest);
            return;
        } else if (*letter == 'L') {
            take_blocks(s, op, &rest);
        } else {
            char *const word = next_word(&rest);
            if (word != NULL || !is_optional) {
                take(s, op, *letter, word);
            }
        }
    }
    if (next_word(&rest) != NULL) {
        die(s, "too many words", name);
    }
}

script *script_open(const char *path, script_setup *ret_setup)
{
    script *const s = calloc(1, sizeof(*s));
    if (s == NULL) {
        abort();
    }
    s->path = path;
    s->file = fopen(path, "r");
    if (s->file == NULL) {
        die(s, "cannot be opened", strerror(errno));
    }
    memset(ret_setup, 0, sizeof(*ret_setup));
    ret_setup->stats_every = 1;
    while (next_line(s)) {
        if (s->line[0] != '%') {
            s->is_held = true;
            break;
        }
        char *rest = s->line + 1;
        const char *const name = next_word(&rest);
        if (name != NULL && strcmp(name, "manual") == 0) {
            ret_setup->is_manual = true;
        } else if (name != NULL && strcmp(name, "statsevery") == 0) {
            ret_setup->stats_every = number_of(s, next_word(&rest));
        } else if (name != NULL && strcmp(name, "anyrelease") == 0) {
            ret_setup->has_any_release_order = true;
        } else if (name != NULL && strcmp(name, "anycompletion") == 0) {
            ret_setup->has_any_completion_order = true;
        } else if (name != NULL && strcmp(name, "device") == 0 &&
                   ret_setup->device_count < SCRIPT_DEVICES_MAX) {
            const int32_t i = ret_setup->device_count++;
            ret_setup->total_bytes[i] = number_of(s, next_word(&rest));
            const char *const used = next_word(&rest);
            ret_setup->used_bytes[i] = used != NULL ? number_of(s, used) : 0;
        } else {
            die(s, "a property of the world was expected", name);
        }
    }
    if (ret_setup->device_count == 0) {
        ret_setup->device_count = 1;
        ret_setup->total_bytes[0] = UINT64_C(8) << 30;
    }
    return s;
}

bool script_next(script *s, script_op *ret_op)
{
    if (!next_line(s)) {
        return false;
    }
    parse(s, ret_op);
    return true;
}

void script_close(script *s)
{
    (void)fclose(s->file);
    free(s);
}
