/*
 * made_page.h - a live page as docs/formats/live-page.md lays it out, byte by byte.
 */
#ifndef PLIMSOLL_TESTS_LIVE_MADE_PAGE_H
#define PLIMSOLL_TESTS_LIVE_MADE_PAGE_H

#include "base/crc32.h"

#include <stdint.h>
#include <string.h>

#define T_PAGE_BYTES 4096u
#define T_DEVICE_AT  1280u

typedef struct t_page {
    unsigned char bytes[T_PAGE_BYTES];
} t_page;

static inline void t_page_u32(t_page *page, size_t at, uint32_t value)
{
    memcpy(&page->bytes[at], &value, sizeof value);
}

static inline void t_page_u64(t_page *page, size_t at, uint64_t value)
{
    memcpy(&page->bytes[at], &value, sizeof value);
}

static inline void t_page_double(t_page *page, size_t at, double value)
{
    memcpy(&page->bytes[at], &value, sizeof value);
}

static inline void t_page_text(t_page *page, size_t at, const char *text)
{
    memcpy(&page->bytes[at], text, strlen(text) + 1);
}

/* After the last change of the body. */
static inline void t_page_seal(t_page *page)
{
    t_page_u32(page, 44, plim_crc32(&page->bytes[64], 3776));
}

/* Of a process with one device. */
static inline void t_page_make(t_page *page, int32_t pid, uint64_t start, uint64_t namespace_id)
{
    memset(page, 0, sizeof *page);
    memcpy(page->bytes, "plimlive", 8);
    t_page_u32(page, 8, 1);
    t_page_u32(page, 12, T_PAGE_BYTES);
    t_page_u64(page, 16, 5);
    t_page_u64(page, 24, 4);
    t_page_u64(page, 32, 12);
    t_page_u32(page, 40, 3776);
    t_page_u64(page, 64, 1000000007);
    t_page_u64(page, 72, start);
    t_page_u64(page, 80, namespace_id);
    t_page_u32(page, 88, (uint32_t)pid);
    t_page_u32(page, 92, 3);
    t_page_u32(page, 96, 1);
    t_page_u32(page, 100, 1);
    t_page_u64(page, 104, 99);
    t_page_u64(page, 112, 7000);
    t_page_u32(page, 120, 100);
    t_page_u32(page, 124, 1);
    t_page_u32(page, 128, 2);
    t_page_u32(page, 132, 3);
    t_page_text(page, 136, "003-request");
    t_page_text(page, 200, "0.1.0");
    t_page_text(page, 232, "2.11.0+cu130");
    t_page_text(page, 264, "/runs/one/12");
    t_page_u32(page, T_DEVICE_AT, 4);
    t_page_u32(page, T_DEVICE_AT + 4, 1);
    for (size_t i = 0; i < 9; i++) {
        t_page_u64(page, T_DEVICE_AT + 8 + 8 * i, 100 + i);
    }
    t_page_double(page, T_DEVICE_AT + 80, 12.5);
    t_page_u64(page, T_DEVICE_AT + 88, 40);
    t_page_u64(page, T_DEVICE_AT + 96, 3100);
    t_page_u64(page, T_DEVICE_AT + 104, 77);
    t_page_text(page, T_DEVICE_AT + 112, "NVIDIA H100 80GB HBM3");
    t_page_seal(page);
}

#endif
