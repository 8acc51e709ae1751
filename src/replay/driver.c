/*
 * driver.c - see driver.h.
 */
#include "replay/driver.h"
