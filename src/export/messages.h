/*
 * messages.h - protobuf messages onto a sink, one after the other: protobuf-c packs them, and here
 * is what it leaves to its callers.
 *
 * The parts of a message that is written in pieces are messages of its type themselves: a reader
 * joins them (protobuf.dev, "Encoding", on merging). So a file of any length is written message by
 * message. The types are generated from proto/ when the project is built.
 */
#ifndef PLIMSOLL_EXPORT_MESSAGES_H
#define PLIMSOLL_EXPORT_MESSAGES_H

#include "base/sink.h"
#include "base/vec.h"

#include <protobuf-c/protobuf-c.h>

typedef struct plim_messages {
    plim_sink sink;
    const plim_mem *mem;
    bool has_failed;          /* the sink: it is not called again */
    plim_status status;       /* PLIM_OK, PLIM_OUT_OF_HOST_MEMORY or PLIM_LIMIT */
    PLIM_VEC(uint8_t) packed; /* room for the message that is written */
} plim_messages;

void plim_messages_init(plim_messages *messages, plim_sink sink, const plim_mem *mem);
void plim_messages_deinit(plim_messages *messages);
/* A failure sticks: later messages are not written. */
void plim_messages_put(plim_messages *messages, const ProtobufCMessage *message);
/* Takes over the failure of a text that is to be part of one. */
void plim_messages_check(plim_messages *messages, const plim_text *text);
/* PLIM_OK if all messages were made; the sink's owner knows whether they were written. */
PLIM_MUST_USE plim_status plim_messages_status(const plim_messages *messages, plim_error *err);

/* Borrowed bytes as a field; protobuf-c only reads them. */
ProtobufCBinaryData plim_message_bytes(const void *data, size_t bytes);
ProtobufCBinaryData plim_message_string(const char *string);
/* A size as a field of int64: cut off where that ends. */
static inline int64_t plim_message_size(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

#endif
