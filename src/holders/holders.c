/*
 * holders.c - see plimsoll/holders.h.
 */
#include "plimsoll/holders.h"

#include "base/assert.h"
#include "base/error.h"
#include "codec/codec.h"
#include "holders/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of the index: blocks by device, address and holder. */
typedef struct block_row {
    int32_t device;
    size_t holder;
    plim_holder_block block;
} block_row;

struct plim_holders {
    plim_holders_document document;
    block_row *rows;
    size_t row_count;
};

static int compare_places(const block_row *row, int32_t device, plim_addr address)
{
    if (row->device != device) {
        return row->device < device ? -1 : 1;
    }
    return row->block.address < address ? -1 : row->block.address > address;
}

static int compare_rows(const void *left, const void *right)
{
    const block_row *const a = left;
    const block_row *const b = right;
    const int places = compare_places(a, b->device, b->block.address);
    return places != 0 ? places : a->holder < b->holder ? -1 : a->holder > b->holder;
}

/* A document has the largest blocks of all holders, and counts all of them. */
static bool has_all_blocks(const plim_holders_document *document)
{
    uint64_t left = document->blocks.count;
    for (size_t i = 0; i < document->holders.count; i++) {
        const uint64_t tensors = document->holders.items[i].tensors;
        if (tensors > left) {
            return false;
        }
        left -= tensors;
    }
    return true;
}

static bool make_index(plim_holders *self)
{
    const plim_holders_document *const document = &self->document;
    const size_t count = document->blocks.count;
    self->rows = plim_mem_alloc(document->mem, count, sizeof *self->rows);
    if (self->rows == NULL) {
        return count == 0;
    }
    self->row_count = count;
    for (size_t i = 0; i < count; i++) {
        const plim_held_block *const block = &document->blocks.items[i];
        self->rows[i] =
            (block_row){ .device = block->device,
                         .holder = block->holder,
                         .block = { .address = block->address,
                                    .bytes = block->bytes,
                                    .label = block->label,
                                    .holder = &document->holders.items[block->holder] } };
    }
    qsort(self->rows, count, sizeof *self->rows, compare_rows);
    return true;
}

static plim_status read_input(plim_input *input, const plim_mem *mem, plim_holders **ret_holders,
                              plim_error *err)
{
    plim_holders *const self = plim_mem_alloc_zeroed(mem, 1, sizeof *self);
    if (self == NULL) {
        return plim_fail_memory(err, "reading holders of memory");
    }
    self->document.mem = mem;
    plim_arena_init(&self->document.arena, mem);
    plim_status status = plim_holders_document_read(input, &self->document, err);
    if (status == PLIM_OK && !make_index(self)) {
        status = plim_fail_memory(err, "reading holders of memory");
    }
    self->document.facts.has_all_blocks = has_all_blocks(&self->document);
    if (status != PLIM_OK) {
        plim_holders_destroy(self);
        return status;
    }
    *ret_holders = self;
    return PLIM_OK;
}

plim_status plim_holders_read(const char *path, const plim_mem *mem, plim_holders **ret_holders,
                              plim_error *err)
{
    const plim_mem *const from = plim_mem_or_heap(mem);
    const plim_input_options how = { .mem = from, .codecs = plim_codecs };
    plim_input *input = NULL;
    PLIM_TRY(plim_input_open(path, &how, &input, err));
    const plim_status status = read_input(input, from, ret_holders, err);
    plim_input_close(input);
    return status;
}

plim_status plim_holders_read_text(const char *text, size_t bytes, const plim_mem *mem,
                                   plim_holders **ret_holders, plim_error *err)
{
    const plim_mem *const from = plim_mem_or_heap(mem);
    const plim_input_options how = { .mem = from, .may_be_empty = true };
    plim_input *input = NULL;
    PLIM_TRY(plim_input_open_memory(text, bytes, &how, &input, err));
    const plim_status status = read_input(input, from, ret_holders, err);
    plim_input_close(input);
    return status;
}

void plim_holders_destroy(plim_holders *holders)
{
    if (holders == NULL) {
        return;
    }
    const plim_mem *const mem = holders->document.mem;
    plim_mem_free(mem, holders->rows, holders->document.blocks.count, sizeof *holders->rows);
    plim_holders_document_deinit(&holders->document);
    plim_mem_free(mem, holders, 1, sizeof *holders);
}

const plim_holders_facts *plim_holders_facts_of(const plim_holders *holders)
{
    return &holders->document.facts;
}

size_t plim_holders_count(const plim_holders *holders)
{
    return holders->document.holders.count;
}

const plim_holder *plim_holders_at(const plim_holders *holders, size_t index)
{
    PLIM_ASSERT(index < holders->document.holders.count);
    return &holders->document.holders.items[index];
}

size_t plim_holders_device_count(const plim_holders *holders)
{
    return holders->document.devices.count;
}

const plim_holders_device *plim_holders_device_at(const plim_holders *holders, size_t index)
{
    PLIM_ASSERT(index < holders->document.devices.count);
    return &holders->document.devices.items[index];
}

const plim_holder_block *plim_holders_find(const plim_holders *holders, int32_t device,
                                           plim_addr address)
{
    size_t low = 0;
    size_t high = holders->row_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_places(&holders->rows[middle], device, address) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < holders->row_count && compare_places(&holders->rows[low], device, address) == 0
               ? &holders->rows[low].block
               : NULL;
}

/* --- names --- */

static bool ends_with(const char *name, size_t length, const char *ending)
{
    const size_t bytes = strlen(ending);
    return length > bytes && memcmp(name + length - bytes, ending, bytes) == 0;
}

bool plim_holders_beside(const char *recording, char *buffer, size_t buffer_bytes)
{
    static const char *const packed[] = { ".zst", ".gz", ".xz", ".bz2" };
    static const char *const kinds[] = { ".pickle", ".pkl", ".json", ".plim" };
    static const char ending[] = ".holders.json";
    size_t length = strlen(recording);
    if (strcmp(recording, "-") == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (ends_with(recording, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (ends_with(recording, length, kinds[i])) {
            length -= strlen(kinds[i]);
            break;
        }
    }
    if (length + sizeof ending > buffer_bytes) {
        return false;
    }
    (void)snprintf(buffer, buffer_bytes, "%.*s%s", (int)length, recording, ending);
    return true;
}
