"""The models of the reference programs, written out in plain PyTorch."""
