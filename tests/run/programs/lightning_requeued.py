#!/usr/bin/env python3
"""Lightning under Slurm: its own handlers of SIGUSR1 comes, and requeues the job."""

import os
import signal
import tempfile

import lightning
import torch
from lightning.pytorch.demos.boring_classes import BoringModel
from lightning.pytorch.plugins.environments import SLURMEnvironment

torch.zeros(1, device="cuda")
os.environ.update(SLURM_JOB_ID="1", SLURM_NTASKS="1", SLURM_PROCID="0", SLURM_LOCALID="0",
                  SLURM_NODEID="0", SLURM_JOB_NODELIST="localhost")


class Model(BoringModel):
    def on_train_batch_start(self, batch, index):
        if index == 3:
            os.kill(os.getpid(), signal.SIGUSR1)


with tempfile.TemporaryDirectory() as folder:
    fake = os.path.join(folder, "scontrol")
    with open(fake, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho scontrol \"$@\" >&2\n")
    os.chmod(fake, 0o755)
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    trainer = lightning.Trainer(max_steps=8, accelerator="gpu", devices=1, default_root_dir=folder,
                                plugins=[SLURMEnvironment()], logger=False,
                                enable_progress_bar=False)
    before = [signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGTERM)]
    trainer.fit(Model())
    after = [signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGTERM)]
    print(before == after, before, trainer.global_step)
