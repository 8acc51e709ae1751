/*
 * names.h - strings, frames and stacks of a recording as it is written: each written once.
 *
 *   stack (id) ──► frames ──► address, function, file, line ──► strings
 *
 * A frame of C is an address; its name is looked up later and a few at a time, because that can
 * take long: until then the file knows the address, and a frame written again replaces itself.
 */
#ifndef PLIMSOLL_TRACE_WRITE_NAMES_H
#define PLIMSOLL_TRACE_WRITE_NAMES_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/text.h"
#include "plimsoll/event.h"
#include "trace/chunk.h"
#include "unwind/unwind.h"

typedef struct plim_named_string {
    const char *text;
    size_t bytes;
} plim_named_string;

typedef struct plim_named_frame {
    uint64_t address;  /* 0: of a language the program brings */
    uint32_t filename; /* strings */
    uint32_t name;
    uint32_t line;
    bool is_ours; /* a function of this library */
} plim_named_frame;

/* Records for one chunk, after room for its header. */
typedef struct plim_record_list {
    plim_text bytes;
    size_t whole; /* so many of them are whole records; 0: there is not even the room */
} plim_record_list;

plim_status plim_records_init(plim_record_list *list, const plim_mem *mem, plim_error *err);
/* Zeroed ones are allowed. */
void plim_records_deinit(plim_record_list *list);
void plim_records_number(plim_record_list *list, uint64_t value);
void plim_records_bytes(plim_record_list *list, const void *data, size_t bytes);
/* The record is whole; or fails with what failed since the list was begun. */
plim_status plim_records_close(plim_record_list *list, plim_error *err);
/* Writes the whole records, if there are any, and begins again. */
plim_status plim_records_write(plim_record_list *list, plim_chunk_kind kind, plim_chunk_file *file,
                               plim_error *err);

typedef struct plim_trace_names {
    const plim_mem *mem;
    plim_arena arena;
    PLIM_VEC(plim_named_string) strings;
    PLIM_VEC(plim_named_frame) frames;
    plim_intern string_index;
    plim_intern frame_index;
    size_t resolved; /* frames before this one have their names, or are known to have none */
    bool resolves;
    plim_symbols *symbols;
    plim_record_list new_strings;
    plim_record_list new_frames;
    plim_record_list new_stacks;
} plim_trace_names;

plim_status plim_names_init(plim_trace_names *names, bool resolves, const plim_mem *mem,
                            plim_error *err);
/* Zeroed ones are allowed. */
void plim_names_deinit(plim_trace_names *names);

/* The number of a string; what is longer than PLIM_STRING_BYTES_KEPT is cut. */
plim_status plim_names_string(plim_trace_names *names, const char *text, size_t bytes,
                              uint32_t *ret_string, plim_error *err);
plim_status plim_names_frame(plim_trace_names *names, const plim_named_frame *frame,
                             uint32_t *ret_frame, plim_error *err);
/* Frames innermost first. */
plim_status plim_names_stack(plim_trace_names *names, uint64_t id, const uint32_t *frames,
                             size_t count, plim_error *err);

bool plim_names_are_resolved(const plim_trace_names *names);
/* Looks up the names of at most `count` addresses. */
plim_status plim_names_resolve(plim_trace_names *names, size_t count, plim_error *err);

/* Writes what the file does not know yet; its failure stays with the file. */
plim_status plim_names_write(plim_trace_names *names, plim_chunk_file *file, plim_error *err);

#endif
