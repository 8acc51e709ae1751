/*
 * host.c - memory of this machine, and what rehearsals take of it.
 *
 * Tensors of the device are not there in a rehearsal; those on the host are, as in a real run.
 */
#include "base/numbers.h"
#include "base/units.h"
#include "fit/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t plim_fit_host_available(void)
{
    static const char available[] = "MemAvailable:";
    char line[128];
    uint64_t kib = 0; /* 0 too where the line has no number */
    FILE *const file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }
    while (kib == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, available, strlen(available)) == 0) {
            kib = strtoull(line + strlen(available), NULL, 10);
        }
    }
    (void)fclose(file);
    return kib * 1024;
}

/* ---- what techniques take -------------------------------------------------------------------- */

/* In weights as the program has them: gradients, two states and a copy; gradients of a first step.
 */
static const struct {
    const char *text;
    uint64_t weights;
} holders[] = { { "offload=optimizer", 4 }, { "optimizer=in_backward", 1 } };

static uint64_t weights_of(const plim_fit_search *search)
{
    for (size_t i = 0; i < search->phase_count; i++) {
        if (strcmp(search->phase_names[i], "setup") == 0) {
            return search->known[0].phase_bytes[i];
        }
    }
    return 0;
}

static bool is_line(const char *line, size_t length, const char *text)
{
    return strlen(text) == length && strncmp(line, text, length) == 0;
}

uint64_t plim_fit_host_need(const plim_fit_search *search, const char *techniques)
{
    uint64_t bytes = 0;
    for (const char *line = techniques; line[0] != '\0' && search->count > 0;) {
        const size_t length = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof(holders) / sizeof(holders[0]); i++) {
            if (is_line(line, length, holders[i].text)) {
                bytes = plim_plus(bytes, holders[i].weights * weights_of(search));
            }
        }
        if (is_line(line, length, "offload=all_saved")) {
            bytes = plim_plus(bytes, search->known[0].allocated_bytes);
        }
        line += length + (line[length] == '\n');
    }
    return bytes;
}
