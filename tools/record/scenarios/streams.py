"""Two streams: copies on one, work on the other, record_stream() between them.

The last batch is let go just before the snapshot: its free was asked for, but is not
complete before the allocator looks at the other stream again, which it does not do here.
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

loader = torch.cuda.Stream()
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
held = None
for step in range(8):
    with torch.cuda.stream(loader):
        host = torch.randn(512 + 64 * step, 1024).pin_memory()
        data = host.to("cuda", non_blocking=True)
    torch.cuda.current_stream().wait_stream(loader)
    data.record_stream(torch.cuda.current_stream())
    model(data).square().mean().backward()
    held = data if step % 2 == 0 else None
    del data

torch.cuda.memory._dump_snapshot("snapshot.pickle")
