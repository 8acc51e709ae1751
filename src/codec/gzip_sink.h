/*
 * gzip_sink.h - gzip before a sink: one member, without a name or a time, so that the same bytes
 * give the same file.
 */
#ifndef PLIMSOLL_CODEC_GZIP_SINK_H
#define PLIMSOLL_CODEC_GZIP_SINK_H

#include "base/sink.h"

typedef struct plim_gzip_sink plim_gzip_sink;

/* errors  PLIM_OUT_OF_HOST_MEMORY */
plim_status plim_gzip_sink_create(plim_sink below, const plim_mem *mem, plim_gzip_sink **ret_sink,
                                  plim_error *err);
plim_sink plim_gzip_sink_of(plim_gzip_sink *gzip);
/* The end of the member. False: the sink below failed, then or before. */
bool plim_gzip_sink_finish(plim_gzip_sink *gzip);
/* NULL is allowed. */
void plim_gzip_sink_destroy(plim_gzip_sink *gzip);

#endif
