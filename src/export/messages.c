/*
 * messages.c - packing into a buffer that grows to the longest message. See messages.h.
 */
#include "export/messages.h"

#include "base/error.h"

#include <string.h>

void plim_messages_init(plim_messages *messages, plim_sink sink, const plim_mem *mem)
{
    *messages = (plim_messages){ .sink = sink, .mem = mem, .status = PLIM_OK };
}

void plim_messages_deinit(plim_messages *messages)
{
    PLIM_VEC_FREE(messages->mem, &messages->packed);
}

static bool make_room(plim_messages *messages, size_t bytes)
{
    if (bytes <= messages->packed.capacity) {
        return true;
    }
    const size_t twice = messages->packed.capacity * 2;
    const size_t capacity = bytes > twice ? bytes : twice;
    uint8_t *const grown = plim_mem_resize(messages->mem, messages->packed.items,
                                           messages->packed.capacity, capacity, 1);
    if (grown == NULL) {
        messages->status = PLIM_OUT_OF_HOST_MEMORY;
        return false;
    }
    messages->packed.items = grown;
    messages->packed.capacity = capacity;
    return true;
}

void plim_messages_put(plim_messages *messages, const ProtobufCMessage *message)
{
    if (messages->has_failed || messages->status != PLIM_OK) {
        return;
    }
    const size_t bytes = protobuf_c_message_get_packed_size(message);
    if (bytes == 0 || !make_room(messages, bytes)) {
        return;
    }
    const size_t packed = protobuf_c_message_pack(message, messages->packed.items);
    messages->has_failed =
        !messages->sink.write(messages->sink.ctx, messages->packed.items, packed);
}

void plim_messages_check(plim_messages *messages, const plim_text *text)
{
    messages->status = messages->status == PLIM_OK ? text->status : messages->status;
}

plim_status plim_messages_status(const plim_messages *messages, plim_error *err)
{
    return messages->status == PLIM_LIMIT
               ? plim_fail(err, PLIM_LIMIT, "a text is longer than a message may be")
           : messages->status != PLIM_OK ? plim_fail_memory(err, "packing messages")
                                         : PLIM_OK;
}

/* protobuf-c declares one type of bytes for reading and writing. */
ProtobufCBinaryData plim_message_bytes(const void *data, size_t bytes)
{
    ProtobufCBinaryData field = { .len = bytes };
    memcpy(&field.data, &data, sizeof field.data);
    return field;
}

ProtobufCBinaryData plim_message_string(const char *string)
{
    return plim_message_bytes(string, strlen(string));
}
