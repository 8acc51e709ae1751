/*
 * plimsoll/release.h - releases of PyTorch as numbers, by which texts, files and settings differ.
 */
#ifndef PLIMSOLL_RELEASE_H
#define PLIMSOLL_RELEASE_H

#include <stdint.h>

/* PLIM_TORCH(2, 11) is below PLIM_TORCH(2, 12). */
#define PLIM_TORCH(major, minor) ((uint32_t)(major)*100u + (uint32_t)(minor))

#endif
