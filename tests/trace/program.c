/*
 * program.c - doing things at random, and comparing.
 */
#include "trace/program.h"

#include <unistd.h>

static plim_addr slot_addr(size_t device, size_t slot)
{
    return (UINT64_C(0x7000) + device) << 32 | slot * T_SLOT_BYTES;
}

void t_program_init(t_program *program, size_t devices)
{
    memset(program, 0, sizeof *program);
    program->device_count = devices;
    program->time_ns = UINT64_C(1700000000000000000);
    for (size_t d = 0; d < devices; d++) {
        for (size_t i = 0; i < T_SLOTS; i++) {
            t_slot *const slot = &program->devices[d].slots[i];
            slot->is_expandable = i % 3 == 0;
            slot->is_small = i % 4 == 1;
            slot->stream = i % 5 == 4 ? UINT64_C(0x55aa00001234) : 0;
            slot->pool.a = i % 6 == 5 ? 3 : 0;
            slot->pool.b = i % 7 == 6 ? UINT64_C(1) << 40 : 0;
        }
    }
}

void t_program_deinit(t_program *program)
{
    free(program->events);
}

static void tell_stack(t_program *program, uint32_t stack)
{
    char file[16];
    char name[16];
    if (stack == PLIM_NONE || program->is_recorded[stack]) {
        return;
    }
    (void)snprintf(file, sizeof file, "f%u.py", stack % 7);
    (void)snprintf(name, sizeof name, "n%u", stack);
    const plim_foreign_frame frames[] = { { file, name, stack }, { "main.py", NULL, 1 } };
    const uint64_t address = 0x1000 + stack;
    const plim_stack_record record = { .id = stack,
                                       .addresses = &address,
                                       .address_count = 1,
                                       .foreign = frames,
                                       .foreign_count = 2 };
    if (program->sink.stack != NULL) {
        program->sink.stack(program->sink.ctx, &record);
    }
    program->is_recorded[stack] = true;
}

static void tell(t_program *program, plim_event event)
{
    program->time_ns += t_random_bytes(0, 4000000);
    event.time_ns = (int64_t)program->time_ns;
    tell_stack(program, event.stack);
    if (program->count == program->capacity) {
        program->capacity = program->capacity * 2 + 1024;
        program->events = realloc(program->events, program->capacity * sizeof *program->events);
        T_NOT_NULL(program->events);
    }
    program->events[program->count++] = event;
    if (program->sink.event != NULL) {
        program->sink.event(program->sink.ctx, &event);
    }
}

static uint32_t any_stack(void)
{
    const uint64_t stack = t_random_between(0, T_STACKS);
    return stack == T_STACKS ? PLIM_NONE : (uint32_t)stack;
}

static plim_event event_of(size_t device, const t_slot *slot, plim_action action)
{
    return (plim_event){ .action = action,
                         .device = (int32_t)device,
                         .stream = slot->stream,
                         .pool = slot->pool,
                         .is_small = slot->is_small,
                         .stack = any_stack() };
}

/* --- segments --- */

static bool is_free(const t_device *device, plim_addr addr, uint64_t bytes)
{
    for (size_t i = 0; i < device->block_count; i++) {
        const t_block *const block = &device->blocks[i];
        if (addr < block->addr + block->bytes && block->addr < addr + bytes) {
            return false;
        }
    }
    return true;
}

static void change_pages(t_program *program, size_t d, size_t index, size_t first, size_t count,
                         bool maps)
{
    t_slot *const slot = &program->devices[d].slots[index];
    plim_event event =
        event_of(d, slot,
                 slot->is_expandable ? (maps ? PLIM_SEGMENT_MAP : PLIM_SEGMENT_UNMAP)
                                     : (maps ? PLIM_SEGMENT_ALLOC : PLIM_SEGMENT_FREE));
    event.addr = slot_addr(d, index) + first * T_PAGE_BYTES;
    event.bytes = count * T_PAGE_BYTES;
    for (size_t i = first; i < first + count; i++) {
        slot->is_mapped[i] = maps;
        slot->stack[i] = event.stack;
    }
    tell(program, event);
}

static void toggle_segment(t_program *program, size_t d, size_t index)
{
    t_device *const device = &program->devices[d];
    t_slot *const slot = &device->slots[index];
    size_t first = 0;
    size_t count = 0;
    if (!slot->is_expandable) {
        while (count < T_PAGES && slot->is_mapped[count]) {
            count++;
        }
        if (count == 0) {
            change_pages(program, d, index, 0, (size_t)t_random_between(1, T_PAGES), true);
            return;
        }
    } else {
        first = (size_t)t_random_between(0, T_PAGES - 1);
        while (first + count < T_PAGES && count < 4 &&
               slot->is_mapped[first + count] == slot->is_mapped[first]) {
            count++;
        }
        if (!slot->is_mapped[first]) {
            change_pages(program, d, index, first, count, true);
            return;
        }
    }
    if (is_free(device, slot_addr(d, index) + first * T_PAGE_BYTES, count * T_PAGE_BYTES)) {
        change_pages(program, d, index, first, count, false);
    }
}

