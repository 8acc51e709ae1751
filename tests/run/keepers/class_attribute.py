# A list that all objects of a class share.
# keeper: seen
import torch


class Tracker:
    seen = []

    def add(self, value):
        self.seen.append(value.clone())  # blame


def main():
    for _ in range(3000):
        tracker = Tracker()
        tracker.add(torch.ones(1024, 1024, device="cuda"))


main()
