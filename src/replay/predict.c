/*
 * predict.c - to be written.
 */
#include "replay/replay.h"
