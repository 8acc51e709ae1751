/*
 * engines.h - what cuDNN could carry out an operation graph with, and what that would want.
 */
#ifndef PLIMSOLL_STANDIN_CUDNN_ENGINES_H
#define PLIMSOLL_STANDIN_CUDNN_ENGINES_H

#include "standin/cudnn/store.h"

#define PLIM_CUDNN_ENGINES_MAX 5
#define PLIM_CUDNN_NOTES_MAX   2

/* cudnnBackendNumericalNote_t */
enum {
    PLIM_CUDNN_NOTE_TENSOR_CORE = 0,
    PLIM_CUDNN_NOTE_FFT = 3,
    PLIM_CUDNN_NOTE_WINOGRAD = 5,
    PLIM_CUDNN_NOTE_WINOGRAD_4X4 = 6,
};

typedef struct plim_cudnn_engine {
    int64_t index; /* the same algorithm has the same number in every graph */
    uint64_t workspace_bytes;
    int notes[PLIM_CUDNN_NOTES_MAX];
    int64_t note_count;
    bool is_compiled_at_run_time;
} plim_cudnn_engine;

/*
 * A plan of the graph's engine `chosen` is about to run: says to the books of the current device
 * how far off its model may be. `is_searched`: it is one of many that are tried, with a workspace
 * that the largest of them fits in.
 */
void plim_cudnn_engines_note_range(const plim_cudnn_body *graph, int64_t chosen, bool is_searched);

/* Best first. 0: the graph holds an operation we have no model for, or is no graph. */
size_t plim_cudnn_engines_of(const plim_cudnn_body *graph,
                             plim_cudnn_engine ret[PLIM_CUDNN_ENGINES_MAX]);

#endif
