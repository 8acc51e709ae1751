/*
 * heap_player.h - does things to an allocator at random, and looks at what comes of them.
 *
 * Two sim devices, a model that listens (heap_model.h), and steps: requests, frees, streams,
 * pools, settings, snapshots, misuse. Numbers come from a function, so that a test plays from a
 * seed and a fuzzer from its input; the same numbers play the same steps.
 */
#ifndef PLIMSOLL_TESTS_ALLOC_HEAP_PLAYER_H
#define PLIMSOLL_TESTS_ALLOC_HEAP_PLAYER_H

#include "alloc/heap_model.h"

#define T_PLAYER_LIVE    512
#define T_PLAYER_POOLS   4
#define T_PLAYER_STREAMS 5

/* A number, both ends included. */
typedef uint64_t t_pick(void *ctx, uint64_t low, uint64_t high);

/* In which order what is live is given back. */
typedef enum t_order { T_ORDER_ANY, T_ORDER_NEWEST, T_ORDER_OLDEST } t_order;

typedef struct t_player_options {
    t_pick *pick;
    void *pick_ctx;
    const plim_mem *mem;   /* of allocator and devices; NULL: the C heap */
    const char *settings;  /* to start with */
    uint64_t device_bytes; /* of each device */
    plim_policy_kind policy;
    uint64_t release_threshold_bytes;
    plim_hardening hardening;
    bool is_mapping_transactional;
    bool has_manual_fences;
    bool has_callback;  /* one that frees memory */
    bool is_plain;      /* requests, frees and questions only */
    bool has_few_sizes; /* so that blocks fit exactly */
    bool checks_each;   /* all invariants after each step */
    bool forgives;      /* failures of the driver and of the host's memory are in order */
    t_order order;
    uint32_t streams; /* 1 … T_PLAYER_STREAMS */
    uint64_t live;    /* about so many blocks */
} t_player_options;

typedef struct t_live {
    plim_addr addr;
    uint64_t requested;
    int32_t device;
    bool is_uncached;
    bool is_recorded;
} t_live;

/* A pool of one device as it should be. */
typedef struct t_pool_state {
    int64_t uses;
    bool is_begun;
} t_pool_state;

/* Memory that a pool's own source gives: addresses that go up, with no alignment to pages. */
typedef struct t_source {
    t_model *model;
    plim_addr next;
    uint64_t given;
} t_source;

typedef struct t_player {
    t_player_options options;
    plim_device devices[T_MODEL_DEVICES];
    plim_allocator *allocator;
    t_model model;
    t_live live[T_PLAYER_LIVE];
    size_t live_count;
    plim_pool_id pools[T_PLAYER_POOLS];
    t_pool_state states[T_MODEL_DEVICES][T_PLAYER_POOLS];
    t_source source;
    plim_stream filtered; /* what the filters accept */
    bool is_caching;
    bool is_in_callback;
    /* --- of the last step, for those that compare players --- */
    uint32_t operation;
    plim_status status;
    plim_addr addr;
    /* --- for tests to see that something happened at all --- */
    uint64_t done;   /* requests served */
    uint64_t ooms;   /* … refused */
    uint64_t failed; /* calls that failed where failing is forgiven */
    plim_status last_failure;
} t_player;

/* Makes devices and allocator. Not PLIM_OK: nothing is left to deinit. */
plim_status t_player_init(t_player *player, const t_player_options *options, plim_error *err);
/* One step. What is wrong then is in player->model.fault. */
void t_player_step(t_player *player);
/* All that can be looked at from outside, and every invariant. */
void t_player_look(t_player *player);
/* Gives all blocks back and ends the pools; for failures to be over. */
void t_player_calm(t_player *player);
/* Ends it all; what the devices still hold then is a fault. */
void t_player_deinit(t_player *player);

#endif
