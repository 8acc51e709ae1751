"""The techniques that trade memory for something else, each behind a switch.

`add_arguments` adds the switches, `train` is the loop that understands all of them. The programs
train_gpt.py and train_llama.py differ in their models only.
"""

import contextlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from models import lora

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def add_arguments(parser):
    add = parser.add_argument
    add("--batch", type=int, default=8)
    add("--sequence", type=int, default=1024)
    add("--steps", type=int, default=3)
    add("--dtype", choices=("fp32", "bf16"), default="fp32", help="of the weights")
    add("--autocast", choices=("bf16", "fp16"), help="fp16 comes with a gradient scaler")
    add("--accumulate", type=int, default=1, metavar="N", help="batches per optimizer step")
    add("--checkpoint", type=int, default=0, metavar="K",
        help="recompute every K-th block in the backward pass; 1 is all of them")
    add("--loss-chunks", type=int, default=1, metavar="N",
        help="compute logits and loss in N pieces, and again in the backward pass")
    add("--optimizer", choices=("adamw", "sgd", "momentum", "adafactor", "none"),
        default="adamw")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--foreach", action="store_const", const="foreach", dest="kind")
    kind.add_argument("--fused", action="store_const", const="fused", dest="kind")
    kind.add_argument("--forloop", action="store_const", const="forloop", dest="kind",
                      help="how the optimizer works; PyTorch chooses where nothing is said")
    add("--no-set-to-none", action="store_true", help="zero gradients instead of freeing them")
    add("--clip", type=float, metavar="NORM", help="clip the gradients' norm")
    add("--offload", choices=("activations", "optimizer", "both"),
        help="keep these on the host")
    add("--lora", type=int, default=0, metavar="RANK", help="train adapters only")
    add("--compile", nargs="?", const="inductor", metavar="BACKEND")
    add("--graph", action="store_true", help="capture the step as a CUDA graph and replay it")


class Objective(nn.Module):
    """Tokens and their successors in, the mean loss out."""

    def __init__(self, model, chunks=1):
        super().__init__()
        self.model = model
        self.chunks = chunks

    def piece(self, hidden, targets):
        logits = self.model.head(hidden)
        return functional.cross_entropy(logits.float(), targets, reduction="sum")

    def forward(self, tokens, targets):
        targets = targets.flatten()
        if self.chunks == 1:
            logits = self.model(tokens).flatten(0, 1)
            return functional.cross_entropy(logits.float(), targets)
        hidden = self.model.hidden(tokens).flatten(0, 1)
        total = torch.zeros((), device=hidden.device)
        for some, wanted in zip(hidden.chunk(self.chunks), targets.chunk(self.chunks)):
            total = total + checkpoint(self.piece, some, wanted, use_reentrant=False)
        return total / len(targets)


class HostOptimizer:
    """Weights and optimizer states on the host; the device keeps weights and gradients only."""

    def __init__(self, parameters, make):
        self.parameters = list(parameters)
        self.masters = [parameter.detach().to("cpu", copy=True).requires_grad_()
                        for parameter in self.parameters]
        self.optimizer = make(self.masters)

    def step(self):
        for master, parameter in zip(self.masters, self.parameters):
            master.grad = None if parameter.grad is None else parameter.grad.to("cpu")
            parameter.grad = None
        self.optimizer.step()
        with torch.no_grad():
            for master, parameter in zip(self.masters, self.parameters):
                parameter.copy_(master)

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters:
            parameter.grad = None


def make_optimizer(parameters, arguments):
    parameters = [parameter for parameter in parameters if parameter.requires_grad]
    choice = {None: {}, "foreach": {"foreach": True}, "fused": {"fused": True},
              "forloop": {"foreach": False}}[arguments.kind]

    def make(tensors):
        if arguments.optimizer == "adamw":
            capturable = {"capturable": True} if arguments.graph else {}
            return torch.optim.AdamW(tensors, lr=3e-4, **choice, **capturable)
        if arguments.optimizer == "adafactor":
            return torch.optim.Adafactor(tensors)
        momentum = 0.9 if arguments.optimizer == "momentum" else 0.0
        return torch.optim.SGD(tensors, lr=0.1, momentum=momentum, **choice)

    if arguments.optimizer == "none":
        return None
    if arguments.offload in ("optimizer", "both"):
        return HostOptimizer(parameters, make)
    return make(parameters)


