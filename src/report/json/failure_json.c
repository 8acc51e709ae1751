/*
 * failure_json.c - a failed request in a document. See failure_json.h.
 */
#include "report/json/failure_json.h"

void plim_json_verdict(plim_json *json, const plim_judgement *judgement, const char *why)
{
    plim_json_member_string(json, "verdict", plim_verdict_name(judgement->verdict));
    plim_json_member_array(json, "alternatives");
    for (size_t i = 0; i < judgement->alternative_count; i++) {
        plim_json_string(json, plim_verdict_name(judgement->alternatives[i]));
    }
    plim_json_end_array(json);
    plim_json_member_double(json, "confidence", judgement->confidence);
    plim_json_member_string(json, "certainty", plim_certainty_name(judgement->finding.certainty));
    plim_json_member_string(json, "why", why);
}

void plim_json_failure(plim_json *json, const plim_failure *failure)
{
    plim_json_verdict(json, &failure->judgement, failure->why);
    plim_json_member_object(json, "figures");
    for (int i = 0; i < PLIM_FIGURE_COUNT; i++) {
        const uint64_t bytes = failure->request.figures[i].bytes;
        if (bytes != PLIM_BYTES_UNKNOWN) {
            plim_json_member_u64(json, plim_figure_name((plim_figure_id)i), bytes);
        }
    }
    plim_json_end_object(json);
}

void plim_json_error(plim_json *json, const plim_error *error)
{
    plim_json_member_object(json, "error");
    plim_json_member_string(json, "status", plim_status_name(error->status));
    plim_json_member_string(json, "message", error->message);
    plim_json_member_known_u64(json, "offset", error->offset != PLIM_NO_OFFSET, error->offset);
    plim_json_end_object(json);
}
