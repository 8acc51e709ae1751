"""Lightning's Trainer with its own demonstration model, a Transformer for language."""

from program import Program

WIDTH, VOCABULARY, LAYERS, INNER = 200, 33278, 2, 200  # lightning.pytorch.demos.Transformer
ATTENTION = 4 * WIDTH * WIDTH + 4 * WIDTH
FEED_FORWARD = 2 * WIDTH * INNER + WIDTH + INNER
PARAMETERS = (VOCABULARY * WIDTH  # embedding
              # nn.Transformer: encoder, decoder, their norms
              + LAYERS * (3 * ATTENTION + 2 * FEED_FORWARD + 10 * WIDTH) + 4 * WIDTH
              + VOCABULARY * WIDTH + VOCABULARY)  # decoder

PROGRAM = Program(
    name="lightning",
    what="Lightning 2.6, Trainer with lightning.pytorch.demos.Transformer",
    packages=["lightning==2.6.6", "lightning-utilities==0.15.3", "torchmetrics==1.9.0",
              "PyYAML==6.0.3", "packaging==26.3", "tqdm==4.70.1", "numpy==2.4.6",
              "aiohttp==3.14.5", "aiohappyeyeballs==2.7.1", "aiosignal==1.4.0", "attrs==26.1.0",
              "frozenlist==1.8.0", "idna==3.20", "multidict==7.2.1", "propcache==0.5.4",
              "yarl==1.25.1", "requests==2.34.2", "urllib3==2.8.0", "certifi==2026.10.18",
              "charset-normalizer==3.5.2", "pytorch-lightning==2.6.6", "fsspec==2026.9.0"],
    command=["python", "SCRIPTS/lightning_train.py"],
    low=12 * PARAMETERS,
    high=12 * PARAMETERS + 16 * 35 * VOCABULARY * 4 * 6 + (256 << 20),
)
