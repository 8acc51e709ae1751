/*
 * version.c - the smallest program that uses libplimsoll: says which one it was linked to.
 *
 *   cc version.c $(pkg-config --cflags --libs plimsoll)
 */
#include <plimsoll/status.h>

#include <stdio.h>

int main(void)
{
    return printf("libplimsoll %s\n", plim_version()) > 0 ? 0 : 1;
}
