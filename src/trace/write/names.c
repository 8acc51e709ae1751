/*
 * names.c - giving numbers to strings and frames, and collecting the new ones for the file.
 */
#include "trace/write/names.h"

#include "base/error.h"
#include "base/hash.h"

#include <string.h>

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "recording names");
}

/* --- lists of records --- */

static void begin(plim_record_list *list)
{
    static const uint8_t room[PLIM_CHUNK_HEADER_BYTES] = { 0 };
    plim_text_reset(&list->bytes);
    plim_text_append(&list->bytes, room, sizeof room);
    list->whole = list->bytes.length;
}

plim_status plim_records_init(plim_record_list *list, const plim_mem *mem, plim_error *err)
{
    plim_text_init(&list->bytes, mem, PLIM_CHUNK_PAYLOAD_MAX);
    begin(list);
    return plim_text_status(&list->bytes, "recording names", err);
}

void plim_records_number(plim_record_list *list, uint64_t value)
{
    uint8_t bytes[PLIM_VARINT_BYTES_MAX];
    const uint8_t *const end = plim_put_varint(bytes, value);
    plim_text_append(&list->bytes, bytes, (size_t)(end - bytes));
}

void plim_records_bytes(plim_record_list *list, const void *data, size_t bytes)
{
    plim_records_number(list, bytes);
    plim_text_append(&list->bytes, data, bytes);
}

plim_status plim_records_close(plim_record_list *list, plim_error *err)
{
    PLIM_TRY(plim_text_status(&list->bytes, "recording names", err));
    list->whole = list->bytes.length;
    return PLIM_OK;
}

plim_status plim_records_write(plim_record_list *list, plim_chunk_kind kind, plim_chunk_file *file,
                               plim_error *err)
{
    plim_status status = PLIM_OK;
    if (list->whole > PLIM_CHUNK_HEADER_BYTES) {
        status = plim_chunk_write(file, kind, (uint8_t *)list->bytes.data,
                                  list->whole - PLIM_CHUNK_HEADER_BYTES, 0);
        if (status != PLIM_OK && err != NULL) {
            *err = file->error;
        }
    }
    if (list->whole != PLIM_CHUNK_HEADER_BYTES || list->bytes.status != PLIM_OK) {
        begin(list);
    }
    return status;
}

void plim_records_deinit(plim_record_list *list)
{
    plim_text_deinit(&list->bytes);
}

/* --- the tables --- */

plim_status plim_names_init(plim_trace_names *names, bool resolves, const plim_mem *mem,
                            plim_error *err)
{
    *names = (plim_trace_names){ .mem = mem, .resolves = resolves };
    plim_arena_init(&names->arena, mem);
    plim_intern_init(&names->string_index, mem);
    plim_intern_init(&names->frame_index, mem);
    PLIM_TRY(plim_records_init(&names->new_strings, mem, err));
    PLIM_TRY(plim_records_init(&names->new_frames, mem, err));
    PLIM_TRY(plim_records_init(&names->new_stacks, mem, err));
    uint32_t empty = 0;
    return plim_names_string(names, "", 0, &empty, err);
}

void plim_names_deinit(plim_trace_names *names)
{
    if (names->mem == NULL) {
        return;
    }
    plim_symbols_destroy(names->symbols);
    plim_records_deinit(&names->new_strings);
    plim_records_deinit(&names->new_frames);
    plim_records_deinit(&names->new_stacks);
    plim_intern_deinit(&names->string_index);
    plim_intern_deinit(&names->frame_index);
    PLIM_VEC_FREE(names->mem, &names->strings);
    PLIM_VEC_FREE(names->mem, &names->frames);
    plim_arena_deinit(&names->arena);
    *names = (plim_trace_names){ 0 };
}

static bool string_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_named_string *const row = &((const plim_trace_names *)table)->strings.items[id];
    const plim_named_string *const other = wanted;
    return row->bytes == other->bytes && memcmp(row->text, other->text, row->bytes) == 0;
}

plim_status plim_names_string(plim_trace_names *names, const char *text, size_t bytes,
                              uint32_t *ret_string, plim_error *err)
{
    bytes = bytes < PLIM_STRING_BYTES_KEPT ? bytes : PLIM_STRING_BYTES_KEPT;
    const uint64_t hash = plim_hash_bytes(text, bytes, names->string_index.key);
    const plim_named_string wanted = { text, bytes };
    uint32_t id = plim_intern_find(&names->string_index, hash, string_equal, names, &wanted);
    if (id == PLIM_INTERN_ABSENT) {
        const plim_named_string row = { plim_arena_copy(&names->arena, text, bytes), bytes };
        if (row.text == NULL || !PLIM_VEC_PUSH(names->mem, &names->strings, row)) {
            return no_memory(err);
        }
        if (!plim_intern_add(&names->string_index, hash, &id)) {
            names->strings.count--;
            return no_memory(err);
        }
        plim_records_number(&names->new_strings, id);
        plim_records_bytes(&names->new_strings, text, bytes);
        PLIM_TRY(plim_records_close(&names->new_strings, err));
    }
    *ret_string = id;
    return PLIM_OK;
}

