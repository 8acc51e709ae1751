/*
 * devices.c - see devices.h. The rules of CUDA_VISIBLE_DEVICES are those of the CUDA C++
 * Programming Guide, "CUDA Environment Variables": indices or beginnings of UUIDs, and what comes
 * after the first that is not a device does not count.
 */
#include "standin/core/devices.h"

#include "standin/core/stage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID_TEXT_BYTES 48

static uint32_t visible[PLIM_STAGE_DEVICES_MAX];
static uint32_t visible_count;
static pthread_once_t counted = PTHREAD_ONCE_INIT;

/* The device of the stage that a word of the list names; PLIM_STAGE_DEVICES_MAX: none. */
static uint32_t device_of_word(const char *word, size_t length, uint32_t device_count)
{
    char *end = NULL;
    const unsigned long index = strtoul(word, &end, 10);
    const bool is_index = length > 0 && end == word + length && word[0] != '-';
    if (is_index) {
        return index < device_count ? (uint32_t)index : PLIM_STAGE_DEVICES_MAX;
    }
    if (length < strlen("GPU-0")) {
        return PLIM_STAGE_DEVICES_MAX;
    }
    uint32_t found = PLIM_STAGE_DEVICES_MAX;
    for (uint32_t i = 0; i < device_count; i++) {
        char uuid[UUID_TEXT_BYTES];
        plim_standin_device_uuid_text(i, uuid, sizeof(uuid));
        if (strncmp(uuid, word, length) == 0) {
            if (found != PLIM_STAGE_DEVICES_MAX) {
                return PLIM_STAGE_DEVICES_MAX; /* several begin like this */
            }
            found = i;
        }
    }
    return found;
}

static bool is_listed(uint32_t device)
{
    for (uint32_t i = 0; i < visible_count; i++) {
        if (visible[i] == device) {
            return true;
        }
    }
    return false;
}

static void count(void)
{
    const uint32_t device_count = plim_standin_settings()->device_count;
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (list == NULL) {
        for (; visible_count < device_count; visible_count++) {
            visible[visible_count] = visible_count;
        }
        return;
    }
    while (visible_count < device_count) {
        list += strspn(list, " ");
        const size_t length = strcspn(list, ", ");
        const uint32_t device = device_of_word(list, length, device_count);
        if (device == PLIM_STAGE_DEVICES_MAX) {
            return;
        }
        if (is_listed(device)) {
            visible_count = 0; /* the real runtime then shows none at all */
            return;
        }
        visible[visible_count] = device;
        visible_count++;
        list += length + strspn(list + length, " ");
        if (*list != ',') {
            return;
        }
        list++;
    }
}

int plim_standin_device_count(void)
{
    (void)pthread_once(&counted, count);
    return (int)visible_count;
}

bool plim_standin_is_device(int device)
{
    return device >= 0 && device < plim_standin_device_count();
}

uint32_t plim_standin_device_on_stage(int device)
{
    return plim_standin_is_device(device) ? visible[device] : 0;
}

uint32_t plim_standin_device_bus(const char *pci_id)
{
    const char *colon = strchr(pci_id, ':');
    const bool has_domain = colon != NULL && strchr(colon + 1, ':') != NULL;
    const char *bus = has_domain ? colon + 1 : pci_id;
    char *end = NULL;
    const unsigned long number = strtoul(bus, &end, 16);
    return end != bus && *end == ':' && number <= UINT8_MAX ? (uint32_t)number : 0;
}

void plim_standin_device_bus_text(int bus, char *ret, size_t bytes)
{
    (void)snprintf(ret, bytes, "0000:%02X:00.0", (unsigned)bus);
}

void plim_standin_device_uuid(uint32_t on_stage, unsigned char ret[PLIM_STANDIN_UUID_BYTES])
{
    static const char word[] = "\0\0plimsoll"; /* the device first: beginnings then tell apart */
    memset(ret, 0, PLIM_STANDIN_UUID_BYTES);
    memcpy(ret, word, sizeof(word) - 1);
    ret[0] = (unsigned char)on_stage;
}

void plim_standin_device_uuid_text(uint32_t on_stage, char *ret, size_t bytes)
{
    unsigned char uuid[PLIM_STANDIN_UUID_BYTES];
    plim_standin_device_uuid(on_stage, uuid);
    const unsigned char *u = uuid;
    (void)snprintf(ret, bytes,
                   "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
                   u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
                   u[14], u[15]);
}
