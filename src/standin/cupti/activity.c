/*
 * activity.c - profiling: everything can be turned on, and nothing ever happens on a device.
 *
 * torch.profiler then gives what the host did. It asks for buffers to be delivered only when
 * there are any, so there is nothing to keep.
 */
#include "standin/core/handle.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"

#include <stddef.h>
#include <stdint.h>

/* CUptiResult, CUPTI manual */
enum {
    INVALID_PARAMETER = 1,
    MAX_LIMIT_REACHED = 12,
    QUEUE_EMPTY = 18,
    LEGACY_PROFILER_NOT_SUPPORTED = 38
};

/* cupti_version.h of CUDA 13.2 lists which version came with which toolkit. */
int cuptiGetVersion(uint32_t *ret_version)
{
    static const struct {
        uint32_t cuda;
        uint32_t cupti;
    } versions[] = {
        { 12000, 19 },     { 12020, 20 },     { 12030, 21 },     { 12040, 22 },
        { 12050, 23 },     { 12060, 24 },     { 12080, 26 },     { 12090, 28 },
        { 13000, 130001 }, { 13010, 130101 }, { 13020, 130202 },
    };
    const uint32_t cuda = plim_standin_settings()->cuda_version;
    size_t i = sizeof(versions) / sizeof(versions[0]) - 1;
    while (i > 0 && versions[i].cuda > cuda) {
        i--;
    }
    *ret_version = versions[i].cupti;
    return 0;
}

int cuptiGetResultString(int result, const char **ret_text)
{
    switch (result) {
    case 0:
        *ret_text = "CUPTI_SUCCESS";
        break;
    case INVALID_PARAMETER:
        *ret_text = "CUPTI_ERROR_INVALID_PARAMETER";
        break;
    case MAX_LIMIT_REACHED:
        *ret_text = "CUPTI_ERROR_MAX_LIMIT_REACHED";
        break;
    case QUEUE_EMPTY:
        *ret_text = "CUPTI_ERROR_QUEUE_EMPTY";
        break;
    case LEGACY_PROFILER_NOT_SUPPORTED:
        *ret_text = "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED";
        break;
    default:
        *ret_text = "unknown CUPTI error";
        break;
    }
    return 0;
}

/* No function is ever called back, so none has a name. */
int cuptiGetCallbackName(int domain, uint32_t number, const char **ret_name)
{
    *ret_name = "unknown";
    return 0;
}

int cuptiSubscribe(void **ret_subscriber, void *callback, void *data)
{
    if (ret_subscriber == NULL) {
        return INVALID_PARAMETER;
    }
    *ret_subscriber = plim_standin_handle_create();
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, void **record)
{
    *record = NULL;
    return MAX_LIMIT_REACHED; /* that was the last */
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret_dropped)
{
    if (ret_dropped != NULL) {
        *ret_dropped = 0;
    }
    return 0;
}

PLIM_STANDIN_NOTHING(cuptiUnsubscribe)
PLIM_STANDIN_NOTHING(cuptiEnableCallback)
PLIM_STANDIN_NOTHING(cuptiEnableDomain)
PLIM_STANDIN_NOTHING(cuptiEnableAllDomains)
PLIM_STANDIN_NOTHING(cuptiFinalize)
PLIM_STANDIN_NOTHING(cuptiActivityEnable)
PLIM_STANDIN_NOTHING(cuptiActivityDisable)
PLIM_STANDIN_NOTHING(cuptiActivityEnableRuntimeApi)
PLIM_STANDIN_NOTHING(cuptiActivityEnableDriverApi)
PLIM_STANDIN_NOTHING(cuptiActivityEnableCudaEventDeviceTimestamps)
PLIM_STANDIN_NOTHING(cuptiActivityRegisterCallbacks)
PLIM_STANDIN_NOTHING(cuptiActivityRegisterTimestampCallback)
PLIM_STANDIN_NOTHING(cuptiActivitySetAttribute)
PLIM_STANDIN_NOTHING(cuptiActivityFlushAll)
PLIM_STANDIN_NOTHING(cuptiActivityPushExternalCorrelationId)
PLIM_STANDIN_NOTHING(cuptiActivityPopExternalCorrelationId)

/* Counters of the hardware, which GPUs since capability 7.5 give to other interfaces only. */
#define COUNTERS "hardware counters of this kind ended with capability 7.5"
PLIM_STANDIN_DECLINED(cuptiSetEventCollectionMode, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGetAttribute, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGetIdFromName, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGroupGetAttribute, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGroupReadEvent, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGroupSetAttribute, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGroupSetDisable, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGroupSetEnable, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGroupSetsCreate, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiEventGroupSetsDestroy, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiGetDeviceId, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiMetricEnumEvents, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiMetricGetAttribute, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiMetricGetIdFromName, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiMetricGetNumEvents, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
PLIM_STANDIN_DECLINED(cuptiMetricGetValue, LEGACY_PROFILER_NOT_SUPPORTED, COUNTERS)
