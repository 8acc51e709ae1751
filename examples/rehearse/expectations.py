"""What memory a run must show, computed by hand and to the byte.

    python expectations.py DOCUMENT [--gpu h100] [--expandable]

A document is what a program leaves with --json (see marks.py). For each mark that can be computed
this says which tensors are alive, from sizes.py and the rules of PyTorch written down below, and
compares: `requested` always, and `allocated` where segments are expandable. There every request
takes its size rounded up to 512 bytes, and nothing else; otherwise a block may keep up to 1 MiB of
a rest too small to split off.
"""

import argparse
import json
import sys
from math import prod

import sizes

MIB = 1 << 20
BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, None: 4}


def rounded(request):
    return (request + 511) // 512 * 512


def tensors(shapes, width=4):
    """The bytes of one tensor per shape."""
    return [width * prod(shape) for shape in shapes]


class Run:
    """A document, and what its readers ask of it."""

    def __init__(self, document, gpu):
        self.document = document
        self.arguments = document["arguments"]
        self.facts = document["facts"]
        self.version = tuple(int(part) for part in document["torch"].split(".")[:2])
        self.gpu = gpu

    def get(self, name, default=None):
        value = self.arguments.get(name)
        return default if value is None else value

    def workspaces(self, threads, lt=0):
        """What cuBLAS may use for itself, which PyTorch takes from its allocator once for each
        thread that multiplies (the main one, and the one of the backward pass): 32 MiB on
        capability 9.0, 2 x 4 MiB + 8 x 16 KiB elsewhere, and for cuBLASLt, which multiplies
        where a bias is added, 1 MiB. Since 2.15 they live as long as one call."""
        if self.version >= (2, 15):
            return []
        size = 32 * MIB if self.gpu in ("h100", "h200") else 8 * MIB + 128 * 1024
        return threads * [size] + lt * [MIB]


def states(run, shapes, width):
    """What the optimizer keeps on the device for trainable tensors of these shapes."""
    kind = run.get("optimizer", "adamw")
    if run.get("offload") in ("optimizer", "both") or kind in ("sgd", "none"):
        return []
    if kind == "momentum":
        return tensors(shapes, width)
    if kind == "adafactor":  # one row and one column of each matrix, vectors whole
        kept = []
        for shape in shapes:
            kept += [width * shape[0], width * shape[1]] if len(shape) == 2 else \
                [width * prod(shape)]
        return kept
    kept = 2 * tensors(shapes, width)
    on_device = run.get("kind") == "fused" or run.get("fused") or run.get("graph")
    return kept + (len(shapes) * [4] if on_device else [])


def training(run, weights, shapes, width, batch):
    """The marks every training loop here shares, as {mark: requests}.

    weights   everything made with the model, in bytes
    shapes    of what is trained, `width` bytes an element
    batch     everything else that is alive: inputs, loss, workspaces of forward and backward"""
    gradients = tensors(shapes, width)
    scaler = [4, 4] if run.get("autocast") == "fp16" else []
    steady = weights + batch + scaler
    kept = states(run, shapes, width)
    dropped = run.get("offload") in ("optimizer", "both")
    cleared = gradients if run.get("no_set_to_none") else []
    marks = {"built": weights, "step0.backward": steady + gradients}
    marks["step0.step"] = steady + kept + ([] if dropped else gradients)
    marks["step0.zeroed"] = steady + kept + cleared
    marks["step1.backward"] = marks["step2.backward"] = steady + kept + gradients
    marks["step1.zeroed"] = marks["step2.zeroed"] = marks["step0.zeroed"]
    return marks


def gpt_activations(run, shape):
    """What autograd keeps between forward and backward, where attention is one kernel and
    nothing is dropped, recomputed or moved: 4 bytes a number in fp32, 2 where bf16."""
    batch, time = run.get("batch"), run.get("sequence")
    rows, width, layers = batch * time, shape["width"], shape["layers"]
    autocast = run.get("autocast")
    stream = BYTES[run.get("dtype")]  # the residual stream has the type of the weights
    inner = 2 if autocast else stream
    norms = 2 * layers + 1
    requests = [8 * time]  # the positions, for the gradient of their embedding
    requests += norms * [stream * rows * width, 4 * rows, 4 * rows]  # input, mean, deviation
    of_layer = [inner * rows * width,       # the input of qkv
                inner * rows * 3 * width,   # queries, keys and values
                inner * rows * width,       # attention's output, the input of project
                4 * batch * shape["heads"] * time,  # its log-sum-exp
                inner * rows * width,       # the input of expand
                inner * rows * 4 * width,   # the input of GELU
                inner * rows * 4 * width]   # the input of contract
    if inner == 2:  # flash attention's random state, though nothing is dropped
        of_layer += [16, 8]
    elif run.version >= (2, 15):  # and that of the attention kernel for fp32
        of_layer += [8, 8]
    requests += layers * of_layer
    if autocast:  # the weights as multiplied
        requests += layers * [2 * a * b for a, b in sizes.gpt_linears(shape)]
        requests += [2 * shape["vocabulary"] * width]
    requests += [inner * rows * width]  # the input of the head
    requests += [4 * rows * shape["vocabulary"], 4]  # log-probabilities; the sum of weights
    return requests


