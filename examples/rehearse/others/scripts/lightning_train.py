#!/usr/bin/env python3
"""Lightning's Trainer on its demonstration Transformer and made-up text."""

import lightning as L
import torch
from lightning.pytorch.demos import Transformer

VOCABULARY, SEQUENCE = 33278, 35


class Text(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = torch.arange(index, index + SEQUENCE + 1) % VOCABULARY
        return tokens[:-1], tokens[1:]


class Language(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Transformer(vocab_size=VOCABULARY)

    def training_step(self, batch, index):
        inputs, target = batch
        output = self.model(inputs, target)
        loss = torch.nn.functional.nll_loss(output, target.view(-1))
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


trainer = L.Trainer(max_steps=2, accelerator="gpu", devices=1, precision="bf16-mixed",
                    logger=False, enable_checkpointing=False, gradient_clip_val=0.25)
trainer.fit(Language(), torch.utils.data.DataLoader(Text(), batch_size=16))
