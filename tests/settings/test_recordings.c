/*
 * test_recordings.c - the settings that every recording of ours was made under, as a replay reads
 * them and as a page shows them, beside those that were read before there was one table.
 */
#include "plimsoll/load.h"

#include "report/golden.h"

#include "replay/conf.h"
#include "report/model/settings_text.h"

#include <dirent.h>

#define FILES_MAX 256
#define PATH_SIZE 512

static const char *const folders[] = { "tests/data/recordings", "tests/data/rehearsals" };

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t list_folder(const char *folder, char (*names)[PATH_SIZE])
{
    DIR *const dir = opendir(folder);
    T_NOT_NULL(dir);
    size_t count = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (strstr(entry->d_name, ".pickle") != NULL) {
            T_TRUE(count < FILES_MAX);
            (void)snprintf(names[count++], PATH_SIZE, "%s/%s", folder, entry->d_name);
        }
    }
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    return count;
}

/* "<file>: <each device's conf> | <the page's words>" */
static void add_file(plim_text *out, const char *path)
{
    T_CASE("%s", path);
    plim_history *history = NULL;
    T_EQ_U64(plim_history_load(path, NULL, &history, NULL), PLIM_OK);
    plim_text_append_format(out, "%s:", strrchr(path, '/') + 1);
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        plim_conf conf;
        const bool says = plim_conf_of_history(history, plim_history_device(history, i), &conf);
        char settings[PLIM_SETTINGS_TEXT_BYTES];
        (void)plim_settings_format(&conf.settings, settings, sizeof settings);
        plim_text_append_format(out, " %s'%s' '%s' '%s'", says ? "" : "not said ", conf.text,
                                conf.settings.text, settings);
    }
    plim_text_append_string(out, " | ");
    plim_settings_text_add(out, history);
    plim_text_append_string(out, "\n");
    plim_history_destroy(history);
}

static void settings_are_read_as_they_were(void)
{
    static char names[FILES_MAX][PATH_SIZE];
    plim_text out;
    plim_text_init(&out, NULL, (size_t)1 << 20);
    for (size_t i = 0; i < T_COUNT(folders); i++) {
        const size_t count = list_folder(folders[i], names);
        T_TRUE(count > 0);
        for (size_t k = 0; k < count; k++) {
            add_file(&out, names[k]);
        }
    }
    golden_check("recorded-settings.txt", &out);
    plim_text_deinit(&out);
}

T_MAIN(T_TEST(settings_are_read_as_they_were))
