# Three steps of a small network under the profiler: tests/data/profiles/README.md
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(256, 1024)
        self.down = nn.Linear(1024, 256)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def step(net, optimizer, x):
    with record_function("forward"):
        y = net(x)
    y.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def main():
    net = Net().to("cuda")
    optimizer = torch.optim.Adam(net.parameters())
    batches = [torch.randn(100, 256, device="cuda") for _ in range(4)]
    step(net, optimizer, batches[0])
    step(net, optimizer, batches[1])
    def export(prof):
        prof.export_chrome_trace("kineto.json.gz")
        prof.export_memory_timeline("timeline.raw.json.gz", "cuda:0")
        prof.export_memory_timeline("timeline.json", "cuda:0")

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=True, record_shapes=True,
                 schedule=schedule(wait=0, warmup=0, active=4, repeat=1), on_trace_ready=export) as prof:
        for x in batches:
            step(net, optimizer, x)
            prof.step()


main()
