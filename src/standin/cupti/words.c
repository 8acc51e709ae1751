/*
 * words.c - profiling interface: words and version. Nothing is ever profiled.
 */
#include <stdint.h>

int cuptiGetVersion(uint32_t *version);
int cuptiGetResultString(int result, const char **text);
int cuptiActivityGetNextRecord(uint8_t *buffer, uint64_t bytes, void **record);
int cuptiSubscribe(void **subscriber, void *callback, void *data);

int cuptiGetVersion(uint32_t *version)
{
    *version = 130000; /* CUPTI of CUDA 13.0 */
    return 0;
}

int cuptiGetResultString(int result, const char **text)
{
    *text = result == 0 ? "CUPTI_SUCCESS" : "unknown CUPTI error";
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, uint64_t bytes, void **record)
{
    (void)buffer;
    (void)bytes;
    *record = (void *)0;
    return 12; /* CUPTI_ERROR_MAX_LIMIT_REACHED: no more records in this buffer */
}

int cuptiSubscribe(void **subscriber, void *callback, void *data)
{
    (void)callback;
    (void)data;
    *subscriber = (void *)0;
    return 0;
}
