/*
 * views.c - ready answers, as views over the tables. Each is one SELECT that can be read, copied
 * and changed: plimsoll query --schema=NAME prints it.
 */
#include "query/views.h"

#include "query/columns.h"
#include "query/database.h"

#define DEVICE_COLUMN   X(A, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")
#define STACK_COLUMN    X(A, "stack", INTEGER, "id in the table stacks, or NULL")
#define FRAME_COLUMN    X(A, "frame", TEXT, "the frame that speaks for the stack")
#define BYTES_COLUMN    X(A, "requested_bytes", INTEGER, "in all")
#define COUNT_COLUMN    X(A, "allocations", INTEGER, "their number")
#define CATEGORY_COLUMN X(A, "category", TEXT, "purpose of the memory")

#define X(code, shown, kind, words) PLIM_COLUMN_ROW(code, shown, kind, words)

static const plim_query_column by_stack[] = {
    DEVICE_COLUMN STACK_COLUMN BYTES_COLUMN COUNT_COLUMN FRAME_COLUMN
};

static const plim_query_column by_category[] = {
    DEVICE_COLUMN CATEGORY_COLUMN BYTES_COLUMN COUNT_COLUMN
};

static const plim_query_column churn[] = { DEVICE_COLUMN STACK_COLUMN COUNT_COLUMN BYTES_COLUMN X(
    A, "mean_lifetime_events", REAL, "from birth to free, of those with both")
                                               X(A, "mean_lifetime_us", REAL,
                                                 "likewise, in microseconds") FRAME_COLUMN };

static const plim_query_column largest[] = {
    DEVICE_COLUMN X(A, "id", INTEGER, "in the table allocations") BYTES_COLUMN CATEGORY_COLUMN X(
        A, "born_event", INTEGER, "its alloc; -1: it was there before the first event")
        X(A, "freed_event", INTEGER, "the event that ends it, or NULL") STACK_COLUMN FRAME_COLUMN
};

static const plim_query_column by_segment[] = {
    DEVICE_COLUMN X(A, "segment", INTEGER, "in the table segments")
        X(A, "bytes", INTEGER, "obtained from the driver")
            X(A, "allocated_bytes", INTEGER, "blocks that the program holds")
                X(A, "free_bytes", INTEGER, "that cannot be given back while a block is held")
                    X(A, "largest_free_bytes", INTEGER, "its largest free block")
                        X(A, "blocks", INTEGER, "that it is split into")
                            X(A, "fragmentation", REAL, "1 - allocated_bytes/bytes")
};

static const plim_query_column growth[] = {
    DEVICE_COLUMN X(A, "step", INTEGER, "its number, from 0")
        X(A, "peak_bytes", INTEGER, "its highest requested bytes")
            X(A, "end_bytes", INTEGER, "requested bytes after it")
                X(A, "growth_bytes", INTEGER, "end_bytes - start_bytes")
                    X(A, "total_growth_bytes", INTEGER, "growth of this step and all before it")
};

static const plim_query_column named[] = {
    DEVICE_COLUMN X(A, "moment", TEXT, "start, peak or end")
        X(A, "event", INTEGER, "the figures hold after it; -1: before the first")
            BYTES_COLUMN X(A, "allocated_bytes", INTEGER, "blocks of live allocations")
                X(A, "reserved_bytes", INTEGER, "all segments")
                    X(A, "live_count", INTEGER, "live allocations")
                        X(A, "fragmentation", REAL, "1 - allocated_bytes/reserved_bytes")
};

static const plim_query_column leaking[] = {
    DEVICE_COLUMN X(A, "id", TEXT, "of the finding")
        X(A, "certainty", TEXT, "possible, likely, certain") X(A, "bytes", INTEGER, "held in vain")
            X(A, "growth_bytes_per_step", REAL, "how fast it grows") STACK_COLUMN FRAME_COLUMN
};
#undef X

/* Allocations that a condition holds for, by stack. */
#define SUM_BY_STACK(rows)                                                                     \
    "SELECT device, stack, SUM(requested_bytes) AS requested_bytes, COUNT(*) AS allocations, " \
    "frame(stack) AS frame FROM " rows " GROUP BY device, stack ORDER BY requested_bytes DESC"

