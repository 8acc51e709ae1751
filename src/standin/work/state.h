/*
 * state.h - what streams, events, captures and graphs are inside; for this folder alone.
 *
 * A stream that captures has a *tail*: the nodes that the next one will depend on. An event that
 * is recorded there takes a copy of the tail, and a stream that waits for the event takes it over,
 * which is how a capture forks and joins:
 *
 *     origin   A ── B ──────── E        tail {E}
 *                   │ event    │ event
 *     side          └─ C ── D ─┘        tail {D}, all of it before E: joined
 *
 * One lock guards everything here. Callbacks run without it.
 */
#ifndef PLIMSOLL_STANDIN_WORK_STATE_H
#define PLIMSOLL_STANDIN_WORK_STATE_H

#include "standin/work/clock.h"
#include "standin/work/work.h"

#include <stdbool.h>

typedef struct plim_standin_node plim_standin_node;
typedef struct plim_standin_graph plim_standin_graph;
typedef struct plim_standin_capture plim_standin_capture;
typedef struct plim_standin_user plim_standin_user;

/* A set of nodes in the order in which they came; each is in it once. */
typedef struct plim_standin_nodes {
    plim_standin_node **items;
    size_t count;
    size_t capacity;
} plim_standin_nodes;

struct plim_standin_node {
    plim_standin_work work;
    plim_standin_nodes before; /* what it depends on */
    plim_standin_graph *graph; /* it belongs to */
    plim_standin_graph *child; /* PLIM_WORK_GRAPH: a clone, the node's own */
    void *event;               /* PLIM_WORK_EVENT_…: its handle */
    size_t index;              /* in its graph */
    uint64_t mark;             /* of the last walk that came by */
};

typedef struct plim_standin_user_reference {
    plim_standin_user *user;
    unsigned count;
} plim_standin_user_reference;

struct plim_standin_graph {
    void *handle; /* NULL: an internal clone */
    plim_standin_node **nodes;
    size_t node_count;
    size_t node_capacity;
    plim_standin_user_reference *users; /* user objects it holds */
    size_t user_count;
    plim_standin_capture *capture; /* that is putting nodes into it now */
};

typedef struct plim_standin_exec {
    void *handle;
    plim_standin_graph *graph; /* it belongs to */
    uint64_t flags;
    unsigned uses;  /* one for the handle, one for each launch under way */
    uint32_t place; /* device on the stage, which holds so much for it: */
    uint64_t bytes;
} plim_standin_exec;

struct plim_standin_user {
    void *handle;
    void *data;
    void (*destroy)(void *);
    uint64_t uses;
    plim_standin_user *next; /* among those that are about to be destroyed */
};

typedef struct plim_standin_stream {
    void *handle; /* NULL for a thread's own stream */
    uint64_t id;
    int device;
    int priority;
    unsigned flags;                /* 1: cudaStreamNonBlocking */
    plim_standin_capture *capture; /* it is part of; NULL for none */
    plim_standin_nodes tail;
    plim_standin_clock *clock;
    struct plim_standin_stream *next; /* in the same capture */
} plim_standin_stream;

typedef enum plim_standin_capture_mode { /* cudaStreamCaptureMode */
                                         PLIM_CAPTURE_MODE_GLOBAL = 0,
                                         PLIM_CAPTURE_MODE_THREAD_LOCAL = 1,
                                         PLIM_CAPTURE_MODE_RELAXED = 2
} plim_standin_capture_mode;

struct plim_standin_capture {
    uint64_t id;
    uint64_t thread; /* that began it; plim_standin_thread() */
    plim_standin_capture_mode mode;
    bool is_invalid;
    bool owns_graph; /* false: begun with an existing graph */
    plim_standin_graph *graph;
    plim_standin_stream *origin;
    plim_standin_stream *streams; /* all of it, the origin too */
    plim_standin_nodes dropped;   /* taken out of tails by the program: need not be joined */
    plim_standin_capture *next;   /* among all that are under way */
};

typedef struct plim_standin_event {
    void *handle;
    int device;
    unsigned flags;            /* 2: cudaEventDisableTiming */
    uint64_t ns;               /* when it was recorded, 0: never */
    uint64_t capture_id;       /* of the capture in which it was recorded last, 0: in none */
    plim_standin_clock *clock; /* of the stream it was recorded on, NULL: never */
    uint64_t number;           /* on that clock */
    bool is_counted;           /* as one that a freed block waits for */
    plim_standin_nodes tail;
} plim_standin_event;

/* ---- state.c --------------------------------------------------------------------------------- */

void plim_standin_work_lock(void);
void plim_standin_work_unlock(void);
uint64_t plim_standin_thread(void); /* a number of the calling thread, never 0 */

/*
 * Handles of streams, events and graphs. A handle is a number that no call has returned before, so
 * a stale one is found out instead of being followed, and a run that is repeated repeats its
 * handles: those of streams are in snapshots. They lie 64 apart in a range of addresses where
 * nothing is mapped.
 */
