/*
 * unseen.c - why the recorder did not see a failure. See run.h.
 */
#include "run/run.h"

#include <string.h>

static bool is_python(const char *word)
{
    const char *const slash = strrchr(word, '/');
    const char *const name = slash != NULL ? slash + 1 : word;
    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

/* Of "uI", 'I': the first of -S, -I and -E among letters; 0 without one. Letters after one that
 * takes the rest for its argument are no options. */
static char find_isolation(const char *letters)
{
    for (; *letters != '\0' && strchr("cmWX", *letters) == NULL; letters++) {
        if (strchr("SIE", *letters) != NULL) {
            return *letters;
        }
    }
    return '\0';
}

/* True if an option of Python takes the word after it: "-W error", "-X dev". */
static bool takes_next(const char *letters)
{
    const size_t length = strcspn(letters, "WX");
    return letters[length] != '\0' && letters[length + 1] == '\0';
}

/* The option of the command's Python that leaves us out; 0: none does. */
static char find_option(const char *const *argv)
{
    while (*argv != NULL && !is_python(*argv)) {
        argv++;
    }
    for (argv += *argv != NULL; *argv != NULL && (*argv)[0] == '-'; argv++) {
        if ((*argv)[1] == '-') {
            continue;
        }
        const char found = find_isolation(*argv + 1);
        if (found != '\0') {
            return found;
        }
        if (takes_next(*argv + 1) && argv[1] != NULL) {
            argv++;
        }
    }
    return '\0';
}

const char *plim_run_why_unseen(const plim_ran *ran)
{
    if (ran->choice != NULL && ran->choice->is_unrecorded) {
        return "no recorder was wanted (--no-recorder)";
    }
    if (ran->folder == NULL) {
        return "there was no folder for a record";
    }
    if (ran->process_count > 0) {
        return "none of the processes that it watched ended by this failure";
    }
    switch (find_option(ran->argv)) {
    case 'S':
        return "python -S starts without what leads the recorder into the program";
    case 'I':
        return "python -I leaves out PYTHONPATH, which leads the recorder into the program";
    case 'E':
        return "python -E leaves out PYTHONPATH, which leads the recorder into the program";
    default:
        return "no process used CUDA through a PyTorch that it could watch";
    }
}

bool plim_run_lacks_gpu(const char *output, size_t bytes)
{
    /* PyTorch 2.11, c10/cuda/CUDAFunctions.cpp: `device_count_impl()` has these texts. */
    static const char *const texts[] = { "Found no NVIDIA driver on your system",
                                         "No CUDA GPUs are available" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (memmem(output, bytes, texts[i], strlen(texts[i])) != NULL) {
            return true;
        }
    }
    return false;
}
