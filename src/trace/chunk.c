/*
 * chunk.c - appending chunks with write(2), and recognising them.
 *
 * A chunk goes to the system in one call where the system takes it so: what it has taken, it keeps
 * when the program is killed. There is no fsync(): a machine that loses its power loses the end.
 */
#include "trace/chunk.h"

#include "base/crc32.h"
#include "base/dynamic.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define WORTH_PACKING 256 /* bytes */

/* --- libzstd, looked for when the program runs --- */

#define LIBZSTD_LIST(X)   \
    X(ZSTD_compressBound) \
    X(ZSTD_compressCCtx)  \
    X(ZSTD_createCCtx)    \
    X(ZSTD_decompress)    \
    X(ZSTD_freeCCtx)      \
    X(ZSTD_isError)

/* Each member has its function's name and type. */
static struct {
#define MEMBER(name) __typeof__(name) *name;
    LIBZSTD_LIST(MEMBER)
#undef MEMBER
} libzstd; /* constant once looked for */
static bool has_libzstd;
static pthread_once_t libzstd_once = PTHREAD_ONCE_INIT;

static void look_for_libzstd(void)
{
#define NAME(name) #name,
    static const char *const names[] = { LIBZSTD_LIST(NAME) };
#undef NAME
    has_libzstd =
        plim_dynamic_open("libzstd.so.1", names, sizeof names / sizeof names[0], &libzstd);
}

/* Without it recordings are written uncompressed, and compressed ones cannot be read. */
static bool find_libzstd(void)
{
    (void)pthread_once(&libzstd_once, look_for_libzstd);
    return has_libzstd;
}

static void put_header(uint8_t *to, const plim_chunk *chunk, uint32_t payload_checksum)
{
    plim_put_u32(to, PLIM_CHUNK_MAGIC);
    plim_put_u16(to + 4, chunk->kind);
    to[6] = chunk->is_zstd ? PLIM_CHUNK_IS_ZSTD : 0;
    to[7] = chunk->plain;
    plim_put_u64(to + 8, chunk->number);
    plim_put_u32(to + 16, chunk->stored_bytes);
    plim_put_u32(to + 20, chunk->raw_bytes);
    plim_put_u32(to + 24, payload_checksum);
    plim_put_u32(to + 28, plim_crc32(to, 28));
}

/* --- writing --- */

static plim_status write_all(plim_chunk_file *file, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t written = write(file->fd, data, bytes);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return plim_fail_errno(&file->error, written == 0 ? ENOSPC : errno,
                                   "the recording cannot be written");
        }
        data += written;
        bytes -= (size_t)written;
        (void)atomic_fetch_add_explicit(&file->written_bytes, (uint64_t)written,
                                        memory_order_relaxed);
    }
    return PLIM_OK;
}

plim_status plim_chunk_file_open(plim_chunk_file *file, const char *path, uint32_t level,
                                 const plim_mem *mem, plim_error *err)
{
    uint8_t header[PLIM_FILE_HEADER_BYTES] = { 0 };
    *file = (plim_chunk_file){ .mem = mem, .fd = -1 };
    if (level > 0 && find_libzstd()) {
        file->level = level < 22 ? (int)level : 22;
        file->packer = libzstd.ZSTD_createCCtx();
        if (file->packer == NULL) {
            return plim_fail_memory(err, "starting a recording");
        }
    }
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        const int code = errno;
        plim_chunk_file_close(file);
        return plim_fail_errno(err, code, "\"%.200s\" cannot be created", path);
    }
    memcpy(header, plim_file_magic, sizeof plim_file_magic);
    plim_put_u16(header + 8, PLIM_FORMAT_VERSION);
    plim_put_u32(header + 12, plim_crc32(header, 12));
    const plim_status status = write_all(file, header, sizeof header);
    if (status != PLIM_OK) {
        if (err != NULL) {
            *err = file->error;
        }
        plim_chunk_file_close(file);
    }
    return status;
}

void plim_chunk_file_close(plim_chunk_file *file)
{
    if (file->fd >= 0) {
        /* What the system still had to say of what it took was said by write(), but on network
         * file systems. */
        if (close(file->fd) != 0 && errno != EINTR && file->error.status == PLIM_OK) {
            (void)plim_fail_errno(&file->error, errno, "the recording cannot be closed");
        }
        file->fd = -1;
    }
    if (file->packer != NULL) {
        (void)libzstd.ZSTD_freeCCtx(file->packer);
    }
    file->packer = NULL;
    plim_mem_free(file->mem, file->packed, file->packed_bytes, 1);
    file->packed = NULL;
    file->packed_bytes = 0;
}

/* Compresses the payload after its first `plain` bytes; 0 when that is not worth it. */
static size_t pack(plim_chunk_file *file, const uint8_t *payload, size_t bytes, size_t plain)
{
    if (file->level == 0 || bytes - plain < WORTH_PACKING) {
        return 0;
    }
    const size_t bound = libzstd.ZSTD_compressBound(bytes - plain);
    const size_t wanted = PLIM_CHUNK_HEADER_BYTES + plain + bound;
    if (wanted > file->packed_bytes) {
        uint8_t *const grown =
            plim_mem_resize(file->mem, file->packed, file->packed_bytes, wanted, 1);
        if (grown == NULL) {
            return 0; /* plain is right too */
        }
        file->packed = grown;
        file->packed_bytes = wanted;
    }
    uint8_t *const to = file->packed + PLIM_CHUNK_HEADER_BYTES;
    memcpy(to, payload, plain);
    const size_t packed = libzstd.ZSTD_compressCCtx(file->packer, to + plain, bound,
                                                    payload + plain, bytes - plain, file->level);
    if (libzstd.ZSTD_isError(packed) != 0 || packed >= bytes - plain ||
        (bytes - plain) / PLIM_CHUNK_ZSTD_GAIN_MAX >= packed) {
        return 0;
    }
    return plain + packed;
}

