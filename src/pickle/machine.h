/*
 * machine.h - the pickle machine from inside, for the files that hold its opcodes.
 *
 * A pickle is a program for a machine with a stack and a memo: opcodes push values, group what
 * lies above a mark into containers, store the top of the stack under a number and push it again.
 */
#ifndef PLIMSOLL_PICKLE_MACHINE_H
#define PLIMSOLL_PICKLE_MACHINE_H

#include "base/map.h"
#include "base/vec.h"
#include "pickle/list_cache.h"
#include "pickle/opcodes.h"
#include "pickle/reader.h"
#include "pickle/record_cache.h"

struct plim_machine {
    plim_input *input;
    plim_builder *builder;
    const plim_pickle_options *options;
    plim_pickle_facts facts;

    /* The bytes at hand. `end` may lie before the window's, so that limits get checked. */
    const uint8_t *cursor; /* next byte; while an opcode runs, the byte after the opcode */
    const uint8_t *end;
    plim_window window;
    uint64_t window_offset; /* of the window's first byte in the input */
    uint64_t opcode_offset; /* of the opcode that run_one() runs, for messages */

    PLIM_VEC(plim_value) stack;
    PLIM_VEC(size_t) marks;    /* stack heights */
    PLIM_VEC(plim_value) memo; /* by number; absent where nothing was put */
    plim_map sparse_memo;      /* numbers far beyond the memo: only odd files have them */
    uint64_t memo_count;

    plim_record_cache records;
    plim_list_cache lists;
    const uint8_t *list_at; /* after the MARK of the list that began last; NULL: not at hand */
};

/* The height of the stack at the last mark; what lies below it is out of reach. */
static inline size_t plim_machine_last_mark(const plim_machine *machine)
{
    return machine->marks.count == 0 ? 0 : machine->marks.items[machine->marks.count - 1];
}

/* Runs one opcode that is not frequent; the cursor stands after it. */
typedef plim_status plim_opcode_function(plim_machine *machine, plim_error *err);

/* The place of a byte of the window in the input, for messages. */
uint64_t plim_machine_offset(const plim_machine *machine, const uint8_t *at);

/*
 * Have `bytes` bytes after the opcode at hand in one piece; the cursor moves with the window.
 * Fewer is PLIM_CORRUPT: the file ends inside an opcode.
 */
plim_status plim_machine_need(plim_machine *machine, uint64_t bytes, plim_error *err);

/* Have at least one byte at the cursor, or PLIM_CORRUPT: the file ends before its STOP. */
plim_status plim_machine_more(plim_machine *machine, plim_error *err);

/* The text up to the next newline; the cursor goes after it. Valid until the next need. */
plim_status plim_machine_line(plim_machine *machine, const char **ret_line, size_t *ret_bytes,
                              plim_error *err);

plim_status plim_machine_push(plim_machine *machine, plim_value value, plim_error *err);
/* Push what a plim_make_…() made, or fail for lack of memory when it could not. */
plim_status plim_machine_push_made(plim_machine *machine, bool made, plim_value value,
                                   plim_error *err);
/* The value on top, which stays; at least `count` must lie above the last mark. */
plim_status plim_machine_check(plim_machine *machine, size_t count, plim_error *err);
/* Takes the last mark away; *ret_height is the stack's height at it. */
plim_status plim_machine_pop_mark(plim_machine *machine, size_t *ret_height, plim_error *err);
plim_status plim_machine_put(plim_machine *machine, uint64_t number, plim_error *err);
plim_status plim_machine_get(plim_machine *machine, uint64_t number, plim_error *err);
/* The items above `height` become one new container. */
plim_status plim_machine_wrap(plim_machine *machine, plim_kind kind, size_t height,
                              plim_error *err);
/* The items above `height` go into the container below them, which must be of `kind`. */
plim_status plim_machine_extend(plim_machine *machine, plim_kind kind, size_t height,
                                plim_error *err);

plim_status plim_machine_corrupt(const plim_machine *machine, plim_error *err, const char *format,
                                 ...) PLIM_PRINTF(3, 4);

/* The functions of infrequent opcodes, by code; NULL for the others. */
plim_opcode_function *plim_opcode_function_of(uint8_t code);  /* opcodes.c */
plim_opcode_function *plim_text_opcode_of(uint8_t code);      /* opcodes_text.c */
plim_opcode_function *plim_forbidden_opcode_of(uint8_t code); /* opcodes_forbidden.c */

#endif
