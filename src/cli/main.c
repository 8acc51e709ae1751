/*
 * main.c - the front door. A placeholder until the commands move in: it tells its version.
 */
#include "plimsoll/status.h"

#include <stdio.h>

int main(void)
{
    return printf("plimsoll %s\n", plim_version()) > 0 ? 0 : 3;
}
