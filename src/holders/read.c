/*
 * read.c - see read.h. A table says which members each object has; all others are passed over.
 */
#include "holders/read.h"

#include "base/error.h"
#include "json/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_BYTES_MAX ((uint64_t)256 << 20)
#define TEXT_BYTES_MAX     4096u /* of a name or path: the rest is cut off */
#define NUMBER_BYTES_MAX   40u

/* Containers of the document. Each has one parent. */
typedef enum holders_place {
    AT_OUTSIDE,
    AT_DOCUMENT,
    AT_DEVICES,
    AT_DEVICE,
    AT_HOLDERS,
    AT_HOLDER,
    AT_PATH,
    AT_ALSO,
    AT_BLOCKS,
    AT_BLOCK,
    AT_GARBAGE,
    AT_WARNINGS,
    PLACE_COUNT
} holders_place;

static const struct {
    holders_place parent;
    bool is_map;
    holders_place items; /* of an array of containers; else AT_OUTSIDE */
} places[PLACE_COUNT] = {
    [AT_OUTSIDE] = { AT_OUTSIDE, false, AT_DOCUMENT },
    [AT_DOCUMENT] = { AT_OUTSIDE, true, AT_OUTSIDE },
    [AT_DEVICES] = { AT_DOCUMENT, false, AT_DEVICE },
    [AT_DEVICE] = { AT_DEVICES, true, AT_OUTSIDE },
    [AT_HOLDERS] = { AT_DOCUMENT, false, AT_HOLDER },
    [AT_HOLDER] = { AT_HOLDERS, true, AT_OUTSIDE },
    [AT_PATH] = { AT_HOLDER, false, AT_OUTSIDE },
    [AT_ALSO] = { AT_HOLDER, false, AT_OUTSIDE },
    [AT_BLOCKS] = { AT_HOLDER, false, AT_BLOCK },
    [AT_BLOCK] = { AT_BLOCKS, false, AT_OUTSIDE },
    [AT_GARBAGE] = { AT_DOCUMENT, true, AT_OUTSIDE },
    [AT_WARNINGS] = { AT_DOCUMENT, false, AT_OUTSIDE },
};

typedef enum member_type {
    IS_NUMBER,
    IS_DEVICE,
    IS_SECONDS,
    IS_FLAG,
    IS_TEXT,
    IS_KIND,
    IS_MOMENT,
    IS_SCHEMA,
    IS_CONTAINER,
} member_type;

static const char *const names_of_types[] = {
    [IS_NUMBER] = "a number",    [IS_DEVICE] = "a number", [IS_SECONDS] = "a number",
    [IS_FLAG] = "true or false", [IS_TEXT] = "a text",     [IS_KIND] = "a text",
    [IS_MOMENT] = "a text",      [IS_SCHEMA] = "a text",   [IS_CONTAINER] = "a list or an object",
};

typedef struct member {
    holders_place in;
    const char *key;
    member_type type;
    holders_place enters; /* of a container */
    size_t offset;        /* of the others, in the struct of `in` */
} member;

#define FACT(key, type, field)                                         \
    {                                                                  \
        AT_DOCUMENT, key, type, 0, offsetof(plim_holders_facts, field) \
    }
#define DEVICE(key, type, field)                                      \
    {                                                                 \
        AT_DEVICE, key, type, 0, offsetof(plim_holders_device, field) \
    }
#define HOLDER(key, type, field)                              \
    {                                                         \
        AT_HOLDER, key, type, 0, offsetof(plim_holder, field) \
    }
#define GARBAGE(key, type, field)                                       \
    {                                                                   \
        AT_GARBAGE, key, type, 0, offsetof(plim_holders_garbage, field) \
    }
#define CONTAINER(in, key, enters)       \
    {                                    \
        in, key, IS_CONTAINER, enters, 0 \
    }

