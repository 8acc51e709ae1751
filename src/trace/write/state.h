/*
 * state.h - parts of a history as records: settings, stacks, segments with their blocks.
 *
 * A recorder writes what exists when it starts, plim_recording_save() what existed at the start and
 * at the end; both write with this.
 */
#ifndef PLIMSOLL_TRACE_WRITE_STATE_H
#define PLIMSOLL_TRACE_WRITE_STATE_H

#include "plimsoll/history.h"
#include "trace/write/names.h"

typedef struct plim_state_writer {
    const plim_mem *mem;
    const plim_history *history;
    plim_trace_names *names;
    plim_chunk_file *file;
    uint64_t first_stack; /* the file's id of the history's stack 0 */
    plim_record_list list;
    plim_record_list frame_notes;
    bool *has_stack; /* by stack of the history: the file knows it */
    size_t stack_count;
} plim_state_writer;

/* Fills in what is not a parameter of the writer: the lists. */
plim_status plim_state_writer_init(plim_state_writer *writer, plim_error *err);
/* Zeroed ones are allowed. */
void plim_state_writer_deinit(plim_state_writer *writer);

/* The number of one of the history's strings in the file. */
plim_status plim_state_string(plim_state_writer *writer, uint32_t string, uint32_t *ret_string,
                              plim_error *err);
/* Makes sure that the file has the stack. */
plim_status plim_state_stack(plim_state_writer *writer, uint32_t stack, plim_error *err);

/* True if the list has no record yet: then the head of the chunk is to be put first. */
bool plim_state_begins_chunk(const plim_state_writer *writer);
/* Puts a segment, of which `block_count` blocks must follow; `after` is where they start from. */
plim_status plim_state_put_segment(plim_state_writer *writer, const plim_segment *segment,
                                   plim_addr *ret_behind, plim_error *err);
plim_status plim_state_put_block(plim_state_writer *writer, const plim_block *block,
                                 plim_addr *behind, plim_error *err);
/* The record is whole; writes a chunk when there is enough for one. */
plim_status plim_state_close(plim_state_writer *writer, plim_chunk_kind kind, plim_error *err);
/* Writes what there is, with the names it needs before it. */
plim_status plim_state_write(plim_state_writer *writer, plim_chunk_kind kind, plim_error *err);

plim_status plim_state_write_settings(plim_state_writer *writer, plim_error *err);

#endif
