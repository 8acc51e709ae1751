# A running mean of the loss is a tensor, with the graphs of all steps.
# keeper: running
import torch


def main():
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.Tanh(),
                                torch.nn.Linear(2048, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    running = 0
    for _ in range(2000):
        x, y = torch.randn(256, 512).cuda(), torch.randint(10, (256,)).cuda()
        hidden = model(x)  # blame
        loss = torch.nn.functional.cross_entropy(hidden, y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        running = 0.99 * running + 0.01 * loss


main()