static const member members[] = {
    { AT_DOCUMENT, "schema", IS_SCHEMA, 0, 0 },
    FACT("moment", IS_MOMENT, is_at_failure),
    FACT("is_complete", IS_FLAG, is_complete),
    FACT("why_incomplete", IS_TEXT, why_incomplete),
    FACT("seconds", IS_SECONDS, seconds),
    FACT("pid", IS_NUMBER, pid),
    FACT("torch", IS_TEXT, torch),
    CONTAINER(AT_DOCUMENT, "devices", AT_DEVICES),
    CONTAINER(AT_DOCUMENT, "holders", AT_HOLDERS),
    CONTAINER(AT_DOCUMENT, "garbage", AT_GARBAGE),
    CONTAINER(AT_DOCUMENT, "warnings", AT_WARNINGS),
    DEVICE("device", IS_DEVICE, device),
    DEVICE("live_bytes", IS_NUMBER, live_bytes),
    DEVICE("held_bytes", IS_NUMBER, held_bytes),
    DEVICE("graph_bytes", IS_NUMBER, graph_bytes),
    DEVICE("engine_bytes", IS_NUMBER, engine_bytes),
    HOLDER("id", IS_NUMBER, id),
    HOLDER("kind", IS_KIND, kind),
    HOLDER("text", IS_TEXT, text),
    HOLDER("name", IS_TEXT, name),
    HOLDER("type", IS_TEXT, type),
    HOLDER("file", IS_TEXT, file),
    HOLDER("line", IS_NUMBER, line),
    HOLDER("function", IS_TEXT, function),
    HOLDER("made_file", IS_TEXT, made_file),
    HOLDER("made_line", IS_NUMBER, made_line),
    HOLDER("made_function", IS_TEXT, made_function),
    HOLDER("tensors", IS_NUMBER, tensors),
    HOLDER("bytes", IS_NUMBER, bytes),
    HOLDER("device", IS_DEVICE, device),
    CONTAINER(AT_HOLDER, "path", AT_PATH),
    CONTAINER(AT_HOLDER, "also", AT_ALSO),
    CONTAINER(AT_HOLDER, "blocks", AT_BLOCKS),
    GARBAGE("bytes", IS_NUMBER, bytes),
    GARBAGE("tensors", IS_NUMBER, tensors),
    GARBAGE("objects", IS_NUMBER, objects),
    GARBAGE("text", IS_TEXT, text),
};

typedef struct holders_reader {
    plim_holders_document *document;
    holders_place at;
    const member *member; /* whose value comes next; NULL: one that is passed over */
    uint64_t skipped;     /* containers open in what is passed over */
    bool has_schema;
    plim_holders_device device;
    plim_holder holder;
    plim_held_block block;
    size_t block_item; /* of the block: address, bytes, label */
    size_t first_block;
    PLIM_VEC(const char *) texts; /* of the list at hand */
    PLIM_VEC(uint64_t) ids;
} holders_reader;

static plim_status fail_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading holders of memory");
}

/* A value of another type than its member has. */
static plim_status refuse(const holders_reader *self, const char *wanted, plim_error *err)
{
    return self->member != NULL
               ? plim_fail(err, PLIM_CORRUPT, "\"%s\" of a document of holders is not %s",
                           self->member->key, wanted)
               : plim_fail(err, PLIM_CORRUPT, "an item of a document of holders is not %s", wanted);
}

static plim_status refuse_document(plim_error *err)
{
    return plim_fail(err, PLIM_UNSUPPORTED, "not a document of holders (holders/1)");
}

static void *target(holders_reader *self)
{
    return self->at == AT_DEVICE    ? (void *)&self->device
           : self->at == AT_HOLDER  ? (void *)&self->holder
           : self->at == AT_GARBAGE ? (void *)&self->document->facts.garbage
                                    : (void *)&self->document->facts;
}

/* --- values --- */

static plim_status read_number(const holders_reader *self, const char *text, size_t bytes,
                               uint64_t most, uint64_t *ret, plim_error *err)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9 || value > (most - digit) / 10) {
            return refuse(self, "a whole number in bounds", err);
        }
        value = value * 10 + digit;
    }
    *ret = value;
    return PLIM_OK;
}

static const char *copy_text(const holders_reader *self, const char *text, size_t bytes)
{
    size_t kept = bytes <= TEXT_BYTES_MAX ? bytes : TEXT_BYTES_MAX;
    while (kept < bytes && kept > 0 && ((unsigned char)text[kept] & 0xc0u) == 0x80) {
        kept--; /* not inside of a character */
    }
    return plim_arena_copy(&self->document->arena, text, kept);
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
    return strlen(word) == bytes && memcmp(text, word, bytes) == 0;
}

