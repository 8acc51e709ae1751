/* store.c - see store.h. A body has a few attributes, so they are looked for one by one. */
#include "standin/cudnn/store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define UNCLAIMED    (-1)
#define ELEMENTS_MAX (INT64_C(1) << 20) /* far beyond any attribute: a count gone wild */

typedef struct attribute {
    int name;
    int type;
    int64_t count;
    void *elements; /* of type descriptor: plim_cudnn_body *, each with a reference */
} attribute;

struct plim_cudnn_body {
    atomic_uint references;
    atomic_llong claim; /* UNCLAIMED, or the number */
    int kind;
    bool is_final;
    size_t attribute_count;
    size_t capacity;
    attribute *attributes;
};

size_t plim_cudnn_attribute_bytes(int type)
{
    switch (type) {
    case PLIM_CUDNN_TYPE_BOOLEAN:
    case PLIM_CUDNN_TYPE_CHAR:
        return 1;
    case PLIM_CUDNN_TYPE_HANDLE:
    case PLIM_CUDNN_TYPE_INT64:
    case PLIM_CUDNN_TYPE_DOUBLE:
    case PLIM_CUDNN_TYPE_VOID_PTR:
    case PLIM_CUDNN_TYPE_DESCRIPTOR:
        return 8;
    case PLIM_CUDNN_TYPE_FRACTION:
        return 16;
    default:
        return type >= 0 && type <= PLIM_CUDNN_TYPE_LAST ? 4 : 0;
    }
}

plim_cudnn_body *plim_cudnn_body_create(int kind)
{
    plim_cudnn_body *body = calloc(1, sizeof *body);
    if (body != NULL) {
        atomic_init(&body->references, 1);
        atomic_init(&body->claim, UNCLAIMED);
        body->kind = kind;
    }
    return body;
}

plim_cudnn_body *plim_cudnn_body_keep(plim_cudnn_body *body)
{
    (void)atomic_fetch_add(&body->references, 1);
    return body;
}

static void clear(attribute *old)
{
    if (old->type == PLIM_CUDNN_TYPE_DESCRIPTOR) {
        plim_cudnn_body **children = old->elements;
        for (int64_t i = 0; i < old->count; i++) {
            plim_cudnn_body_drop(children[i]);
        }
    }
    free(old->elements);
    old->elements = NULL;
    old->count = 0;
}

void plim_cudnn_body_drop(plim_cudnn_body *body) // NOLINT(misc-no-recursion): a tree, few deep
{
    if (body == NULL || atomic_fetch_sub(&body->references, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < body->attribute_count; i++) {
        clear(&body->attributes[i]);
    }
    free(body->attributes);
    free(body);
}

int plim_cudnn_body_kind(const plim_cudnn_body *body)
{
    return body->kind;
}

bool plim_cudnn_body_is_final(const plim_cudnn_body *body)
{
    return body->is_final;
}

void plim_cudnn_body_finish(plim_cudnn_body *body)
{
    body->is_final = true;
}

static attribute *find(const plim_cudnn_body *body, int name)
{
    for (size_t i = 0; i < body->attribute_count; i++) {
        if (body->attributes[i].name == name) {
            return &body->attributes[i];
        }
    }
    return NULL;
}

/* The attribute of a name, or a new empty one; NULL without memory. */
static attribute *find_or_add(plim_cudnn_body *body, int name)
{
    attribute *there = find(body, name);
    if (there != NULL) {
        return there;
    }
    if (body->attribute_count == body->capacity) {
        const size_t capacity = body->capacity == 0 ? 8 : 2 * body->capacity;
        attribute *grown = realloc(body->attributes, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        body->attributes = grown;
        body->capacity = capacity;
    }
    attribute *added = &body->attributes[body->attribute_count++];
    *added = (attribute){ .name = name };
    return added;
}

int plim_cudnn_body_set(plim_cudnn_body *body, int name, int type, int64_t count,
                        const void *elements)
{
    const size_t size = plim_cudnn_attribute_bytes(type);
    if (size == 0) {
        return PLIM_CUDNN_BAD_PARAM_ATTRIBUTE_TYPE;
    }
    if (count < 0 || count > ELEMENTS_MAX || (count > 0 && elements == NULL)) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    void *copy = malloc(count == 0 ? 1 : (size_t)count * size);
    attribute *target = copy == NULL ? NULL : find_or_add(body, name);
    if (target == NULL) {
        free(copy);
        return PLIM_CUDNN_NO_HOST_MEMORY;
    }
    if (count > 0) {
        memcpy(copy, elements, (size_t)count * size);
    }
    if (type == PLIM_CUDNN_TYPE_DESCRIPTOR) {
        plim_cudnn_body **children = copy;
        for (int64_t i = 0; i < count; i++) {
            (void)plim_cudnn_body_keep(children[i]);
        }
    }
    clear(target);
    target->type = type;
    target->count = count;
    target->elements = copy;
    return PLIM_CUDNN_OK;
}

int plim_cudnn_body_set_integer(plim_cudnn_body *body, int name, int64_t value)
{
    return plim_cudnn_body_set(body, name, PLIM_CUDNN_TYPE_INT64, 1, &value);
}

int64_t plim_cudnn_body_count(const plim_cudnn_body *body, int name, int *ret_type)
{
    const attribute *there = find(body, name);
    if (there == NULL) {
        return -1;
    }
    *ret_type = there->type;
    return there->count;
}

int64_t plim_cudnn_body_get(const plim_cudnn_body *body, int name, int64_t wanted, void *elements)
{
    const attribute *there = find(body, name);
    if (there == NULL || there->type == PLIM_CUDNN_TYPE_DESCRIPTOR) {
        return 0;
    }
    const int64_t copied = wanted < there->count ? wanted : there->count;
    if (copied > 0) {
        memcpy(elements, there->elements, (size_t)copied * plim_cudnn_attribute_bytes(there->type));
    }
    return there->count;
}

int64_t plim_cudnn_body_integer(const plim_cudnn_body *body, int name, int64_t missing)
{
    const attribute *there = find(body, name);
    if (there == NULL || there->count < 1) {
        return missing;
    }
    switch (plim_cudnn_attribute_bytes(there->type)) {
    case 1:
        return *(const uint8_t *)there->elements;
    case 4:
        return *(const int32_t *)there->elements;
    default:
        return there->type == PLIM_CUDNN_TYPE_INT64 ? *(const int64_t *)there->elements : missing;
    }
}

plim_cudnn_body *plim_cudnn_body_child(const plim_cudnn_body *body, int name, int64_t index)
{
    const attribute *there = find(body, name);
    if (there == NULL || there->type != PLIM_CUDNN_TYPE_DESCRIPTOR || index >= there->count) {
        return NULL;
    }
    plim_cudnn_body *const *children = there->elements;
    return children[index];
}

bool plim_cudnn_body_claim(plim_cudnn_body *body, int64_t number)
{
    long long there = UNCLAIMED;
    return atomic_compare_exchange_strong(&body->claim, &there, number) || there == number;
}
