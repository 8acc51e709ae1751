/*
 * with_file.c - reports of techniques, read and joined. See with_file.h.
 */
#include "rehearse/with_file.h"

#include "base/error.h"
#include "base/numbers.h"
#include "base/vec.h"
#include "rehearse/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 1

/* More than there are: what a program could write itself is bounded. */
#define TECHNIQUES_MAX 64
#define PLACES_MAX     20
#define DETAILS_MAX    64
#define REPORTS_MAX    4096

typedef PLIM_VEC(plim_with_report) report_list;
typedef PLIM_VEC(const char *) text_list;

static const char *copy_text(plim_json_copier *copier, const char *text, size_t length)
{
    const char *const copy = plim_arena_copy(copier->arena, text, length);
    copier->is_out_of_memory = copier->is_out_of_memory || copy == NULL;
    return copy;
}

/* ---- one report ------------------------------------------------------------------------------ */

static bool read_places(yajl_val item, plim_json_copier *copier, plim_rehearsed_technique *ret)
{
    yajl_val array = plim_json_get(item, "places");
    const size_t count = plim_min(plim_json_length(array), PLACES_MAX);
    plim_rehearsed_place *places = plim_arena_alloc(copier->arena, count * sizeof(*places));
    size_t kept = 0;
    for (size_t i = 0; places != NULL && i < count; i++) {
        yajl_val place = plim_json_item(array, i);
        places[kept] = (plim_rehearsed_place){
            .what = plim_json_get_string(place, "what", copier),
            .file = plim_json_get_string(place, "file", copier),
            .line = plim_json_get_u64(place, "line"),
        };
        kept += places[kept].what != NULL && places[kept].file != NULL;
    }
    ret->places = places;
    ret->place_count = kept;
    return places != NULL;
}

/* Strings, and numbers by their digits; what else there is has no meaning here. */
static bool read_details(yajl_val item, plim_json_copier *copier, plim_rehearsed_technique *ret)
{
    yajl_val object = plim_json_get(item, "facts");
    const bool is_object = object != NULL && object->type == yajl_t_object;
    const size_t count = is_object ? plim_min(object->u.object.len, DETAILS_MAX) : 0;
    plim_rehearsed_detail *details = plim_arena_alloc(copier->arena, count * sizeof(*details));
    size_t kept = 0;
    for (size_t i = 0; details != NULL && i < count; i++) {
        yajl_val value = object->u.object.values[i];
        const char *const key = object->u.object.keys[i];
        const char *const text = value->type == yajl_t_string   ? value->u.string
                                 : value->type == yajl_t_number ? value->u.number.r
                                                                : NULL;
        if (text != NULL) {
            details[kept++] = (plim_rehearsed_detail){
                .name = copy_text(copier, key, strlen(key)),
                .value = copy_text(copier, text, strlen(text)),
            };
        }
    }
    ret->details = details;
    ret->detail_count = kept;
    return details != NULL;
}

/* The word, if the format has it; else NULL. */
static const char *known_word(const char *word, const char *const *words)
{
    for (size_t i = 0; word != NULL && words[i] != NULL; i++) {
        if (strcmp(word, words[i]) == 0) {
            return words[i];
        }
    }
    return NULL;
}

/* True in *ret_is_one if it is a technique: it has a name. False: no memory. */
static bool read_technique(yajl_val item, plim_json_copier *copier, plim_rehearsed_technique *ret,
                           bool *ret_is_one)
{
    static const char *const states[] = { "applied", "refused", "no_effect", "waiting", NULL };
    static const char *const labels[] = { "same", "in_expectation", "changed", NULL };
    const char *const value = plim_json_get_string(item, "value", copier);
    const char *const state = known_word(plim_json_get_string(item, "state", copier), states);
    *ret = (plim_rehearsed_technique){
        .name = plim_json_get_string(item, "name", copier),
        .value = value != NULL ? value : "",
        .state = state != NULL ? state : "waiting",
        .text = plim_json_get_string(item, "text", copier),
        .label = known_word(plim_json_get_string(item, "label", copier), labels),
        .label_text = plim_json_get_string(item, "label_text", copier),
    };
    *ret_is_one = ret->name != NULL;
    return read_places(item, copier, ret) && read_details(item, copier, ret);
}