static plim_holder_kind kind_of(const char *text, size_t bytes)
{
    for (int kind = 0; kind < PLIM_HOLDER_KIND_COUNT; kind++) {
        if (is_word(text, bytes, plim_holder_kind_name((plim_holder_kind)kind))) {
            return (plim_holder_kind)kind;
        }
    }
    return PLIM_HOLDER_UNKNOWN; /* of a release to come */
}

static plim_status take_schema(holders_reader *self, const char *text, size_t bytes,
                               plim_error *err)
{
    static const char family[] = "holders/";
    self->has_schema = is_word(text, bytes, "holders/1");
    if (self->has_schema) {
        return PLIM_OK;
    }
    const bool is_ours = bytes > sizeof family - 1 && memcmp(text, family, sizeof family - 1) == 0;
    return plim_fail(err, PLIM_UNSUPPORTED,
                     is_ours ? "unsupported version of a document of holders; this release reads "
                               "holders/1"
                             : "not a document of holders (holders/1)");
}

static plim_status take_text(holders_reader *self, const char *text, size_t bytes, plim_error *err)
{
    const member_type type = self->member->type;
    char *const into = (char *)target(self) + self->member->offset;
    if (type == IS_SCHEMA) {
        return take_schema(self, text, bytes, err);
    }
    if (type == IS_KIND) {
        *(plim_holder_kind *)(void *)into = kind_of(text, bytes);
        return PLIM_OK;
    }
    if (type == IS_MOMENT) {
        *(bool *)(void *)into = is_word(text, bytes, "failure");
        return PLIM_OK;
    }
    if (type != IS_TEXT) {
        return refuse(self, names_of_types[type], err);
    }
    const char *const copy = copy_text(self, text, bytes);
    *(const char **)(void *)into = copy;
    return copy != NULL ? PLIM_OK : fail_memory(err);
}

