/*
 * run.c - see run.h.
 */
#include "replay/run.h"
