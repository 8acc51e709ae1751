/*
 * fuzz_live.c - any bytes as a live page.
 *
 * The first byte chooses: even the page as it is, odd with the checksum that its body has.
 */
#include "base/assert.h"
#include "base/crc32.h"
#include "live/page.h"

#include <math.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_page(const plim_live_page *live)
{
    PLIM_ASSERT(live->device_count <= PLIM_LIVE_DEVICES_MAX);
    PLIM_ASSERT(live->pid > 0 && live->rank >= -1);
    PLIM_ASSERT(memchr(live->folder, '\0', sizeof live->folder) != NULL);
    PLIM_ASSERT(strchr(live->last_dump, '/') == NULL);
    for (uint32_t i = 0; i < live->device_count; i++) {
        PLIM_ASSERT(isfinite(live->devices[i].growth_bytes_per_step));
        PLIM_ASSERT(strlen(live->devices[i].name) < sizeof live->devices[i].name);
    }
}

static void read_page(const uint8_t *data, size_t size, bool seals)
{
    unsigned char page[PLIM_LIVE_PAGE_BYTES] = { 0 };
    plim_live_page live;
    plim_error err = { .status = PLIM_OK };
    memcpy(page, data, size < sizeof page ? size : sizeof page);
    if (seals) {
        const uint32_t checksum = plim_crc32(page + 64, 3776);
        memcpy(page + 44, &checksum, sizeof checksum);
    }
    const plim_live_fit fit = plim_live_page_read(page, &live, &err);
    PLIM_ASSERT((fit == PLIM_LIVE_WRONG) == (err.status != PLIM_OK));
    if (fit == PLIM_LIVE_WHOLE) {
        check_page(&live);
    }
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    read_page(data + 1, size - 1, data[0] % 2 == 1);
    return 0;
}
