/*
 * diff_pairs.c - see diff_pairs.h.
 */
#include "cli/diff_pairs.h"

#include "base/error.h"
#include "base/vec.h"
#include "report/model/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A recording of one folder. */
typedef struct listed_file {
    const char *path;
    const char *name; /* the last part of it */
    bool has_rank;
    uint64_t rank;
    bool is_paired;
} listed_file;

typedef struct listed_folder {
    const plim_mem *mem;
    PLIM_VEC(listed_file) files; /* by name */
} listed_folder;

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* --- one folder --- */

/* snapshot.pickle, rank3.pickle.zst, run.plim: files beside them (logs, notes) are passed over. */
static bool is_recording_name(const char *name)
{
    static const char *const kinds[] = { ".pickle", ".pkl", ".plim", ".json" };
    static const char *const ends[] = { "", ".gz", ".zst", ".xz", ".bz2" };
    const size_t length = strlen(name);
    for (size_t i = 0; *name != '.' && i < sizeof kinds / sizeof kinds[0]; i++) {
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
            char end[16];
            const int bytes = snprintf(end, sizeof end, "%s%s", kinds[i], ends[k]);
            if (length > (size_t)bytes && strcmp(name + length - (size_t)bytes, end) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool add_file(plim_arena *arena, listed_folder *listed, const char *folder, const char *name)
{
    const size_t bytes = strlen(folder) + strlen(name) + 2;
    const size_t length = strlen(folder);
    const bool has_slash = length > 0 && folder[length - 1] == '/';
    char *const path = plim_arena_alloc(arena, bytes);
    if (path == NULL) {
        return false;
    }
    snprintf(path, bytes, "%s%s%s", folder, has_slash ? "" : "/", name);
    if (is_folder(path)) {
        return true;
    }
    listed_file file = { .path = path, .name = path + strlen(path) - strlen(name) };
    file.has_rank = plim_rank_of_path(file.name, &file.rank);
    return PLIM_VEC_PUSH(listed->mem, &listed->files, file);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const listed_file *)left)->name, ((const listed_file *)right)->name);
}

static plim_status list_folder(plim_arena *arena, const char *folder, listed_folder *listed,
                               plim_error *err)
{
    DIR *const open = opendir(folder);
    if (open == NULL) {
        return errno == ENOMEM ? plim_fail_memory(err, "listing a folder")
                               : plim_fail(err, PLIM_IO, "%s: cannot list the folder: %s", folder,
                                           strerror(errno));
    }
    bool is_kept = true;
    for (const struct dirent *entry = readdir(open); is_kept && entry != NULL;
         entry = readdir(open)) {
        if (is_recording_name(entry->d_name)) {
            is_kept = add_file(arena, listed, folder, entry->d_name);
        }
    }
    (void)closedir(open);
    if (!is_kept) {
        return plim_fail_memory(err, "listing a folder");
    }
    if (listed->files.count == 0) {
        return plim_fail(err, PLIM_CORRUPT,
                         "%s: the folder has no recordings (*.pickle, *.pkl, *.plim or *.json, "
                         "perhaps compressed)",
                         folder);
    }
    qsort(listed->files.items, listed->files.count, sizeof *listed->files.items, compare_names);
    return PLIM_OK;
}

/* --- both --- */

typedef PLIM_VEC(plim_diffed_pair) pair_list;

static bool add_pair(const plim_mem *mem, pair_list *pairs, listed_file *before, listed_file *after)
{
    const listed_file *const named = after != NULL ? after : before;
    const plim_diffed_pair pair = { .before_path = before != NULL ? before->path : NULL,
                                    .after_path = after != NULL ? after->path : NULL,
                                    .has_rank = named->has_rank,
                                    .rank = named->rank };
    if (before != NULL) {
        before->is_paired = true;
    }
    if (after != NULL) {
        after->is_paired = true;
    }
    return PLIM_VEC_PUSH(mem, pairs, pair);
}

/* The only file of a rank that is not paired yet; NULL: no file is, or several are. */
static listed_file *find_rank(const listed_folder *folder, uint64_t rank)
{
    listed_file *found = NULL;
    for (size_t i = 0; i < folder->files.count; i++) {
        listed_file *const file = &folder->files.items[i];
        if (!file->is_paired && file->has_rank && file->rank == rank) {
            if (found != NULL) {
                return NULL;
            }
            found = file;
        }
    }
    return found;
}

