/*
 * store.h - what a descriptor of cuDNN's graph interface holds: attributes by name.
 *
 *   descriptor (the caller's handle) ──► body ── attribute: name, type, elements
 *                                          │          └─ of type descriptor: other bodies
 *                                          └─ counted: handles and bodies that refer to it
 *
 * A handle that is read into ("give me your engine in this descriptor") changes its body for the
 * one that is answered, so nothing is ever copied. Bodies do not change once finalized, which is
 * why they may be shared, also between threads.
 */
#ifndef PLIMSOLL_STANDIN_CUDNN_STORE_H
#define PLIMSOLL_STANDIN_CUDNN_STORE_H

#include "standin/cudnn/cudnn.h"

/* cudnnBackendAttributeType_t, as far as sizes differ from that of an enumeration */
enum {
    PLIM_CUDNN_TYPE_HANDLE = 0,
    PLIM_CUDNN_TYPE_DATA_TYPE = 1,
    PLIM_CUDNN_TYPE_BOOLEAN = 2,
    PLIM_CUDNN_TYPE_INT64 = 3,
    PLIM_CUDNN_TYPE_FLOAT = 4,
    PLIM_CUDNN_TYPE_DOUBLE = 5,
    PLIM_CUDNN_TYPE_VOID_PTR = 6,
    PLIM_CUDNN_TYPE_HEUR_MODE = 8,
    PLIM_CUDNN_TYPE_NUMERICAL_NOTE = 11,
    PLIM_CUDNN_TYPE_DESCRIPTOR = 15,
    PLIM_CUDNN_TYPE_BEHAVIOR_NOTE = 19,
    PLIM_CUDNN_TYPE_INT32 = 23,
    PLIM_CUDNN_TYPE_CHAR = 24,
    PLIM_CUDNN_TYPE_FRACTION = 26, /* two 64-bit integers */
    PLIM_CUDNN_TYPE_LAST = 63,     /* more than cuDNN 9.26 has; all new ones are enumerations */
};

typedef struct plim_cudnn_body plim_cudnn_body;

/* Returns NULL when there is no memory. One reference, the caller's. */
plim_cudnn_body *plim_cudnn_body_create(int kind);
plim_cudnn_body *plim_cudnn_body_keep(plim_cudnn_body *body);
/* Gives back a reference. NULL is allowed. */
void plim_cudnn_body_drop(plim_cudnn_body *body);

int plim_cudnn_body_kind(const plim_cudnn_body *body);
bool plim_cudnn_body_is_final(const plim_cudnn_body *body);
void plim_cudnn_body_finish(plim_cudnn_body *body);

/*
 * Sets an attribute anew. `elements` of type descriptor are bodies, plim_cudnn_body *const *.
 * A cudnnStatus_t.
 */
int plim_cudnn_body_set(plim_cudnn_body *body, int name, int type, int64_t count,
                        const void *elements);
int plim_cudnn_body_set_integer(plim_cudnn_body *body, int name, int64_t value);

/* Number and type of an attribute's elements; -1 if it was never set. */
int64_t plim_cudnn_body_count(const plim_cudnn_body *body, int name, int *ret_type);
/* Copies the first elements, not of type descriptor. How many were there to be copied. */
int64_t plim_cudnn_body_get(const plim_cudnn_body *body, int name, int64_t wanted, void *elements);
/* 64 and 32 bit integers, enumerations and booleans; `missing` where it was never set. */
int64_t plim_cudnn_body_integer(const plim_cudnn_body *body, int name, int64_t missing);
/* An element of type descriptor, borrowed; NULL if absent. */
plim_cudnn_body *plim_cudnn_body_child(const plim_cudnn_body *body, int name, int64_t index);

/*
 * Writes a number down beside the attributes, once and for all; only this changes a finalized
 * body. Is it the number that is there?
 */
bool plim_cudnn_body_claim(plim_cudnn_body *body, int64_t number);

/* The size of an element of a type; 0 for an unknown type. */
size_t plim_cudnn_attribute_bytes(int type);

#endif
