/* text.h - the words of a record. FORMAT.md says what they mean. */
#ifndef ORACLE_TEXT_H
#define ORACLE_TEXT_H

#include "play.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An address: "p0+200000" plain memory of device 0, "x0+0" its ranges, "-" none. */
void text_addr(plim_addr addr);

/* Collects the calls of one operation … */
void text_call_begin(const plim_device_record *record);
/* … and writes them, in an order that does not depend on hash tables. */
void text_calls_write(void);

/* PyTorch gives several pools back in the order of a hash table. From now on what is given back in
 * one operation is written by address. */
void text_any_release_order(void);

/* Frees of several streams complete in the order of a hash table too, which shows in how blocks
 * merge on the way. From now on only what inactive_split comes to is written. */
void text_any_completion_order(void);

/* What changed in the statistics of a device since they were written last. Nothing: no line. */
void text_stats(int32_t device, const plim_device_stats *stats);
/* All of them. */
void text_stats_all(int32_t device, const plim_device_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
