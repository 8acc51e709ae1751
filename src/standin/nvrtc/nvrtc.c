/*
 * nvrtc.c - run-time compilation that compiles nothing and always succeeds; versions, statuses.
 */
#include "base/ascii.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/modules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The result is a token instead of machine code, which our modules accept for any kernel
 * (cuda/modules.h). Names that the program asks to have lowered come back as what can be used to
 * find the kernel again, which here is any name at all.
 */

enum { /* nvrtcResult, NVRTC manual */
       NVRTC_SUCCESS = 0,
       NVRTC_OUT_OF_MEMORY = 1,
       NVRTC_INVALID_INPUT = 3,
       NVRTC_INVALID_PROGRAM = 4,
       NVRTC_NAMES_AFTER_COMPILATION = 8,
       NVRTC_NO_LOWERED_NAMES_YET = 9,
       NVRTC_NAME_NOT_VALID = 10
};

/* A name expression, such as "kernel<float>", and a symbol for it: valid until the program goes. */
typedef struct expression {
    struct expression *next;
    char *lowered; /* in text[], after the expression itself */
    char text[];
} expression;

typedef struct program {
    expression *expressions;
    bool is_compiled;
} program;

static const char token[] = PLIM_STANDIN_CUBIN_TOKEN;

/* Those that compilers of CUDA 13 know (NVRTC manual 13.0). */
static const int architectures[] = { 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121 };

#define ARCHITECTURE_COUNT (sizeof(architectures) / sizeof(architectures[0]))

int nvrtcCreateProgram(program **ret, const char *source, const char *name, int header_count,
                       const char *const *headers, const char *const *header_names)
{
    if (ret == NULL || source == NULL) {
        return NVRTC_INVALID_INPUT;
    }
    program *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NVRTC_OUT_OF_MEMORY;
    }
    *ret = made;
    return NVRTC_SUCCESS;
}

int nvrtcDestroyProgram(program **made)
{
    if (made == NULL || *made == NULL) {
        return NVRTC_INVALID_PROGRAM;
    }
    expression *at = (*made)->expressions;
    while (at != NULL) {
        expression *const next = at->next;
        free(at);
        at = next;
    }
    free(*made);
    *made = NULL;
    return NVRTC_SUCCESS;
}

/* A symbol as C++ compilers make them: letters, digits and underscores. */
static void lower(char *target, const char *text)
{
    static const char prefix[] = "_Z_plimsoll_";
    memcpy(target, prefix, sizeof(prefix) - 1);
    target += sizeof(prefix) - 1;
    for (; *text != '\0'; text++) {
        const char c = *text;
        *target = plim_is_letter(c) || plim_is_digit(c) ? c : '_';
        target++;
    }
    *target = '\0';
}

int nvrtcAddNameExpression(program *made, const char *text)
{
    if (made == NULL || text == NULL) {
        return NVRTC_INVALID_INPUT;
    }
    if (made->is_compiled) {
        return NVRTC_NAMES_AFTER_COMPILATION;
    }
    const size_t bytes = strlen(text) + 1;
    expression *const added = calloc(1, sizeof(*added) + 2 * bytes + 16);
    if (added == NULL) {
        return NVRTC_OUT_OF_MEMORY;
    }
    memcpy(added->text, text, bytes);
    added->lowered = added->text + bytes;
    lower(added->lowered, text);
    added->next = made->expressions;
    made->expressions = added;
    return NVRTC_SUCCESS;
}

int nvrtcCompileProgram(program *made, int option_count, const char *const *options)
{
    if (made == NULL) {
        return NVRTC_INVALID_PROGRAM;
    }
    made->is_compiled = true;
    return NVRTC_SUCCESS;
}

PLIM_STANDIN_MODELLED(nvrtcCompileProgram, "always succeeds; nothing is compiled")

int nvrtcGetLoweredName(program *made, const char *text, const char **lowered)
{
    if (made == NULL || text == NULL || lowered == NULL) {
        return NVRTC_INVALID_INPUT;
    }
    if (!made->is_compiled) {
        return NVRTC_NO_LOWERED_NAMES_YET;
    }
    for (const expression *at = made->expressions; at != NULL; at = at->next) {
        if (strcmp(at->text, text) == 0) {
            *lowered = at->lowered;
            return NVRTC_SUCCESS;
        }
    }
    return NVRTC_NAME_NOT_VALID;
}

/* The code in one form: its size, and the code itself. */
#define CODE(name)                                                 \
    int name##Size(program *made, size_t *bytes)                   \
    {                                                              \
        if (made == NULL || bytes == NULL || !made->is_compiled) { \
            return NVRTC_INVALID_PROGRAM;                          \
        }                                                          \
        *bytes = sizeof(token);                                    \
        return NVRTC_SUCCESS;                                      \
    }                                                              \
    int name(program *made, char *code)                            \
    {                                                              \
        if (made == NULL || code == NULL || !made->is_compiled) {  \
            return NVRTC_INVALID_PROGRAM;                          \
        }                                                          \
        memcpy(code, token, sizeof(token));                        \
        return NVRTC_SUCCESS;                                      \
    }

CODE(nvrtcGetCUBIN)
CODE(nvrtcGetPTX)
CODE(nvrtcGetLTOIR)

int nvrtcGetProgramLogSize(program *made, size_t *bytes)
{
    if (made == NULL || bytes == NULL) {
        return NVRTC_INVALID_PROGRAM;
    }
    *bytes = 1; /* an empty text and its end */
    return NVRTC_SUCCESS;
}

int nvrtcGetProgramLog(program *made, char *log)
{
    if (made == NULL || log == NULL) {
        return NVRTC_INVALID_PROGRAM;
    }
    log[0] = '\0';
    return NVRTC_SUCCESS;
}

int nvrtcGetNumSupportedArchs(int *count)
{
    *count = (int)ARCHITECTURE_COUNT;
    return NVRTC_SUCCESS;
}

int nvrtcGetSupportedArchs(int *archs)
{
    memcpy(archs, architectures, sizeof(architectures));
    return NVRTC_SUCCESS;
}

/* ---- the version of the program's CUDA, and words for statuses ------------------------------- */

int nvrtcVersion(int *major, int *minor)
{
    const uint32_t version = plim_standin_settings()->cuda_version;
    *major = (int)(version / 1000);
    *minor = (int)(version % 1000 / 10);
    return 0;
}

const char *nvrtcGetErrorString(int status)
{
    /* nvrtcResult in order, NVRTC manual 13.0 */
    static const char *const words[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
    };
    const size_t count = sizeof(words) / sizeof(words[0]);
    return status >= 0 && (size_t)status < count ? words[status] : "NVRTC_ERROR unknown";
}
