/* facade.c - writes the facades. See facade.h. */
#include "facade/facade.h"
