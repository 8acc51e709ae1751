/*
 * member.h - what all compressions share: members one after the other, and how damage is reported.
 *
 * A compression's library is wrapped in a plim_member_kind, which decodes within one member; the
 * loop over members is plim_member_decode().
 */
#ifndef PLIMSOLL_CODEC_MEMBER_H
#define PLIMSOLL_CODEC_MEMBER_H

#include "base/codec.h"

typedef enum plim_member_step {
    PLIM_MEMBER_MORE, /* it took bytes, gave bytes, or needs more of either */
    PLIM_MEMBER_END,  /* the member is complete */
    PLIM_MEMBER_NO_MEMORY,
    PLIM_MEMBER_DAMAGED, /* `why` may say how */
    PLIM_MEMBER_LIMIT,   /* `why` says what was exceeded and what to do */
} plim_member_step;

/* First in the context of each compression; what follows begins as zeros. */
typedef struct plim_member {
    const plim_codec *codec;
    const plim_mem *mem;
    bool is_inside; /* a member has begun and is not complete */
    const char *why;
} plim_member;

typedef struct plim_member_kind {
    size_t bytes;            /* of the context */
    const char *first_bytes; /* a member begins with one of them */
    bool has_padding;        /* zeros may follow a member: tapes and block devices pad with them */
    /* Before each member. False without memory. */
    bool (*begin)(plim_member *member);
    /* One call of the library; moves both ends of `io`. */
    plim_member_step (*step)(plim_member *member, plim_codec_io *io);
    /* Frees what begin() made; also called when it was not called or failed. NULL: nothing to free.
     */
    void (*end)(plim_member *member);
} plim_member_kind;

/* The functions of a plim_codec whose kind is a plim_member_kind. */
plim_status plim_member_open(const plim_codec *codec, const plim_mem *mem, void **ret_ctx,
                             plim_error *err);
plim_status plim_member_decode(void *ctx, plim_codec_io *io, plim_error *err);
void plim_member_close(void *ctx);

/* --- for libraries --- */

/* Memory for libraries that do not say the size when they free: zeroed. `opaque` is that of
 * plim_member_opaque(). */
void *plim_member_alloc(const void *opaque, size_t count, size_t item_bytes);
void plim_member_free(const void *opaque, void *piece);
/* Libraries take pointers that are not const, and only read through them. */
void *plim_member_opaque(const plim_member *member);
void *plim_member_input(const plim_codec_io *io);
/* A length as libraries count that take no more than an unsigned int. */
unsigned plim_member_clamp(size_t length);
/* Moves both ends of `io` by so many bytes. */
void plim_member_move(plim_codec_io *io, size_t taken, size_t given);

extern const plim_codec plim_codec_bzip2;
extern const plim_codec plim_codec_gzip;
extern const plim_codec plim_codec_utf16;
extern const plim_codec plim_codec_xz;
extern const plim_codec plim_codec_zstd;

#endif
