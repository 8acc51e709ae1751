/*
 * codecs.h - the codecs, a file each.
 */
#ifndef PLIMSOLL_CODEC_CODECS_H
#define PLIMSOLL_CODEC_CODECS_H

#include "codec/member.h"

extern const plim_codec plim_codec_bzip2;
extern const plim_codec plim_codec_gzip;
extern const plim_codec plim_codec_utf16;
extern const plim_codec plim_codec_xz;
extern const plim_codec plim_codec_zstd;

#endif
