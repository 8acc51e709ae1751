/*
 * heap_player_parts.h - what the parts of the player share: choices, and the things it can do.
 */
#ifndef PLIMSOLL_TESTS_ALLOC_HEAP_PLAYER_PARTS_H
#define PLIMSOLL_TESTS_ALLOC_HEAP_PLAYER_PARTS_H

#include "alloc/heap_player.h"

/* A number, both ends included. */
uint64_t t_player_pick(t_player *player, uint64_t low, uint64_t high);
plim_stream t_player_pick_stream(t_player *player);
int32_t t_player_pick_device(t_player *player);
size_t t_player_pick_live(t_player *player); /* something is live */

/* True if a call ended as it may. */
bool t_player_expect(t_player *player, plim_status status, plim_status wanted, const char *what);
/* A fault that stands even where the model is blind. */
void t_player_report(t_player *player, const char *text);

void t_player_free_at(t_player *player, size_t at);

/* --- heap_player_requests.c --- */
void t_player_malloc(t_player *player);
void t_player_free(t_player *player);
void t_player_burst(t_player *player);
void t_player_record_stream(t_player *player);
void t_player_complete(t_player *player);
void t_player_misuse(t_player *player);

/* --- heap_player_pools.c --- */
void t_player_pool(t_player *player);
void t_player_pool_end(t_player *player, int32_t device, size_t which);
void t_player_pool_release(t_player *player, int32_t device, size_t which);

/* --- heap_player_questions.c --- */
void t_player_stats(t_player *player);
void t_player_resets(t_player *player);
void t_player_history(t_player *player);
void t_player_snapshot(t_player *player);
void t_player_questions(t_player *player);

#endif
