/*
 * table.h - handles of streams, events and graphs, and the objects behind them.
 *
 * A handle is a number that no call has returned before, so a stale one is found out instead of
 * being followed, and a run that is repeated repeats its handles: those of streams are in
 * snapshots. They lie 64 apart in a range of addresses where nothing is mapped.
 *
 * Not locked: state.h says which lock.
 */
#ifndef PLIMSOLL_STANDIN_WORK_TABLE_H
#define PLIMSOLL_STANDIN_WORK_TABLE_H

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
/* NULL when the handle is none, or of another kind. */
void *plim_standin_table_get(plim_standin_object_kind kind, const void *handle);
/* Takes it out: the object, or NULL as above. */
void *plim_standin_table_take(plim_standin_object_kind kind, const void *handle);

#endif
