#!/usr/bin/env python3
"""test_command.py PLIMSOLL - plimsoll query as a command: its tables are documented, and statements that would
write, run for ever or take too much end with a clear line.

PLIM_BLESS=1 rewrites the part of docs/formats/query-tables.md that lists columns.
"""

import gzip
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time
import unittest

PLIMSOLL = sys.argv.pop(1)
PAGE = pathlib.Path("docs/formats/query-tables.md")
RECORDING = "tests/data/recordings/out_of_memory.pickle"
MARK = "\n## Columns\n"


def query(*arguments, stdin=None, environment=None):
    return subprocess.run([PLIMSOLL, "query", *arguments], input=stdin, capture_output=True, timeout=300,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})}, check=False)


def ask(sql, *options):
    return query(RECORDING, sql, *options)


def columns_page(schema):
    lines = [MARK]
    for table in schema["tables"]:
        lines.append(f"\n### `{table['name']}`\n\n{table['meaning'].capitalize()}.\n\n"
                     "| column | type | meaning |\n|---|---|---|\n")
        for column in table["columns"]:
            hidden = "hidden: " if column["hidden"] else ""
            lines.append(f"| `{column['name']}` | {column['type']} | {hidden}{column['meaning']} |\n")
        if table["view"]:
            lines.append(f"\n```sql\n{table['view']}\n```\n")
    lines.append("\n## Functions\n\n| function | gives |\n|---|---|\n")
    lines += [f"| `{one['usage']}` | {one['meaning']} |\n" for one in schema["functions"]]
    return "".join(lines)


class Schema(unittest.TestCase):
    def test_every_column_is_documented(self):
        result = query("--schema", "--json")
        self.assertEqual(result.returncode, 0)
        written = columns_page(json.loads(result.stdout))
        text = PAGE.read_text(encoding="utf-8")
        if os.environ.get("PLIM_BLESS"):
            PAGE.write_text(text.split(MARK)[0] + written, encoding="utf-8")
        self.assertEqual(PAGE.read_text(encoding="utf-8").partition(MARK)[2], written.partition(MARK)[2])

    def test_an_unknown_table_is_wrong_usage(self):
        result = query("--schema=nonsense")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b'there is no table "nonsense"', result.stderr)


