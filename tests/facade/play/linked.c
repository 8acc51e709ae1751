/* linked.c - a program that is itself linked to the vendor's libraries. See calls.h. */
#include "consumer.h"

#include <stdio.h>

int main(void)
{
    const char *const wrong = consume();
    if (wrong != NULL) {
        (void)fprintf(stderr, "linked: %s\n", wrong);
    }
    return wrong == NULL ? 0 : 1;
}
