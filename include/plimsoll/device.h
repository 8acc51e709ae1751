/*
 * plimsoll/device.h - where device memory comes from: one table of functions, three that fill it.
 *
 *   sim    addresses and counters only; capacity, costs and failures are parameters
 *   host   real memory, mapped for real: what is written to a device address can be read back
 *   cuda   a GPU, through the driver API found at run time; nothing links to CUDA
 *
 * A program may fill a table of its own. Addresses and handles are integers and mean something to
 * their device alone. Being out of device memory is an ordinary answer
 * (PLIM_OUT_OF_DEVICE_MEMORY); any other failure is one.
 *
 * Thread safety: every function may be called from any thread at any time.
 */
#ifndef PLIMSOLL_DEVICE_H
#define PLIMSOLL_DEVICE_H

#include "plimsoll/addr.h"
#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

typedef uint64_t plim_handle; /* one piece of physical memory; never 0 */
typedef uint64_t plim_fence;  /* an event of the device: recorded on a stream, later complete */

#define PLIM_DEVICE_NAME_BYTES 64

typedef struct plim_device_properties {
    char name[PLIM_DEVICE_NAME_BYTES]; /* "NVIDIA H100 80GB HBM3", "sim", … */
    int32_t ordinal;
    uint64_t total_bytes;
    uint64_t granularity_bytes; /* handles and mappings are multiples of it; 0: cannot map */
    bool has_rdma;              /* physical memory can be made visible to network cards */
    bool has_fd_export;         /* handles can leave the process as file descriptors */
    bool has_fabric_export;     /* … as 64-byte fabric handles */
    bool is_host_readable;      /* device addresses are addresses of this process */
} plim_device_properties;

/* The form in which a handle leaves the process, if at all. */
typedef enum plim_share {
    PLIM_SHARE_NONE,
    PLIM_SHARE_FD,     /* 4 bytes: an int, the caller's to close() */
    PLIM_SHARE_FABRIC, /* 64 bytes */
} plim_share;

#define PLIM_SHARE_BYTES_MAX 64

/* A process that holds memory of a device, as far as the driver reports. */
typedef struct plim_device_process {
    int64_t pid;
    uint64_t used_bytes; /* or PLIM_USED_UNKNOWN */
} plim_device_process;

#define PLIM_USED_UNKNOWN UINT64_MAX

/*
 * The table. `self` is the device's own. Entries marked "may be NULL" say what that means; all
 * others are there. Sizes are bytes. What makes no sense (an unknown address, a part of a handle)
 * is refused and changes nothing: by sim and host with PLIM_INVALID_ARGUMENT, by cuda with what
 * the driver says. The table lives as long as its device.
 */