class Output(unittest.TestCase):
    def test_the_document_is_described_to_the_member(self):
        text = pathlib.Path("docs/formats/query-json.md").read_text(encoding="utf-8")
        for arguments in ((RECORDING, "SELECT 1", "--json"), ("--schema", "--json")):
            for member in json.loads(query(*arguments).stdout):
                self.assertIn(f"`{member}`", text)

    def test_values_of_every_type(self):
        sql = "SELECT 1 AS a, 0.5 AS b, 'x,\"y\"' AS c, x'00ff' AS d, NULL AS e, '' AS f"
        self.assertEqual(json.loads(ask(sql, "--json").stdout)["rows"],
                         [[1, 0.5, 'x,"y"', "00ff", None, ""]])
        self.assertEqual(ask(sql, "--csv").stdout.decode(),
                         'a,b,c,d,e,f\n1,0.5,"x,""y""",00ff,,""\n')
        page = ask(sql).stdout.decode()
        self.assertIn("NULL", page)
        self.assertIn("x'00ff'", page)

    def test_rows_beyond_the_limit_are_counted(self):
        page = ask("SELECT event FROM events", "--limit=3").stdout.decode()
        self.assertIn("3 of 2,234 rows shown", page)
        self.assertEqual(len(page.splitlines()), 6)

    def test_many_columns_become_lines(self):
        page = ask("SELECT * FROM allocations LIMIT 1").stdout.decode()
        self.assertIn("requested_bytes", page)
        self.assertIn("never_freed", page)

    def test_a_statement_from_a_file_and_from_standard_input(self):
        with tempfile.NamedTemporaryFile(suffix=".sql") as file:
            file.write(b"-- a comment\nSELECT 41 + 1 AS answer; -- and another\n;")
            file.flush()
            self.assertEqual(query(RECORDING, "--sql-file", file.name, "--csv").stdout, b"answer\n42\n")
        self.assertEqual(query(RECORDING, "--sql-file=-", "--csv", stdin=b"SELECT 1 AS a").stdout,
                         b"a\n1\n")
        self.assertEqual(query("-", "SELECT COUNT(*) AS n FROM events", "--csv",
                               stdin=pathlib.Path(RECORDING).read_bytes()).stdout, b"n\n2234\n")

    def test_names_with_control_characters_are_cleaned(self):
        snapshot = pickle.loads(pathlib.Path(RECORDING).read_bytes())
        for event in snapshot["device_traces"][0]:
            event["frames"] = [{"filename": "/home/u/a\x1b[31m\".py", "line": 1, "name": "n\n;'\x00x"}]
        with tempfile.NamedTemporaryFile(suffix=".pickle.gz") as file:
            file.write(gzip.compress(pickle.dumps(snapshot)))
            file.flush()
            sql = "SELECT DISTINCT function, file FROM allocations"
            page = query(file.name, sql).stdout
            self.assertNotIn(b"\x1b", page)
            self.assertNotIn(b"\x00", page)
            rows = json.loads(query(file.name, sql, "--json").stdout)["rows"]
            self.assertEqual(rows, [["n\n;'\x00x", "/home/u/a\x1b[31m\".py"]])

    def test_a_name_of_a_megabyte(self):
        snapshot = pickle.loads(pathlib.Path(RECORDING).read_bytes())
        name = "n" * (1 << 20)
        for event in snapshot["device_traces"][0]:
            event["frames"] = [{"filename": "/home/u/a.py", "line": 1, "name": name}]
        with tempfile.NamedTemporaryFile(suffix=".pickle.gz") as file:
            file.write(gzip.compress(pickle.dumps(snapshot)))
            file.flush()
            result = query(file.name, "SELECT length(function) AS n FROM allocations GROUP BY function",
                           "--csv")
            self.assertEqual(result.stdout, b"n\n1048576\n")
            self.assertLess(len(query(file.name, "SELECT * FROM peak_by_stack").stdout), 10000)


class Sums(unittest.TestCase):
    def test_they_are_those_of_inspect_to_the_byte(self):
        sql = ("SELECT device, (SELECT SUM(requested_bytes) FROM live('peak') WHERE device = d.device), "
               "(SELECT SUM(block_bytes) FROM live('peak') WHERE device = d.device), "
               "(SELECT reserved_bytes FROM moments('peak') WHERE device = d.device), "
               "(SELECT SUM(bytes) FROM segments WHERE device = d.device) FROM devices AS d")
        for path in sorted(pathlib.Path("tests/data/recordings").glob("*.pickle*")):
            inspected = json.loads(subprocess.run([PLIMSOLL, "inspect", "--json", path], check=True,
                                                  capture_output=True, timeout=300).stdout)
            expected = [[one["device"], one["peak"]["requested_bytes"], one["peak"]["allocated_bytes"],
                         one["peak"]["reserved_bytes"], one["end"]["reserved_bytes"]]
                        for one in inspected["files"][0]["devices"]]
            rows = json.loads(query(path, sql, "--json").stdout)["rows"]
            self.assertEqual([[value or 0 for value in row] for row in rows], expected, path)


