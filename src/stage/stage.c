/* stage.c - the file that a rehearsal's processes share. See stage.h. */
#include "stage/stage.h"
