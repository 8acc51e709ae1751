"""Programs that are healthy and look like a leak, a spike or fragmentation."""

from case import Case


def healthy(name, program, cause, why, **more):
    return Case(name, program, "healthy", cause, why, **more)


CASES = [
    healthy("momentum-queue", "momentum_queue.py", "memory_bank",
            "Grows by one batch of keys a step until the queue holds 8; then each key replaces "
            "the oldest.", period=1, first=1),
    healthy("instance-bank-filling", "instance_bank_filling.py", "memory_bank",
            "Grows by one batch of vectors in each of 20 steps, because the recording ends long "
            "before the bank holds its 200: nothing in it shows the limit.", also=("leak",),
            period=1, first=1),
    healthy("frozen-features-cached", "frozen_features_cached.py", "growing_cache",
            "Grows by one item's features a step for the 14 steps of the first epoch; the other "
            "three epochs use them again.", period=1, first=1),
    healthy("average-from-step", "average_from_step.py", "weights_average",
            "A second set of weights appears in step 15 of 32 and stays: the moving average "
            "begins there.", first=15),
    healthy("growing-resolution-gan", "growing_resolution_gan.py", "larger_inputs",
            "Memory rises in steps 5 and 9 with larger images, new layers and their states. Two "
            "optimizers step once each in a step.", first=5),
    healthy("unfreeze-by-layer", "unfreeze_by_layer.py", "new_parameters",
            "Every 4 steps to the end one more layer is trained: a gradient and two states of a "
            "weight that was there from the start.", also=("first_step_growth",), period=4,
            first=5),
    healthy("rollouts-freed-in-mass", "rollouts_freed_in_mass.py", "rollouts",
            "Ten moments of a game are collected, one a step, and all freed after two optimizer "
            "steps on them; the last rollout is half full at the end.", period=1, first=1),
    healthy("lbfgs-history", "lbfgs_history.py", "optimizer_states",
            "L-BFGS adds two vectors of the size of all weights in each step, until it keeps 8 "
            "pairs.", also=("first_step_growth",), period=1, first=2),
    healthy("experts-states-late", "experts_states_late.py", "optimizer_states",
            "States arrive for many steps, ever more rarely: an expert gets them when it is first "
            "routed to.", also=("first_step_growth",), period=1, first=1),
    healthy("requests-with-cache", "requests_with_cache.py", "kv_cache",
            "Keys and values grow with each token, and go when the request is answered; nothing "
            "stays from one request to the next. A step is a request."),
    healthy("batch-size-found", "batch_size_found.py", "oom_caught",
            "The search for a batch size runs out of memory once, on purpose; the program "
            "survives and trains with less.", capacity="1GiB"),
    healthy("collector-sawtooth", "collector_sawtooth.py", "reference_cycle",
            "Each step's object holds a closure that holds it; memory grows for many steps until "
            "the collector frees all of them at once.",
            blame="self.hidden = self.trainer.encoder(self.batch)",
            blame_also=("scratch = Scratch(self, torch.rand",
                        "return self.trainer.decoder(self.hidden)"), period=1, first=1),
    healthy("image-pool", "image_pool.py", "memory_bank",
            "Grows by one fake batch a step until the pool holds 9; after that a random one is "
            "replaced in half of the steps, so ages at death vary.", period=1, first=1),
    healthy("truncated-backprop", "truncated_backprop.py", "truncated_history",
            "The graph of eight chunks is kept and freed by one backward pass; the optimizer "
            "steps once in eight chunks.", period=1, first=1),
    healthy("graphs-of-four-sizes", "graphs_of_four_sizes.py", "cuda_graphs",
            "A CUDA graph with a pool of its own is captured at the first request of each of four "
            "sizes; the last about a third into the run."),
    healthy("late-history", "late_history.py", "late_recording",
            "Recorded from step 20 on: weights and states are live before the first event; "
            "nothing grows."),
    healthy("wrapped-ring", "wrapped_ring.py", "late_recording",
            "A ring of 1500 events holds the last 11 or so of 40 steps and the program's end; "
            "nothing grows."),
    healthy("bank-without-stacks", "bank_without_stacks.py", "memory_bank",
            "No stacks: one state a step is added until there are 9, then the oldest goes for "
            "each.", period=1, first=1),
    healthy("state-alone", "state_alone.py", "state_only",
            "Only the state at the end: weights, gradients and states; whether anything grows "
            "cannot be known.", also=("unknown",)),
    healthy("teacher-joins", "teacher_joins.py", "new_parameters",
            "From step 11 of 28 a frozen teacher's weights stay and its activations come and go: "
            "a higher level, no growth.", also=("spike",), first=11),
    healthy("best-weights-kept", "best_weights_kept.py", "weights_copy",
            "Every 7 steps the weights are copied, and the last copy goes right after: each "
            "allocation lives for 7 steps.", period=7, first=7),
    healthy("rate-finder", "rate_finder.py", "warm_up",
            "Ten steps on copies of the model with an optimizer of their own come first, and need "
            "more than the training after them.", also=("spike",)),
    healthy("prefetched-on-a-stream", "prefetched_on_a_stream.py", "prefetch_queue",
            "A thread uploads up to four batches ahead on a second stream; how full the queue is "
            "varies.", period=1),
    healthy("sorted-by-length", "sorted_by_length.py", "varying_sizes",
            "Peaks rise through each epoch of 5 steps as sentences get longer, and start low "
            "again.", also=("fragmented",)),
    healthy("curriculum", "curriculum.py", "varying_sizes",
            "Peaks rise through the whole run because texts get longer; each step leaves nothing.",
            also=("fragmented",)),
    healthy("replay-with-limit", "replay_with_limit.py", "replay_buffer",
            "A transition a step is kept until there are 20, then the oldest goes; the optimizer "
            "steps every third step of the loop.", period=1, first=1),
    healthy("shapes-settle", "shapes_settle.py", "growing_cache",
            "A bias is cached for each of eight lengths, which come up at random: growth gets "
            "rarer and ends. Inference, nothing is annotated."),
]
