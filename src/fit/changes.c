/*
 * changes.c - asks the program's Python for the changes. See changes.h.
 */
#include "fit/changes.h"

#include "base/error.h"
#include "base/json_out.h"
#include "base/text.h"
#include "rehearse/ask.h"
#include "rehearse/program.h"
#include "json/document.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define REQUEST_BYTES_MAX ((size_t)32 << 20)

static void write_strings(plim_json *json, const char *key, const char *const *strings,
                          size_t count)
{
    plim_json_key(json, key);
    plim_json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        plim_json_string(json, strings[i]);
    }
    plim_json_end_array(json);
}

static plim_status write_request(const plim_fit_change_question *question, plim_text *text,
                                 plim_error *err)
{
    char folder[4096]; /* PATH_MAX of Linux */
    if (question->folder == NULL && getcwd(folder, sizeof(folder)) == NULL) {
        return plim_fail_errno(err, errno, "the working folder cannot be read");
    }
    size_t words = 0;
    while (question->argv[words] != NULL) {
        words++;
    }
    plim_json json;
    plim_json_init(&json, plim_sink_to_text(text), PLIM_JSON_COMPACT);
    plim_json_begin_object(&json);
    plim_json_key(&json, "folder");
    plim_json_string(&json, question->folder != NULL ? question->folder : folder);
    write_strings(&json, "argv", question->argv, words);
    write_strings(&json, "techniques", question->techniques, question->technique_count);
    write_strings(&json, "reports", question->reports, question->report_count);
    plim_json_key(&json, "since");
    plim_json_i64(&json, question->since);
    plim_json_end_object(&json);
    if (!plim_json_finish(&json) && text->status == PLIM_OK) {
        return plim_fail(err, PLIM_IO, "the request of changes cannot be written");
    }
    return plim_text_status(text, "writing the request of changes", err);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static yajl_val find_technique(yajl_val answer, const char *text)
{
    yajl_val array = plim_json_get(answer, "techniques");
    for (size_t i = 0; i < plim_json_length(array); i++) {
        yajl_val item = plim_json_item(array, i);
        yajl_val name = plim_json_get(item, "text");
        const char *const found = YAJL_GET_STRING(name);
        if (found != NULL && strcmp(found, text) == 0) {
            return item;
        }
    }
    return NULL;
}

/* True of a technique whose edit the others' edits leave no place for. */
static bool is_left_out(yajl_val answer, const char *text)
{
    yajl_val array = plim_json_get(answer, "left_out");
    bool is_found = false;
    for (size_t i = 0; i < plim_json_length(array); i++) {
        const char *const one = YAJL_GET_STRING(plim_json_item(array, i));
        is_found = is_found || (one != NULL && strcmp(one, text) == 0);
    }
    return is_found;
}

static plim_status understand(const plim_fit_change_question *question, yajl_val answer,
                              plim_arena *arena, plim_fit_changes *ret, plim_error *err)
{
    plim_json_copier copier = { .arena = arena };
    const size_t count = question->technique_count;
    plim_fit_change *items = plim_arena_alloc(arena, (count + 1) * sizeof(*items));
    for (size_t i = 0; items != NULL && i < count; i++) {
        const char *const text = question->techniques[i];
        yajl_val item = find_technique(answer, text);
        items[i] = (plim_fit_change){
            .text = plim_arena_copy(arena, text, strlen(text) + 1),
            .pytorch = plim_json_get_string(item, "pytorch", &copier),
            .arguments = plim_json_get_string(item, "arguments", &copier),
            .framework = plim_json_get_string(item, "framework", &copier),
            .diff = plim_json_get_string(item, "diff", &copier),
            .note = plim_json_get_string(item, "note", &copier),
            .is_left_out = is_left_out(answer, text),
        };
        if (items[i].text == NULL) {
            copier.is_out_of_memory = true;
        } else if (items[i].pytorch == NULL && !copier.is_out_of_memory) {
            return plim_fail(err, PLIM_CORRUPT, "%s: the change of %s is not in the answer",
                             question->python, text);
        }
    }
    const char *const diff = plim_json_get_string(answer, "diff", &copier);
    if (items == NULL || copier.is_out_of_memory) {
        return plim_fail_memory(err, "reading changes of the program");
    }
    *ret = (plim_fit_changes){ .items = items, .count = count, .diff = diff };
    return PLIM_OK;
}

plim_status plim_fit_changes_read(const plim_fit_change_question *question, const char *answer,
                                  plim_arena *arena, plim_fit_changes *ret, plim_error *err)
{
    yajl_val document = NULL;
    PLIM_TRY(plim_json_read_text(question->python, answer, &document, err));
    const plim_status status = understand(question, document, arena, ret, err);
    yajl_tree_free(document);
    return status;
}

plim_status plim_fit_changes_make(const plim_fit_change_question *question, plim_arena *arena,
                                  plim_fit_changes *ret, plim_error *err)
{
    plim_text request;
    plim_text_init(&request, NULL, REQUEST_BYTES_MAX);
    yajl_val document = NULL;
    plim_status status = write_request(question, &request, err);
    if (status == PLIM_OK) {
        const plim_python_question asked = { .python = question->python,
                                             .home = question->home,
                                             .script = PLIM_HOME_CHANGING,
                                             .doing = "write changes down",
                                             .input = plim_text_string(&request) };
        status = plim_python_ask(&asked, &document, err);
    }
    plim_text_deinit(&request);
    if (status == PLIM_OK) {
        status = understand(question, document, arena, ret, err);
        yajl_tree_free(document);
    }
    return status;
}
