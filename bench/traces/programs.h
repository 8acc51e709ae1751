/*
 * programs.h - the program of each kind: trace.c's table leads to them.
 */
#ifndef PLIMSOLL_BENCH_TRACES_PROGRAMS_H
#define PLIMSOLL_BENCH_TRACES_PROGRAMS_H

#include "traces/play.h"

extern const trace_generator trace_training;
extern const trace_generator trace_finetune;
extern const trace_generator trace_evaluation;
extern const trace_generator trace_moe;
extern const trace_generator trace_unet;
extern const trace_generator trace_dit;
extern const trace_generator trace_paged;
extern const trace_generator trace_contiguous;
extern const trace_generator trace_rl;
extern const trace_generator trace_vision;
extern const trace_generator trace_streams;
extern const trace_generator trace_graphs;

#endif