plim_status plim_chunk_write(plim_chunk_file *file, plim_chunk_kind kind, uint8_t *chunk,
                             size_t payload, uint8_t plain)
{
    if (file->error.status != PLIM_OK) {
        return file->error.status;
    }
    const size_t packed = pack(file, chunk + PLIM_CHUNK_HEADER_BYTES, payload, plain);
    uint8_t *const from = packed > 0 ? file->packed : chunk;
    const plim_chunk facts = { .kind = (uint16_t)kind,
                               .is_zstd = packed > 0,
                               .plain = plain,
                               .number = file->chunks,
                               .stored_bytes = (uint32_t)(packed > 0 ? packed : payload),
                               .raw_bytes = (uint32_t)payload };
    put_header(from, &facts, plim_crc32(from + PLIM_CHUNK_HEADER_BYTES, facts.stored_bytes));
    file->chunks++;
    return write_all(file, from, PLIM_CHUNK_HEADER_BYTES + (size_t)facts.stored_bytes);
}

/* --- reading --- */

static bool is_header(const uint8_t *at, const uint8_t *end)
{
    return end - at >= PLIM_CHUNK_HEADER_BYTES && plim_get_u32(at) == PLIM_CHUNK_MAGIC &&
           plim_get_u32(at + 28) == plim_crc32(at, 28);
}

plim_chunk_find plim_chunk_read(const uint8_t *at, const uint8_t *end, plim_chunk *ret_chunk)
{
    if (!is_header(at, end)) {
        return PLIM_CHUNK_FIND_NONE;
    }
    const plim_chunk chunk = { .kind = plim_get_u16(at + 4),
                               .is_zstd = (at[6] & PLIM_CHUNK_IS_ZSTD) != 0,
                               .plain = at[7],
                               .number = plim_get_u64(at + 8),
                               .stored = at + PLIM_CHUNK_HEADER_BYTES,
                               .stored_bytes = plim_get_u32(at + 16),
                               .raw_bytes = plim_get_u32(at + 20) };
    if (chunk.stored_bytes > (uint64_t)(end - chunk.stored)) {
        return PLIM_CHUNK_FIND_NONE;
    }
    *ret_chunk = chunk;
    const bool makes_sense = chunk.raw_bytes <= PLIM_CHUNK_PAYLOAD_MAX &&
                             chunk.plain <= chunk.stored_bytes && chunk.plain <= chunk.raw_bytes &&
                             (chunk.is_zstd || chunk.raw_bytes == chunk.stored_bytes);
    return makes_sense && plim_crc32(chunk.stored, chunk.stored_bytes) == plim_get_u32(at + 24)
               ? PLIM_CHUNK_FIND_WHOLE
               : PLIM_CHUNK_FIND_DAMAGED;
}

const uint8_t *plim_chunk_seek(const uint8_t *at, const uint8_t *end)
{
    const uint8_t first = PLIM_CHUNK_MAGIC & 0xff;
    while (end - at >= PLIM_CHUNK_HEADER_BYTES) {
        at = memchr(at, first, (size_t)(end - at));
        if (at == NULL) {
            break;
        }
        if (is_header(at, end)) {
            return at;
        }
        at++;
    }
    return end;
}

plim_status plim_chunk_unpack(const plim_chunk *chunk, const plim_mem *mem, plim_unpacked *room,
                              plim_trace_bytes *ret_payload)
{
    if (!chunk->is_zstd) {
        *ret_payload = (plim_trace_bytes){ chunk->stored, chunk->stored + chunk->stored_bytes };
        return PLIM_OK;
    }
    if (!find_libzstd()) {
        return PLIM_UNSUPPORTED;
    }
    const size_t packed = chunk->stored_bytes - chunk->plain;
    const size_t raw = chunk->raw_bytes - chunk->plain;
    if (raw / PLIM_CHUNK_ZSTD_GAIN_MAX > packed) {
        return PLIM_CORRUPT;
    }
    if (room->capacity < chunk->raw_bytes) {
        uint8_t *const grown =
            plim_mem_resize(mem, room->data, room->capacity, chunk->raw_bytes, 1);
        if (grown == NULL) {
            return PLIM_OUT_OF_HOST_MEMORY;
        }
        room->data = grown;
        room->capacity = chunk->raw_bytes;
    }
    if (room->capacity == 0) {
        return PLIM_CORRUPT;
    }
    memcpy(room->data, chunk->stored, chunk->plain);
    if (libzstd.ZSTD_decompress(room->data + chunk->plain, raw, chunk->stored + chunk->plain,
                                packed) != raw) {
        return PLIM_CORRUPT;
    }
    *ret_payload = (plim_trace_bytes){ room->data, room->data + chunk->raw_bytes };
    return PLIM_OK;
}