/* --- blocks --- */

static void allocate(t_program *program, size_t d, size_t index)
{
    t_device *const device = &program->devices[d];
    t_slot *const slot = &device->slots[index];
    const uint64_t requested = t_random_bytes(1, 3 * T_PAGE_BYTES);
    uint64_t bytes = (requested + 511) / 512 * 512;
    bytes += t_random_between(0, 3) == 0 ? 512 * t_random_between(0, 300) : 0;
    const plim_addr offset = t_random_between(0, T_PAGES * T_PAGE_BYTES / 512) * 512;
    const plim_addr addr = slot_addr(d, index) + offset;
    if (device->block_count == T_LIVE_MAX || offset + bytes > T_PAGES * T_PAGE_BYTES ||
        !is_free(device, addr, bytes)) {
        return;
    }
    for (size_t i = (size_t)(offset / T_PAGE_BYTES); i * T_PAGE_BYTES < offset + bytes; i++) {
        if (!slot->is_mapped[i]) {
            return;
        }
    }
    plim_event event = event_of(d, slot, PLIM_ALLOC);
    event.addr = addr;
    event.bytes = requested;
    event.block_bytes = bytes;
    device->blocks[device->block_count++] = (t_block){
        .addr = addr, .bytes = bytes, .requested = requested, .stack = event.stack, .slot = index
    };
    tell(program, event);
}

static void release(t_program *program, size_t d)
{
    t_device *const device = &program->devices[d];
    if (device->block_count == 0) {
        return;
    }
    const size_t index = (size_t)t_random_between(0, device->block_count - 1);
    t_block *const block = &device->blocks[index];
    plim_event event = event_of(d, &device->slots[block->slot], PLIM_FREE_REQUESTED);
    event.addr = block->addr;
    event.bytes = block->requested;
    event.block_bytes = block->bytes;
    if (!block->is_pending) {
        tell(program, event);
        block->is_pending = true;
        if (t_random_between(0, 3) == 0) {
            return; /* another stream still uses it */
        }
    }
    event.action = PLIM_FREE_COMPLETED;
    *block = device->blocks[--device->block_count];
    tell(program, event);
}

void t_program_step(t_program *program)
{
    const size_t d = (size_t)t_random_between(0, program->device_count - 1);
    const size_t slot = (size_t)t_random_between(0, T_SLOTS - 1);
    const uint64_t what = t_random_between(0, 99);
    if (what < 55) {
        allocate(program, d, slot);
    } else if (what < 90) {
        release(program, d);
    } else if (what < 98) {
        toggle_segment(program, d, slot);
    } else {
        plim_event event = { .action = what == 98 ? PLIM_OOM : PLIM_SNAPSHOT,
                             .device = (int32_t)d,
                             .addr = what == 98 ? t_random() : 0,
                             .bytes = t_random_bytes(0, UINT64_MAX - 1),
                             .stack = any_stack() };
        tell(program, event);
    }
}

void t_program_run(t_program *program, size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        t_program_step(program);
    }
}

/* --- comparing --- */

static void expect_stack(const plim_history *history, uint32_t stack, uint32_t told)
{
    const plim_stack frames = plim_history_stack(history, stack);
    if (told == PLIM_NONE) {
        T_EQ_U64(frames.frame_count, 0);
        return;
    }
    char name[16];
    (void)snprintf(name, sizeof name, "n%u", told);
    T_EQ_U64(frames.frame_count, 3);
    const plim_frame *const inner = plim_history_frame(history, frames.frames[0]);
    T_EQ_STR(plim_history_string(history, inner->name, NULL), name);
    T_EQ_U64(inner->line, told);
    const plim_frame *const outer = plim_history_frame(history, frames.frames[1]);
    T_EQ_STR(plim_history_string(history, outer->filename, NULL), "main.py");
    const plim_frame *const native = plim_history_frame(history, frames.frames[2]);
    (void)snprintf(name, sizeof name, "0x%x", 0x1000 + told);
    T_EQ_STR(plim_history_string(history, native->name, NULL), name);
}

static const plim_device_history *find_device(const plim_history *history, int32_t number)
{
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_device_history *const device = plim_history_device(history, i);
        if (device->device == number) {
            return device;
        }
    }
    fail_msg("device %d is missing", number);
    return NULL;
}