static bool read_techniques(yajl_val root, plim_json_copier *copier, plim_with_report *ret)
{
    yajl_val array = plim_json_get(root, "techniques");
    const size_t count = plim_min(plim_json_length(array), TECHNIQUES_MAX);
    plim_rehearsed_technique *techniques =
        plim_arena_alloc(copier->arena, count * sizeof(*techniques));
    bool is_kept = techniques != NULL;
    size_t kept = 0;
    for (size_t i = 0; is_kept && i < count; i++) {
        bool is_one = false;
        is_kept = read_technique(plim_json_item(array, i), copier, &techniques[kept], &is_one);
        kept += is_one;
    }
    ret->techniques = techniques;
    ret->technique_count = kept;
    return is_kept;
}

plim_status plim_with_take(yajl_val root, const char *name, plim_arena *arena,
                           plim_with_report *ret, plim_error *err)
{
    plim_json_copier copier = { .arena = arena };
    if (plim_json_get_u64(root, "version") != FORMAT_VERSION) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "%s: a report of techniques of another version than %d", name,
                         FORMAT_VERSION);
    }
    plim_with_report report = { .pid = (int64_t)plim_json_get_u64(root, "pid") };
    const bool is_kept =
        read_techniques(root, &copier, &report) &&
        plim_json_get_strings(root, "warnings", &copier, &report.warnings, &report.warning_count);
    if (!is_kept || copier.is_out_of_memory) {
        return plim_fail_memory(err, "reading what became of techniques");
    }
    *ret = report;
    return PLIM_OK;
}

/* ---- all of a folder ------------------------------------------------------------------------- */

static plim_status read_text(const char *path, const char *text, plim_arena *arena,
                             plim_with_report *ret, plim_error *err)
{
    yajl_val root = NULL;
    PLIM_TRY(plim_json_read_text(path, text, &root, err));
    const plim_status status = plim_with_take(root, path, arena, ret, err);
    yajl_tree_free(root);
    return status;
}

static plim_status read_file(const char *folder, const char *name, plim_arena *arena,
                             plim_with_report *ret, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    char *text = NULL;
    PLIM_TRY(plim_folder_join(path, sizeof(path), folder, name, err));
    PLIM_TRY(plim_json_load_text(path, &text, err));
    plim_status status = read_text(path, text, arena, ret, err);
    if (status == PLIM_OK) {
        ret->text = plim_arena_copy(arena, text, strlen(text));
        status = ret->text != NULL ? PLIM_OK : plim_fail_memory(err, "reading a report");
    }
    free(text);
    return status;
}

/* A file that cannot be read is a line of `unread`. False: no memory. */
static bool add_report(const char *folder, const char *name, plim_arena *arena, report_list *found,
                       text_list *unread)
{
    plim_with_report report;
    plim_error err = { 0 };
    const plim_status status = read_file(folder, name, arena, &report, &err);
    if (status == PLIM_OK) {
        return PLIM_VEC_PUSH(arena->mem, found, report);
    }
    const char *const line = plim_arena_copy(arena, err.message, strlen(err.message));
    return status != PLIM_OUT_OF_HOST_MEMORY && line != NULL &&
           PLIM_VEC_PUSH(arena->mem, unread, line);
}

static bool read_folder(const char *folder, plim_arena *arena, report_list *found,
                        text_list *unread)
{
    DIR *const entries = opendir(folder);
    if (entries == NULL) {
        return errno != ENOMEM; /* no process reported anything */
    }
    bool is_kept = true;
    for (const struct dirent *entry = readdir(entries);
         is_kept && entry != NULL && found->count < REPORTS_MAX; entry = readdir(entries)) {
        const char *const dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".json") == 0) {
            is_kept = add_report(folder, entry->d_name, arena, found, unread);
        }
    }
    (void)closedir(entries);
    return is_kept;
}

