/*
 * device_use.h - the error bar of a device's use.
 *
 * What programs request of the driver is known to the byte. All else on a device is modelled, by
 * figures that measurements differ from: docs/formats/gpus.md has the models and the evidence.
 */
#ifndef PLIMSOLL_REHEARSE_DEVICE_USE_H
#define PLIMSOLL_REHEARSE_DEVICE_USE_H

#include "plimsoll/rehearse.h"
#include "stage/stage.h"

/* The bar of a device's peak. expected_bytes is figures->peak_bytes. */
plim_rehearsed_bar plim_device_use_bar(const plim_gpu *gpu, const plim_stage_figures *figures);

/* The largest part of the bar above the expected figure. */
plim_rehearsed_doubt plim_device_use_doubt(const plim_gpu *gpu, const plim_stage_figures *figures);

#endif
