# A forward hook fills a dictionary of the module.
# keeper: ACTIVATIONS
import torch

ACTIVATIONS = {}


def remember(module, inputs, output):
    ACTIVATIONS.setdefault(id(module), []).append(output.detach())


def main():
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)]).cuda()
    for layer in model:
        layer.register_forward_hook(remember)
    with torch.no_grad():
        for _ in range(3000):
            model(torch.randn(512, 1024, device="cuda"))  # blame


main()
