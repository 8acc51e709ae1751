"""What PyTorch itself says of device memory, at named moments of a run.

Every program here opens one `Marks`, names the moments that matter, and says one line per step.
With --json it leaves a document at the end, also when the program dies of running out of memory:

    {"schema": "marks/1", "program": ..., "torch": ..., "arguments": {...}, "facts": {...},
     "marks": [{"name": "built", "allocated": ..., "requested": ..., "reserved": ...}, ...],
     "peak": {"allocated": ..., "requested": ..., "reserved": ...}, "ended": null}

`allocated` counts blocks, `requested` what the program asked for, both in bytes; `ended` names
the exception that ended the program.
"""

import json
import os
import sys
import time

import torch


def add_arguments(parser):
    """The switches every program has."""
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-",
                        help="write the program's own view of memory, one JSON line")
    parser.add_argument("--log-loss", action="store_true",
                        help="read the loss back from the device in every step")
    parser.add_argument("--seed", type=int, default=1)


def need_cuda():
    if not torch.cuda.is_available():
        sys.exit("no CUDA device: run this on a GPU, or under `plimsoll rehearse -- python ...`")


class Marks:
    """with Marks(arguments) as marks: ... marks.at("built") ... marks.step(0, loss)"""

    def __init__(self, arguments, device=None):
        need_cuda()
        torch.manual_seed(arguments.seed)
        self.arguments = arguments
        self.device = torch.device("cuda", torch.cuda.current_device()) if device is None \
            else device
        self.facts = {}
        self.marks = []
        self.steps_marked = 3
        self.start = time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        torch.cuda.synchronize(self.device)
        peak = self.read("max_memory_allocated", "max_memory_reserved", "peak")
        print(f"peak: allocated {peak['allocated']:,} B, reserved {peak['reserved']:,} B"
              + (f"; ended by {kind.__name__}" if kind else ""), flush=True)
        if self.arguments.json:
            self.write(peak, kind.__name__ if kind else None)
        return False

    def read(self, allocated, reserved, which):
        requested = torch.cuda.memory_stats(self.device).get(f"requested_bytes.all.{which}", 0)
        return {"allocated": getattr(torch.cuda, allocated)(self.device),
                "requested": requested,
                "reserved": getattr(torch.cuda, reserved)(self.device)}

    def write(self, peak, ended):
        document = {"schema": "marks/1", "program": os.path.basename(sys.argv[0]),
                    "torch": torch.__version__,
                    "arguments": {name: value for name, value in vars(self.arguments).items()
                                  if name != "json"},
                    "facts": self.facts, "marks": self.marks, "peak": peak, "ended": ended}
        line = json.dumps(document)
        if self.arguments.json == "-":
            print(line, flush=True)
            return
        rank = int(os.environ.get("RANK", 0))
        path = self.arguments.json + (f".{rank}" if rank else "")
        with open(path, "w", encoding="utf-8") as file:
            file.write(line + "\n")

    def fact(self, name, value):
        """Something a reader of the document wants to know, such as the number of parameters."""
        self.facts[name] = value

    def model(self, model):
        """Say what was built, and mark it."""
        parameters = sum(parameter.numel() for parameter in model.parameters())
        self.fact("parameters", parameters)
        print(f"{type(model).__name__}: {parameters:,} parameters", flush=True)
        self.at("built")

    def at(self, name):
        self.marks.append({"name": name,
                           **self.read("memory_allocated", "memory_reserved", "current")})

    def peak_at(self, name):
        """Mark the highest so far, as a program prints it that asks for no current figures."""
        self.marks.append({"name": name,
                           **self.read("max_memory_allocated", "max_memory_reserved", "peak")})

    def moment(self, step, name):
        """Mark a moment of a step; of a long run only the first steps."""
        if step < self.steps_marked:
            self.at(f"step{step}.{name}")

    def step(self, step, loss=None):
        """One line for a step."""
        words = [f"step {step}"]
        if loss is not None and self.arguments.log_loss:
            words.append(f"loss {loss.item():.4f}")
        words.append(f"allocated {torch.cuda.memory_allocated(self.device) >> 20} MiB")
        words.append(f"peak {torch.cuda.max_memory_allocated(self.device) >> 20} MiB")
        words.append(f"{time.monotonic() - self.start:.1f} s")
        print(", ".join(words), flush=True)
