"""A head on a frozen encoder: features are kept by item in the first epoch, and used after it."""

import dataclasses

import torch
from torch import nn
from transformers import BertConfig, BertModel


@dataclasses.dataclass
class Corpus:
    items: int = 14
    tokens: int = 128
    batch: int = 24

    def __iter__(self):
        for index in range(self.items):
            ids = torch.randint(1000, (self.batch, self.tokens))
            yield index, ids, torch.randint(4, (self.batch,))


class Cached:
    """An encoder with a memo: one tensor an item, never more than the corpus has."""

    def __init__(self, encoder):
        self.encoder = encoder.eval().requires_grad_(False).cuda()
        self.known = {}

    @torch.no_grad()
    def __call__(self, index, ids):
        if index not in self.known:
            self.known[index] = self.encoder(input_ids=ids.cuda()).last_hidden_state
        return self.known[index]


def main():
    config = BertConfig(vocab_size=1000, hidden_size=192, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=384)
    features = Cached(BertModel(config, add_pooling_layer=False))
    head = nn.Sequential(nn.Linear(192, 256), nn.Tanh(), nn.Linear(256, 4)).cuda()
    optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3)
    for _ in range(4):
        for index, ids, labels in Corpus():
            scores = head(features(index, ids).mean(1))
            loss = nn.functional.cross_entropy(scores, labels.cuda())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
