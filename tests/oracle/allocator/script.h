/*
 * script.h - what a script says: devices, then operations, one a line. FORMAT.md has the words.
 */
#ifndef ORACLE_SCRIPT_H
#define ORACLE_SCRIPT_H

#include "plimsoll/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCRIPT_DEVICES_MAX 8
#define SCRIPT_TEXT_BYTES  512
#define SCRIPT_BLOCKS_MAX  64 /* in one line */

/*
 * Operations: enumerator, word, parameters. A parameter is a letter; those after a '?' may be
 * left out.
 *
 *   B block   D device   F fraction   K call of a device   L all other words, as blocks
 *   G when stacks are taken: never, state, alloc or all
 *   N number  P pool a.b   S stream   T the rest of the line   W status: oom or error
 */
#define SCRIPT_OP_LIST(X)                       \
    X(OP_MALLOC, "m", "BN?S")                   \
    X(OP_FREE, "f", "B")                        \
    X(OP_RECORD_STREAM, "r", "BS")              \
    X(OP_COMPLETE, "c", "S")                    \
    X(OP_COMPLETE_ALL, "call", "")              \
    X(OP_EMPTY_CACHE, "e", "?P")                \
    X(OP_DEVICE, "device", "D")                 \
    X(OP_SET_FRACTION, "fraction", "DF")        \
    X(OP_GET_FRACTION, "getfraction", "D")      \
    X(OP_CONFIGURE, "conf", "T")                \
    X(OP_POOL_BEGIN, "begin", "DP?S")           \
    X(OP_POOL_END, "end", "DP")                 \
    X(OP_POOL_RETAIN, "retain", "DP")           \
    X(OP_POOL_RELEASE, "release", "DP")         \
    X(OP_POOL_USE_COUNT, "uses", "DP")          \
    X(OP_POOL_USE_ON_OOM, "useonoom", "DPN")    \
    X(OP_POOL_NO_SPLIT, "nosplit", "DP")        \
    X(OP_POOL_HOLDS, "holds", "DPL")            \
    X(OP_RESET_PEAK, "peak", "D")               \
    X(OP_RESET_ACCUMULATED, "accumulated", "D") \
    X(OP_USED, "used", "DN")                    \
    X(OP_FAIL, "fail", "KNW")                   \
    X(OP_CAPTURING, "capturing", "SN")          \
    X(OP_CACHE_INFO, "cacheinfo", "DN")         \
    X(OP_BASE, "base", "B")                     \
    X(OP_PEER, "peer", "DN")                    \
    X(OP_CACHING, "caching", "N")               \
    X(OP_SNAPSHOT, "snapshot", "?P")            \
    X(OP_FOREIGN, "foreign", "N")               \
    X(OP_HISTORY, "history", "N?G")             \
    X(OP_TRACE, "trace", "")                    \
    X(OP_LISTEN, "listen", "N")                 \
    X(OP_CALLBACK, "callback", "L")

typedef enum script_kind {
#define SCRIPT_ENUM(code, word, parameters) code,
    SCRIPT_OP_LIST(SCRIPT_ENUM)
#undef SCRIPT_ENUM
        SCRIPT_OP_COUNT
} script_kind;

/* Parameters an operation does not have are 0. `addr` and `addrs` are filled in while it plays. */
typedef struct script_op {
    script_kind kind;
    int line;
    int32_t device; /* that of the operation, else the current one */
    uint64_t block;
    plim_addr addr; /* of the block, or 0 */
    uint64_t number;
    plim_stream stream;
    plim_pool_id pool;
    double fraction;
    plim_device_call call;
    plim_status status;
    plim_stack_level stacks;
    bool has_stream;
    bool has_pool;
    uint64_t blocks[SCRIPT_BLOCKS_MAX];
    plim_addr addrs[SCRIPT_BLOCKS_MAX];
    size_t block_count;
    char text[SCRIPT_TEXT_BYTES];
} script_op;

/* What a script says before its operations. */
typedef struct script_setup {
    int32_t device_count;
    uint64_t total_bytes[SCRIPT_DEVICES_MAX];
    uint64_t used_bytes[SCRIPT_DEVICES_MAX];
    uint64_t stats_every;          /* operations from one look at the statistics to the next */
    bool is_manual;                /* events complete by hand */
    bool has_any_release_order;    /* several pools are given back in one go */
    bool has_any_completion_order; /* frees of several streams complete in one go */
} script_setup;

typedef struct script script; /* a file that is read */

/* Opens a script and reads its setup. Anything wrong ends the program with a message. */
script *script_open(const char *path, script_setup *ret_setup);
/* The next operation. False: none. */
bool script_next(script *s, script_op *ret_op);
void script_close(script *s);

#ifdef __cplusplus
}
#endif

#endif
