/*
 * transcript.c - a long random sequence of calls, and how each of them ended.
 *
 * What is requested depends on the seed and on nothing a device answers but whether a call was
 * done, so that two devices of one mind are asked the same.
 */
#include "device/contract.h"

#include "harness.h"

#define GRANULE        (UINT64_C(2) << 20)
#define RANGE_GRANULES 24
#define THINGS_MAX     48
#define FILL_BYTES_MAX UINT64_C(5000)

enum operation {
    ALLOC,
    FREE,
    FREE_INSIDE,
    CREATE,
    CREATE_ODD,
    RELEASE,
    MAP,
    UNMAP,
    ACCESS,
    FILL,
    READ,
    PLAIN_USE,
    RANGE_FREE,
    FENCE,
    INFO,
    OPERATION_COUNT
};

typedef struct thing {
    uint64_t name; /* address or handle */
    uint64_t granules;
    bool is_gone;
} thing;

typedef struct contract_player {
    const plim_device_ops *ops;
    void *self;
    plim_addr range;
    thing plain[THINGS_MAX];
    size_t plain_count;
    thing handles[THINGS_MAX]; /* released ones stay, to be named again */
    size_t handle_count;
    plim_fence fence;
} contract_player;

static uint64_t pick(uint64_t count)
{
    return t_random_between(0, count - 1);
}

static plim_status alloc(contract_player *player)
{
    thing *const new = &player->plain[player->plain_count];
    const uint64_t bytes = t_random_between(1, 12) * GRANULE - t_random_between(0, 1) * 100;
    if (player->plain_count == THINGS_MAX) {
        return PLIM_OK;
    }
    const plim_status status = player->ops->memory_alloc(player->self, bytes, &new->name, NULL);
    player->plain_count += status == PLIM_OK;
    return status;
}

static plim_status free_one(contract_player *player, bool is_inside)
{
    if (player->plain_count == 0) {
        return PLIM_OK;
    }
    thing *const old = &player->plain[pick(player->plain_count)];
    if (is_inside) {
        return player->ops->memory_free(player->self, old->name + 4096, NULL);
    }
    const plim_status status = player->ops->memory_free(player->self, old->name, NULL);
    *old = player->plain[--player->plain_count];
    return status;
}

static plim_status create(contract_player *player, bool is_odd)
{
    size_t slot = 0; /* of a released one, when the table is full */
    while (slot < player->handle_count &&
           (player->handle_count < THINGS_MAX || !player->handles[slot].is_gone)) {
        slot++;
    }
    if (slot == THINGS_MAX) {
        return PLIM_OK;
    }
    thing *const new = &player->handles[slot];
    const thing old = *new;
    *new = (thing){ .granules = t_random_between(1, 4) };
    const plim_status status =
        player->ops->handle_create(player->self, new->granules *GRANULE - (is_odd ? 512 : 0),
                                   PLIM_SHARE_NONE, &new->name, NULL);
    if (status != PLIM_OK) {
        *new = old;
    } else if (slot == player->handle_count) {
        player->handle_count++;
    }
    return status;
}

static plim_status release(contract_player *player)
{
    if (player->handle_count == 0) {
        return PLIM_OK;
    }
    thing *const old = &player->handles[pick(player->handle_count)];
    old->is_gone = true;
    return player->ops->handle_release(player->self, old->name, NULL);
}

static plim_status map(contract_player *player)
{
    if (player->handle_count == 0) {
        return PLIM_OK;
    }
    const thing *const handle = &player->handles[pick(player->handle_count)];
    const plim_addr addr = player->range + pick(RANGE_GRANULES) * GRANULE;
    return player->ops->map(player->self, addr, handle->granules * GRANULE, handle->name, NULL);
}

/* Some granules of the range, now and then more than there are. */
static void pick_piece(const contract_player *player, plim_addr *ret_addr, uint64_t *ret_bytes)
{
    *ret_addr = player->range + pick(RANGE_GRANULES) * GRANULE;
    *ret_bytes = t_random_between(1, 5) * GRANULE;
}

static plim_status on_piece(contract_player *player, enum operation operation, uint64_t *ret_seen)
{
    plim_addr addr = 0;
    uint64_t bytes = 0;
    pick_piece(player, &addr, &bytes);
    const uint64_t at = player->range + pick(RANGE_GRANULES * GRANULE - FILL_BYTES_MAX);
    uint8_t seen[3] = { 0 };
    plim_status status = PLIM_OK;
    switch ((int)operation) {
    case UNMAP:
        return player->ops->unmap(player->self, addr, bytes, NULL);
    case ACCESS:
        return player->ops->set_access(player->self, addr, bytes, 0, NULL);
    case FILL:
        return player->ops->fill(player->self, at, (uint8_t)at, t_random_between(1, FILL_BYTES_MAX),
                                 0, NULL);
    default:
        status = player->ops->read(player->self, seen, at, sizeof seen, NULL);
        *ret_seen = (uint64_t)seen[0] | (uint64_t)seen[1] << 8 | (uint64_t)seen[2] << 16;
        return status;
    }
}

