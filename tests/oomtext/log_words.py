"""Words about memory that is not lacking: hints, help, code, tests, change logs, prose.

Each line here would look like a failure to a grep. None is one.
"""

from log_training import MODELS, clock

HINTS = [
    "UserWarning: Using a padding of 4096 may cause out of memory errors on small GPUs.",
    "WARNING - evaluation keeps all logits on the device; to avoid running out of memory, set "
    "eval_accumulation_steps.",
    "INFO: gradient checkpointing is on. It reduces the risk of CUDA out of memory at the price of "
    "20 % more time.",
    "Using memory-efficient attention (xformers).",
    "Note: the fused optimizer is OOM-safe: it falls back to the sliced one.",
    "Tip: if you get CUDA out of memory, lower --batch-size or use --amp.",
    "find_executable_batch_size: starts at 512 and halves whenever it hits an OOM",
    "[W304 08:01:22.100 AllocatorConfig.cpp:28] Warning: PYTORCH_CUDA_ALLOC_CONF is deprecated, use "
    "PYTORCH_ALLOC_CONF instead",
    "UserWarning: expandable_segments not supported on this platform (function operator())",
    "Loading checkpoint with mmap=True so that the host does not run out of memory",
    "Registered an OOM observer: a memory snapshot is written if the device runs out of memory",
    "skip_oom_batches is off: the first out-of-memory error will end the run",
    "INFO offload: optimizer states go to the CPU to prevent OOM",
    "cache dataset in RAM? needs 41.2GB, have 460.1GB: yes",
    "WARNING: Sequence group 12 is preempted by PreemptionMode.RECOMPUTE mode because there is not "
    "enough KV cache space. This can affect the end-to-end performance. "
    "total_num_cumulative_preemption=1",
    "KV cache pool is large enough for 37 requests of maximum length.",
    "flash_attn: falling back, head_dim 96 needs more shared memory than this device has",
    "DataLoader: 16 workers share 64.0 GB of /dev/shm; enough memory",
    "memory limit: none. Set --memory-limit to stop before the kernel does.",
    "No OOM since the start (0 retries).",
    "Peak memory stayed 3.2 GiB below the limit, no out of memory events were recorded.",
    "estimate: 61.3 GiB of 79.1 GiB would be used: not out of memory",
    "为避免显存不足，请适当减小 batch size。",
    "如果出现显存溢出（out of memory），可以降低分辨率后重试",
    "メモリ不足を避けるため、勾配チェックポイントを有効にします。",
    "Чтобы не закончилась память, уменьшите размер пакета.",
    "Astuce : pour éviter une erreur « out of memory », réduisez la taille du lot.",
]

HELP = """\
usage: train.py [-h] [--batch-size N] [--oom-retries N] [--on-oom {raise,skip,halve}]

options:
  --oom-retries N       how often a step that ran out of memory is tried again (default: 3)
  --on-oom {raise,skip,halve}
                        what to do when CUDA runs out of memory: fail with an OutOfMemoryError,
                        skip the batch, or halve it (default: raise)
  --halt-on-oom         end the run at the first out-of-memory error
  --cpu-offload         move weights to the CPU while they are not in use; try it when the GPU has
                        not enough memory
  --reserve-gb GB       memory that is left free for others, to prevent out of memory errors there
  --tensor-parallel N   GPUs a model is spread over. If the model fails to load with CUDA out of
                        memory, increase it.

## Troubleshooting

**If CUDA runs out of memory** reduce `per_device_train_batch_size` and raise
`gradient_accumulation_steps` by the same factor. See also the documentation of Memory Management
and PYTORCH_CUDA_ALLOC_CONF (https://docs.example.org/faq#cuda-out-of-memory).

| symptom                     | cause                      | what helps                        |
|-----------------------------|----------------------------|-----------------------------------|
| `CUDA out of memory`        | batch too large            | smaller batch, checkpointing      |
| `Killed`                    | the host has no memory     | fewer workers                     |
| `RESOURCE_EXHAUSTED`        | same in JAX and TensorFlow | XLA_PYTHON_CLIENT_MEM_FRACTION    |
| `std::bad_alloc`            | the host again             | smaller shards                    |
| `CUBLAS_STATUS_ALLOC_FAILED`| no room for its workspace  | leave some memory free            |

man 3 errno: ENOMEM  Cannot allocate memory (POSIX.1-2001). May also mean not enough space.
Batch job states: OUT_OF_MEMORY  Job experienced out of memory error. TIMEOUT  Job ran too long.
Frequent questions: what does "CUDA out of memory" mean? Why is my process killed?
"""

