/*
 * json_values.h - JSON text to the same values that pickles give.
 */
#ifndef PLIMSOLL_TORCH_JSON_VALUES_H
#define PLIMSOLL_TORCH_JSON_VALUES_H

#include "pickle/reader.h"

/**
 * Read one JSON document, streaming: of records that the builder's sink takes nothing is kept.
 *
 * errors  PLIM_CORRUPT with the byte offset, PLIM_LIMIT, PLIM_CANCELLED,
 *         PLIM_OUT_OF_HOST_MEMORY, and those of plim_input_refill() and of the sink
 * depth   nesting costs heap, never stack
 */
plim_status plim_json_read(plim_input *input, plim_builder *builder,
                           const plim_pickle_options *options, plim_value *ret_root,
                           plim_error *err);

#endif