static int by_pid(const void *a, const void *b)
{
    const plim_with_report *x = a;
    const plim_with_report *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* To the arena, where they stay. */
static bool keep_reports(plim_arena *arena, const report_list *found, const text_list *unread,
                         plim_with_reports *ret)
{
    plim_with_report *items = plim_arena_alloc(arena, found->count * sizeof(*items));
    const char **lines = plim_arena_alloc(arena, unread->count * sizeof(*lines));
    if (items == NULL || lines == NULL) {
        return false;
    }
    if (found->count > 0) {
        memcpy(items, found->items, found->count * sizeof(*items));
        qsort(items, found->count, sizeof(*items), by_pid);
    }
    for (size_t i = 0; i < unread->count; i++) {
        lines[i] = unread->items[i];
    }
    *ret = (plim_with_reports){
        .items = items, .count = found->count, .unread = lines, .unread_count = unread->count
    };
    return true;
}

plim_status plim_with_read(const char *folder, plim_arena *arena, plim_with_reports *ret,
                           plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    report_list found = { 0 };
    text_list unread = { 0 };
    PLIM_TRY(plim_folder_join(path, sizeof(path), folder, PLIM_RUN_WITH, err));
    const bool is_kept =
        read_folder(path, arena, &found, &unread) && keep_reports(arena, &found, &unread, ret);
    PLIM_VEC_FREE(arena->mem, &found);
    PLIM_VEC_FREE(arena->mem, &unread);
    return is_kept ? PLIM_OK : plim_fail_memory(err, "reading what became of techniques");
}

/* ---- all processes together ------------------------------------------------------------------ */

/* Larger: it says more of the program. One process of many may have nothing to apply it to. */
static int weight_of(const char *state)
{
    static const char *const states[] = { "waiting", "no_effect", "refused", "applied" };
    int weight = 0;
    for (int i = 0; i < (int)(sizeof(states) / sizeof(states[0])); i++) {
        weight = strcmp(state, states[i]) == 0 ? i : weight;
    }
    return weight;
}

/* Puts what the reports say of it in the place of *one. */
static void find_best(const plim_with_reports *reports, plim_rehearsed_technique *one)
{
    bool is_found = false;
    for (size_t i = 0; i < reports->count; i++) {
        for (size_t j = 0; j < reports->items[i].technique_count; j++) {
            const plim_rehearsed_technique *const other = &reports->items[i].techniques[j];
            const bool is_it =
                strcmp(other->name, one->name) == 0 && strcmp(other->value, one->value) == 0;
            if (is_it && (!is_found || weight_of(other->state) > weight_of(one->state))) {
                *one = *other;
                is_found = true;
            }
        }
    }
}

/* Of a line "checkpoint=every:2", before any process has said a word. False: no memory. */
static bool begin_technique(const char *line, size_t length, plim_arena *arena,
                            plim_rehearsed_technique *ret)
{
    const char *const equals = memchr(line, '=', length);
    const size_t name_length = equals != NULL ? (size_t)(equals - line) : length;
    const size_t value_at = equals != NULL ? name_length + 1 : length;
    *ret = (plim_rehearsed_technique){
        .name = plim_arena_copy(arena, line, name_length),
        .value = plim_arena_copy(arena, line + value_at, length - value_at),
        .state = "waiting",
    };
    return ret->name != NULL && ret->value != NULL;
}

static size_t count_lines(const char *lines)
{
    size_t count = lines[0] != '\0';
    for (const char *at = strchr(lines, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
        count++;
    }
    return count;
}

static bool join_lines(const char *lines, const plim_with_reports *reports, plim_arena *arena,
                       plim_rehearsed_technique *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(lines, "\n");
        if (!begin_technique(lines, length, arena, &all[i])) {
            return false;
        }
        find_best(reports, &all[i]);
        lines += length + (lines[length] == '\n');
    }
    return true;
}

plim_status plim_with_join(const char *lines, const plim_with_reports *reports, plim_arena *arena,
                           const plim_rehearsed_technique **ret, size_t *ret_count, plim_error *err)
{
    const plim_with_report *const first = reports->count > 0 ? &reports->items[0] : NULL;
    const size_t count = lines != NULL   ? count_lines(lines)
                         : first != NULL ? first->technique_count
                                         : 0;
    plim_rehearsed_technique *all = plim_arena_alloc(arena, count * sizeof(*all));
    if (all == NULL || (lines != NULL && !join_lines(lines, reports, arena, all, count))) {
        return plim_fail_memory(err, "gathering what became of techniques");
    }
    for (size_t i = 0; lines == NULL && i < count; i++) {
        all[i] = first->techniques[i];
        find_best(reports, &all[i]);
    }
    *ret = all;
    *ret_count = count;
    return PLIM_OK;
}

const plim_rehearsed_technique *plim_rehearsal_refused(const plim_rehearsal_outcome *outcome)
{
    for (size_t i = 0; i < outcome->technique_count; i++) {
        if (strcmp(outcome->techniques[i].state, "refused") == 0) {
            return &outcome->techniques[i];
        }
    }
    return NULL;
}
