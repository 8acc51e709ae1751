/*
 * schema.c - the list of tables and views.
 */
#include "query/relation.h"
#include "query/views.h"

const plim_relation *const plim_relations[] = {
    &plim_relation_devices,   &plim_relation_steps,
    &plim_relation_events,    &plim_relation_allocations,
    &plim_relation_live,      &plim_relation_moments,
    &plim_relation_stacks,    &plim_relation_frames,
    &plim_relation_segments,  &plim_relation_blocks,
    &plim_relation_pools,     &plim_relation_ooms,
    &plim_relation_findings,  &plim_relation_categories,
    &plim_relation_settings,  &plim_relation_annotations,
    &plim_relation_anomalies, &plim_relation_warnings,
    &plim_relation_source,    NULL,
};

#define RELATION_COUNT (sizeof plim_relations / sizeof plim_relations[0] - 1)

size_t plim_query_table_count(void)
{
    return RELATION_COUNT + plim_query_view_count;
}

const plim_query_table *plim_query_table_at(size_t index)
{
    if (index < RELATION_COUNT) {
        return &plim_relations[index]->schema;
    }
    index -= RELATION_COUNT;
    return index < plim_query_view_count ? &plim_query_views[index] : NULL;
}

const char *plim_query_type_name(plim_query_type type)
{
    static const char *const names[] = {
#define TYPE_NAME(code, name) [code] = name,
        PLIM_QUERY_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
    };
    return (size_t)type < PLIM_QUERY_TYPE_COUNT ? names[type] : "null";
}
