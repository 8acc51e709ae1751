/*
 * test_cost.c - the model of time: worked by hand, and its typical figures.
 */
#include "fit/cost.h"
#include "harness.h"

#define TERA UINT64_C(1000000000000)
#define GIGA UINT64_C(1000000000)

/* Of round figures: large products in TF32 get 70 of 100 TFLOPS, traffic 800 of 1000 GB/s, copies
 * 78 of 100 GB/s. */
static const plim_gpu gpu = { .key = "round",
                              .capability_major = 8,
                              .fp32_flops = 10 * TERA,
                              .tf32_flops = 100 * TERA,
                              .half_flops = 200 * TERA,
                              .memory_bytes_per_second = TERA,
                              .link_bytes_per_second = 100 * GIGA };

static bool is_about(double value, double wanted)
{
    return value > wanted * 0.9999 && value < wanted * 1.0001;
}

static plim_fit_cost cost_of(const plim_rehearsed_operation *operation)
{
    const plim_rehearsed_work work = { .operations = operation,
                                       .operation_count = 1,
                                       .launches = operation->count };
    return plim_fit_cost_of_work(&work, &gpu);
}

static void takes_the_longer_of_arithmetic_and_traffic(void)
{
    static const struct {
        plim_rehearsed_operation one;
        double seconds; /* without the kernel's own 3 us */
    } cases[] = {
        { { "aten::mm", "tf32", 70e9, 8e6, 10 }, 1e-3 },
        { { "aten::mm", "bfloat16", 140e9, 8e6, 10 }, 1e-3 },
        { { "aten::mm", "float16", 140e9, 8e6, 10 }, 1e-3 },
        { { "aten::mm", "float32", 8e9, 8e6, 10 }, 1e-3 },
        { { "aten::mm", "float64", 4e9, 8e6, 10 }, 1e-3 },
        { { "aten::mm", "float8_e4m3fn", 280e9, 8e6, 10 }, 1e-3 },
        { { "aten::_scaled_dot_product_flash_attention", "bfloat16", 90e9, 8e6, 10 }, 1e-3 },
        { { "aten::mm", "bfloat16", 140e6, 800e6, 10 }, 1e-3 },
        { { "aten::add", "", 0, 800e6, 10 }, 1e-3 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s %s", cases[i].one.name, cases[i].one.precision);
        const plim_fit_cost cost = cost_of(&cases[i].one);
        T_TRUE(is_about(cost.device_seconds, 10 * (cases[i].seconds + 3e-6)));
        T_TRUE(is_about(cost.seconds, cost.device_seconds));
        T_TRUE(is_about(cost.flops, 10 * cases[i].one.flops) || cost.flops == 0);
        T_TRUE(is_about(cost.bytes, 10 * cases[i].one.bytes));
    }
}

static void old_gpus_compute_bfloat16_in_float32(void)
{
    const plim_gpu volta = { .capability_major = 7,
                             .fp32_flops = 10 * TERA,
                             .half_flops = 100 * TERA,
                             .memory_bytes_per_second = TERA,
                             .link_bytes_per_second = GIGA };
    const plim_rehearsed_operation products[] = { { "aten::mm", "bfloat16", 8e12, 0, 1 },
                                                  { "aten::mm", "tf32", 8e12, 0, 1 } };
    for (size_t i = 0; i < T_COUNT(products); i++) {
        const plim_rehearsed_work work = { .operations = &products[i], .operation_count = 1 };
        T_TRUE(is_about(plim_fit_cost_of_work(&work, &volta).seconds, 1 + 3e-6));
    }
}

static void many_small_operations_wait_for_python(void)
{
    const plim_rehearsed_operation small = { "aten::add", "", 0, 8, 1000 };
    const plim_fit_cost cost = cost_of(&small);
    T_TRUE(is_about(cost.device_seconds, 3.00001e-3));
    T_TRUE(is_about(cost.seconds, 7e-3));
}

/* 7.8 GB take 0.1 s. The forward pass is a third of the GPU's time. */
static void copies_are_hidden_only_beside_work(void)
{
    const plim_rehearsed_operation busy = { "aten::add", "", 0, 720e9, 1 };
    plim_rehearsed_work work = { .operations = &busy,
                                 .operation_count = 1,
                                 .to_host_bytes = 7800000000,
                                 .to_device_bytes = 7800000000 };
    const double device = 0.9 + 3e-6;
    T_TRUE(is_about(plim_fit_cost_of_work(&work, &gpu).seconds, device + 0.2));

    work.aside_to_host_bytes = work.to_host_bytes;
    work.aside_to_device_bytes = work.to_device_bytes;
    plim_fit_cost cost = plim_fit_cost_of_work(&work, &gpu);
    T_TRUE(is_about(cost.seconds, device));
    T_TRUE(is_about(cost.overlapped_share, 1));
    T_TRUE(is_about(cost.host_bytes, 15.6e9));

    work.to_host_bytes = work.aside_to_host_bytes =
        31200000000; /* 0.4 s, of which 0.3 are hidden */
    cost = plim_fit_cost_of_work(&work, &gpu);
    T_TRUE(is_about(cost.copy_seconds, 0.4 - device / 3));
    T_TRUE(is_about(cost.overlapped_share, (0.1 + device / 3) / 0.5));
}

static void the_host_and_the_driver_take_their_time(void)
{
    const plim_rehearsed_operation busy = { "aten::add", "", 0, 800e9, 1 };
    const plim_rehearsed_work work = {
        .operations = &busy, .operation_count = 1, .host_bytes = 4000000000, .driver_calls = 100
    };
    const plim_fit_cost cost = plim_fit_cost_of_work(&work, &gpu);
    T_TRUE(is_about(cost.step_seconds, 0.1));
    T_TRUE(is_about(cost.driver_seconds, 0.03));
    T_TRUE(is_about(cost.seconds, 1 + 3e-6 + 0.13));
    T_FALSE(cost.is_partial);
}

static void what_is_not_known_has_no_time(void)
{
    const plim_rehearsed_operation busy = { "aten::add", "", 0, 800e9, 1 };
    const plim_rehearsed_work unknown = { .why_unknown = "no step began" };
    const plim_rehearsed_work partial = { .why_partial = "kernels of Triton",
                                          .operations = &busy,
                                          .operation_count = 1 };
    const plim_gpu nameless = { .key = "of no data sheet" };
    T_TRUE(plim_fit_cost_of_work(NULL, &gpu).seconds == 0);
    T_TRUE(plim_fit_cost_of_work(&unknown, &gpu).seconds == 0);
    T_TRUE(plim_fit_cost_of_work(&partial, &nameless).seconds == 0);
    T_TRUE(plim_fit_cost_of_work(&partial, &gpu).is_partial);
}

static void the_slowest_process_counts(void)
{
    const plim_rehearsed_operation some[] = { { "aten::add", "", 0, 800e9, 1 },
                                              { "aten::add", "", 0, 1600e9, 1 } };
    const plim_rehearsed_work works[] = { { .operations = &some[1], .operation_count = 1 },
                                          { .operations = &some[0], .operation_count = 1 } };
    const plim_rehearsed_process processes[] = { { .work = &works[0] },
                                                 { .work = &works[1] },
                                                 { .work = NULL } };
    const plim_rehearsal_outcome outcome = { .gpu = &gpu,
                                             .processes = processes,
                                             .process_count = T_COUNT(processes) };
    plim_fit_cost cost;
    plim_fit_cost_of(&outcome, outcome.gpu, &cost);
    T_TRUE(is_about(cost.seconds, 2 + 3e-6));
}

static void slowdowns_are_the_models_or_typical(void)
{
    const plim_fit_cost plain = { .seconds = 2 };
    const plim_fit_cost with = { .seconds = 3 };
    const char *const stack[] = { "checkpoint=every:2", "fused" };
    T_TRUE(is_about(plim_fit_slowdown(&plain, &with, stack, 2), 1.5));
    T_TRUE(is_about(plim_fit_slowdown(&plain, NULL, stack, 2), 1.14 * 0.98));
    T_TRUE(is_about(plim_fit_slowdown(&plain, &(plim_fit_cost){ 0 }, stack, 1), 1.14));
    T_TRUE(is_about(plim_fit_slowdown(NULL, NULL, (const char *[]){ "accumulate=4" }, 1), 1.04));
    T_TRUE(is_about(plim_fit_slowdown(NULL, NULL, (const char *[]){ "accumulate=64" }, 1), 1.12));
    T_TRUE(is_about(plim_fit_slowdown(NULL, NULL, (const char *[]){ "set_to_none" }, 1), 1));
    T_TRUE(is_about(plim_fit_slowdown(NULL, NULL, NULL, 0), 1));
}

T_MAIN(T_TEST(takes_the_longer_of_arithmetic_and_traffic),
       T_TEST(old_gpus_compute_bfloat16_in_float32), T_TEST(many_small_operations_wait_for_python),
       T_TEST(copies_are_hidden_only_beside_work), T_TEST(the_host_and_the_driver_take_their_time),
       T_TEST(what_is_not_known_has_no_time), T_TEST(the_slowest_process_counts),
       T_TEST(slowdowns_are_the_models_or_typical))