typedef struct plim_device_ops {
    void (*properties)(void *self, plim_device_properties *ret);
    plim_status (*info)(void *self, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes,
                        plim_error *err);

    /* --- plain memory: cudaMalloc, cudaFree; freeing waits for the device --- */
    plim_status (*memory_alloc)(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err);
    plim_status (*memory_free)(void *self, plim_addr addr, plim_error *err);

    /* --- address ranges and their physical memory; all may be NULL: cannot map --- */
    plim_status (*range_reserve)(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err);
    plim_status (*range_free)(void *self, plim_addr addr, uint64_t bytes, plim_error *err);
    plim_status (*handle_create)(void *self, uint64_t bytes, plim_share share,
                                 plim_handle *ret_handle, plim_error *err);
    plim_status (*handle_release)(void *self, plim_handle handle, plim_error *err);
    plim_status (*handle_export)(void *self, plim_handle handle, plim_share share, void *data,
                                 plim_error *err); /* writes 4 or 64 bytes */
    plim_status (*map)(void *self, plim_addr addr, uint64_t bytes, plim_handle handle,
                       plim_error *err); /* a whole handle */
    plim_status (*unmap)(void *self, plim_addr addr, uint64_t bytes, plim_error *err);
    /* Lets the device with ordinal `accessor` read and write a mapped range. */
    plim_status (*set_access)(void *self, plim_addr addr, uint64_t bytes, int32_t accessor,
                              plim_error *err);

    /* --- streams --- */
    plim_status (*stream_create)(void *self, plim_stream *ret_stream, plim_error *err);
    plim_status (*stream_destroy)(void *self, plim_stream stream, plim_error *err);
    plim_status (*stream_synchronize)(void *self, plim_stream stream, plim_error *err);
    bool (*stream_is_capturing)(void *self, plim_stream stream); /* may be NULL: never */
    plim_status (*synchronize)(void *self, plim_error *err);     /* the whole device */

    /* --- fences: cudaEvent without timing --- */
    plim_status (*fence_create)(void *self, plim_fence *ret_fence, plim_error *err);
    plim_status (*fence_destroy)(void *self, plim_fence fence, plim_error *err);
    plim_status (*fence_record)(void *self, plim_fence fence, plim_stream stream, plim_error *err);
    plim_status (*fence_query)(void *self, plim_fence fence, bool *ret_complete, plim_error *err);
    plim_status (*fence_synchronize)(void *self, plim_fence fence, plim_error *err);

    /* --- contents, in stream order; sim keeps none, reads give zeros --- */
    plim_status (*fill)(void *self, plim_addr addr, uint8_t value, uint64_t bytes,
                        plim_stream stream, plim_error *err);
    plim_status (*copy)(void *self, plim_addr to, plim_addr from, uint64_t bytes,
                        plim_stream stream, plim_error *err);
    plim_status (*read)(void *self, void *to, plim_addr from, uint64_t bytes, plim_error *err);
    plim_status (*write)(void *self, plim_addr to, const void *from, uint64_t bytes,
                         plim_error *err);

    /* Up to `capacity` processes in the driver's order; returns how many. May be NULL, or return
     * 0: unknown. */
    size_t (*processes)(void *self, plim_device_process *ret, size_t capacity);
    void (*destroy)(void *self);
} plim_device_ops;

typedef struct plim_device {
    const plim_device_ops *ops;
    void *self;
} plim_device;

/** Free a device made by one of the functions below. NULL and a zeroed device are allowed. */
PLIM_API void plim_device_destroy(plim_device *device);

/* --- sim --- */

/* The calls a sim device can report and fail, in the words of the CUDA API. */
#define PLIM_DEVICE_CALL_LIST(X)                \
    X(PLIM_CALL_MEMORY_ALLOC, "malloc")         \
    X(PLIM_CALL_MEMORY_FREE, "free")            \
    X(PLIM_CALL_RANGE_RESERVE, "reserve")       \
    X(PLIM_CALL_RANGE_FREE, "unreserve")        \
    X(PLIM_CALL_HANDLE_CREATE, "create")        \
    X(PLIM_CALL_HANDLE_RELEASE, "release")      \
    X(PLIM_CALL_HANDLE_EXPORT, "export")        \
    X(PLIM_CALL_MAP, "map")                     \
    X(PLIM_CALL_UNMAP, "unmap")                 \
    X(PLIM_CALL_SET_ACCESS, "access")           \
    X(PLIM_CALL_STREAM_SYNC, "stream_sync")     \
    X(PLIM_CALL_DEVICE_SYNC, "device_sync")     \
    X(PLIM_CALL_FENCE_CREATE, "event_create")   \
    X(PLIM_CALL_FENCE_DESTROY, "event_destroy") \
    X(PLIM_CALL_FENCE_RECORD, "event_record")   \
    X(PLIM_CALL_FENCE_QUERY, "event_query")     \
    X(PLIM_CALL_FENCE_SYNC, "event_sync")       \
    X(PLIM_CALL_INFO, "mem_info")

typedef enum plim_device_call {
#define PLIM_DEVICE_CALL_ENUM(code, name) code,
    PLIM_DEVICE_CALL_LIST(PLIM_DEVICE_CALL_ENUM)
#undef PLIM_DEVICE_CALL_ENUM
        PLIM_DEVICE_CALL_COUNT
} plim_device_call;

