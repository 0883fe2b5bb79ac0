# SPDX-License-Identifier: ISC
"""
The client of tests/bench/wait: requests that wait for another's answer, and the database's own account of what they
cost it. When an answer was settled is what the record says (the database's clock, which is this host's).
"""
import argparse
import getpass
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time

REQUEST = (
    "POST /guarded/slow?{key} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: {key}\r\n"
    "Content-Length: 1\r\n\r\nx"
)
TICKS = os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, options):
        self.options = options

    def sql(self, statement):
        command = ["mariadb", "--no-defaults", f"--socket={self.options.socket}", f"--user={getpass.getuser()}"]
        command += ["--batch", "--skip-column-names", "-e", "SET time_zone='+00:00'; " + statement, "oncewrap"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def call(self, key):
        caller = socket.create_connection(("127.0.0.1", self.options.port))
        caller.sendall(REQUEST.format(key=key).encode())
        return caller

    def let_go(self, key):
        with open(os.path.join(self.options.run, key), "w", encoding="ascii"):
            pass

    def await_value(self, statement, least):
        end = time.monotonic() + 60
        while int(self.sql(statement) or 0) < least:
            if time.monotonic() > end:
                sys.exit(f"waiters.py: not within a minute: {statement}")
            time.sleep(0.05)

    def own(self, key):
        owner = self.call(key)
        self.await_value(f"SELECT COUNT(*) FROM once_record WHERE key_text='{key}'", 1)
        return owner

    def settled(self, key):
        return float(self.sql(f"SELECT UNIX_TIMESTAMP(settled_at) FROM once_record WHERE key_text='{key}'"))

    def questions(self):
        return int(self.sql("SHOW GLOBAL STATUS LIKE 'Questions'").split()[1])

    def processor(self):
        with open(f"/proc/{self.options.server}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def collect(callers):
    """When each answer was there whole, in the order of the callers, and what it was."""
    selector = selectors.DefaultSelector()
    answers = [b""] * len(callers)
    times = [0.0] * len(callers)
    for number, caller in enumerate(callers):
        selector.register(caller, selectors.EVENT_READ, number)
    while selector.get_map():
        for ready, _ in selector.select():
            data = ready.fileobj.recv(65536)
            if data:
                times[ready.data] = time.time()
                answers[ready.data] += data
            else:
                selector.unregister(ready.fileobj)
                ready.fileobj.close()
    return times, answers


def check(answers):
    """The first is the owner's, the others replays of it."""
    for number, answer in enumerate(answers):
        head, _, body = answer.partition(b"\r\n\r\n")
        replay = b"idempotent-replayed: true" in head.lower()
        if not head.startswith(b"HTTP/1.1 201 ") or replay != (number > 0) or body != answers[0].rpartition(b"\r\n")[2]:
            sys.exit(f"waiters.py: not the answer that was expected: {answer[:400]!r}")


def one_waiter(bench):
    owners, waiters = [], []
    for number in range(bench.options.rounds):
        key = f"one-{number}"
        callers = [bench.own(key), bench.call(key)]
        time.sleep(0.15)  # the waiter waits by then
        bench.let_go(key)
        times, answers = collect(callers)
        check(answers)
        settled = bench.settled(key)
        owners.append(times[0] - settled)
        waiters.append(times[1] - settled)
    return owners, waiters


def count(bench, words, waiters, rows):
    """Statements and processor time for a while; counting takes a few statements itself, as the first row tells."""
    before, busy, start = bench.questions(), bench.processor(), time.monotonic()
    time.sleep(bench.options.seconds)
    took = time.monotonic() - start
    rows.append((words, waiters, (bench.questions() - before) / took, (bench.processor() - busy) / took))


def many_waiters(bench, rows):
    waiters = bench.options.waiters
    count(bench, "nothing goes on", 0, rows)
    owner = bench.own("many")
    count(bench, "an owner at work on this host", 0, rows)
    callers = [owner] + [bench.call("many") for _ in range(waiters)]
    # A connection each, made by its claim.
    bench.await_value("SELECT COUNT(*) FROM information_schema.processlist WHERE user='oncewrap'", waiters + 1)
    time.sleep(1)
    count(bench, "... and its waiters", waiters, rows)
    bench.sql("UPDATE once_record SET owner_host='elsewhere' WHERE key_text='many'")
    time.sleep(3)
    count(bench, "... with its owner on another host", waiters, rows)
    bench.sql("UPDATE once_record SET owner_host=@@hostname WHERE key_text='many'")
    time.sleep(3)
    before = bench.questions()
    bench.let_go("many")
    times, answers = collect(callers)
    asked = bench.questions() - before
    check(answers)
    settled = bench.settled("many")
    return [when - settled for when in times[1:]], asked / waiters


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def show_times(words, values):
    figures = [statistics.median(values), percentile(values, 90), percentile(values, 99), max(values)]
    print(f"| {words} | " + " | ".join(f"{1000 * value:.1f}" for value in figures) + " |")


def main():
    parser = argparse.ArgumentParser()
    for name in ("port", "rounds", "waiters", "seconds", "server"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("socket", "run"):
        parser.add_argument(f"--{name}", required=True)
    bench = Bench(parser.parse_args())
    owners, waiters = one_waiter(bench)
    rows = []
    burst, asked = many_waiters(bench, rows)
    print("| answer received, ms after the settlement | median | p90 | p99 | most |\n| --- | ---: | ---: | ---: | ---: |")
    show_times("the owner's own", owners)
    show_times("the replay of one waiter (aim: median ≤ 20)", waiters)
    show_times(f"the replays of {len(burst)} waiters at once", burst)
    print("\n| database | waiters | statements a second | processors busy |\n| --- | ---: | ---: | ---: |")
    for words, number, statements, busy in rows:
        print(f"| {words} | {number} | {statements:.1f} | {busy:.3f} |")
    print(f"\n- Statements a waiter from the settlement to its replay: {asked:.1f}")


if __name__ == "__main__":
    main()
