#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The supervisor and its workers: start, stop, reload, death of either."""
import os
import pathlib
import signal
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import fcgi_client as fcgi  # noqa: E402
from tap import case, is_equal, is_true, run, wait_for  # noqa: E402
from wrapper import Wrapper, adopt_orphans, children, cpu_seconds, is_alive, zombies  # noqa: E402

HELLO = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhello\\n'\n"
# Says that it has begun, and goes on when the file "go" is there.
WAITING = """#!/bin/sh
here="${0%/*}/.."
echo $$ >"$here/begun.tmp"
mv "$here/begun.tmp" "$here/begun"
until [ -e "$here/go" ]; do sleep 0.02; done
printf 'Content-Type: text/plain\\n\\nfinished\\n'
"""
# Outlasts its deadline, as does a child of its own.
FAMILY = "#!/bin/sh\nsleep 600 >/dev/null 2>&1 &\necho $! >\"${0%/*}/../child\"\nexec sleep 600\n"
STUBBORN = "#!/bin/sh\ntrap '' TERM\n" + WAITING.split("\n", 1)[1]


def serves(wrapper, script):
    reply = fcgi.exchange(wrapper.socket, fcgi.cgi_params(script))
    is_equal((reply.status, reply.body), (200, b"hello\n"), "a plain request")


class Waiting:
    """A request whose handler waits until it is let go."""

    def __init__(self, wrapper, text=WAITING):
        self.directory = wrapper.directory
        (self.directory / "begun").unlink(missing_ok=True)
        (self.directory / "go").unlink(missing_ok=True)
        self.peer = fcgi.Connection(wrapper.socket)
        self.peer.send(fcgi.request(fcgi.cgi_params(wrapper.script("waiting", text))))
        begun = self.directory / "begun"
        self.handler = int(wait_for(lambda: begun.exists() and begun.read_text(), "the handler's start"))

    def finishes(self):
        (self.directory / "go").touch()
        is_equal(self.peer.read_reply().body, b"finished\n", "the request in hand")
        self.peer.close()


def all_gone(pids, what, timeout=20):
    wait_for(lambda: not any(is_alive(pid) for pid in pids), what, timeout)


@case
def stop_idle():
    """TERM, INT or QUIT to an idle supervisor: no process and no socket file is left, exit status 0 (C40)"""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        with Wrapper({"workers": 4}) as wrapper:
            workers = wrapper.workers()
            is_equal(len(workers), 4)
            wrapper.signal(number)
            is_equal(wrapper.process.wait(10), 0, "exit status")
            all_gone(workers, "the workers' end", 0)
            is_true(not os.path.exists(wrapper.socket), "the socket file is left")


@case
def stop_busy():
    """TERM to the supervisor with a request in hand: it is finished, new ones are refused, then all ends (C40)"""
    with Wrapper() as wrapper:
        workers = wrapper.workers()
        waiting = Waiting(wrapper)
        wrapper.signal(signal.SIGTERM)
        wait_for(lambda: len(wrapper.workers()) == 1, "the idle worker's end")
        try:
            fcgi.connect(wrapper.socket)
            is_true(False, "a connection was accepted while stopping")
        except (FileNotFoundError, ConnectionRefusedError):
            pass
        waiting.finishes()
        is_equal(wrapper.process.wait(10), 0, "exit status")
        all_gone([*workers, waiting.handler], "the end of all", 0)


@case
def stop_bounded():
    """TERM with a worker that cannot finish: it and its handler are killed within the bound, exit status 0 (C40)"""
    settings = {"handlers.timeout": "1s", "handlers.kill_grace": "100ms", "store.settle_timeout": "100ms",
                "stop_timeout": "100ms", "workers": 1}
    with Wrapper(settings) as wrapper:
        waiting = Waiting(wrapper, STUBBORN)
        worker = wrapper.workers()[0]
        os.kill(worker, signal.SIGSTOP)
        start = time.monotonic()
        wrapper.signal(signal.SIGTERM)
        is_equal(wrapper.process.wait(10), 0, "exit status")
        is_true(1.2 < time.monotonic() - start < 4, f"ended after {time.monotonic() - start} s")
        all_gone([worker, waiting.handler], "the end of worker and handler", 5)
        waiting.peer.close()