def make_scaler(enabled):
    """A gradient scaler; PyTorch before 2.3 has it elsewhere."""
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler("cuda", enabled=enabled)
    return torch.cuda.amp.GradScaler(enabled=enabled)


def build(make_model, arguments, device):
    """The model, made on the device and nowhere else."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(DTYPES[arguments.dtype])
    try:
        with torch.device(device):
            model = make_model()
    finally:
        torch.set_default_dtype(before)
    return lora.adapt(model, arguments.lora) if arguments.lora else model


def batch_of(arguments, vocabulary, device):
    """Tokens and their successors, made on the host as a loader would."""
    tokens = torch.randint(vocabulary, (arguments.batch, arguments.sequence + 1))
    return tokens[:, :-1].contiguous().to(device), tokens[:, 1:].contiguous().to(device)


@contextlib.contextmanager
def forward_context(arguments):
    with contextlib.ExitStack() as stack:
        if arguments.autocast:
            stack.enter_context(torch.autocast("cuda", DTYPES[arguments.autocast]))
        if arguments.offload in ("activations", "both"):
            stack.enter_context(torch.autograd.graph.save_on_cpu(pin_memory=True))
        yield


class Trainer:
    def __init__(self, model, vocabulary, arguments, marks):
        self.arguments = arguments
        self.marks = marks
        self.vocabulary = vocabulary
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.objective = Objective(model, arguments.loss_chunks)
        if arguments.compile:
            self.objective = torch.compile(self.objective, backend=arguments.compile)
        self.optimizer = make_optimizer(model.parameters(), arguments)
        self.scaler = make_scaler(arguments.autocast == "fp16")

    def forward(self, tokens, targets):
        with forward_context(self.arguments):
            return self.objective(tokens, targets) / self.arguments.accumulate

    def update(self):
        if self.optimizer is None:
            return
        if self.arguments.clip:
            if not isinstance(self.optimizer, HostOptimizer):
                self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.parameters, self.arguments.clip)
        if isinstance(self.optimizer, HostOptimizer):
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def clear(self):
        set_to_none = not self.arguments.no_set_to_none
        if self.optimizer is not None:
            self.optimizer.zero_grad(set_to_none=set_to_none)
        else:
            for parameter in self.parameters:
                parameter.grad = None

    def step(self, step):
        """One step of the optimizer, over as many batches as accumulate."""
        for part in range(self.arguments.accumulate):
            tokens, targets = batch_of(self.arguments, self.vocabulary, self.marks.device)
            loss = self.forward(tokens, targets)
            if part == 0:
                self.marks.moment(step, "forward")
            self.scaler.scale(loss).backward()
        self.marks.moment(step, "backward")
        self.update()
        self.marks.moment(step, "step")
        self.clear()
        self.marks.moment(step, "zeroed")
        self.marks.step(step, loss)

    def capture(self):
        """The step as a CUDA graph over tensors that stay where they are."""
        tokens, targets = batch_of(self.arguments, self.vocabulary, self.marks.device)

        def work():
            loss = self.forward(tokens, targets)
            loss.backward()
            self.optimizer.step()
            return loss

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.optimizer.zero_grad(set_to_none=True)
                work()
        torch.cuda.current_stream().wait_stream(side)
        self.optimizer.zero_grad(set_to_none=True)
        self.marks.at("warm")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = work()
        self.marks.at("captured")
        return graph, tokens, targets, loss

    def replay(self):
        graph, tokens, targets, loss = self.capture()
        for step in range(self.arguments.steps):
            new_tokens, new_targets = batch_of(self.arguments, self.vocabulary, "cpu")
            tokens.copy_(new_tokens)
            targets.copy_(new_targets)
            graph.replay()
            self.marks.moment(step, "replayed")
            self.marks.step(step, loss)


def check(arguments, parser):
    """Switches that cannot go together."""
    if arguments.graph and (arguments.accumulate > 1 or arguments.autocast == "fp16"
                            or arguments.offload or arguments.optimizer in ("none", "adafactor")):
        parser.error("--graph captures one plain step on the device: "
                     "no --accumulate, fp16, --offload, adafactor or none with it")
    if arguments.kind == "fused" and arguments.optimizer in ("adafactor", "none"):
        parser.error(f"--fused is not made for --optimizer {arguments.optimizer}")


def train(model, vocabulary, arguments, marks):
    marks.model(model)
    trainer = Trainer(model, vocabulary, arguments, marks)
    if arguments.graph:
        trainer.replay()
        return
    for step in range(arguments.steps):
        trainer.step(step)