PLIM_API const char *plim_device_call_name(plim_device_call call);

/* One call as it ended. Fields a call has no use for are 0. */
typedef struct plim_device_record {
    plim_device_call call;
    plim_status status;
    int32_t ordinal;
    plim_addr addr;     /* of the range or allocation */
    uint64_t bytes;     /* requested; free and release: what was held */
    plim_handle handle; /* create, release, map, export */
    plim_stream stream; /* record, stream_sync */
    plim_fence fence;
    int32_t accessor; /* access */
    bool is_complete; /* query */
} plim_device_record;

/* The cost of driver calls: a call of each kind, and each MiB of it. */
typedef struct plim_driver_costs {
    double call_us[PLIM_DEVICE_CALL_COUNT];
    double mib_us[PLIM_DEVICE_CALL_COUNT];
} plim_driver_costs;

/* All zero but total_bytes is a valid default. */
typedef struct plim_sim_options {
    const plim_mem *mem; /* NULL: the C heap */
    int32_t ordinal;
    uint64_t total_bytes;       /* what the device has */
    uint64_t used_bytes;        /* of it, what others hold: contexts, libraries, processes */
    uint64_t granularity_bytes; /* 0: 2 MiB; plain memory is taken in whole granules too */
    bool cannot_map;            /* leaves out the entries for mapping */
    bool has_manual_fences; /* fences complete when plim_sim_complete() says so, not at once … */
    plim_stream manual_first; /* … those recorded on so many streams from this handle on; */
    uint64_t manual_count;    /* 0: on any stream */
    bool is_unshared;         /* one thread at a time calls: no lock is taken */
    plim_driver_costs costs;  /* on the virtual clock */
    const char *name;         /* NULL: "sim" */
    /* Called before plain memory or a range is placed, unless plim_sim_place_next() has said where:
     * the address wanted, as there, or 0. Under the lock, too. NULL: none. */
    plim_addr (*place)(void *ctx, plim_device_call call, uint64_t bytes);
    void *place_ctx;
    /* Called after every call, in order, with the device's lock held: no calls back. NULL: none. */
    void (*on_call)(void *ctx, const plim_device_record *record);
    void *on_call_ctx;
} plim_sim_options;

/**
 * Make a device of addresses and counters.
 *
 * Placement is first fit, lowest address first, in whole granules, so addresses are the same in
 * every run. Ranges of ordinal 0 start at 0x700000000000, those of ordinals 1 to 15 each
 * 0x070000000000 below the one before; plain memory of ordinal i starts at 0x7a0000000000 +
 * i * 256 GiB. What does not fit its window there goes on above 1 << 48 (ranges) and 1 << 52.
 * Devices of different ordinals never share an address. Any stream may be named, created or not.
 *
 * errors       PLIM_INVALID_ARGUMENT (an ordinal above 31, no bytes or over 64 TiB, a granularity
 *              that is no power of two up to 1 GiB), PLIM_OUT_OF_HOST_MEMORY
 * ret_device   the caller's, until plim_device_destroy()
 */
PLIM_API PLIM_MUST_USE plim_status plim_sim_create(const plim_sim_options *options,
                                                   plim_device *ret_device, plim_error *err);

/**
 * Say where the next plain memory or range is to be, once, if all of it is free there then;
 * otherwise, and with 0, the device chooses. For replays: which addresses a driver gave is part
 * of a recording. Any address of at least 2 MiB and below 2^56 may be named, also outside of where
 * the device places by itself.
 */
PLIM_API void plim_sim_place_next(const plim_device *device, plim_addr addr);
/** Complete what was recorded so far on one stream, or on all of them. */
PLIM_API void plim_sim_complete(const plim_device *device, plim_stream stream);
PLIM_API void plim_sim_complete_all(const plim_device *device);
/** Complete the first `count` fences that ever are recorded on a stream, also those to come.
 * Errors: PLIM_OUT_OF_HOST_MEMORY. */