@case
def worker_term():
    """a worker that is told to end finishes its request, exits 0 and is replaced"""
    with Wrapper({"workers": 1}) as wrapper:
        waiting = Waiting(wrapper)
        worker = wrapper.workers()[0]
        os.kill(worker, signal.SIGTERM)
        waiting.finishes()
        wait_for(lambda: wrapper.workers() not in ([], [worker]), "another worker")
        is_equal(wrapper.log(event="worker")[-1]["exit_status"], 0)
        serves(wrapper, wrapper.script("hello", HELLO))


@case
def worker_stops_under_load():
    """a worker that is told to end while requests keep coming does end"""
    with Wrapper({"workers": 1}) as wrapper:
        script = wrapper.script("hello", HELLO)
        worker = wrapper.workers()[0]
        os.kill(worker, signal.SIGTERM)
        for _ in range(50):
            serves(wrapper, script)
            if not is_alive(worker):
                return
        is_true(False, "the worker goes on serving")


@case
def worker_killed():
    """a worker that is killed is replaced, and the handler's whole group goes with it (C41)"""
    with Wrapper({"workers": 1}) as wrapper:
        family = "#!/bin/sh\ntrap '' TERM\n(trap '' TERM; sleep 600) &\necho $! >\"${0%/*}/../child\"\n"
        waiting = Waiting(wrapper, family + WAITING.split("\n", 1)[1])
        child = int((wrapper.directory / "child").read_text())
        worker = wrapper.workers()[0]
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: wrapper.workers() not in ([], [worker]), "another worker")
        all_gone([waiting.handler, child], "the end of the handler's group")
        is_equal(wrapper.wait_log(event="worker", message="has died")[0]["signal"], 9)
        is_true(waiting.peer.read_reply().closed, "its peer hears of it")
        serves(wrapper, wrapper.script("hello", HELLO))


def answers_in_time(wrapper):
    """A handler that was killed by its deadline is answered for once its group has gone, and leaves no zombie."""
    start = time.monotonic()
    reply = fcgi.exchange(wrapper.socket, fcgi.cgi_params(wrapper.script("family", FAMILY)))
    is_equal(reply.status, 504)
    is_true(time.monotonic() - start < 4, f"answered after {time.monotonic() - start} s")
    is_equal(wrapper.log(message="group"), [], "a group that is not gone")


BRIEF = {"handlers.timeout": "500ms", "handlers.kill_grace": "100ms", "workers": 1}


@case
def orphans_are_reaped():
    """where orphans come to the supervisor, as to a container's first process, it reaps them: a killed group is gone"""
    with Wrapper(BRIEF, preexec_fn=adopt_orphans) as wrapper:
        answers_in_time(wrapper)
        all_gone([int((wrapper.directory / "child").read_text())], "the child's end")
        wait_for(lambda: not zombies(wrapper.process.pid), "the last zombie's end")
        # One that ends long after its handler has.
        left = "#!/bin/sh\n(exec >/dev/null 2>&1; until [ -e \"$1/go\" ]; do sleep 0.02; done) &\necho $! >\"$1/left\"\n"
        serves(wrapper, wrapper.script("hello", left.replace("$1", str(wrapper.directory)) + HELLO.split("\n", 1)[1]))
        child = int((wrapper.directory / "left").read_text())
        wait_for(lambda: child in children(wrapper.process.pid), "the orphan to be ours")
        (wrapper.directory / "go").touch()
        wait_for(lambda: not os.path.exists(f"/proc/{child}"), "the orphan's end, reaped")
        is_equal(len(wrapper.workers()), 1)


