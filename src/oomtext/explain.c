/*
 * explain.c - text in, messages and series out.
 */
#include "plimsoll/explain.h"
