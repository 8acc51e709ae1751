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
    PLIM_MEMBER_DAMAGED, /* `why` says how */
    PLIM_MEMBER_LIMIT,   /* `why` says what was exceeded and what to do */
} plim_member_step;

struct plim_member;

typedef struct plim_member_kind {
    const char *name;
    const char *first_bytes; /* a member begins with one of them */
    bool has_padding;        /* zeros may follow a member: tapes and block devices pad with them */
    /* One call of the library; moves both ends of `io`. */
    plim_member_step (*step)(struct plim_member *member, plim_codec_io *io);
    /* Before each member. False without memory. */
    bool (*begin)(struct plim_member *member);
} plim_member_kind;

/* First in the context of each compression. */
typedef struct plim_member {
    const plim_member_kind *kind;
    const plim_mem *mem;
    bool is_inside; /* a member has begun and is not complete */
    const char *why;
} plim_member;

/* plim_codec.decode of every compression; ctx begins with a plim_member. */
plim_status plim_member_decode(void *ctx, plim_codec_io *io, plim_error *err);

/* Memory for libraries that do not say the size when they free: zeroed, from a plim_mem. */
void *plim_member_alloc(const plim_mem *mem, size_t count, size_t item_bytes);
void plim_member_free(const plim_mem *mem, void *piece);

/* Moves the ends of `io` to where a library has left its own. */
void plim_member_move(plim_codec_io *io, size_t in_left, size_t out_left);

#endif
