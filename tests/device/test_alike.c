/*
 * test_alike.c - sim, host and a GPU (the fake driver's) are asked the same and answer the same.
 */
#include "device/contract.h"
#include "device/fake.h"
#include "harness.h"

static void devices_answer_alike(void)
{
    static contract_transcript sim_says;
    static contract_transcript host_says;
    static contract_transcript cuda_says;
    plim_error failure;
    fake_load();
    fake_driver.set_quiet(true);
    fake_driver.set_memory(0, TRANSCRIPT_TOTAL_BYTES, 0);
    for (int round = 0; round < 6; round++) {
        const uint64_t seed = t_now.seed + (uint64_t)round;
        const plim_sim_options sim = { .total_bytes = TRANSCRIPT_TOTAL_BYTES };
        const plim_host_options host = { .total_bytes = TRANSCRIPT_TOTAL_BYTES };
        plim_device device;
        T_EQ_I64(plim_sim_create(&sim, &device, &failure), PLIM_OK);
        contract_play(&device, seed, &sim_says);
        T_EQ_U64(plim_sim_taken_bytes(&device), 0);
        plim_device_destroy(&device);
        T_EQ_I64(plim_host_create(&host, &device, &failure), PLIM_OK);
        contract_play(&device, seed, &host_says);
        plim_device_destroy(&device);
        device = fake_open(0, NULL);
        contract_play(&device, seed, &cuda_says);
        plim_device_destroy(&device);
        contract_compare(&sim_says, &host_says, false);
        contract_compare(&host_says, &cuda_says, true);
    }
    fake_cuda_counts left;
    fake_driver.live(&left);
    T_EQ_U64(left.allocations + left.handles + left.mappings + left.ranges + left.events, 0);
    fake_driver.reset();
}

T_MAIN(T_TEST(devices_answer_alike))
