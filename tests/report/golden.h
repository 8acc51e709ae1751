/*
 * golden.h - comparing what a test wrote with a file that somebody has read and approved.
 *
 * PLIM_BLESS=1 rewrites the files instead; the difference is then reviewed like any other.
 * Tests run from the top of the tree.
 */
#ifndef PLIMSOLL_TESTS_REPORT_GOLDEN_H
#define PLIMSOLL_TESTS_REPORT_GOLDEN_H

#include "harness.h"

#include "base/text.h"
#include "report/term/draw.h"

#define GOLDEN_BYTES_MAX ((size_t)1 << 22)

static inline void golden_check(const char *name, const plim_text *text)
{
    char path[256];
    snprintf(path, sizeof path, "tests/golden/%s", name);
    T_EQ_U64(text->status, PLIM_OK);
    if (getenv("PLIM_BLESS") != NULL) {
        FILE *file = fopen(path, "wb");
        T_NOT_NULL(file);
        T_EQ_U64(fwrite(plim_text_string(text), 1, text->length, file), text->length);
        T_EQ_I64(fclose(file), 0);
        return;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s is not there; PLIM_BLESS=1 writes it", path);
    }
    char *expected = malloc(GOLDEN_BYTES_MAX);
    T_NOT_NULL(expected);
    const size_t bytes = fread(expected, 1, GOLDEN_BYTES_MAX - 1, file);
    expected[bytes] = '\0';
    fclose(file);
    const bool same = bytes == text->length && memcmp(expected, plim_text_string(text), bytes) == 0;
    if (!same) {
        print_error("%s differs; now it reads:\n%s\n", path, plim_text_string(text));
    }
    free(expected);
    T_TRUE(same);
}

/* The same for a page, which is drawn and let go. */
static inline void golden_check_page(const char *name, plim_page *page, const plim_style *style)
{
    plim_text out;
    plim_text_init(&out, NULL, GOLDEN_BYTES_MAX);
    plim_page_draw(&out, style, page);
    plim_page_deinit(page);
    golden_check(name, &out);
    plim_text_deinit(&out);
}

#endif
