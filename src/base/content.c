/*
 * content.c - recognising first bytes. See content.h.
 */
#include "base/content.h"

#include "base/ascii.h"
#include "base/numbers.h"

#include <string.h>

#define PICKLE_PROTO  0x80 /* pickletools: opcode PROTO, then the protocol */
#define PROTOCOL_LAST 5u

static const uint8_t recording[] = { 0x89, 'P', 'L', 'I', 'M' }; /* docs/formats/plim.md */

plim_content plim_content_of(const uint8_t *data, size_t bytes)
{
    if (bytes >= sizeof recording && memcmp(data, recording, sizeof recording) == 0) {
        return PLIM_CONTENT_RECORDING;
    }
    if (bytes >= 2 && data[0] == PICKLE_PROTO && data[1] >= 2 && data[1] <= PROTOCOL_LAST) {
        return PLIM_CONTENT_PICKLE;
    }
    const size_t seen = (size_t)plim_min(bytes, PLIM_CONTENT_BYTES);
    char first = '\0'; /* that is no blank */
    for (size_t i = 0; i < seen; i++) {
        const char c = (char)data[i];
        if ((data[i] < 0x20 && !plim_is_space(c) && c != '\x1b' && c != '\b') || data[i] == 0x7f) {
            return PLIM_CONTENT_UNKNOWN;
        }
        first = first == '\0' && !plim_is_space(c) ? c : first;
    }
    return first == '\0' || first == '{' || first == '[' ? PLIM_CONTENT_UNKNOWN : PLIM_CONTENT_TEXT;
}