static plim_status take_seconds(const holders_reader *self, const char *text, size_t bytes,
                                double *ret, plim_error *err)
{
    char copy[NUMBER_BYTES_MAX + 1];
    if (bytes > NUMBER_BYTES_MAX) {
        return refuse(self, "a number in bounds", err);
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    *ret = strtod(copy, NULL);
    return PLIM_OK;
}

static plim_status take_member_number(holders_reader *self, const char *text, size_t bytes,
                                      plim_error *err)
{
    const member_type type = self->member->type;
    char *const into = (char *)target(self) + self->member->offset;
    uint64_t value = 0;
    if (type == IS_NUMBER) {
        return read_number(self, text, bytes, UINT64_MAX, (uint64_t *)(void *)into, err);
    }
    if (type == IS_SECONDS) {
        return take_seconds(self, text, bytes, (double *)(void *)into, err);
    }
    if (type != IS_DEVICE) {
        return refuse(self, names_of_types[type], err);
    }
    PLIM_TRY(read_number(self, text, bytes, INT32_MAX, &value, err));
    *(int32_t *)(void *)into = (int32_t)value;
    return PLIM_OK;
}

/* --- items of lists --- */

static plim_status take_block_item(holders_reader *self, plim_json_token token, const char *text,
                                   size_t bytes, plim_error *err)
{
    const size_t item = self->block_item++;
    if (item >= 3) {
        return PLIM_OK; /* of a release to come */
    }
    if (item == 2 && token == PLIM_JSON_NULL) {
        return PLIM_OK;
    }
    if (item == 2 && token == PLIM_JSON_STRING) {
        self->block.label = copy_text(self, text, bytes);
        return self->block.label != NULL ? PLIM_OK : fail_memory(err);
    }
    if (item == 2 || token != PLIM_JSON_NUMBER) {
        return refuse(self, "[address, bytes, label]", err);
    }
    return read_number(self, text, bytes, UINT64_MAX,
                       item == 0 ? &self->block.address : &self->block.bytes, err);
}

static plim_status take_item(holders_reader *self, plim_json_token token, const char *text,
                             size_t bytes, plim_error *err)
{
    const plim_mem *const mem = self->document->mem;
    uint64_t id = 0;
    if (self->at == AT_BLOCK) {
        return take_block_item(self, token, text, bytes, err);
    }
    if (self->at == AT_OUTSIDE) {
        return refuse_document(err);
    }
    if (self->at == AT_ALSO && token == PLIM_JSON_NUMBER) {
        PLIM_TRY(read_number(self, text, bytes, UINT64_MAX, &id, err));
        return PLIM_VEC_PUSH(mem, &self->ids, id) ? PLIM_OK : fail_memory(err);
    }
    if (places[self->at].items != AT_OUTSIDE || self->at == AT_ALSO || token != PLIM_JSON_STRING) {
        return refuse(self,
                      self->at == AT_BLOCKS                  ? "a list"
                      : self->at == AT_ALSO                  ? "a number"
                      : places[self->at].items != AT_OUTSIDE ? "an object"
                                                             : "a text",
                      err);
    }
    const char *const copy = copy_text(self, text, bytes);
    return copy != NULL && PLIM_VEC_PUSH(mem, &self->texts, copy) ? PLIM_OK : fail_memory(err);
}

/* --- containers --- */

static plim_status begin(holders_reader *self, bool is_map, plim_error *err)
{
    const bool is_item = !places[self->at].is_map;
    if (self->skipped > 0 || (!is_item && self->member == NULL)) {
        self->skipped++;
        return PLIM_OK;
    }
    const holders_place into = is_item                              ? places[self->at].items
                               : self->member->type == IS_CONTAINER ? self->member->enters
                                                                    : AT_OUTSIDE;
    if (into == AT_OUTSIDE || places[into].is_map != is_map) {
        return is_item && self->at == AT_OUTSIDE
                   ? refuse_document(err)
                   : refuse(self, is_item ? "of its type" : names_of_types[self->member->type],
                            err);
    }
    self->at = into;
    self->member = NULL;
    if (into == AT_DEVICE) {
        self->device = (plim_holders_device){ 0 };
    } else if (into == AT_HOLDER) {
        self->holder = (plim_holder){ 0 };
        self->first_block = self->document->blocks.count;
    } else if (into == AT_BLOCK) {
        self->block = (plim_held_block){ .holder = self->document->holders.count };
        self->block_item = 0;
    } else if (into == AT_GARBAGE) {
        self->document->facts.garbage = (plim_holders_garbage){ .was_searched = true };
    }
    self->texts.count = into == AT_PATH || into == AT_WARNINGS ? 0 : self->texts.count;
    self->ids.count = into == AT_ALSO ? 0 : self->ids.count;
    return PLIM_OK;
}

static bool keep_texts(holders_reader *self, const char *const **ret, size_t *ret_count)
{
    const size_t bytes = self->texts.count * sizeof *self->texts.items;
    const char **const kept = plim_arena_alloc(&self->document->arena, bytes);
    if (kept != NULL && bytes > 0) {
        memcpy(kept, self->texts.items, bytes);
    }
    *ret = kept;
    *ret_count = kept != NULL ? self->texts.count : 0;
    return kept != NULL;
}

static bool keep_ids(holders_reader *self)
{
    const size_t bytes = self->ids.count * sizeof *self->ids.items;
    uint64_t *const kept = plim_arena_alloc(&self->document->arena, bytes);
    if (kept != NULL && bytes > 0) {
        memcpy(kept, self->ids.items, bytes);
    }
    self->holder.also = kept;
    self->holder.also_count = kept != NULL ? self->ids.count : 0;
    return kept != NULL;
}

static bool keep_holder(holders_reader *self)
{
    plim_holders_document *const document = self->document;
    for (size_t i = self->first_block; i < document->blocks.count; i++) {
        document->blocks.items[i].device = self->holder.device;
    }
    return PLIM_VEC_PUSH(document->mem, &document->holders, self->holder);
}

static bool keep(holders_reader *self)
{
    plim_holders_document *const document = self->document;
    const plim_mem *const mem = document->mem;
    return self->at == AT_DEVICE   ? PLIM_VEC_PUSH(mem, &document->devices, self->device)
           : self->at == AT_BLOCK  ? PLIM_VEC_PUSH(mem, &document->blocks, self->block)
           : self->at == AT_HOLDER ? keep_holder(self)
           : self->at == AT_PATH   ? keep_texts(self, &self->holder.path, &self->holder.path_count)
           : self->at == AT_WARNINGS
               ? keep_texts(self, &document->facts.warnings, &document->facts.warning_count)
           : self->at == AT_ALSO ? keep_ids(self)
                                 : true;
}

static plim_status end(holders_reader *self, plim_error *err)
{
    if (self->skipped > 0) {
        self->skipped--;
        return PLIM_OK;
    }
    if (self->at == AT_BLOCK && self->block_item < 2) {
        return refuse(self, "[address, bytes, label]", err);
    }
    if (!keep(self)) {
        return fail_memory(err);
    }
    self->at = places[self->at].parent;
    self->member = NULL;
    return PLIM_OK;
}

/* --- tokens --- */

static void take_key(holders_reader *self, const char *text, size_t bytes)
{
    self->member = NULL;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].in == self->at && is_word(text, bytes, members[i].key)) {
            self->member = &members[i];
            return;
        }
    }
}

