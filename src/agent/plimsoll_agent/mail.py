"""Objects between the ranks of a group, through the store that the group was made with.

Every rank counts the exchanges of its group; as all take part in the same ones in the same order,
the count names the exchange. The last reader removes what was read.
"""

import datetime
import pickle

PIECE_BYTES = 4 << 20  # PyTorch's TCPStore takes values up to 8 MiB


class Mail:
    """Of one group, in one of its ranks."""

    def __init__(self, store, rank, size):
        self._store = store
        self.rank = rank
        self.size = size
        self._counts = {}

    def next_key(self, what):
        """Names the next exchange of a kind."""
        count = self._counts.get(what, 0)
        self._counts[what] = count + 1
        return f"plimsoll/{what}/{count}"

    def put(self, key, value, readers):
        """Lays an object down for so many readers."""
        data = pickle.dumps(value)
        pieces = [data[at:at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]
        for index, piece in enumerate(pieces):
            self._store.set(f"{key}/{index}", piece)
        self._store.set(key, f"{len(pieces)} {readers}")  # last: from now on it can be read

    def get(self, key):
        """Waits for an object."""
        count, readers = (int(word) for word in self._store.get(key).split())
        data = b"".join(self._store.get(f"{key}/{index}") for index in range(count))
        if self._store.add(f"{key}/read", 1) == readers:
            for name in (key, f"{key}/read", *(f"{key}/{index}" for index in range(count))):
                self._store.delete_key(name)
        return pickle.loads(data)

    def meet(self, seconds=None):
        """Waits for all ranks. False: not all came in time."""
        key = self.next_key("meet")
        if self._store.add(key, 1) == self.size:
            self._store.set(f"{key}/open", "1")
        try:
            if seconds is None:
                self._store.wait([f"{key}/open"])
            else:
                self._store.wait([f"{key}/open"], datetime.timedelta(seconds=seconds))
        except Exception:  # the stores of different versions raise different ones
            return False
        return True