# Of programs in Python, as tracebacks and diffs show them.
STATEMENTS = [
    "except torch.cuda.OutOfMemoryError:",
    "except (RuntimeError, MemoryError, torch.OutOfMemoryError) as error:",
    'if "out of memory" in str(error):',
    "raise MemoryError",
    'raise RuntimeError("CUDA out of memory") from None',
    'logger.warning("ran out of memory in rank %d, retrying batch", rank)',
    'print("| WARNING: OOM, skipping batch")',
    'with pytest.raises(torch.OutOfMemoryError, match="out of memory"):',
    'assert "CUDA out of memory" in str(caught.value)',
    "class OutOfMemoryError(RuntimeError):",
    "@retry(on=(OutOfMemoryError, ResourceExhaustedError), times=3)",
    'return self.fallback("OOM")  # std::bad_alloc of the extension ends here',
    "loss = model(batch)",
]

CODE = """\
diff --git a/src/pool.cc b/src/pool.cc
+    except torch.cuda.OutOfMemoryError:
+        torch.cuda.empty_cache()
-        print("| WARNING: OOM, skipping batch")
        catch (const std::bad_alloc &) {
            return Status::ResourceExhausted("out of memory");
    case cudaErrorMemoryAllocation: return "out of memory";
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    cudaErrorMemoryAllocation = 2,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    VK_ERROR_OUT_OF_DEVICE_MEMORY = -2,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    ncclSystemError = 2,
#define ENOMEM 12 /* Out of memory */
    fprintf(stderr, "out of memory\\n"); exit(1);
['Event', 'ExternalStream', 'Graph', 'OutOfMemoryError', 'Stream', 'StreamContext']
grep -c 'out of memory' train.log || echo none
0
$ journalctl -k | grep -i 'killed process'
$ dmesg | grep -E 'oom-kill|Out of memory'
$ echo -1000 > /proc/4711/oom_score_adj
"""

TESTS = """\
tests/test_trainer.py::test_oom_handling PASSED                                          [ {p}%]
tests/test_trainer.py::test_cuda_out_of_memory_is_retried PASSED                         [ {p}%]
tests/test_allocator.py::TestLimits::test_raises_OutOfMemoryError[cuda] PASSED           [ {p}%]
tests/test_loader.py::test_MemoryError_names_the_file PASSED                             [ {p}%]
test_out_of_memory (tests.TestPool.test_out_of_memory) ... ok
test_fails_to_allocate_when_full (tests.TestPool) ... ok
[       OK ] Allocator.ReturnsNullWhenOutOfMemory (0 ms)
ok 17 - out of memory is reported once
 ✓ shows a banner when the worker is OOMKilled ({p} ms)
"""

CHANGES = """\
{h} fix OOM in the evaluation loop
{h} Merge pull request #{p} from org/avoid-cuda-out-of-memory-when-saving
{h} docs: what to do about CUDA out of memory errors
{h} Revert "raise MemoryError early"
- Fixed an issue where the trainer ran out of memory after the first epoch (#{p})
- `OutOfMemoryError` is now a subclass of `RuntimeError`
- Reduced peak memory by 30 %; "CUDA error: out of memory" on 24 GB cards should be gone
"""

