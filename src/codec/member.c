/*
 * member.c - the loop over members, and the errors of all compressions. See member.h.
 *
 * Bytes that begin no member are an error, because half a download appended to another looks like
 * that.
 */
#include "codec/member.h"

#include "base/error.h"
#include "base/numbers.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

typedef union piece_header {
    size_t bytes;
    max_align_t align;
} piece_header;

void *plim_member_alloc(const void *opaque, size_t count, size_t item_bytes)
{
    size_t bytes = 0;
    if (!plim_checked_mul(count, item_bytes, &bytes) || bytes > SIZE_MAX - sizeof(piece_header)) {
        return NULL;
    }
    bytes += sizeof(piece_header);
    piece_header *const piece = plim_mem_alloc_zeroed(opaque, bytes, 1);
    if (piece == NULL) {
        return NULL;
    }
    piece->bytes = bytes;
    return piece + 1;
}

void plim_member_free(const void *opaque, void *piece)
{
    if (piece != NULL) {
        piece_header *const header = (piece_header *)piece - 1;
        plim_mem_free(opaque, header, header->bytes, 1);
    }
}

static void *without_const(const void *pointer)
{
    union {
        const void *with;
        void *without;
    } both = { .with = pointer };
    return both.without;
}

void *plim_member_opaque(const plim_member *member)
{
    return without_const(member->mem);
}

void *plim_member_input(const plim_codec_io *io)
{
    return without_const(io->in);
}

unsigned plim_member_clamp(size_t length)
{
    return (unsigned)plim_min(length, UINT_MAX);
}

void plim_member_move(plim_codec_io *io, size_t taken, size_t given)
{
    io->in += taken;
    io->in_offset += taken;
    io->in_length -= taken;
    io->out += given;
    io->out_length -= given;
}

static const plim_member_kind *kind_of(const plim_member *self)
{
    return self->codec->kind;
}

plim_status plim_member_open(const plim_codec *codec, const plim_mem *mem, void **ret_ctx,
                             plim_error *err)
{
    const plim_member_kind *const kind = codec->kind;
    plim_member *const self = plim_mem_alloc_zeroed(mem, 1, kind->bytes);
    if (self == NULL) {
        return plim_fail_memory(err, "preparing to decompress");
    }
    *self = (plim_member){ .codec = codec, .mem = mem };
    *ret_ctx = self;
    return PLIM_OK;
}

void plim_member_close(void *ctx)
{
    plim_member *const self = ctx;
    if (kind_of(self)->end != NULL) {
        kind_of(self)->end(self);
    }
    plim_mem_free(self->mem, self, 1, kind_of(self)->bytes);
}

/* Past the padding after a member; then either all is done or the next member begins. */
static plim_status begin_member(plim_member *self, plim_codec_io *io, plim_error *err)
{
    while (kind_of(self)->has_padding && io->in_length > 0 && *io->in == 0) {
        plim_member_move(io, 1, 0);
    }
    if (io->in_length == 0) {
        io->done = io->in_ended;
        return PLIM_OK;
    }
    if (*io->in == 0 || strchr(kind_of(self)->first_bytes, *io->in) == NULL) {
        return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                            "\"%s\" has something that is not %s after its %s data, at byte "
                            "%" PRIu64 " of the compressed file",
                            io->name, self->codec->name, self->codec->name, io->in_offset);
    }
    self->is_inside = kind_of(self)->begin(self);
    return self->is_inside ? PLIM_OK : plim_fail_memory(err, "decompressing");
}

static plim_status fail_step(const plim_member *self, plim_member_step step,
                             const plim_codec_io *io, plim_error *err)
{
    if (step == PLIM_MEMBER_NO_MEMORY) {
        return plim_fail_memory(err, "decompressing");
    }
    if (step == PLIM_MEMBER_LIMIT) {
        return plim_fail_at(err, PLIM_LIMIT, io->in_offset, "\"%s\" %s", io->name, self->why);
    }
    return plim_fail_at(
        err, PLIM_CORRUPT, io->in_offset,
        "\"%s\" is damaged at byte %" PRIu64 " of the compressed file (%s: %s); get it again",
        io->name, io->in_offset, self->codec->name, self->why != NULL ? self->why : "invalid data");
}

plim_status plim_member_decode(void *ctx, plim_codec_io *io, plim_error *err)
{
    plim_member *const self = ctx;
    for (;;) {
        if (!self->is_inside) {
            PLIM_TRY(begin_member(self, io, err));
        }
        if (!self->is_inside || io->out_length == 0) {
            return PLIM_OK;
        }
        const size_t in_before = io->in_length;
        const size_t out_before = io->out_length;
        const plim_member_step step = kind_of(self)->step(self, io);
        const bool is_stuck = io->in_length == in_before && io->out_length == out_before;
        if (step == PLIM_MEMBER_END) {
            self->is_inside = false;
        } else if (step != PLIM_MEMBER_MORE) {
            return fail_step(self, step, io, err);
        } else if (io->in_length > 0 && is_stuck) {
            return fail_step(self, PLIM_MEMBER_DAMAGED, io, err);
        } else if (io->in_length == 0 && io->out_length > 0 && !io->in_ended) {
            return PLIM_OK;
        } else if (io->in_length == 0 && is_stuck) {
            return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                                "\"%s\" is cut off: its %s data ends in the middle, at byte "
                                "%" PRIu64 "; get it again",
                                io->name, self->codec->name, io->in_offset);
        }
    }
}
