/*
 * codec.c - the list of codecs. xz and bzip2 depend on what the build found.
 */
#include "codec/codec.h"

#include "codec/member.h"

const plim_codec *const plim_codecs[] = {
    &plim_codec_gzip,
    &plim_codec_zstd,
    &plim_codec_utf16,
#if PLIM_HAS_XZ
    &plim_codec_xz,
#endif
#if PLIM_HAS_BZIP2
    &plim_codec_bzip2,
#endif
    NULL,
};
