"""Tests as programs have them, for pytest itself."""

import warnings

import pytest
import torch


@pytest.fixture
def net():
    yield torch.nn.Linear(64, 64).cuda()
    print("fixture torn down")


def test_passes(net, capsys):
    print(net(torch.randn(4, 64, device="cuda")).shape)
    assert capsys.readouterr().out == "torch.Size([4, 64])\n"


def test_runs_out():
    held = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda")]
    while True:
        held.append(torch.empty(1 << 34, dtype=torch.uint8, device="cuda"))


def test_expects_to_run_out(net, monkeypatch, tmp_path, recwarn):
    monkeypatch.chdir(tmp_path)
    warnings.warn("of the program")
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    assert [str(one.message) for one in recwarn] == ["of the program"]


@pytest.mark.parametrize("size", [1, 2])
def test_fails(size, caplog):
    assert torch.zeros(size, device="cuda").numel() == 1


@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    raise ValueError
