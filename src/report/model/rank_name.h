/*
 * rank_name.h - which rank of a distributed run a file belongs to, by its name.
 */
#ifndef PLIMSOLL_REPORT_MODEL_RANK_NAME_H
#define PLIMSOLL_REPORT_MODEL_RANK_NAME_H

#include <stdbool.h>
#include <stdint.h>

/**
 * The rank in a file's name: snapshot_rank3.pickle, rank-12.pkl, mem_r3_iter10.pickle.
 *
 * path      its last part counts, then its folders: run/rank_4/snapshot.pickle
 * ret_rank  untouched if false
 */
bool plim_rank_of_path(const char *path, uint64_t *ret_rank);

#endif
