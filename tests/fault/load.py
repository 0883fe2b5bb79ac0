#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Clients that ask again and again until a file is there, and what they were told.

load.py PORT PATH CLIENTS STOP: each client sends a key of its own, then the same once more, then another key, over a
connection each. On standard output, a line each: how many requests there were of "first", "replayed", "other" (an
answer of oncewrap's own: problem+json) and "lost" (cut off, or answered by the web server alone).
"""
import collections
import http.client
import os
import sys
import threading


def ask(port, path, key):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, "x", {"Idempotency-Key": key})
        answer = connection.getresponse()
        answer.read()
        if answer.status == 201:
            return "replayed" if answer.getheader("Idempotent-Replayed") == "true" else "first"
        return "other" if answer.getheader("Content-Type") == "application/problem+json" else "lost"
    except (OSError, http.client.HTTPException):
        return "lost"
    finally:
        connection.close()


def client(number, port, path, stop, told):
    turn = 0
    while not os.path.exists(stop):
        key = f"load-{os.getpid()}-{number}-{turn}"
        for _ in range(2):
            told[ask(port, path, key)] += 1
        turn += 1


def main():
    port, path, clients, stop = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    told = [collections.Counter() for _ in range(clients)]
    threads = [threading.Thread(target=client, args=(i, port, path, stop, told[i])) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(told, collections.Counter())
    for what in ("first", "replayed", "other", "lost"):
        print(what, total[what])


main()
