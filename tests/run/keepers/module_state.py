# Buffers of a module that grow by concatenation.
# keeper: memory_bank
import torch


class Bank(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(1024, 1024)
        self.register_buffer("memory_bank", torch.zeros(0, 1024))

    def forward(self, x):
        features = self.encoder(x)
        self.memory_bank = torch.cat([self.memory_bank, features.detach()])  # blame
        return features


def main():
    bank = Bank().cuda()
    for _ in range(3000):
        bank(torch.randn(256, 1024, device="cuda")).sum().backward()


main()