typedef enum plim_standin_object_kind {
    PLIM_OBJECT_NONE,
    PLIM_OBJECT_STREAM,
    PLIM_OBJECT_EVENT,
    PLIM_OBJECT_GRAPH,
    PLIM_OBJECT_EXEC,
    PLIM_OBJECT_USER
} plim_standin_object_kind;

/* NULL when there is no memory. */
void *plim_standin_table_add(plim_standin_object_kind kind, void *object);
/* NULL for another kind's handle, and one that is not in use. */
void *plim_standin_table_get(plim_standin_object_kind kind, const void *handle);
/* Takes it out: the object, or NULL as above. */
void *plim_standin_table_take(plim_standin_object_kind kind, const void *handle);

bool plim_standin_nodes_add(plim_standin_nodes *set, plim_standin_node *node);
/* The same without a look whether it is there already. */
bool plim_standin_nodes_push(plim_standin_nodes *set, plim_standin_node *node);
bool plim_standin_nodes_add_all(plim_standin_nodes *set, const plim_standin_nodes *others);
void plim_standin_nodes_remove(plim_standin_nodes *set, const plim_standin_node *node);
/* Becomes a copy of `other`; false, unchanged, when there is no memory. */
bool plim_standin_nodes_assign(plim_standin_nodes *set, const plim_standin_nodes *other);
void plim_standin_nodes_clear(plim_standin_nodes *set);

/* ---- stream.c -------------------------------------------------------------------------------- */

/* The stream of a handle. *ret is NULL for the legacy stream; false when there is no such. */
bool plim_standin_stream_find(const void *handle, plim_standin_stream **ret);
/* The clock of a stream that was found, NULL: the legacy stream. */
plim_standin_clock *plim_standin_stream_clock(plim_standin_stream *stream);

/* ---- capture.c ------------------------------------------------------------------------------- */

extern plim_standin_capture *plim_standin_captures; /* under way; the lock */

/* With 0: `stream`, NULL for the legacy stream, may be used. An error makes captures invalid. */
int plim_standin_capture_admit(plim_standin_stream *stream);
/* A node after the stream's tail, which then is the tail. */
int plim_standin_capture_node(plim_standin_stream *stream, const plim_standin_work *work,
                              plim_standin_node **ret);
int plim_standin_capture_record(plim_standin_stream *stream, plim_standin_event *event);
int plim_standin_capture_wait(plim_standin_stream *stream, const plim_standin_event *event);
void plim_standin_capture_invalidate(plim_standin_capture *capture);
/* 0, or why the capture cannot end: it is invalid, or a stream has not joined its origin. */
int plim_standin_capture_check(const plim_standin_capture *capture);
/* Its streams are free again, and its graph goes unless it is kept. */
void plim_standin_capture_finish(plim_standin_capture *capture, bool keeps_graph,
                                 plim_standin_user **doomed);
plim_standin_capture *plim_standin_capture_by_id(uint64_t id);
void plim_standin_capture_join(plim_standin_capture *capture, plim_standin_stream *stream);
/* True while a stream that the legacy stream waits for captures; may make its capture invalid. */
bool plim_standin_capture_spoils_legacy(int device, bool invalidates);
/* The stream is about to go. */
void plim_standin_capture_leave(plim_standin_stream *stream);

/* ---- event.c --------------------------------------------------------------------------------- */

void plim_standin_event_happen(void *handle); /* takes the lock */

/* ---- graph.c --------------------------------------------------------------------------------- */

plim_standin_graph *plim_standin_graph_new(void);
plim_standin_node *plim_standin_graph_add(plim_standin_graph *graph, const plim_standin_work *work,
                                          const plim_standin_nodes *before);
/* A copy without a handle, nodes in an order in which they can run. NULL: no memory, or a cycle,
 * as *ret_is_cyclic says. */
plim_standin_graph *plim_standin_graph_clone(plim_standin_graph *graph, bool *ret_is_cyclic);
/* Frees it; user objects that nothing holds any more are put in front of *doomed. */
void plim_standin_graph_free(plim_standin_graph *graph, plim_standin_user **doomed);
/* Walks back from a set: the nodes before it, and itself, are marked. False: no memory. */
bool plim_standin_graph_mark(const plim_standin_nodes *from, uint64_t mark);
uint64_t plim_standin_graph_next_mark(void);

/* ---- user_object.c --------------------------------------------------------------------------- */

/* Calls the destructors, without the lock. */
void plim_standin_users_destroy(plim_standin_user *doomed);
void plim_standin_user_drop(plim_standin_user *user, uint64_t count, plim_standin_user **doomed);

/* ---- exec.c ---------------------------------------------------------------------------------- */

/* Runs what a node is for. Without the lock. */
void plim_standin_work_run(const plim_standin_work *work);

#endif
