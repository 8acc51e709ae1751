# Losses with their graphs, in a dictionary of a trainer.
# keeper: history
import torch


class Trainer:
    def __init__(self):
        self.model = torch.nn.Sequential(
            torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.history = {"loss": [], "rate": []}

    def step(self, x):
        loss = (self.model(x) - x).square().mean()  # blame
        self.history["loss"].append(loss)
        self.history["rate"].append(1e-3)

    def fit(self, steps):
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.step(torch.randn(256, 512, device="cuda"))


if __name__ == "__main__":
    Trainer().fit(2000)
