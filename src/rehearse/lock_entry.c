/*
 * lock_entry.c - a rehearsal as an entry of a lock.
 */
#include "rehearse/lock.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND_BYTES_MAX ((size_t)1 << 20)

typedef struct making {
    const plim_rehearsed *rehearsed;
    plim_lock *lock;
    plim_error *err;
} making;

/* "python train.py --batch 8": without the program's folder, and without the version in the name
 * of a Python, which differ between machines. NULL: no memory. */
static const char *command_of(const making *self)
{
    static const char python[] = "python";
    const char *const *const argv = self->rehearsed->argv;
    const char *const slash = strrchr(argv[0], '/');
    const char *const name = slash != NULL ? slash + 1 : argv[0];
    const bool is_python =
        strncmp(name, python, sizeof python - 1) == 0 &&
        strspn(name + sizeof python - 1, "0123456789.") == strlen(name + sizeof python - 1);
    plim_text text;
    plim_text_init(&text, self->lock->mem, COMMAND_BYTES_MAX);
    plim_text_append_string(&text, is_python ? python : name);
    for (size_t i = 1; argv[i] != NULL; i++) {
        plim_text_append_char(&text, ' ');
        plim_text_append_string(&text, argv[i]);
    }
    const char *const kept =
        text.status == PLIM_OUT_OF_HOST_MEMORY
            ? NULL
            : plim_arena_copy(&self->lock->arena, plim_text_string(&text), text.length);
    plim_text_deinit(&text);
    return kept;
}

static const char *copy(const making *self, const char *text)
{
    return plim_arena_copy(&self->lock->arena, text, strlen(text));
}

static plim_status add_phases(const making *self, const plim_rehearsed_device *device,
                              plim_lock_peak *peak)
{
    if (device->phase_count == 0) {
        return PLIM_OK;
    }
    plim_lock_phase *const phases =
        plim_arena_alloc(&self->lock->arena, device->phase_count * sizeof *phases);
    for (size_t i = 0; phases != NULL && i < device->phase_count; i++) {
        phases[i].allocated_bytes = device->phases[i].peak_allocated_bytes;
        phases[i].name = copy(self, device->phases[i].name);
        if (phases[i].name == NULL) {
            return plim_fail_memory(self->err, "keeping the peaks of phases");
        }
    }
    peak->phases = phases;
    peak->phase_count = device->phase_count;
    return phases != NULL ? PLIM_OK : plim_fail_memory(self->err, "keeping the peaks of phases");
}

static plim_status add_peak(const making *self, const plim_rehearsed_process *process,
                            const plim_rehearsed_device *device, plim_lock_peak *peaks,
                            size_t *count)
{
    plim_lock_peak peak = { .rank = process->rank,
                            .device = device->device,
                            .allocated_bytes = device->peak_allocated_bytes,
                            .reserved_bytes = device->peak_reserved_bytes };
    size_t at = 0;
    while (at < *count && (peaks[at].rank != peak.rank || peaks[at].device != peak.device)) {
        at++;
    }
    /* Of several processes without ranks the hungriest counts. */
    if (peak.allocated_bytes == 0 ||
        (at < *count && peaks[at].allocated_bytes >= peak.allocated_bytes)) {
        return PLIM_OK;
    }
    PLIM_TRY(add_phases(self, device, &peak));
    if (process->snapshot_path != NULL) {
        PLIM_TRY(plim_lock_groups_of(process->snapshot_path, device->device, &self->lock->arena,
                                     self->lock->mem, &peak, self->err));
    }
    peaks[at] = peak;
    *count += at == *count;
    return PLIM_OK;
}

static int compare_peaks(const void *left, const void *right)
{
    return plim_lock_peak_order(left, right);
}

static plim_status add_peaks(const making *self, plim_lock_entry *entry)
{
    const plim_rehearsal_outcome *const outcome = self->rehearsed->outcome;
    size_t room = 0;
    for (size_t i = 0; i < outcome->process_count; i++) {
        room += outcome->processes[i].device_count;
    }
    if (room == 0) {
        return PLIM_OK;
    }
    plim_lock_peak *const peaks = plim_arena_alloc(&self->lock->arena, room * sizeof *peaks);
    if (peaks == NULL) {
        return plim_fail_memory(self->err, "keeping peaks");
    }
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *const process = &outcome->processes[i];
        for (size_t k = 0; k < process->device_count; k++) {
            PLIM_TRY(add_peak(self, process, &process->devices[k], peaks, &entry->peak_count));
        }
    }
    if (entry->peak_count > 1) {
        qsort(peaks, entry->peak_count, sizeof *peaks, compare_peaks);
    }
    entry->peaks = peaks;
    return PLIM_OK;
}

static plim_status add_entry(const making *self, const plim_rehearse_options *options)
{
    const plim_rehearsal_outcome *const outcome = self->rehearsed->outcome;
    const char *const torch = outcome->process_count > 0 && outcome->processes[0].torch != NULL
                                  ? outcome->processes[0].torch
                                  : "";
    plim_lock_entry *const entry = plim_arena_alloc(&self->lock->arena, sizeof *entry);
    if (entry == NULL) {
        return plim_fail_memory(self->err, "making an entry of a lock");
    }
    *entry = (plim_lock_entry){
        .command = command_of(self),
        .gpu = copy(self, outcome->gpu->key),
        .device_count = outcome->device_count,
        .capacity_bytes = outcome->capacity_bytes,
        .steps = options->steps,
        .world_size = options->world_size,
        .rank = options->rank,
        .settings = copy(self, options->settings != NULL ? options->settings : ""),
        .torch = copy(self, torch),
        .device_use_bytes = plim_rehearsed_find_peak(outcome).device_bytes,
    };
    if (entry->command == NULL || entry->gpu == NULL || entry->settings == NULL ||
        entry->torch == NULL) {
        return plim_fail_memory(self->err, "making an entry of a lock");
    }
    PLIM_TRY(add_peaks(self, entry));
    return plim_lock_put(self->lock, entry, self->err);
}

plim_status plim_lock_of(const plim_rehearsed *rehearsed, const plim_rehearse_options *options,
                         const plim_mem *mem, plim_lock **ret, plim_error *err)
{
    making self = { .rehearsed = rehearsed, .err = err };
    PLIM_TRY(plim_lock_create(mem, &self.lock, err));
    const plim_status status = add_entry(&self, options);
    if (status != PLIM_OK) {
        plim_lock_destroy(self.lock);
        return status;
    }
    *ret = self.lock;
    return PLIM_OK;
}
