"""A LightningModule with blocks, a head and AdamW: lightning_module.py [bf16] [clip] [accumulate]"""

import sys

import lightning
import torch
from torch import nn

VOCABULARY, LENGTH, WIDTH, LAYERS, ROWS = 4096, 256, 256, 4, 8


class Text(torch.utils.data.Dataset):
    def __len__(self):
        return 4 * ROWS

    def __getitem__(self, index):
        tokens = torch.arange(index, index + LENGTH + 1) % VOCABULARY
        return tokens[:-1], tokens[1:]


class Language(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True), LAYERS)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(LENGTH, device=tokens.device)
        return self.head(self.blocks(self.table(tokens), mask=mask, is_causal=True))

    def training_step(self, batch, index):
        tokens, targets = batch
        loss = nn.functional.cross_entropy(self(tokens).flatten(0, 1), targets.flatten())
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        tokens, targets = batch
        self.log("val", nn.functional.cross_entropy(self(tokens).flatten(0, 1), targets.flatten()))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    options = sys.argv[1:]
    torch.manual_seed(0)
    module = Language()
    loader = torch.utils.data.DataLoader(Text(), batch_size=ROWS)
    trainer = lightning.Trainer(
        max_steps=2, accelerator="auto", devices=1, logger=False, enable_checkpointing=False,
        precision="bf16-mixed" if "bf16" in options else "32-true",
        gradient_clip_val=0.5 if "clip" in options else None, val_check_interval=2,
        limit_val_batches=1, num_sanity_val_steps=0, enable_progress_bar=False,
        accumulate_grad_batches=2 if "accumulate" in options else 1)
    trainer.fit(module, loader, loader)
    print({name: float(value) for name, value in trainer.callback_metrics.items()})


if __name__ == "__main__":
    main()
