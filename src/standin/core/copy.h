/*
 * copy.h - copies, where one side may be a device that holds no bytes.
 */
#ifndef PLIMSOLL_STANDIN_CORE_COPY_H
#define PLIMSOLL_STANDIN_CORE_COPY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Host to host copies for real. From a device the host gets what is known exactly (shadow.h), and
 * for the rest zeros, or noise if the rehearsal gives values. Which side is which follows from
 * the addresses, not from what the caller claims. Complete when it returns.
 */
void plim_standin_copy(void *target, const void *source, size_t bytes);

/* Counts a copy on a stream beside the default one, which work there may hide. */
void plim_standin_tally_aside(const void *target, const void *source, size_t bytes);

/*
 * The number of copies to the host, in this process, that gave values that are not known. The agent
 * asks before and after an operation that waits for the device.
 */
uint64_t plim_standin_made_up_values(void);

/* plim_standin_copy() for `rows` rows of `row_bytes`, each side with its own distance between rows.
 */
void plim_standin_copy_rows(void *target, size_t target_pitch, const void *source,
                            size_t source_pitch, size_t row_bytes, size_t rows);

/* Host memory is filled for real. */
void plim_standin_fill(void *target, int byte, size_t bytes);

/* The same with `count` words of `word_bytes`, at most 4. */
void plim_standin_fill_words(void *target, const void *word, size_t word_bytes, size_t count);

#endif
