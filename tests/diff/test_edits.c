/*
 * test_edits.c - a program before and after its code was edited: no difference.
 */
#include "diff/rewrite.h"
#include "plimsoll/diff.h"
#include "plimsoll/load.h"

#include <dirent.h>

#define EVENTS_MAX 6000 /* larger recordings say no more and take long */
#ifndef ONE_OF
#define ONE_OF 1 /* recordings: each, or one of so many */
#endif

/* Edits, and how many recordings of a folder show a difference all the same: where functions
 * are renamed and others come in between at once, places say little. */
static const struct {
    const char *name;
    unsigned edits;
    bool is_sure; /* all matches are */
    size_t wrong_max;
} edits[] = {
    { "none", 0, true, 0 },
    { "lines", REWRITE_LINES, true, 0 },
    { "names", REWRITE_NAMES, true, 0 },
    { "folder", REWRITE_FOLDER, true, 0 },
    { "packages", REWRITE_PACKAGES, true, 0 },
    { "file names", REWRITE_FILE_NAMES, true, 0 },
    { "classes", REWRITE_CLASSES, true, 0 },
    { "wrapper", REWRITE_WRAPPER, false, 0 },
    { "helper", REWRITE_HELPER, false, 0 },
    { "lines, names", REWRITE_LINES | REWRITE_NAMES, true, 0 },
    { "lines, names, folder, packages",
      REWRITE_LINES | REWRITE_NAMES | REWRITE_FOLDER | REWRITE_PACKAGES, true, 0 },
    { "lines, names, file names", REWRITE_LINES | REWRITE_NAMES | REWRITE_FILE_NAMES, true, 0 },
    { "lines, names, classes, folder, packages",
      REWRITE_LINES | REWRITE_NAMES | REWRITE_CLASSES | REWRITE_FOLDER | REWRITE_PACKAGES, true,
      0 },
    { "lines, names, helper", REWRITE_LINES | REWRITE_NAMES | REWRITE_HELPER, false, 2 },
    { "lines, names, wrapper", REWRITE_LINES | REWRITE_NAMES | REWRITE_WRAPPER, false, 6 },
};

/* Bytes that a comparison says have changed. */
static uint64_t changed_bytes(const plim_diff_moment *moment, size_t *ret_unsure)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < moment->group_count; i++) {
        const plim_diff_group *const group = &moment->groups[i];
        bytes += group->after.bytes > group->before.bytes
                     ? group->after.bytes - group->before.bytes
                     : group->before.bytes - group->after.bytes;
        *ret_unsure += group->match != PLIM_DIFF_SURE;
    }
    return bytes;
}

/* True if the recording and the same after an edit show no difference. */
static bool is_equal(const char *path, const plim_history *history, size_t edit)
{
    plim_history *const other = rewritten(history, edits[edit].edits);
    plim_diff_result *result = NULL;
    bool is_equal = true;
    T_TRUE(plim_diff(history, other, NULL, &result, NULL) == PLIM_OK);
    for (size_t i = 0; i < plim_diff_device_count(result); i++) {
        for (size_t k = 0; k < PLIM_DIFF_CHOSEN; k++) {
            size_t unsure = 0;
            const uint64_t bytes =
                changed_bytes(&plim_diff_device_at(result, i)->moments[k], &unsure);
            if (bytes > 0 || (edits[edit].is_sure && unsure > 0)) {
                print_message("%s, %s, %s: %" PRIu64 " bytes, %zu unsure\n", path, edits[edit].name,
                              plim_diff_moment_name((plim_diff_moment_kind)k), bytes, unsure);
                is_equal = false;
            }
        }
    }
    plim_diff_destroy(result);
    plim_history_destroy(other);
    return is_equal;
}

static size_t check_folder(const char *folder)
{
    DIR *const list = opendir(folder);
    size_t count = 0;
    size_t seen = 0;
    size_t wrong[T_COUNT(edits)] = { 0 };
    T_NOT_NULL(list);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[512];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        plim_history *history = NULL;
        if (length < 0 || (size_t)length >= sizeof path || strstr(path, ".pickle") == NULL ||
            plim_history_load(path, NULL, &history, NULL) != PLIM_OK) {
            continue;
        }
        const bool is_taken = seen++ % ONE_OF == 0 && plim_history_device_count(history) > 0 &&
                              plim_history_device(history, 0)->events.count < EVENTS_MAX;
        for (size_t i = 0; is_taken && i < T_COUNT(edits); i++) {
            wrong[i] += !is_equal(path, history, i);
        }
        count += is_taken;
        plim_history_destroy(history);
    }
    (void)closedir(list);
    for (size_t i = 0; i < T_COUNT(edits); i++) {
        T_CASE("%s: %s", folder, edits[i].name);
        T_TRUE(wrong[i] <= edits[i].wrong_max);
    }
    return count;
}

static void edited_rehearsals_have_no_difference(void)
{
    T_TRUE(check_folder("tests/data/rehearsals") > 20 / ONE_OF);
}
static void edited_programs_have_no_difference(void)
{
    T_TRUE(check_folder("tests/data/diagnoses") > 20 / ONE_OF);
}
static void edited_recordings_have_no_difference(void)
{
    T_TRUE(check_folder("tests/data/recordings") > 2 / ONE_OF);
}

T_MAIN(T_TEST(edited_rehearsals_have_no_difference), T_TEST(edited_programs_have_no_difference),
       T_TEST(edited_recordings_have_no_difference))
