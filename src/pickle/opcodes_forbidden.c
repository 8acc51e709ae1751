/*
 * opcodes_forbidden.c - the opcodes that would import, call or fetch: refused, by name.
 *
 * A pickle is a program, and these are how one runs foreign code. A memory snapshot is
 * plain data and never needs them, so meeting one says that the file is not what it claims to be.
 * The message names the module, the name and the byte.
 */
#include "pickle/machine.h"

#include "base/error.h"

#define NAME_BYTES_MAX 100

/* A name in quotes for a message: at most NAME_BYTES_MAX bytes of it. */
#define NAME_FORMAT      "\"%.*s\""
#define NAME_VALUE(name) ((int)(name).bytes), ((name).text)

typedef struct name {
    const char *text;
    size_t bytes;
} name;

static name clip(const char *text, size_t bytes)
{
    return (name){ text, bytes < NAME_BYTES_MAX ? bytes : NAME_BYTES_MAX };
}

/* The string `depth` below the top of the stack, or "?" without one. */
static name name_on_stack(const plim_machine *machine, size_t depth)
{
    const char *text = NULL;
    size_t bytes = 0;
    if (machine->stack.count <= depth ||
        !plim_value_string(machine->stack.items[machine->stack.count - 1 - depth], &text, &bytes)) {
        return clip("?", 1);
    }
    return clip(text, bytes);
}

/* GLOBAL and INST: the module and the name are two lines after the opcode. */
static plim_status refuse_lines(plim_machine *machine, plim_error *err)
{
    const uint64_t offset = plim_machine_offset(machine, machine->cursor - 1);
    const char *line = NULL;
    size_t bytes = 0;
    char module[NAME_BYTES_MAX];
    PLIM_TRY(plim_machine_line(machine, &line, &bytes, err));
    const size_t module_bytes = clip(line, bytes).bytes;
    for (size_t i = 0; i < module_bytes; i++) {
        module[i] = line[i];
    }
    PLIM_TRY(plim_machine_line(machine, &line, &bytes, err));
    const name attribute = clip(line, bytes);
    return plim_fail_at(err, PLIM_FORBIDDEN, offset,
                        "the pickle asks to import " NAME_FORMAT " from module " NAME_FORMAT
                        ": refused, a memory snapshot holds plain data only",
                        NAME_VALUE(attribute), (int)module_bytes, module);
}

/* STACK_GLOBAL: module and name are the two strings on top. */
static plim_status refuse_stack_global(plim_machine *machine, plim_error *err)
{
    const name module = name_on_stack(machine, 1);
    const name attribute = name_on_stack(machine, 0);
    return plim_fail_at(err, PLIM_FORBIDDEN, plim_machine_offset(machine, machine->cursor - 1),
                        "the pickle asks to import " NAME_FORMAT " from module " NAME_FORMAT
                        ": refused, a memory snapshot holds plain data only",
                        NAME_VALUE(attribute), NAME_VALUE(module));
}

/* The others act on things that only an import could have put there, or on things outside. */
static plim_status refuse(plim_machine *machine, plim_error *err)
{
    const uint8_t code = machine->cursor[-1];
    const char *opcode = "?";
    switch (code) {
#define OPCODE_NAME(name, value) \
    case (value):                \
        opcode = #name;          \
        break;
        PLIM_OPCODE_FORBIDDEN_LIST(OPCODE_NAME)
#undef OPCODE_NAME
    default:
        break;
    }
    return plim_fail_at(err, PLIM_FORBIDDEN, plim_machine_offset(machine, machine->cursor - 1),
                        "the pickle uses %s to call or fetch something (no module or name given): "
                        "refused, a memory snapshot holds plain data only",
                        opcode);
}

plim_opcode_function *plim_forbidden_opcode_of(uint8_t code)
{
    static plim_opcode_function *const functions[256] = {
        [PLIM_PICKLE_OP_GLOBAL] = refuse_lines,
        [PLIM_PICKLE_OP_INST] = refuse_lines,
        [PLIM_PICKLE_OP_STACK_GLOBAL] = refuse_stack_global,
        [PLIM_PICKLE_OP_REDUCE] = refuse,
        [PLIM_PICKLE_OP_BUILD] = refuse,
        [PLIM_PICKLE_OP_OBJ] = refuse,
        [PLIM_PICKLE_OP_PERSID] = refuse,
        [PLIM_PICKLE_OP_BINPERSID] = refuse,
        [PLIM_PICKLE_OP_NEWOBJ] = refuse,
        [PLIM_PICKLE_OP_NEWOBJ_EX] = refuse,
        [PLIM_PICKLE_OP_EXT1] = refuse,
        [PLIM_PICKLE_OP_EXT2] = refuse,
        [PLIM_PICKLE_OP_EXT4] = refuse,
        [PLIM_PICKLE_OP_NEXT_BUFFER] = refuse,
        [PLIM_PICKLE_OP_READONLY_BUFFER] = refuse,
    };
    return functions[code];
}
