/*
 * read.h - the document as its tokens come in. See plimsoll/holders.h.
 */
#ifndef PLIMSOLL_HOLDERS_READ_H
#define PLIMSOLL_HOLDERS_READ_H

#include "base/arena.h"
#include "base/input.h"
#include "base/vec.h"

#include "plimsoll/holders.h"

/* A block while its holder may still move: by index. */
typedef struct plim_held_block {
    plim_addr address;
    uint64_t bytes;
    const char *label;
    size_t holder;
    int32_t device;
} plim_held_block;

typedef struct plim_holders_document {
    const plim_mem *mem;
    plim_arena arena; /* texts and lists of items */
    plim_holders_facts facts;
    PLIM_VEC(plim_holders_device) devices;
    PLIM_VEC(plim_holder) holders;
    PLIM_VEC(plim_held_block) blocks;
} plim_holders_document;

/* Reads into a document that has its mem and arena. After a failure it is to be freed as well. */
plim_status plim_holders_document_read(plim_input *input, plim_holders_document *document,
                                       plim_error *err);
void plim_holders_document_deinit(plim_holders_document *document);

#endif
