# Callbacks close over each step's output.
# keeper: callbacks
import torch


def make_callback(output):
    def report():
        return float(output.mean())

    return report


def run(model, steps):
    callbacks = []
    for _ in range(steps):
        with torch.inference_mode():
            output = model(torch.randn(512, 1024, device="cuda"))  # blame
        callbacks.append(make_callback(output))
    return [callback() for callback in callbacks]


run(torch.nn.Linear(1024, 2048, device="cuda"), 3000)