def plain_gpt(run, shape):
    """Whether gpt_activations() knows this run."""
    return (not any(run.get(name) for name in ("checkpoint", "offload", "lora", "compile"))
            and run.get("loss_chunks") == 1 and run.get("accumulate") == 1
            and shape["dropout"] == 0 and shape["attention"] == "sdpa"
            and shape["heads"] * 64 == shape["width"] and run.get("sequence") % 128 == 0
            and run.get("autocast") != "fp16" and run.gpu not in ("h100", "h200", "b200"))


def tokens_of(run):
    return 2 * [8 * run.get("batch") * run.get("sequence")]


def lora(run, shapes, linears, layers, width):
    """(weights, shapes that are trained)"""
    rank = run.get("lora", 0)
    if not rank:
        return tensors(shapes, width), shapes
    extra = sizes.adapters(linears, layers, rank)
    return tensors(shapes + extra, width), extra


def train_gpt(run):
    shape = run.facts["shape"]
    width = BYTES[run.get("dtype")]
    weights, trained = lora(run, sizes.gpt(shape), sizes.gpt_linears(shape), shape["layers"],
                            width)
    if run.get("graph"):
        return {"built": weights}
    # Recomputed blocks add biases in the backward pass too.
    workspaces = run.workspaces(2, 2 if run.get("checkpoint") else 1)
    marks = training(run, weights, trained, width, tokens_of(run) + [4] + workspaces)
    if plain_gpt(run, shape):
        before = weights + tokens_of(run) + [4]
        marks["step0.forward"] = before + run.workspaces(1, 1) + gpt_activations(run, shape)
        marks["step1.forward"] = (before + run.workspaces(2, 1) + states(run, trained, width)
                                  + gpt_activations(run, shape))
    return marks


