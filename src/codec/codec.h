/*
 * codec.h - decoders for base/input: gzip, zstd, UTF-16, and xz and bzip2 where the build had
 * their libraries.
 */
#ifndef PLIMSOLL_CODEC_CODEC_H
#define PLIMSOLL_CODEC_CODEC_H

#include "base/codec.h"

/* All of them, NULL after the last: for plim_input_options. */
extern const plim_codec *const plim_codecs[];

#endif
