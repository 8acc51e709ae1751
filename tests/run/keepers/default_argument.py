# A list as default of an argument lives as long as the function.
# keeper: seen
import torch


def collect(value, seen=[]):
    seen.append(value)
    return len(seen)


def main():
    for _ in range(3000):
        collect(torch.ones(1024, 1024, device="cuda"))  # blame


main()
