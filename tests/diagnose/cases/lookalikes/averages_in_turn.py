"""Three averages of the weights begin in steps 7, 14 and 21 of 40, with three horizons."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

BEGIN = {7: 0.9, 14: 0.99, 21: 0.999}

model = nn.Sequential(nn.Embedding(800, 256), nn.Flatten(), nn.Linear(8 * 256, 256), nn.Tanh(),
                      nn.Linear(256, 800)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9, fused=True)
averages = []
for step in range(40):
    words = torch.randint(800, (128, 9), device="cuda")
    loss = nn.functional.cross_entropy(model(words[:, :8]), words[:, 8])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step in BEGIN:
        averages.append(AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(BEGIN[step])))
    for average in averages:
        average.update_parameters(model)
