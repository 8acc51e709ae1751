/*
 * tally.h - what this process launched, by name: kernels, products, attention, bytes that were
 * copied. The agent reads it at the end of a step, to say which way PyTorch took.
 *
 * All functions may be called from any thread. Without memory a name is left out.
 */
#ifndef PLIMSOLL_STANDIN_CORE_TALLY_H
#define PLIMSOLL_STANDIN_CORE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Adds to a count.
 *
 * key   the same for the same name: an address, such as that of a literal
 * name  copied when the key is new
 */
void plim_standin_tally(const void *key, const char *name, uint64_t count);

/* The entry at an index, in the order of first coming; false beyond the last. The name lives as
 * long as the process. Exported, for the agent. */
bool plim_standin_tally_at(size_t index, const char **ret_name, uint64_t *ret_count);

#endif