const plim_query_table plim_query_views[] = {
    { .name = "peak_by_stack",
      .meaning = "what was live at the peak, by stack, the largest first",
      PLIM_COLUMNS(by_stack),
      .view = SUM_BY_STACK("live('peak')") },
    { .name = "by_category_at_peak",
      .meaning = "what was live at the peak, by purpose, the largest first",
      PLIM_COLUMNS(by_category),
      .view = "SELECT device, category, SUM(requested_bytes) AS requested_bytes, "
              "COUNT(*) AS allocations FROM live('peak') GROUP BY device, category "
              "ORDER BY requested_bytes DESC" },
    { .name = "live_at_end",
      .meaning = "what no event ends, by stack, the largest first",
      PLIM_COLUMNS(by_stack),
      .view = SUM_BY_STACK("live('end')") },
    { .name = "never_freed",
      .meaning = "what was allocated in the recording and no event ends, by stack",
      PLIM_COLUMNS(by_stack),
      .view = SUM_BY_STACK("live('end') WHERE never_freed") },
    { .name = "temporaries",
      .meaning = "allocations of the category temporary, by stack",
      PLIM_COLUMNS(by_stack),
      .view = SUM_BY_STACK("allocations WHERE category = 'temporary'") },
    { .name = "churn_by_stack",
      .meaning = "how often each stack allocates, and for how long",
      PLIM_COLUMNS(churn),
      .view = "SELECT device, stack, COUNT(*) AS allocations, "
              "SUM(requested_bytes) AS requested_bytes, "
              "AVG(lifetime_events) AS mean_lifetime_events, "
              "AVG(lifetime_us) AS mean_lifetime_us, frame(stack) AS frame "
              "FROM allocations GROUP BY device, stack ORDER BY allocations DESC" },
    { .name = "largest_allocations",
      .meaning = "single allocations, the largest first",
      PLIM_COLUMNS(largest),
      .view = "SELECT device, id, requested_bytes, category, born_event, freed_event, stack, "
              "frame(stack) AS frame FROM allocations ORDER BY requested_bytes DESC" },
    { .name = "fragmentation_by_segment",
      .meaning = "segments that are partly used, the most free bytes first",
      PLIM_COLUMNS(by_segment),
      .view = "SELECT device, segment, bytes, allocated_bytes, free_bytes, largest_free_bytes, "
              "blocks, fragmentation FROM segments WHERE allocated_bytes > 0 AND free_bytes > 0 "
              "ORDER BY free_bytes DESC" },
    { .name = "steps_growth",
      .meaning = "requested bytes of each step, and how they grow",
      PLIM_COLUMNS(growth),
      .view = "SELECT device, step, peak_bytes, end_bytes, growth_bytes, "
              "SUM(growth_bytes) OVER (PARTITION BY device ORDER BY step) AS total_growth_bytes "
              "FROM steps" },
    { .name = "named_moments",
      .meaning = "the sums at the start, the peak and the end of each device",
      PLIM_COLUMNS(named),
      .view = "SELECT device, at AS moment, event, requested_bytes, allocated_bytes, "
              "reserved_bytes, live_count, fragmentation FROM (SELECT 'start' AS moment "
              "UNION ALL SELECT 'peak' UNION ALL SELECT 'end') AS names, moments(names.moment)" },
    { .name = "leaks",
      .meaning = "findings that speak for a leak",
      PLIM_COLUMNS(leaking),
      .view = "SELECT device, id, certainty, bytes, growth_bytes_per_step, stack, "
              "frame(stack) AS frame FROM findings WHERE verdict = 'leak'" },
};

const size_t plim_query_view_count = sizeof plim_query_views / sizeof plim_query_views[0];

int plim_query_add_views(plim_query *query)
{
    for (size_t i = 0; i < plim_query_view_count; i++) {
        char *const sql = sqlite3_mprintf("CREATE VIEW \"%w\" AS %s", plim_query_views[i].name,
                                          plim_query_views[i].view);
        const int code =
            sql != NULL ? sqlite3_exec(query->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}
