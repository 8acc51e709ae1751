/*
 * pickler.c - the opcodes, as Modules/_pickle.c of CPython 3.8 and later chooses them.
 */
#include "pickler.h"

#include "trouble.h"

#include <string.h>

enum { BATCH = 1000, FRAME_MIN = 4 };

static void write_out(py_pickler *pickler, const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, pickler->file) != count) {
        fail("cannot write", NULL);
    }
    pickler->written_bytes += count;
}

static void put(py_pickler *pickler, const void *bytes, size_t count)
{
    if (count > sizeof pickler->frame - pickler->frame_bytes) {
        fail("an object outgrew its frame", NULL);
    }
    memcpy(pickler->frame + pickler->frame_bytes, bytes, count);
    pickler->frame_bytes += count;
}

static void put_byte(py_pickler *pickler, unsigned char byte)
{
    put(pickler, &byte, 1);
}

static void put_little(py_pickler *pickler, uint64_t value, size_t count)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    put(pickler, bytes, count);
}

static void close_frame(py_pickler *pickler)
{
    if (pickler->frame_bytes >= FRAME_MIN) {
        unsigned char header[9] = { 0x95 };
        for (size_t i = 0; i < 8; i++) {
            header[1 + i] = (unsigned char)((uint64_t)pickler->frame_bytes >> (8 * i));
        }
        write_out(pickler, header, sizeof header);
    }
    write_out(pickler, pickler->frame, pickler->frame_bytes);
    pickler->frame_bytes = 0;
}

/* Before each object, memo references included. */
static void object_starts(py_pickler *pickler)
{
    if (pickler->frame_bytes >= PICKLER_FRAME_BYTES) {
        close_frame(pickler);
    }
}

static uint32_t memoize(py_pickler *pickler)
{
    put_byte(pickler, 0x94);
    return pickler->memo_count++;
}

void pickler_start(py_pickler *pickler, FILE *file)
{
    memset(pickler, 0, sizeof *pickler);
    pickler->file = file;
    write_out(pickler, "\x80\x04", 2);
}

void pickler_finish(py_pickler *pickler)
{
    put_byte(pickler, '.');
    close_frame(pickler);
    if (fflush(pickler->file) != 0) {
        fail("cannot write", NULL);
    }
}

void pickler_int(py_pickler *pickler, int64_t value)
{
    object_starts(pickler);
    if (value >= 0 && value < 256) {
        put_byte(pickler, 'K');
        put_little(pickler, (uint64_t)value, 1);
    } else if (value >= 0 && value < 65536) {
        put_byte(pickler, 'M');
        put_little(pickler, (uint64_t)value, 2);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        put_byte(pickler, 'J');
        put_little(pickler, (uint64_t)value, 4);
    } else {
        unsigned count = 8; /* as many bytes as hold the value and its sign */
        while (count > 1 && value >> (8 * (count - 1) - 1) == (value < 0 ? -1 : 0)) {
            count--;
        }
        put_byte(pickler, 0x8a);
        put_byte(pickler, (unsigned char)count);
        put_little(pickler, (uint64_t)value, count);
    }
}

void pickler_bool(py_pickler *pickler, bool value)
{
    object_starts(pickler);
    put_byte(pickler, value ? 0x88 : 0x89);
}

void pickler_zero_float(py_pickler *pickler)
{
    object_starts(pickler);
    put(pickler, "G\0\0\0\0\0\0\0\0", 9);
}

uint32_t pickler_str(py_pickler *pickler, const char *text)
{
    const size_t length = strlen(text);
    if (length > 255) {
        fail("a str is too long", NULL);
    }
    object_starts(pickler);
    put_byte(pickler, 0x8c);
    put_little(pickler, length, 1);
    put(pickler, text, length);
    return memoize(pickler);
}

void pickler_get(py_pickler *pickler, uint32_t memo)
{
    object_starts(pickler);
    put_byte(pickler, memo < 256 ? 'h' : 'j');
    put_little(pickler, memo, memo < 256 ? 1 : 4);
}

void pickler_shared(py_pickler *pickler, pickler_name *name)
{
    if (name->memo == 0) {
        name->memo = pickler_str(pickler, name->text);
    } else {
        pickler_get(pickler, name->memo);
    }
}

void pickler_pair(py_pickler *pickler, int64_t first, int64_t second)
{
    object_starts(pickler);
    pickler_int(pickler, first);
    pickler_int(pickler, second);
    put_byte(pickler, 0x86);
    memoize(pickler);
}

uint32_t pickler_dict_open(py_pickler *pickler)
{
    object_starts(pickler);
    put_byte(pickler, '}');
    const uint32_t memo = memoize(pickler);
    put_byte(pickler, '(');
    return memo;
}

void pickler_dict_close(py_pickler *pickler)
{
    put_byte(pickler, 'u');
}

uint32_t pickler_list_open(py_pickler *pickler, uint64_t length, pickler_list *ret_list)
{
    object_starts(pickler);
    put_byte(pickler, ']');
    *ret_list = (pickler_list){ .length = length };
    return memoize(pickler);
}

void pickler_list_next(py_pickler *pickler, pickler_list *list)
{
    if (list->index > 0 && list->index % BATCH == 0) {
        put_byte(pickler, 'e');
    }
    if (list->length > 1 && list->index % BATCH == 0) {
        put_byte(pickler, '(');
    }
    list->index++;
}

void pickler_list_close(py_pickler *pickler, const pickler_list *list)
{
    if (list->index != list->length) {
        fail("a list is not as long as it said", NULL);
    }
    if (list->length > 0) {
        put_byte(pickler, list->length == 1 ? 'a' : 'e');
    }
}
