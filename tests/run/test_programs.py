#!/usr/bin/env python3
"""The recorder in real PyTorch programs: they do not notice.

    test_programs.py PLIMSOLL

runs itself as a rehearsal, with the Python that PLIM_TORCH_PYTHON names and that has PyTorch;
without one it is skipped. `test_programs.py --here` takes the stand-ins that are in the
environment already.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "agent")]
from test_with_torch import run_tests  # noqa: E402
from together import Together  # noqa: E402

TRAIN = """
import atexit, gc, threading
import torch
from look import look
atexit.register(lambda: print("atexit, the program's first", gc.isenabled(),
                              [thread.name for thread in threading.enumerate()]))
def main():
    look("imported")
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)).cuda()
    look("CUDA")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        net(torch.randn(64, 256, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    look("trained")
    return net
"""


class Visible(Together):
    def test_interpreter(self):
        """All that a program can look at is as it is without the recorder."""
        ended = self.both(TRAIN + "main()\n")
        self.assertIn("001-exit.json", ended.files())


SHORT = ["Visible.test_interpreter"]
if __name__ == "__main__":
    run_tests(__file__, SHORT)