PROSE = [
    "At the wedding she ran out of memory cards before the cake was cut, and the photographer lent "
    "her two.",
    "He recited it out of memory, line by line, while the others in the room pretended to sleep.",
    "The council failed to allocate funds, and the bridge was not built until 1911.",
    "Random-access memory (RAM) is read and changed in any order. When a machine has not enough "
    "memory, its operating system moves pages to disk, which is called swapping.",
    "“Killed,” said the sergeant. “Process the papers, and be quick.”",
    "Our resources exhausted, we turned back a day's march from the pole.",
    "Memory, Error and Identity: three essays on what we believe we remember.",
    "The village had gone out of memory; only the oldest still knew the well.",
    "time limit per test: 2 seconds, memory limit per test: 256 megabytes. Verdicts: Accepted, Wrong "
    "answer, Time limit exceeded, Memory limit exceeded.",
    "The doctors were unable to allocate beds to all who came.",
    "Die Erinnerung, sagte er, sei das einzige Paradies, aus dem wir nicht vertrieben werden können.",
    "她把照片都存在旧手机里，直到内存不足，才舍得删掉几张。",
    "昔々あるところに、記憶の足りない狸がおりました。メモリが不足していますと画面に出ました。",
    "الذاكرة بئر، كلما أخذت منها ازدادت عمقا.",
    "Память не вмещала всего, и он начал записывать.",
    "기억이 부족하다고 그는 말했다.",
    "Question: my script says 'CUDA out of memory', what does that mean? Answer: the graphics card has "
    "no room left for what the program wants to put there.",
    "A classic of the genre: the ship's computer, out of memory, must forget its captain to land.",
    "### Instruction: Explain what an OutOfMemoryError is in Java. ### Response: It is thrown when the "
    "heap cannot grow any more.",
    "🙂👍🏽 émigré naïve façade — “curly” … ½ × 2 ≠ 1",
]


def hints(rng):
    for step in range(rng.randint(40, 150)):
        yield f"2026-03-04 {clock(step)} [{rng.choice(('INFO', 'WARNING', 'DEBUG'))}] " + rng.choice(HINTS)
        yield f"step {step} loss {rng.uniform(0, 9):.3f}"


def pages(rng):
    for text in (HELP, TESTS, CODE, CHANGES):
        for line in text.splitlines():
            yield (line.replace("{p}", str(rng.randint(10, 99)))
                   .replace("{h}", f"{rng.getrandbits(28):07x}"))


def tracebacks(rng):
    """Of something else, an interrupt or a bad shape, through code that speaks of memory."""
    for _ in range(rng.randint(5, 25)):
        yield "Traceback (most recent call last):"
        for _ in range(rng.randint(2, 8)):
            yield f'  File "/opt/app/{rng.choice(MODELS)}.py", line {rng.randint(1, 999)}, in forward'
            yield "    " + rng.choice(STATEMENTS)
        yield rng.choice(("KeyboardInterrupt", "ValueError: shapes (3,4) and (5,6) not aligned",
                          "ConnectionResetError: [Errno 104] Connection reset by peer",
                          "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "))


def samples(rng):
    """What a language model is fed with or says, printed now and then."""
    for step in range(rng.randint(30, 200)):
        text = " ".join(rng.choices(PROSE, k=rng.randint(1, 4)))
        yield rng.choice((f"sample {step}: {text}", f'{{"id": {step}, "text": "{text}"}}', text,
                          f"> {text}", f"[{step}] prompt={text[:40]!r} completion={text!r}"))


def words_wrapped(rng):
    """As terminals wrap long lines: anywhere."""
    width = rng.randint(60, 120)
    for text in rng.choices(PROSE + HINTS, k=rng.randint(20, 60)):
        for at in range(0, len(text), width):
            yield text[at:at + width]


SHAPES = [hints, pages, tracebacks, samples, words_wrapped]