static plim_status take_flag(holders_reader *self, bool flag, plim_error *err)
{
    if (self->member->type != IS_FLAG) {
        return refuse(self, names_of_types[self->member->type], err);
    }
    *(bool *)(void *)((char *)target(self) + self->member->offset) = flag;
    return PLIM_OK;
}

static plim_status take_value(holders_reader *self, plim_json_token token, const char *text,
                              size_t bytes, plim_error *err)
{
    if (!places[self->at].is_map) {
        return take_item(self, token, text, bytes, err);
    }
    if (self->member == NULL || token == PLIM_JSON_NULL) {
        return PLIM_OK;
    }
    return token == PLIM_JSON_STRING   ? take_text(self, text, bytes, err)
           : token == PLIM_JSON_NUMBER ? take_member_number(self, text, bytes, err)
                                       : take_flag(self, token == PLIM_JSON_TRUE, err);
}

static plim_status take(void *ctx, plim_json_token token, const char *text, size_t bytes,
                        plim_error *err)
{
    holders_reader *const self = ctx;
    if (token == PLIM_JSON_MAP_BEGIN || token == PLIM_JSON_ARRAY_BEGIN) {
        return begin(self, token == PLIM_JSON_MAP_BEGIN, err);
    }
    if (token == PLIM_JSON_MAP_END || token == PLIM_JSON_ARRAY_END) {
        return end(self, err);
    }
    if (self->skipped > 0) {
        return PLIM_OK;
    }
    if (token == PLIM_JSON_KEY) {
        take_key(self, text, bytes);
        return PLIM_OK;
    }
    return take_value(self, token, text, bytes, err);
}

static plim_status check_piece(void *ctx, const plim_input *input, uint64_t bytes, plim_error *err)
{
    (void)ctx;
    (void)input;
    return bytes <= DOCUMENT_BYTES_MAX
               ? PLIM_OK
               : plim_fail(err, PLIM_LIMIT, "a document of holders of more than 256 MiB");
}

plim_status plim_holders_document_read(plim_input *input, plim_holders_document *document,
                                       plim_error *err)
{
    holders_reader self = { .document = document };
    const plim_json_sink sink = { .take = take, .piece = check_piece, .ctx = &self };
    document->facts.is_complete = true;
    plim_status status = plim_json_tokens(input, document->mem, &sink, err);
    if (status == PLIM_OK && !self.has_schema) {
        status = refuse_document(err);
    }
    PLIM_VEC_FREE(document->mem, &self.texts);
    PLIM_VEC_FREE(document->mem, &self.ids);
    return status;
}

void plim_holders_document_deinit(plim_holders_document *document)
{
    PLIM_VEC_FREE(document->mem, &document->devices);
    PLIM_VEC_FREE(document->mem, &document->holders);
    PLIM_VEC_FREE(document->mem, &document->blocks);
    plim_arena_deinit(&document->arena);
}
