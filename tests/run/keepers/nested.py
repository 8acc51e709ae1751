# Meters in a dictionary of a runner keep every value.
# keeper: values
import torch


class Meter:
    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)


class Runner:
    def __init__(self):
        self.meters = {"train": Meter(), "test": Meter()}
        self.head = torch.nn.Linear(256, 4096, device="cuda")

    def run(self):
        for _ in range(3000):
            with torch.no_grad():
                scores = self.head(torch.randn(256, 256, device="cuda"))  # blame
            self.meters["test"].update(scores)


Runner().run()
