/*
 * replay.c - runs a fuzz target over saved inputs: every file of the folders it is given.
 *
 * Stands in for libFuzzer in all builds but the fuzzing one, so that each corpus is also an
 * ordinary test. Exit status 77 when there was nothing to run.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH_BYTES 4096

/* Runs one file; false when it cannot be read. */
static int run_file(const char *path, size_t bytes)
{
    FILE *const file = fopen(path, "rb");
    /* Exactly as large as the input, so that a read beyond it is caught. */
    uint8_t *const data = malloc(bytes > 0 ? bytes : 1);
    int fine = file != NULL && data != NULL && fread(data, 1, bytes, file) == bytes;
    if (fine) {
        (void)LLVMFuzzerTestOneInput(data, bytes);
    } else {
        perror(path);
    }
    free(data);
    if (file != NULL) {
        fine = fclose(file) == 0 && fine;
    }
    return fine;
}

/* Runs a folder's files, in the order of their names; returns how many, or -1. */
static int run_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int entry_count = scandir(folder, &entries, NULL, alphasort);
    int count = 0;
    for (int i = 0; i < entry_count; i++) {
        char path[PATH_BYTES];
        struct stat about;
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (count >= 0 && length < PATH_BYTES && stat(path, &about) == 0 &&
            S_ISREG(about.st_mode)) {
            (void)fprintf(stderr, "%s\n", path); /* the last one named is the one that fails */
            count = run_file(path, (size_t)about.st_size) ? count + 1 : -1;
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        const int count = run_folder(argv[i]);
        if (count < 0) {
            return 1;
        }
        total += count;
    }
    if (total == 0) {
        (void)puts("skipped: the corpus is empty");
        return 77;
    }
    return printf("%d inputs\n", total) > 0 ? 0 : 1;
}
