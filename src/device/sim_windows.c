/*
 * sim_windows.c - where a sim device has its addresses.
 *
 * Addresses look like a driver's and lie as those of the recorder that stands in for CUDA's
 * libraries, so that what depends on their order comes out the same:
 *
 *   0x700000000000   ranges of ordinal 0: 10 TiB, over a hundred expandable segments of an
 *                    80 GiB device. Ordinals 1 to 15 have 7 TiB each below, going down
 *   0x7a0000000000   plain memory: 256 GiB for each ordinal, going up
 *   1 << 48          for who needs more: 64 TiB of ranges for each ordinal, and
 *   1 << 52          64 TiB of plain memory. All below 2^53, exact in a double
 */
#include "device/sim.h"

#define HOME_ORDINALS_MAX 16 /* those whose ranges fit below 0x700000000000 */

#define RANGES_BASE      UINT64_C(0x700000000000)
#define RANGES_BYTES     UINT64_C(0x0a0000000000) /* of ordinal 0 */
#define RANGES_STEP      UINT64_C(0x070000000000) /* of the others: 7 TiB, a sixteenth */
#define PLAIN_BASE       UINT64_C(0x7a0000000000)
#define PLAIN_STEP       (UINT64_C(256) << 30)
#define MORE_RANGES_BASE (UINT64_C(1) << 48)
#define MORE_PLAIN_BASE  (UINT64_C(1) << 52)
#define MORE_STEP        (UINT64_C(64) << 40)

bool plim_sim_add_windows(plim_sim *sim)
{
    const uint64_t i = (uint64_t)sim->ordinal;
    const uint64_t more = i * MORE_STEP;
    if (i < HOME_ORDINALS_MAX &&
        !plim_space_add_window(&sim->reserved, RANGES_BASE - i * RANGES_STEP,
                               i == 0 ? RANGES_BYTES : RANGES_STEP)) {
        return false;
    }
    return plim_space_add_window(&sim->reserved, MORE_RANGES_BASE + more, MORE_STEP) &&
           plim_space_add_window(&sim->plain, PLAIN_BASE + i * PLAIN_STEP, PLAIN_STEP) &&
           plim_space_add_window(&sim->plain, MORE_PLAIN_BASE + more, MORE_STEP);
}

bool plim_sim_is_plain_address(const plim_sim *sim, plim_addr addr)
{
    const uint64_t i = (uint64_t)sim->ordinal;
    return addr - (PLAIN_BASE + i * PLAIN_STEP) < PLAIN_STEP ||
           addr - (MORE_PLAIN_BASE + i * MORE_STEP) < MORE_STEP;
}
