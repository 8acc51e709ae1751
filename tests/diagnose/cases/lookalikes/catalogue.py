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
            "Grows by one fake batch a step until the pool holds 7; after that a random one is "
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
    healthy("requests-split", "requests_split.py", "oom_caught",
            "Three large requests run out of memory, some of their parts too; each is caught and "
            "answered in halves.", capacity="1GiB"),
    healthy("workspaces-tried", "workspaces_tried.py", "oom_caught",
            "Workspaces of 900 and 600 MiB are tried in each step and refused; the third fits. "
            "Nothing fails.", capacity="1GiB"),
    healthy("collected-on-purpose", "collected_on_purpose.py", "reference_cycle",
            "The program switches the collector off and calls it every 8 steps; each step leaves a "
            "tree whose nodes know their parents.", blame="left, right = torch.tanh(self.split(",
            blame_also=("root = Node(None, torch.randn(",), period=1, first=1),
    healthy("hook-keeps-last", "hook_keeps_last.py", "hook_replaced",
            "Hooks keep activations, but only the last step's; batches grow by one every fourth "
            "step, and so does what is kept.", period=1),
    healthy("losses-by-epoch", "losses_by_epoch.py", "logged_tensors",
            "512 bytes a step are kept and cleared every 15 steps; the recording ends with seven "
            "kept. Two optimizers.", period=1, first=1),
    healthy("streams-take-workspaces", "streams_take_workspaces.py", "library_workspaces",
            "Each of six streams gets a workspace of cuBLAS at its first product, one every fourth "
            "request of the first 24 of 48; inference.", period=4, first=1),
    Case("large-beginning", "large_beginning.py", "spike", "preparation",
         "A table is prepared once and dropped; later 92 % of what is reserved is unused, in whole "
         "free segments, which is not fragmentation.", also=("healthy",),
         blame="table = (table - table.mean(0))",
         blame_also=("table = torch.randn(rows", "reduced = principal()")),
    healthy("deviations-kept", "deviations_kept.py", "memory_bank",
            "Every 4 steps a vector of all weights is kept, until there are five; from step 24 of "
            "48 the oldest goes for each.", period=4, first=4),
    healthy("inner-loops", "inner_loops.py", "truncated_history",
            "Graphs of three tasks pile up and are freed by one backward pass; the optimizer steps "
            "once in three tasks.", period=1, first=1),
    healthy("tenants-adapters", "tenants_adapters.py", "growing_cache",
            "Adapters are loaded at a tenant's first request until there are six; then the least "
            "recently used go.", first=1),
    healthy("bank-full-late", "bank_full_late.py", "memory_bank",
            "Grows by one batch a step for 24 of 34 steps; only the last ten replace the oldest.",
            period=1, first=1),
    healthy("full-before-recorded", "full_before_recorded.py", "memory_bank",
            "Each recorded step keeps one batch to the end of the recording, and frees one that "
            "was made before it began.", period=1, first=1),
    healthy("outputs-by-epoch", "outputs_by_epoch.py", "outputs_kept",
            "Outputs of 16 batches are kept, scored and cleared; the recording ends in the third "
            "epoch, two batches before it is full. Inference.", period=1, first=1),
    healthy("heads-by-task", "heads_by_task.py", "new_parameters",
            "Every 5 steps to the end a head is added, with a gradient and two states: planned "
            "growth of the model.", also=("first_step_growth",), period=5, first=1),
    healthy("rays-in-varying-number", "rays_in_varying_number.py", "varying_sizes",
            "The number of samples changes in each step: peaks jump about, reserved memory rises "
            "for a while.", also=("fragmented",)),
    healthy("penalty-now-and-then", "penalty_now_and_then.py", "periodic_work",
            "Every sixth step has a second derivative and a peak that is a sixth higher. Two "
            "optimizers.", also=("spike",), period=6),
    healthy("steps-skipped", "steps_skipped.py", "optimizer_states",
            "The first nine steps do not reach the optimizer; its states arrive in the tenth.",
            also=("first_step_growth",), first=10),
    healthy("shards-in-turn", "shards_in_turn.py", "prefetch_queue",
            "Two shards of a corpus are on the device; each is larger than the last until the "
            "pass begins again in step 37.", period=4),
    healthy("compiled-by-length", "compiled_by_length.py", "compiled_variants",
            "New lengths are compiled anew in steps 9 and 17; peaks follow the lengths."),
    healthy("two-stages", "two_stages.py", "new_parameters",
            "From step 15 of 40 another, larger model is trained; the first one's decoder, "
            "gradients and states are gone.", first=15),
    healthy("pages-of-a-pool", "pages_of_a_pool.py", "growing_cache",
            "Pages for keys and values are made when none is free, ever more rarely, and never "
            "given back. Inference.", first=1),
    healthy("evaluated-every-eight", "evaluated_every_eight.py", "periodic_work",
            "Every eight steps an evaluation in larger batches has a peak an eighth higher.",
            also=("spike", "fragmented"), period=8),
    healthy("averaged-gradients", "averaged_gradients.py", "accumulation",
            "Gradients live for six steps of the loop and go when the optimizer steps.",
            period=6),
    healthy("trials-in-turn", "trials_in_turn.py", "optimizer_states",
            "Six trials of seven steps, each with a larger model and an optimizer of its own; the "
            "last one's are freed when the next one's are made.", also=("first_step_growth",),
            period=7, first=1),
    healthy("averages-in-turn", "averages_in_turn.py", "weights_average",
            "A copy of the weights is made in steps 8, 15 and 22 of 40: three stairs, then no "
            "more.", period=7, first=8),
    healthy("sessions-ramp", "sessions_ramp.py", "kv_cache",
            "Sessions open until there are 12, each keeps what was said, and ends after a random "
            "number of turns. Inference.", period=1, first=1),
    healthy("doubling-buffer", "doubling_buffer.py", "replay_buffer",
            "A buffer doubles when it is full, ever more rarely, and stops at 32 places.",
            first=1),
    healthy("points-split", "points_split.py", "new_parameters",
            "Weights and states are replaced by larger ones every 4 steps until step 24 of 40.",
            also=("first_step_growth",), period=4, first=4),
    healthy("clients-in-rounds", "clients_in_rounds.py", "accumulation",
            "Six clients a round, of two optimizer steps each, keep a difference of all weights; "
            "the round's average frees them. A step is an optimizer's.", period=2, first=2),
    healthy("league-of-opponents", "league_of_opponents.py", "memory_bank",
            "Every third step a copy of the model is kept, until there are five; then a random "
            "one goes for each.", period=3, first=1),
    healthy("longer-requests", "longer_requests.py", "kv_cache",
            "Each of eight requests is longer than the last one, and so is its cache, which goes "
            "with it. Inference; a step is a request.", also=("fragmented",), period=1, first=1),
    healthy("loss-of-last-step", "loss_of_last_step.py", "loss_replaced",
            "The last loss is kept with its graph, and only the last; batches grow for 12 steps.",
            period=1, first=1),
    healthy("vocabulary-grows", "vocabulary_grows.py", "new_parameters",
            "A table is replaced by a larger one every third step until step 28 of 45, with its "
            "gradient and a new optimizer's state.", also=("first_step_growth",), period=3,
            first=1),
    healthy("cache-by-bytes", "cache_by_bytes.py", "growing_cache",
            "Pictures of different sizes are cached up to 40 MiB; then the least recently used "
            "make room. Inference; a step is a request.", also=("fragmented",), period=1, first=1),
    healthy("resized-once", "resized_once.py", "larger_inputs",
            "From step 17 of 36 pictures are larger; the last batch, scores and loss live into "
            "the next step, as before.", also=("fragmented",), first=17),
    healthy("errors-in-cycles", "errors_in_cycles.py", "reference_cycle",
            "Every third request's error and frame hold each other, and the frame its "
            "activations, until the collector comes. Inference.",
            blame="hidden = encoder(", blame_also=("check(hidden, limit=100)",), period=3,
            first=1),
    healthy("updates-by-hand", "updates_by_hand.py", "optimizer_states",
            "Nothing is annotated; momentum arrives in step 7 of 40, and twelve small norms are "
            "kept.", also=("first_step_growth",), first=1),
    healthy("rollouts-get-longer", "rollouts_get_longer.py", "larger_inputs",
            "Each path is two moments longer than the last one, and freed by its backward pass.",
            also=("fragmented",), period=1, first=1),
    healthy("body-thawed-at-once", "body_thawed_at_once.py", "new_parameters",
            "From step 13 of 30 a body is trained that was frozen: activations, gradients and two "
            "states, in a new optimizer.", also=("first_step_growth",), first=13),
    healthy("reservoir", "reservoir.py", "memory_bank",
            "Batches of different sizes are kept until there are 12; a new one replaces a random "
            "one ever more rarely.", period=1, first=1),
    healthy("beams-widen", "beams_widen.py", "varying_sizes",
            "Beams widen every second request until the 21st of 30; the last request's answers "
            "are kept until the next. Inference.", also=("fragmented",), first=1),
    healthy("tasks-alternate", "tasks_alternate.py", "periodic_work",
            "Every third step has texts three times as long, and the peak.", also=("spike",),
            period=3),
    healthy("checkpoint-loaded", "checkpoint_loaded.py", "preparation",
            "A model is trained and saved, then another resumes from the file: at the beginning "
            "weights and states are on the device twice.", also=("spike",)),
    healthy("one-long-answer", "one_long_answer.py", "kv_cache",
            "A single request: keys and values grow with each token, and all go when the answer "
            "is complete, at the very end. Inference; a step is a token.", period=1, first=1),
    healthy("sliding-window", "sliding_window.py", "kv_cache",
            "A tensor is replaced by a longer one for 30 steps, then keeps its length. Inference.",
            period=1, first=1),
    healthy("average-expandable", "average_from_step.py", "weights_average",
            "average-from-step in expandable segments.", conf="expandable_segments:True",
            first=15),
    healthy("stacked-coders", "stacked_coders.py", "new_parameters",
            "Every 5 steps to the end a layer is added and the one below frozen: its weights stay, "
            "its gradients and states go.", also=("first_step_growth",), period=5, first=1),
    healthy("scores-until-next", "scores_until_next.py", "outputs_replaced",
            "An evaluation's scores stay for 8 steps, until the next one begins, and each has one "
            "batch more than the last.", period=8, first=8),
    healthy("trimmed-log", "trimmed_log.py", "memory_bank",
            "A copied gradient a step is kept; at 20 the oldest 12 go: teeth of 12 steps above a "
            "base of 8, and the last is cut short.", period=1, first=1),
    healthy("snapshot-ensemble", "snapshot_ensemble.py", "weights_copy",
            "Every 8 optimizer steps a copy of the model is kept, four in all; the last 12 of 44 "
            "steps only ask them, and nothing marks those.", period=8, first=8),
    healthy("collected-once", "collected_once.py", "reference_cycle",
            "A step's object holds a method bound to it; the collector comes once, in step 26 of "
            "40, and the second tooth is cut short.", blame="self.weighed = layer(self.rows)",
            blame_also=("batch = Batch(torch.randn",), period=1, first=1),
    # The same programs, with less in the recording.
    healthy("momentum-queue-bare", "momentum_queue.py", "memory_bank",
            "momentum-queue without stacks and annotations.", strip=("frames", "annotations"),
            period=1, first=1),
    healthy("momentum-queue-late", "momentum_queue.py", "memory_bank",
            "The last 3000 events of momentum-queue: full since before they begin.", last=3000,
            period=1),
    healthy("rollouts-bare", "rollouts_freed_in_mass.py", "rollouts",
            "rollouts-freed-in-mass without stacks and annotations.",
            strip=("frames", "annotations"), period=1, first=1),
    healthy("collector-sawtooth-bare", "collector_sawtooth.py", "reference_cycle",
            "collector-sawtooth without stacks and annotations: the line cannot be known.",
            strip=("frames", "annotations"), period=1, first=1),
    healthy("heads-by-task-bare", "heads_by_task.py", "new_parameters",
            "heads-by-task without stacks and annotations.", strip=("frames", "annotations"),
            also=("first_step_growth", "leak"), period=5, first=1),
    healthy("curriculum-bare", "curriculum.py", "varying_sizes",
            "curriculum without stacks and annotations.", strip=("frames", "annotations"),
            also=("fragmented",)),
    healthy("league-bare", "league_of_opponents.py", "memory_bank",
            "league-of-opponents without stacks and annotations.", strip=("frames", "annotations"),
            period=3, first=1),
    healthy("requests-late", "requests_with_cache.py", "kv_cache",
            "The last 2600 events of requests-with-cache, without annotations; it begins within a "
            "request.", strip=("annotations",), last=2600),
]