def rotary(shape):
    """Two tables in single precision, for each position and half of a head's width."""
    return 2 * [4 * shape["context"] * (shape["width"] // shape["heads"] // 2)]


def train_llama(run):
    shape = run.facts["shape"]
    width = BYTES[run.get("dtype")]
    weights, trained = lora(run, sizes.llama(shape), sizes.llama_linears(shape),
                            shape["layers"], width)
    weights = weights + rotary(shape)
    if run.get("graph"):
        return {"built": weights}
    return training(run, weights, trained, width, tokens_of(run) + [4] + run.workspaces(2))


def generate(run):
    shape = run.facts["shape"]
    width = BYTES[run.get("dtype")]
    batch, prompt = run.get("batch"), run.get("prompt")
    weights = tensors(sizes.llama(shape), width) + rotary(shape)
    marks = {"built": weights}

    def cache(length):
        one = width * batch * shape["groups"] * length * (shape["width"] // shape["heads"])
        return 2 * shape["layers"] * [one]

    static = run.get("cache") == "static"
    marks["ready"] = weights + [8 * batch * prompt]
    if static:
        marks["ready"] = marks["ready"] + cache(prompt + run.get("tokens"))
    if run.get("grad") == "on":
        return marks
    for step in range(3):
        alive = weights + run.workspaces(1) + [8 * batch * (prompt + step + 1), 8 * batch]
        if static:
            alive = alive + cache(prompt + run.get("tokens"))
        elif run.get("cache") == "dynamic":
            alive = alive + cache(prompt + step)
        marks[f"step{step}.generated"] = alive
    return marks


def train_resnet(run):
    shapes, channels = sizes.resnet(run.get("depth"))
    # A batch normalisation also keeps a mean, a variance and how many batches it saw.
    weights = tensors(shapes) + [size for count in channels for size in (4 * count, 4 * count, 8)]
    if run.get("evaluate"):
        return {"built": weights}
    images = [4 * run.get("batch") * 3 * run.get("image") ** 2, 8 * run.get("batch")]
    run.arguments["optimizer"] = "momentum"
    return training(run, weights, shapes, 4, images + [4] + run.workspaces(2, 1))


def train_vit(run):
    shapes = sizes.vit(run.get("size"))
    images = [4 * run.get("batch") * 3 * 224 ** 2, 8 * run.get("batch")]
    return training(run, tensors(shapes), shapes, 4, images + [4] + run.workspaces(2, 1))


def train_unet(run):
    shapes = sizes.unet(run.get("channels"))
    weights = tensors(shapes)
    image = 4 * run.get("batch") * 3 * run.get("image") ** 2
    # Images, noise, times, and a loss as large as an image: mse_loss leaves the mean where the
    # squares were.
    batch = [image, image, 8 * run.get("batch"), image]
    marks = training(run, weights * (2 if run.get("average") else 1), shapes, 4,
                     batch + run.workspaces(2, 1))
    marks["copied"] = marks["built"]
    marks["built"] = weights
    return marks


def sharded(shape, world):
    """A rank's part of a tensor: rows are dealt out in equal numbers, the last may be short, and
    its part is padded."""
    return (-(-shape[0] // world),) + tuple(shape[1:])


def train_fsdp(run):
    shape = run.facts["shape"]
    shapes = [sharded(one, run.facts["world"]) for one in sizes.llama(shape)]
    weights = tensors(shapes) + rotary(shape)
    if run.get("cpu_offload"):
        return {}
    return training(run, weights, shapes, 4, tokens_of(run) + [4] + run.workspaces(2))


def perceptron(run):
    """Programs with planted bugs: what lies there at the end of a step that grows nothing."""
    weights = tensors(sizes.perceptron())
    program, fixed = run.document["program"], run.get("fixed")
    marks = {"built": weights}
    batch = [4 * 256 * 1024, 8 * 256]
    alive = weights + run.workspaces(2, 1)
    if program == "missing_zero_grad.py":
        alive = alive + batch + [4]
        marks["step2.end"] = alive if fixed else alive + weights
    elif program == "evaluate_with_grad.py":
        rows = 8 * 256  # history: inputs, three activations, log-probabilities
        history = 4 * [4 * rows * 1024] + [4 * rows * 4096, 8 * rows, 4]
        marks["step2.end"] = alive + [4] + ([] if fixed else history)
    elif program == "loader_on_device.py" and not fixed:
        marks["loaded"] = weights + run.get("steps") * [4 * part for part in batch]
    elif program == "optimizer_recreated.py":
        alive = alive + batch + [4]
        marks["step2.end"] = alive + 2 * weights
        marks["step5.end"] = alive + (2 if fixed else 4) * weights
        marks["step11.end"] = alive + (2 if fixed else 8) * weights
    return marks


# What one more step leaves behind, in bytes: 256 rows, 1024 features, 4096 classes.
GROWTH = {
    "loss_kept.py": 4 * 256 * 4096,                 # log-probabilities
    "outputs_kept.py": 4 * 256 * 4096,              # logits
    "hook_kept.py": 3 * 4 * 256 * 1024,             # the outputs of three layers
    "retain_graph.py": 4 * 256 * 2048 + 4 * 256 * 1024,  # what the cell read, and what it said
    "growing_cache.py": 4 * 256 * 1024,             # features
    "traceback_kept.py": 4 * 256 * (1024 + 4096),   # the frame's features and logits
    "logits_kept_fp32.py": 4 * 256 * 4096 + 8 * 256,  # logits and classes
}


def growth(run, found):
    """Rows for programs that leave something in every step, and for their cures."""
    program = run.document["program"]
    if program not in GROWTH:
        return []
    steps = [4, 5, 6, 7, 8]  # a bounded cache is full by then
    step_bytes = 0 if run.get("fixed") else GROWTH[program]
    return [(f"step{step} grows", "requested", step_bytes,
             found[f"step{step}.end"]["requested"] - found[f"step{step - 1}.end"]["requested"])
            for step in steps if f"step{step}.end" in found]


EXPECTATIONS = {
    "train_gpt.py": train_gpt,
    "train_llama.py": train_llama,
    "generate.py": generate,
    "train_resnet.py": train_resnet,
    "train_vit.py": train_vit,
    "train_unet.py": train_unet,
    "train_fsdp.py": train_fsdp,
    "missing_zero_grad.py": perceptron,
    "evaluate_with_grad.py": perceptron,
    "loader_on_device.py": perceptron,
    "optimizer_recreated.py": perceptron,
}


def compare(document, gpu, expandable=False):
    """[(mark, field, expected, found)] of everything that can be computed."""
    run = Run(document, gpu)
    found = {mark["name"]: mark for mark in document["marks"]}
    rows = []
    for name, requests in EXPECTATIONS.get(document["program"], lambda run: {})(run).items():
        if name in found:
            rows.append((name, "requested", sum(requests), found[name]["requested"]))
            if expandable:
                rows.append((name, "allocated", sum(map(rounded, requests)),
                             found[name]["allocated"]))
    return rows + growth(run, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("document")
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--expandable", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.document, encoding="utf-8") as file:
        rows = compare(json.load(file), arguments.gpu, arguments.expandable)
    for mark, field, expected, got in rows:
        verdict = "" if expected == got else f"  WRONG by {got - expected:+,}"
        print(f"{mark:16}{field:11}{expected:>18,}{verdict}")
    if not rows:
        print("nothing here can be computed by hand")
    sys.exit(any(expected != got for _, _, expected, got in rows))


if __name__ == "__main__":
    main()