static plim_status use_plain(contract_player *player, uint64_t *ret_seen)
{
    uint8_t seen = 0;
    if (player->plain_count == 0) {
        return PLIM_OK;
    }
    const plim_addr addr = player->plain[pick(player->plain_count)].name + pick(GRANULE);
    const plim_status status = player->ops->read(player->self, &seen, addr, 1, NULL);
    *ret_seen = seen;
    return status != PLIM_OK
               ? status
               : player->ops->fill(player->self, addr, (uint8_t)(seen + 1), 1, 0, NULL);
}

static plim_status free_range(contract_player *player)
{
    const plim_status status =
        player->ops->range_free(player->self, player->range, RANGE_GRANULES * GRANULE, NULL);
    if (status == PLIM_OK) {
        T_EQ_I64(player->ops->range_reserve(player->self, RANGE_GRANULES * GRANULE, &player->range,
                                            NULL),
                 PLIM_OK);
    }
    return status;
}

static plim_status step(contract_player *player, contract_step *ret)
{
    plim_status status = PLIM_OK;
    bool is_complete = false;
    uint64_t total = 0;
    switch ((enum operation)ret->operation) {
    case ALLOC:
        return alloc(player);
    case FREE:
    case FREE_INSIDE:
        return free_one(player, ret->operation == FREE_INSIDE);
    case CREATE:
    case CREATE_ODD:
        return create(player, ret->operation == CREATE_ODD);
    case RELEASE:
        return release(player);
    case MAP:
        return map(player);
    case UNMAP:
    case ACCESS:
    case FILL:
    case READ:
        return on_piece(player, (enum operation)ret->operation, &ret->seen);
    case PLAIN_USE:
        return use_plain(player, &ret->seen);
    case RANGE_FREE:
        return free_range(player);
    case FENCE:
        status = player->ops->fence_record(player->self, player->fence, 0, NULL);
        T_EQ_I64(player->ops->fence_query(player->self, player->fence, &is_complete, NULL),
                 PLIM_OK);
        ret->value = is_complete;
        return status;
    case INFO:
    case OPERATION_COUNT:
    default:
        return player->ops->info(player->self, &ret->value, &total, NULL);
    }
}

static void give_all_back(contract_player *player)
{
    for (size_t i = 0; i < player->plain_count; i++) {
        T_EQ_I64(player->ops->memory_free(player->self, player->plain[i].name, NULL), PLIM_OK);
    }
    for (uint64_t i = 0; i < RANGE_GRANULES; i++) {
        for (uint64_t granules = 1; granules <= 4; granules++) { /* one size is right, if any */
            (void)player->ops->unmap(player->self, player->range + i * GRANULE, granules * GRANULE,
                                     NULL);
        }
    }
    T_EQ_I64(player->ops->range_free(player->self, player->range, RANGE_GRANULES * GRANULE, NULL),
             PLIM_OK);
    T_EQ_I64(player->ops->fence_destroy(player->self, player->fence, NULL), PLIM_OK);
    for (size_t i = 0; i < player->handle_count; i++) {
        if (!player->handles[i].is_gone) {
            T_EQ_I64(player->ops->handle_release(player->self, player->handles[i].name, NULL),
                     PLIM_OK);
        }
    }
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    T_EQ_I64(player->ops->info(player->self, &free_bytes, &total, NULL), PLIM_OK);
    T_EQ_U64(free_bytes, TRANSCRIPT_TOTAL_BYTES);
}

void contract_play(const plim_device *device, uint64_t seed, contract_transcript *ret)
{
    contract_player player = { .ops = device->ops, .self = device->self };
    t_now.random = seed;
    T_EQ_I64(player.ops->range_reserve(player.self, RANGE_GRANULES * GRANULE, &player.range, NULL),
             PLIM_OK);
    T_EQ_I64(player.ops->fence_create(player.self, &player.fence, NULL), PLIM_OK);
    for (size_t i = 0; i < TRANSCRIPT_STEPS; i++) {
        contract_step *const now = &ret->steps[i];
        *now = (contract_step){ .operation = (int)pick(OPERATION_COUNT) };
        const plim_status status = step(&player, now);
        now->outcome = status == PLIM_OK ? 0 : status == PLIM_OUT_OF_DEVICE_MEMORY ? 1 : 2;
    }
    give_all_back(&player);
}

void contract_compare(const contract_transcript *a, const contract_transcript *b, bool with_seen)
{
    for (size_t i = 0; i < TRANSCRIPT_STEPS; i++) {
        T_CASE("step %zu, operation %d", i, a->steps[i].operation);
        T_EQ_I64(a->steps[i].operation, b->steps[i].operation);
        T_EQ_I64(a->steps[i].outcome, b->steps[i].outcome);
        T_EQ_U64(a->steps[i].value, b->steps[i].value);
        if (with_seen) {
            T_EQ_U64(a->steps[i].seen, b->steps[i].seen);
        }
    }
}
