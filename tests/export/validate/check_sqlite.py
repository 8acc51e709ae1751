#!/usr/bin/env python3
"""check_sqlite.py PLIMSOLL - SQLite's own shell opens exported databases, and their sums are those of
`inspect`.

Wants sqlite3.
"""

import subprocess

import kit


def shell(path, sql):
    done = subprocess.run(["sqlite3", "-bail", path, sql], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.splitlines()


def main():
    kit.call(["sqlite3", "-version"], "there is no sqlite3 (apt-get install sqlite3)")
    for source in kit.RECORDINGS:
        path, _ = kit.export(source, "run.sqlite")
        assert shell(path, "PRAGMA integrity_check") == ["ok"]
        for table in shell(path, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"):
            shell(path, f'SELECT * FROM "{table}" LIMIT 5')
        for device, fact in kit.inspect(source).items():
            wanted = fact["peak"]["requested_bytes"]
            for sql in (f"SELECT SUM(requested_bytes) FROM peak_by_stack WHERE device = {device}",
                        f"SELECT peak_requested_bytes FROM devices WHERE device = {device}"):
                assert shell(path, sql) == [str(wanted)], (sql, shell(path, sql), wanted)
        print(f"{source.name}: the shell finds it whole, {wanted} bytes at the peak of device {device}")


kit.main(main)