PLIM_API PLIM_MUST_USE plim_status plim_sim_complete_first(const plim_device *device,
                                                           plim_stream stream, uint64_t count);
/** Say whether fences complete when the host waits for their stream or frees memory: at first they
 * do. Waiting for a fence itself completes it always. */
PLIM_API void plim_sim_set_waiting(const plim_device *device, bool completes_fences);
/** Say that a stream is, or is no longer, recorded into a graph. */
PLIM_API void plim_sim_set_capturing(const plim_device *device, plim_stream stream, bool capturing);
/** Sets the bytes that other processes hold of the device. */
PLIM_API void plim_sim_set_used(const plim_device *device, uint64_t used_bytes);
/** Fail the nth call of a kind from now on (1 is the next) with `status`; 0: no more failing. */
PLIM_API void plim_sim_fail(const plim_device *device, plim_device_call call, uint64_t nth,
                            plim_status status);

/* Sums over calls. */
typedef struct plim_sim_counts {
    uint64_t calls[PLIM_DEVICE_CALL_COUNT];
    double clock_us;   /* the virtual clock */
    uint64_t refusals; /* calls for which there was no memory */
} plim_sim_counts;

/** Counts since the device was made, or since they were taken: taking them begins anew. */
PLIM_API plim_sim_counts plim_sim_count(const plim_device *device);
PLIM_API plim_sim_counts plim_sim_take_counts(const plim_device *device);
/** Of these the calls of one kind, or (PLIM_DEVICE_CALL_COUNT) of all. */
PLIM_API uint64_t plim_sim_calls(const plim_device *device, plim_device_call call);
/** Bytes that are taken: plain memory and physical handles, without used_bytes. */
PLIM_API uint64_t plim_sim_taken_bytes(const plim_device *device);

/* --- host --- */

typedef struct plim_host_options {
    const plim_mem *mem; /* NULL: the C heap */
    int32_t ordinal;
    uint64_t total_bytes;       /* how much may be taken; pages are only used when written to */
    uint64_t granularity_bytes; /* 0: 2 MiB */
} plim_host_options;

/**
 * Make a device on this machine's own memory: memfd for handles, mmap for mappings.
 *
 * Work is done at once, so fences are complete when they are recorded. Handles can be shared as
 * PLIM_SHARE_FD; the descriptor is a memfd of the handle's size. The kernel's limits on mappings
 * and addresses are PLIM_OUT_OF_DEVICE_MEMORY, with errno in err->native.
 *
 * errors       PLIM_INVALID_ARGUMENT (a negative ordinal, no bytes or over 64 TiB, a granularity
 *              that is no power of two from a page to 1 GiB), PLIM_IO, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_host_create(const plim_host_options *options,
                                                    plim_device *ret_device, plim_error *err);

/* --- cuda --- */

typedef struct plim_cuda_options {
    const plim_mem *mem; /* NULL: the C heap */
    int32_t ordinal;
    const char *driver_path; /* NULL: $PLIMSOLL_CUDA_DRIVER, else libcuda.so.1 */
    const char *nvml_path;   /* NULL: $PLIMSOLL_NVML, else libnvidia-ml.so.1; "": none */
} plim_cuda_options;

/**
 * Open a GPU: the device's primary context is retained until the device is destroyed.
 *
 * errors   PLIM_UNSUPPORTED (no driver, or it lacks a function: the message names it),
 *          PLIM_INVALID_ARGUMENT (no such ordinal), PLIM_IO (the driver refused; err->native is
 *          its CUresult)
 */
PLIM_API PLIM_MUST_USE plim_status plim_cuda_open(const plim_cuda_options *options,
                                                  plim_device *ret_device, plim_error *err);
/** The number of GPUs that a driver shows; 0: no driver. */
PLIM_API int32_t plim_cuda_count(const char *driver_path);

PLIM_END_DECLS

#endif