static bool frame_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_named_frame *const row = &((const plim_trace_names *)table)->frames.items[id];
    const plim_named_frame *const other = wanted;
    if (row->address != 0 || other->address != 0) {
        return row->address == other->address;
    }
    return row->filename == other->filename && row->name == other->name && row->line == other->line;
}

static plim_status append_frame(plim_trace_names *names, size_t id, plim_error *err)
{
    const plim_named_frame *const frame = &names->frames.items[id];
    plim_records_number(&names->new_frames, id);
    plim_records_number(&names->new_frames, frame->address);
    plim_records_number(&names->new_frames, frame->filename);
    plim_records_number(&names->new_frames, frame->name);
    plim_records_number(&names->new_frames, frame->line);
    plim_records_number(&names->new_frames, frame->is_ours ? PLIM_FRAME_IS_OURS : 0);
    return plim_records_close(&names->new_frames, err);
}

plim_status plim_names_frame(plim_trace_names *names, const plim_named_frame *frame,
                             uint32_t *ret_frame, plim_error *err)
{
    const uint64_t parts[] = { frame->address, frame->filename, frame->name, frame->line };
    const uint64_t key = names->frame_index.key;
    const uint64_t hash = frame->address != 0 ? plim_hash_u64(frame->address, key)
                                              : plim_hash_bytes(parts, sizeof parts, key);
    uint32_t id = plim_intern_find(&names->frame_index, hash, frame_equal, names, frame);
    if (id == PLIM_INTERN_ABSENT) {
        if (!PLIM_VEC_PUSH(names->mem, &names->frames, *frame)) {
            return no_memory(err);
        }
        if (!plim_intern_add(&names->frame_index, hash, &id)) {
            names->frames.count--;
            return no_memory(err);
        }
        PLIM_TRY(append_frame(names, id, err));
    }
    *ret_frame = id;
    return PLIM_OK;
}

plim_status plim_names_stack(plim_trace_names *names, uint64_t id, const uint32_t *frames,
                             size_t count, plim_error *err)
{
    plim_records_number(&names->new_stacks, id);
    plim_records_number(&names->new_stacks, count);
    for (size_t i = 0; i < count; i++) {
        plim_records_number(&names->new_stacks, frames[i]);
    }
    return plim_records_close(&names->new_stacks, err);
}

/* --- names of addresses --- */

bool plim_names_are_resolved(const plim_trace_names *names)
{
    return !names->resolves || names->resolved == names->frames.count;
}

static plim_status resolve(plim_trace_names *names, size_t id, plim_error *err)
{
    plim_named_frame *const frame = &names->frames.items[id];
    if (frame->address == 0 || frame->name != 0) {
        return PLIM_OK;
    }
    if (names->symbols == NULL) {
        PLIM_TRY(plim_symbols_create(names->mem, &names->symbols, err));
    }
    plim_symbol symbol = { .name = "", .filename = "" };
    PLIM_TRY(plim_symbols_look_up(names->symbols, frame->address, &symbol, err));
    uint32_t filename = 0;
    uint32_t name = 0;
    PLIM_TRY(plim_names_string(names, symbol.filename, strlen(symbol.filename), &filename, err));
    PLIM_TRY(plim_names_string(names, symbol.name, strlen(symbol.name), &name, err));
    if (filename == 0 && name == 0) {
        return PLIM_OK;
    }
    frame->filename = filename;
    frame->name = name;
    frame->line = symbol.line;
    frame->is_ours = plim_symbol_is_ours(&symbol);
    return append_frame(names, id, err);
}

plim_status plim_names_resolve(plim_trace_names *names, size_t count, plim_error *err)
{
    if (!names->resolves) {
        return PLIM_OK;
    }
    plim_status status = PLIM_OK;
    for (; count > 0 && names->resolved < names->frames.count && status == PLIM_OK; count--) {
        status = resolve(names, names->resolved, err);
        names->resolved++; /* a name that could not be kept is not looked up again */
    }
    return status;
}

plim_status plim_names_write(plim_trace_names *names, plim_chunk_file *file, plim_error *err)
{
    /* All three, whatever becomes of the first: one that failed begins again. */
    const plim_status strings =
        plim_records_write(&names->new_strings, PLIM_CHUNK_STRINGS, file, err);
    const plim_status frames = plim_records_write(&names->new_frames, PLIM_CHUNK_FRAMES, file, err);
    const plim_status stacks = plim_records_write(&names->new_stacks, PLIM_CHUNK_STACKS, file, err);
    return strings != PLIM_OK ? strings : frames != PLIM_OK ? frames : stacks;
}
