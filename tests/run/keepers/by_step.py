# Metrics of each step in a dictionary, as tensors of the device.
# keeper: metrics
import torch


def evaluate(model, steps):
    metrics = {}
    for step in range(steps):
        x = torch.randn(256, 1024, device="cuda")
        with torch.no_grad():
            logits = model(x)
            metrics[step] = {"confusion": logits.softmax(1), "step": step}  # blame
    return metrics


evaluate(torch.nn.Linear(1024, 4096, device="cuda"), 3000)