@case
def worker_dies_young():
    """workers that die as soon as they start are started again ever more slowly, at no cost of CPU (C41)"""
    with Wrapper({"workers": 1}) as wrapper:
        before = cpu_seconds(wrapper.process.pid)
        start = time.monotonic()
        killed = set()
        while time.monotonic() - start < 2:
            for worker in wrapper.workers():
                if worker not in killed:
                    killed.add(worker)
                    os.kill(worker, signal.SIGKILL)
            time.sleep(0.005)  # the pace of the killing
        is_true(3 <= len(killed) <= 6, f"{len(killed)} workers were started in 2 s")
        pauses = [line["restart_ms"] for line in wrapper.log(event="worker", signal=9)]
        is_equal(pauses[:4], [100, 200, 400, 800], "pauses")
        is_true(cpu_seconds(wrapper.process.pid) - before < 0.2, "the supervisor is busy")
        serves(wrapper, wrapper.script("hello", HELLO))


@case
def supervisor_killed():
    """workers whose supervisor is killed finish what they have in hand and end"""
    with Wrapper() as wrapper:
        workers = wrapper.workers()
        waiting = Waiting(wrapper)
        wrapper.signal(signal.SIGKILL)
        wrapper.process.wait(10)
        wait_for(lambda: sum(map(is_alive, workers)) == 1, "the idle worker's end")
        waiting.finishes()
        all_gone(workers, "the last worker's end")


@case
def reload_good():
    """HUP with a good configuration: new workers serve by it, old ones finish their request"""
    with Wrapper({"limits.max_body": "1K"}) as wrapper:
        old = wrapper.workers()
        waiting = Waiting(wrapper)
        script = wrapper.script("hello", HELLO)
        body = bytes(2000)
        large = fcgi.cgi_params(script, "POST", body)
        is_equal(fcgi.exchange(wrapper.socket, large, body).status, 413, "before")
        wrapper.configure(workers=3, limits__max_body="4K")
        wrapper.signal(signal.SIGHUP)
        wrapper.wait_log(event="reload", message="new configuration in force: 3 workers")
        wait_for(lambda: len(set(wrapper.workers()) - set(old)) == 3, "three new workers")
        wait_for(lambda: len(set(wrapper.workers()) & set(old)) == 1, "the idle old worker's end")
        is_equal(fcgi.exchange(wrapper.socket, large, body).status, 200, "after")
        waiting.finishes()
        wait_for(lambda: len(wrapper.workers()) == 3, "the busy old worker's end")
        is_equal(wrapper.log(event="worker"), [], "deaths")


@case
def reload_bad():
    """HUP with a wrong configuration: each problem is logged, the old one stays in force with its workers"""
    with Wrapper() as wrapper:
        workers = wrapper.workers()
        wrapper.configure(workers=0, limits__max_body="much")
        wrapper.signal(signal.SIGHUP)
        wrapper.wait_log(event="reload", message="the configuration in force stays")
        is_equal(len(wrapper.log(event="reload", message="workers")), 1, "a line on workers")
        is_equal(len(wrapper.log(event="reload", message="limits.max_body")), 1, "a line on limits.max_body")
        is_equal(wrapper.workers(), workers, "the workers")
        serves(wrapper, wrapper.script("hello", HELLO))
        wrapper.configure(workers=1, limits__max_body="1M")
        wrapper.signal(signal.SIGHUP)
        wait_for(lambda: len(wrapper.workers()) == 1, "the next good configuration")


@case
def reload_places_gone():
    """HUP when the spool directory or a root is not there: logged, and the old configuration stays in force"""
    with Wrapper() as wrapper:
        workers = wrapper.workers()
        gone = str(wrapper.directory / "gone")
        wrapper.configure(spool__directory=gone, handlers__roots=[str(wrapper.roots), gone + "1"], workers=1)
        wrapper.signal(signal.SIGHUP)
        wrapper.wait_log(event="reload", message="the configuration in force stays")
        for word in (f"spool.directory: {gone}: No such file", f"handlers.roots: {gone}1: No such file"):
            is_equal(len(wrapper.log(event="reload", message=word)), 1, f"lines on {word}")
        is_equal(wrapper.workers(), workers, "the workers")
        serves(wrapper, wrapper.script("hello", HELLO))
        os.mkdir(gone)
        os.mkdir(gone + "1")
        wrapper.signal(signal.SIGHUP)
        wrapper.wait_log(event="reload", message="new configuration in force: 1 worker, 0 routes")
        serves(wrapper, wrapper.script("hello", HELLO))


