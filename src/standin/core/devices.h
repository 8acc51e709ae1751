/*
 * devices.h - the devices, as the program numbers them.
 *
 * CUDA_VISIBLE_DEVICES chooses among those of the stage, as it does with the real runtime: what
 * it does not name is not there, and the first that it names is device 0.
 */
#ifndef PLIMSOLL_STANDIN_CORE_DEVICES_H
#define PLIMSOLL_STANDIN_CORE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLIM_STANDIN_WARP_SIZE  32
#define PLIM_STANDIN_BLOCK_MAX  1024 /* threads; every GPU since 2010 */
#define PLIM_STANDIN_UUID_BYTES 16

/* Attributes that are requested by name, too; the rest is in attribute.c. */
enum {
    PLIM_STANDIN_ATTRIBUTE_CLOCK = 13,
    PLIM_STANDIN_ATTRIBUTE_PCI_BUS = 33,
    PLIM_STANDIN_ATTRIBUTE_MEMORY_CLOCK = 36,
    PLIM_STANDIN_ATTRIBUTE_RESERVED_SHARED = 111, /* what the driver keeps of a block's */
};

int plim_standin_device_count(void);
bool plim_standin_is_device(int device);

/* Which device of the stage it is. */
uint32_t plim_standin_device_on_stage(int device);

/*
 * Answer for a numbered attribute. The driver's CUdevice_attribute and the runtime's
 * cudaDeviceAttr share one numbering (CUDA Driver API and Runtime API manuals). What we have no
 * answer for is 0, and traced.
 */
int plim_standin_device_attribute(int attribute, int device);

/* The bus in "0000:01:00.0", also without the domain; 0 if malformed. Buses count from 1, in the
 * order of the devices on the stage. */
uint32_t plim_standin_device_bus(const char *pci_id);
/* A bus, written so. */
void plim_standin_device_bus_text(int bus, char *ret, size_t bytes);

/* The 16 bytes that make up the UUID of a device of the stage, and their text, "GPU-…". */
void plim_standin_device_uuid(uint32_t on_stage, unsigned char ret[PLIM_STANDIN_UUID_BYTES]);
void plim_standin_device_uuid_text(uint32_t on_stage, char *ret, size_t bytes);

#endif
