/* machine.c - the kinds of processors that facades can be written for. */
#include "facade/machine.h"

static const plim_facade_machine *const machines[] = { &plim_machine_aarch64,
                                                       &plim_machine_x86_64 };

const plim_facade_machine *plim_machine_find(uint16_t elf_machine)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        if (machines[i]->elf_machine == elf_machine) {
            return machines[i];
        }
    }
    return NULL;
}
