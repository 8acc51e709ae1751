/*
 * opcodes.h - the opcodes of Python's pickle protocols 0 to 5.
 *
 * Source: Python's Lib/pickletools.py, which documents each. The machine (machine.c) runs the
 * frequent ones itself; the others are functions in a table. In the lists: name, code.
 */
#ifndef PLIMSOLL_PICKLE_OPCODES_H
#define PLIMSOLL_PICKLE_OPCODES_H

/* Opcodes that hold data. */
#define PLIM_OPCODE_LIST(X)   \
    X(MARK, '(')              \
    X(STOP, '.')              \
    X(POP, '0')               \
    X(POP_MARK, '1')          \
    X(DUP, '2')               \
    X(FLOAT, 'F')             \
    X(INT, 'I')               \
    X(BININT, 'J')            \
    X(BININT1, 'K')           \
    X(LONG, 'L')              \
    X(BININT2, 'M')           \
    X(NONE, 'N')              \
    X(STRING, 'S')            \
    X(BINSTRING, 'T')         \
    X(SHORT_BINSTRING, 'U')   \
    X(UNICODE, 'V')           \
    X(BINUNICODE, 'X')        \
    X(APPEND, 'a')            \
    X(DICT, 'd')              \
    X(EMPTY_DICT, '}')        \
    X(APPENDS, 'e')           \
    X(GET, 'g')               \
    X(BINGET, 'h')            \
    X(LONG_BINGET, 'j')       \
    X(LIST, 'l')              \
    X(EMPTY_LIST, ']')        \
    X(PUT, 'p')               \
    X(BINPUT, 'q')            \
    X(LONG_BINPUT, 'r')       \
    X(SETITEM, 's')           \
    X(TUPLE, 't')             \
    X(EMPTY_TUPLE, ')')       \
    X(SETITEMS, 'u')          \
    X(BINFLOAT, 'G')          \
    X(PROTO, 0x80)            \
    X(TUPLE1, 0x85)           \
    X(TUPLE2, 0x86)           \
    X(TUPLE3, 0x87)           \
    X(NEWTRUE, 0x88)          \
    X(NEWFALSE, 0x89)         \
    X(LONG1, 0x8a)            \
    X(LONG4, 0x8b)            \
    X(BINBYTES, 'B')          \
    X(SHORT_BINBYTES, 'C')    \
    X(SHORT_BINUNICODE, 0x8c) \
    X(BINUNICODE8, 0x8d)      \
    X(BINBYTES8, 0x8e)        \
    X(EMPTY_SET, 0x8f)        \
    X(ADDITEMS, 0x90)         \
    X(FROZENSET, 0x91)        \
    X(MEMOIZE, 0x94)          \
    X(FRAME, 0x95)            \
    X(BYTEARRAY8, 0x96)

/* Opcodes that import, call, or need objects of the reading program: always refused. */
#define PLIM_OPCODE_FORBIDDEN_LIST(X) \
    X(GLOBAL, 'c')                    \
    X(REDUCE, 'R')                    \
    X(BUILD, 'b')                     \
    X(INST, 'i')                      \
    X(OBJ, 'o')                       \
    X(PERSID, 'P')                    \
    X(BINPERSID, 'Q')                 \
    X(NEWOBJ, 0x81)                   \
    X(EXT1, 0x82)                     \
    X(EXT2, 0x83)                     \
    X(EXT4, 0x84)                     \
    X(NEWOBJ_EX, 0x92)                \
    X(STACK_GLOBAL, 0x93)             \
    X(NEXT_BUFFER, 0x97)              \
    X(READONLY_BUFFER, 0x98)

typedef enum plim_opcode {
#define PLIM_OPCODE_ENUM(name, code) PLIM_PICKLE_OP_##name = (code),
    PLIM_OPCODE_LIST(PLIM_OPCODE_ENUM) PLIM_OPCODE_FORBIDDEN_LIST(PLIM_OPCODE_ENUM)
#undef PLIM_OPCODE_ENUM
} plim_opcode;

#endif