class Refused(unittest.TestCase):
    def check(self, sql, status, words, *options, stdin=None):
        begun = time.monotonic()
        result = query(RECORDING, *([sql] if sql is not None else ["--sql-file=-"]), *options, stdin=stdin)
        self.assertEqual((result.returncode, result.stdout), (status, b""), result.stderr)
        self.assertIn(words, result.stderr.decode())
        self.assertLess(len(result.stderr), 1000)
        return time.monotonic() - begun

    def test_what_would_do_more_than_read(self):
        with tempfile.TemporaryDirectory() as folder:
            for sql in (f"ATTACH '{folder}/x.db' AS x", f"VACUUM INTO '{folder}/y.db'",
                        "CREATE TABLE t(a)", "CREATE TEMP TABLE t AS SELECT 1", "DROP VIEW leaks",
                        "PRAGMA journal_mode = OFF", "PRAGMA table_info(events)", "BEGIN", "ANALYZE",
                        "SELECT load_extension('x.so')", "DELETE FROM events", "INSERT INTO source VALUES(1)",
                        "UPDATE events SET bytes = 0", "REINDEX", "CREATE VIRTUAL TABLE v USING fts5(a)"):
                with self.subTest(sql):
                    result = ask(sql)
                    self.assertIn(result.returncode, (2, 3), result.stderr)
                    self.assertEqual(result.stdout, b"")
                    self.assertEqual(os.listdir(folder), [])

    def test_attach_is_named(self):
        self.check("ATTACH ':memory:' AS x", 2, "queries only read: ATTACH is refused")

    def test_a_second_statement(self):
        self.check("SELECT 1; SELECT 2", 2, "a second statement follows the first")

    def test_no_statement(self):
        self.check("/* nothing */ ;", 2, "there is no statement")

    def test_a_syntax_error_has_its_place(self):
        self.check("SELECT * FORM events", 2, 'near "FORM": syntax error (at byte 9 of the statement)')

    def test_an_unknown_moment(self):
        self.check("SELECT * FROM live('step:99')", 2, "there is no step 99: 3 were found")
        self.check("SELECT * FROM live('soon')", 2, '"soon" names no moment')

    def test_a_zero_byte(self):
        self.check(None, 2, "the statement has a zero byte", stdin=b"SELECT 1\0, 2")

    def test_a_statement_of_a_megabyte(self):
        self.check(None, 3, "", stdin=b"SELECT 1" + b" + 1" * (1 << 18))
        self.check(None, 2, "maximum depth", stdin=b"SELECT 1" + b" + 1" * 10000)

    def test_deep_nesting(self):
        self.check("SELECT " + "(" * 5000 + "1" + ")" * 5000, 2, "")

    def test_a_recursion_without_an_end(self):
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
        took = self.check(sql, 3, "the statement was stopped after 500 ms, the time limit",
                          "--time-limit=500ms")
        self.assertLess(took, 60)

    def test_a_join_without_an_end(self):
        sql = "SELECT COUNT(*) FROM events a, events b, events c, events d"
        self.check(sql, 3, "the time limit", "--time-limit=300ms")

    def test_values_that_are_too_long(self):
        for sql in ("SELECT zeroblob(1000000000)",
                    "SELECT group_concat(zeroblob(1000000)) FROM events",
                    "SELECT replace(hex(zeroblob(10000000)), '0', '00000000')"):
            with self.subTest(sql):
                self.check(sql, 3, "too long")

    def test_a_format_of_a_gigabyte_is_null(self):
        self.assertEqual(ask("SELECT printf('%1000000000d', 1) AS a", "--csv").stdout, b"a\n\n")

    def test_memory_has_a_limit(self):
        sql = ("SELECT SUM(length(x)) FROM (SELECT hex(zeroblob(500000)) || event AS x FROM events "
               "ORDER BY x)")
        self.check(sql, 3, "no memory is left for the statement: the limit is 32.0 MiB", "--memory-limit=32MiB")

    def test_a_json_document_that_stops_says_so(self):
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 4 OR i < 0"
        result = ask(sql, "--json", "--time-limit=500ms")
        self.assertEqual(result.returncode, 3)
        document = json.loads(result.stdout)
        self.assertEqual((document["complete"], document["rows"]), (False, [[1], [2], [3]]))
        self.assertEqual(document["error"]["status"], "PLIM_LIMIT")


if __name__ == "__main__":
    unittest.main()