static const t_block *find_block(const t_device *device, plim_addr addr)
{
    for (size_t i = 0; i < device->block_count; i++) {
        if (device->blocks[i].addr == addr) {
            return &device->blocks[i];
        }
    }
    return NULL;
}

/* Blocks tile the segment, those that are live are the program's, no two free ones touch. */
static uint64_t expect_blocks(const plim_history *history, const t_device *device,
                              const plim_device_history *got, const plim_segment *segment)
{
    plim_addr behind = segment->addr;
    uint64_t live = 0;
    bool was_free = false;
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *const block = &got->blocks[segment->block_first + i];
        const t_block *const wanted = find_block(device, block->addr);
        T_EQ_U64(block->addr, behind);
        behind += block->bytes;
        T_EQ_U64(wanted != NULL, block->state != PLIM_BLOCK_INACTIVE);
        T_FALSE(was_free && wanted == NULL);
        was_free = wanted == NULL;
        if (wanted != NULL) {
            live++;
            T_EQ_U64(block->bytes, wanted->bytes);
            T_EQ_U64(block->requested_bytes, wanted->requested);
            T_EQ_U64(block->state == PLIM_BLOCK_ACTIVE_PENDING_FREE, wanted->is_pending);
            expect_stack(history, block->stack, wanted->stack);
        }
    }
    T_EQ_U64(behind, segment->addr + segment->bytes);
    return live;
}

static void expect_device(const t_program *program, const plim_history *history, size_t d)
{
    const t_device *const device = &program->devices[d];
    const plim_device_history *const got = find_device(history, (int32_t)d);
    uint64_t live = 0;
    uint64_t next = 0;
    for (size_t i = 0; i < T_SLOTS; i++) {
        const t_slot *const slot = &device->slots[i];
        for (size_t page = 0; page < T_PAGES; page++) {
            const size_t first = page;
            while (page < T_PAGES && slot->is_mapped[page]) {
                page++;
            }
            if (page == first) {
                continue;
            }
            T_TRUE(next < got->segment_count);
            const plim_segment *const segment = &got->segments[next++];
            T_EQ_U64(segment->addr, slot_addr(d, i) + first * T_PAGE_BYTES);
            T_EQ_U64(segment->bytes, (page - first) * T_PAGE_BYTES);
            T_EQ_U64(segment->is_large, !slot->is_small);
            T_EQ_U64(segment->is_expandable, slot->is_expandable);
            T_EQ_U64(plim_history_stream(history, segment->stream), slot->stream);
            T_EQ_U64(segment->pool.a, slot->pool.a);
            T_EQ_U64(segment->pool.b, slot->pool.b);
            live += expect_blocks(history, device, got, segment);
        }
    }
    T_EQ_U64(next, got->segment_count);
    T_EQ_U64(live, device->block_count);
}

void t_program_expect_end(const t_program *program, const plim_history *history)
{
    for (size_t d = 0; d < program->device_count; d++) {
        expect_device(program, history, d);
    }
}

uint64_t t_program_events_of(const t_program *program, int32_t device, size_t first)
{
    uint64_t count = 0;
    for (size_t i = first; i < program->count; i++) {
        count += program->events[i].device == device;
    }
    return count;
}

static void expect_event(const plim_history *history, const plim_events *events, uint64_t row,
                         const plim_event *told)
{
    const plim_note *const note = plim_history_note(history, events->note[row]);
    T_EQ_U64(events->action[row], told->action);
    T_EQ_U64(events->addr[row], told->addr);
    T_EQ_U64(events->bytes[row], told->bytes);
    T_EQ_I64(events->time_us[row], told->time_ns / 1000);
    T_EQ_U64(plim_history_stream(history, events->stream[row]), told->stream);
    T_EQ_U64(note->pool.a, told->pool.a);
    T_EQ_U64(note->pool.b, told->pool.b);
    expect_stack(history, events->stack[row], told->stack);
}

void t_program_expect_events(const t_program *program, const plim_history *history, size_t first)
{
    for (size_t d = 0; d < program->device_count; d++) {
        const plim_device_history *const device = find_device(history, (int32_t)d);
        uint64_t row = 0;
        T_EQ_U64(device->events.count, t_program_events_of(program, (int32_t)d, first));
        for (size_t i = first; i < program->count; i++) {
            if (program->events[i].device == (int32_t)d) {
                expect_event(history, &device->events, row++, &program->events[i]);
            }
        }
    }
}

void t_path(char *path, size_t bytes, const char *name)
{
    const char *const folder = getenv("TMPDIR");
    (void)snprintf(path, bytes, "%s/plimsoll-%ld-%s", folder != NULL ? folder : "/tmp",
                   (long)getpid(), name);
}
