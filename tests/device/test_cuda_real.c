/*
 * test_cuda_real.c - the contract on this machine's GPU, if it has one.
 */
#include "device/contract.h"
#include "harness.h"

static void it_keeps_the_contract(void)
{
    const plim_cuda_options options = { 0 };
    contract_subject subject = { .keeps_contents = true };
    plim_error failure;
    if (plim_cuda_open(&options, &subject.device, &failure) != PLIM_OK) {
        T_SKIP("%s", failure.message);
    }
    contract_check(&subject);
    plim_device_destroy(&subject.device);
}

/* What others use it for does not matter: who they are, that is. */
static void its_processes_are_no_nonsense(void)
{
    const plim_cuda_options options = { 0 };
    plim_device device;
    plim_device_process list[256];
    plim_error failure;
    if (plim_cuda_open(&options, &device, &failure) != PLIM_OK) {
        T_SKIP("%s", failure.message);
    }
    const size_t count = device.ops->processes(device.self, list, T_COUNT(list));
    T_TRUE(count <= T_COUNT(list));
    for (size_t i = 0; i < count; i++) {
        T_TRUE(list[i].pid > 0);
    }
    plim_device_destroy(&device);
}

T_MAIN(T_TEST(it_keeps_the_contract), T_TEST(its_processes_are_no_nonsense))