@case
def reload_needs_restart():
    """HUP with a changed listen: named in the log as needing a restart, the old socket goes on serving"""
    with Wrapper() as wrapper:
        wrapper.configure(listen=str(wrapper.directory / "other"), socket_mode="0600")
        wrapper.signal(signal.SIGHUP)
        line = wrapper.wait_log(event="reload", message="only after a restart")[0]
        is_true("listen" in line["message"] and "socket_mode" in line["message"], line["message"])
        wrapper.wait_log(event="reload", message="new configuration in force")
        serves(wrapper, wrapper.script("hello", HELLO))
        is_true(not (wrapper.directory / "other").exists(), "the other socket was made")


@case
def reload_under_load():
    """not one request is lost over ten reloads"""
    with Wrapper() as wrapper:
        script = wrapper.script("hello", HELLO)
        for _ in range(10):
            wrapper.signal(signal.SIGHUP)
            for _ in range(10):
                serves(wrapper, script)
        wait_for(lambda: len(wrapper.workers()) == 2, "the old workers' end")


@case
def reload_many():
    """reloads that come faster than requests end are put off before processes pile up"""
    with Wrapper({"workers": 1}) as wrapper:
        waiting = []
        for number in range(1, 10):
            one = Waiting(wrapper)
            waiting.append(one)
            wrapper.signal(signal.SIGHUP)
            if number < 8:
                wait_for(lambda: len(wrapper.log(message="new configuration in force")) == number, f"reload {number}")
            else:
                wrapper.wait_log(event="reload", message="try later")
                break
        is_equal(len(wrapper.workers()), 8)
        (wrapper.directory / "go").touch()
        for one in waiting:
            is_equal(one.peer.read_reply().body, b"finished\n")
        wait_for(lambda: len(wrapper.workers()) == 1, "the old workers' end")
        wrapper.signal(signal.SIGHUP)
        wait_for(lambda: len(wrapper.log(message="new configuration in force")) == 8, "the next reload")


@case
def notifications():
    """the service manager is told when we are ready, reload and stop"""
    with Wrapper(start=False) as wrapper, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(b"\0oncewrap-test-%d" % os.getpid())
        told.settimeout(10)
        wrapper.launch(NOTIFY_SOCKET=f"@oncewrap-test-{os.getpid()}")
        is_equal(told.recv(256), b"READY=1")
        serves(wrapper, wrapper.script("hello", HELLO))
        wrapper.signal(signal.SIGHUP)
        lines = told.recv(256).split(b"\n")
        is_equal(lines[0], b"RELOADING=1")
        is_true(lines[1].startswith(b"MONOTONIC_USEC=") and
                abs(int(lines[1][15:]) / 1e6 - time.clock_gettime(time.CLOCK_MONOTONIC)) < 10, f"{lines}")
        is_equal(told.recv(256), b"READY=1")
        wrapper.signal(signal.SIGTERM)
        is_equal(told.recv(256), b"STOPPING=1")


@case
def signals_of_others():
    """HUP, USR1 and PIPE to a worker, USR1 and PIPE to the supervisor change nothing"""
    with Wrapper({"workers": 1}) as wrapper:
        worker = wrapper.workers()[0]
        serves(wrapper, wrapper.script("hello", HELLO))
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE):
            os.kill(worker, number)
        for number in (signal.SIGUSR1, signal.SIGPIPE):
            wrapper.signal(number)
        serves(wrapper, wrapper.script("hello", HELLO))
        is_equal(wrapper.workers(), [worker])


@case
def ignored_signals_inherited():
    """started with its signals ignored and blocked, as some starters do, it works all the same"""
    def ignore():
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM})

    with Wrapper({"limits.request_timeout": "500ms", "workers": 1}, preexec_fn=ignore) as wrapper:
        serves(wrapper, wrapper.script("hello", HELLO))
        with fcgi.Connection(wrapper.socket) as peer:
            peer.send(fcgi.begin())
            peer.is_closed()
        is_equal(len(children(wrapper.process.pid)), 1)
        os.kill(wrapper.workers()[0], signal.SIGKILL)
        wrapper.wait_log(event="worker", message="has died")
        is_equal(wrapper.stop(), 0)


if __name__ == "__main__":
    run()
