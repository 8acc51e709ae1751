"""Snapshots on disk: pickles, plain or compressed, told apart by their suffix."""

import gzip
import pathlib
import pickle


def pack(data, suffix):
    if suffix == ".gz":
        return gzip.compress(data, compresslevel=9, mtime=0)  # no time stamp: repeats itself
    if suffix == ".zst":
        import zstandard  # only where it is needed: reading plain files asks for nothing

        return zstandard.ZstdCompressor(level=19).compress(data)
    return data


def unpack(data, suffix):
    if suffix == ".gz":
        return gzip.decompress(data)
    if suffix == ".zst":
        import zstandard

        return zstandard.ZstdDecompressor().decompress(data)
    return data


def load(path):
    path = pathlib.Path(path)
    return pickle.loads(unpack(path.read_bytes(), path.suffix))


def save(snapshot, path):
    """Write with the protocol torch.cuda.memory._dump_snapshot() uses up to Python 3.13."""
    path = pathlib.Path(path)
    path.write_bytes(pack(pickle.dumps(snapshot, protocol=4), path.suffix))
