"""Runs a command and measures what it took: shared by the test scripts of this folder."""

import os
import subprocess
import tempfile
import threading
import time
from collections import namedtuple

Run = namedtuple("Run", "status stdout stderr seconds rss_mib timed_out")


def run_measured(command, seconds_limit):
    """Run a command to its end, or kill it at the limit. `status` is negative after a signal."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        killer = threading.Timer(seconds_limit, process.kill)
        killer.start()
        _, wait_status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        timed_out = not killer.is_alive()
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(wait_status)
        out.seek(0)
        err.seek(0)
        return Run(
            process.returncode, out.read(), err.read(), seconds, usage.ru_maxrss / 1024, timed_out
        )
