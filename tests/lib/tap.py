# SPDX-License-Identifier: ISC
"""Tests written in Python, told in TAP: each function marked @case proves the sentence that is its first doc line."""
import sys
import time
import traceback

cases = []


def case(function):
    cases.append(function)
    return function


def is_equal(got, expected, what=""):
    if got != expected:
        raise AssertionError(f"{what}{': ' if what else ''}got {got!r}, expected {expected!r}")


def is_true(value, what):
    if not value:
        raise AssertionError(what)


def wait_for(condition, what, timeout=20):
    """Poll until the condition gives something true, which is returned; fail past the deadline."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s in vain for: {what}")
        time.sleep(0.01)


def run():
    """Run those cases whose function's name contains a word of the command line; all when there is none."""
    words = sys.argv[1:]
    chosen = [function for function in cases if not words or any(word in function.__name__ for word in words)]
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    for number, function in enumerate(chosen, 1):
        sentence = (function.__doc__ or function.__name__).strip().split("\n")[0].replace("#", "")
        try:
            function()
            print(f"ok {number} - {sentence}", flush=True)
        except Exception:  # whatever it was, the case has failed and the others go on
            failed += 1
            print(f"not ok {number} - {sentence}", flush=True)
            for line in traceback.format_exc().rstrip().split("\n"):
                print(f"# {line}", flush=True)
    sys.exit(1 if failed else 0)
