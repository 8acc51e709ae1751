# Nothing is kept: weights and optimizer states do not fit.
# keeper: model
import torch


def main():
    model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(6)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    for _ in range(10):
        model(torch.randn(64, 2048, device="cuda")).square().mean().backward()
        optimizer.step()  # blame
        optimizer.zero_grad()


main()
