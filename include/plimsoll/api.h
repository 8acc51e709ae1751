/*
 * plimsoll/api.h - what every public header needs: linkage, export and must-use marks.
 *
 * The library is compiled with hidden visibility; PLIM_API marks what is promised.
 */
#ifndef PLIMSOLL_API_H
#define PLIMSOLL_API_H

#ifdef __cplusplus
#define PLIM_BEGIN_DECLS extern "C" {
#define PLIM_END_DECLS   }
#else
#define PLIM_BEGIN_DECLS
#define PLIM_END_DECLS
#endif

#if defined(__GNUC__)
#define PLIM_API      __attribute__((visibility("default")))
#define PLIM_MUST_USE __attribute__((warn_unused_result))
#define PLIM_PRINTF(format_index, first_index) \
    __attribute__((format(printf, format_index, first_index)))
#else
#define PLIM_API
#define PLIM_MUST_USE
#define PLIM_PRINTF(format_index, first_index)
#endif

#endif
