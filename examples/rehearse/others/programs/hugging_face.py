"""The packages of Hugging Face's environment, which several programs share."""

PACKAGES = [
    "accelerate==1.15.0", "aiohappyeyeballs==2.7.1", "aiohttp==3.14.5", "aiosignal==1.4.0",
    "annotated-doc==0.0.7", "anyio==4.16.0", "attrs==26.1.0", "certifi==2026.10.18",
    "charset-normalizer==3.5.2", "click==8.5.1", "datasets==5.2.0", "dill==0.4.1",
    "filelock==4.2.11", "frozenlist==1.8.0", "fsspec==2026.9.0", "h11==0.16.0", "hf-xet==1.8.0",
    "httpcore2==2.16.2", "httpx2==2.16.2", "huggingface_hub==2.4.0", "idna==3.20",
    "lazy-importer==0.1.0", "markdown-it-py==4.3.0", "mdurl==0.1.2", "multidict==7.2.1",
    "multiprocess==0.70.19", "numpy==2.4.6", "packaging==26.3", "pandas==3.1.1",
    "propcache==0.5.4", "psutil==7.2.2", "pyarrow==26.0.1", "Pygments==2.21.0",
    "python-dateutil==4.0.0", "PyYAML==6.0.3", "regex==2026.11.15", "requests==2.34.2",
    "rich==15.0.0", "safetensors==0.8.0", "shellingham==1.5.4", "tokenizers==0.23.3",
    "tqdm==4.70.1", "transformers==5.23.0", "truststore==0.10.5", "typer==0.29.2",
    "tzdata==2026.6", "urllib3==2.8.0", "xxhash==4.1.0", "yarl==1.25.1",
]
PROGRAMS = []
