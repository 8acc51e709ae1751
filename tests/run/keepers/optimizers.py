# A new optimizer for each phase; a dictionary keeps the old ones.
# keeper: optimizers
import torch


class Phases:
    def __init__(self):
        self.model = torch.nn.Linear(1024, 1024, device="cuda")
        self.optimizers = {}

    def phase(self, number):
        optimizer = self.optimizers[number] = torch.optim.AdamW(self.model.parameters())
        for _ in range(2):
            self.model(torch.randn(64, 1024, device="cuda")).square().mean().backward()
            optimizer.step()  # blame
            optimizer.zero_grad()


def main():
    phases = Phases()
    for number in range(400):
        phases.phase(number)


main()