static bool pair_by_name(const plim_mem *mem, const listed_folder *before,
                         const listed_folder *after, pair_list *pairs)
{
    for (size_t i = 0; i < before->files.count; i++) {
        listed_file *const file = &before->files.items[i];
        listed_file *const same = bsearch(file, after->files.items, after->files.count,
                                          sizeof *after->files.items, compare_names);
        if (same != NULL && !add_pair(mem, pairs, file, same)) {
            return false;
        }
    }
    return true;
}

static bool pair_by_rank(const plim_mem *mem, const listed_folder *before,
                         const listed_folder *after, pair_list *pairs)
{
    for (size_t i = 0; i < before->files.count; i++) {
        listed_file *const file = &before->files.items[i];
        if (file->is_paired || !file->has_rank || find_rank(before, file->rank) != file) {
            continue;
        }
        listed_file *const same = find_rank(after, file->rank);
        if (same != NULL && !add_pair(mem, pairs, file, same)) {
            return false;
        }
    }
    return true;
}

static bool add_unpaired(const plim_mem *mem, const listed_folder *folder, bool is_after,
                         pair_list *pairs)
{
    for (size_t i = 0; i < folder->files.count; i++) {
        listed_file *const file = &folder->files.items[i];
        if (!file->is_paired &&
            !add_pair(mem, pairs, is_after ? NULL : file, is_after ? file : NULL)) {
            return false;
        }
    }
    return true;
}

/* Those with a rank first, by rank; then by name. */
static int compare_pairs(const void *left, const void *right)
{
    const plim_diffed_pair *const a = left;
    const plim_diffed_pair *const b = right;
    if (a->has_rank != b->has_rank) {
        return a->has_rank ? -1 : 1;
    }
    if (a->has_rank && a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return strcmp(a->after_path != NULL ? a->after_path : a->before_path,
                  b->after_path != NULL ? b->after_path : b->before_path);
}

static bool keep_pairs(plim_diff_pairs *ret, const pair_list *pairs)
{
    ret->items = plim_arena_alloc(&ret->arena, pairs->count * sizeof *ret->items);
    if (ret->items == NULL) {
        return false;
    }
    ret->count = pairs->count;
    for (size_t i = 0; i < ret->count; i++) {
        ret->items[i] = pairs->items[i];
    }
    qsort(ret->items, ret->count, sizeof *ret->items, compare_pairs);
    for (size_t i = 0; i < ret->count; i++) {
        ret->items[i].rank = ret->items[i].has_rank ? ret->items[i].rank : i;
    }
    return true;
}

static plim_status pair_folders(plim_diff_pairs *ret, const char *before, const char *after,
                                plim_error *err)
{
    const plim_mem *const mem = ret->arena.mem;
    listed_folder sides[2] = { { .mem = mem }, { .mem = mem } };
    pair_list pairs = { 0 };
    plim_status status = list_folder(&ret->arena, before, &sides[0], err);
    if (status == PLIM_OK) {
        status = list_folder(&ret->arena, after, &sides[1], err);
    }
    if (status == PLIM_OK &&
        !(pair_by_name(mem, &sides[0], &sides[1], &pairs) &&
          pair_by_rank(mem, &sides[0], &sides[1], &pairs) &&
          add_unpaired(mem, &sides[0], false, &pairs) &&
          add_unpaired(mem, &sides[1], true, &pairs) && keep_pairs(ret, &pairs))) {
        status = plim_fail_memory(err, "matching files");
    }
    PLIM_VEC_FREE(mem, &pairs);
    PLIM_VEC_FREE(mem, &sides[0].files);
    PLIM_VEC_FREE(mem, &sides[1].files);
    return status;
}

plim_status plim_diff_pairs_init(plim_diff_pairs *ret, const char *before, const char *after,
                                 plim_error *err)
{
    const bool is_before = is_folder(before);
    const bool is_after = is_folder(after);
    *ret = (plim_diff_pairs){ .are_ranks = is_before && is_after && before != after };
    plim_arena_init(&ret->arena, plim_mem_or_heap(NULL));
    if (is_before != is_after || (is_before && before == after)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "%s is a folder: give two folders, whose files are compared rank by rank, "
                         "or two files",
                         is_before ? before : after);
    }
    if (is_before) {
        return pair_folders(ret, before, after, err);
    }
    ret->items = plim_arena_alloc(&ret->arena, sizeof *ret->items);
    if (ret->items == NULL) {
        return plim_fail_memory(err, "listing files");
    }
    ret->items[0] = (plim_diffed_pair){ .before_path = before, .after_path = after };
    ret->count = 1;
    return PLIM_OK;
}

void plim_diff_pairs_deinit(plim_diff_pairs *pairs)
{
    plim_arena_deinit(&pairs->arena);
    *pairs = (plim_diff_pairs){ 0 };
}
