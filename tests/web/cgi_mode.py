#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""oncewrap as a plain CGI program, as a fronting script execs it; the web server is played by this test."""
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import fcgi_client as fcgi  # noqa: E402
from tap import case, is_equal, is_true, run, wait_for  # noqa: E402
from wrapper import Wrapper, adopt_orphans, children, is_alive  # noqa: E402

HELLO = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhello\\n'\n"
DIGEST = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s ' \"$CONTENT_LENGTH\"\nexec sha256sum\n"
MARK = "#!/bin/sh\n: >\"${0%/*}/../ran\"\n" + HELLO.split("\n", 1)[1]
# Says that it runs, and goes on when the file "go" is there.
WAITING = """#!/bin/sh
here="${0%/*}/.."
printf 'A: b\\n\\nbegun'
: >"$here/begun"
until [ -e "$here/go" ]; do sleep 0.02; done
: >"$here/finished"
"""


class Front:
    """One CGI request: the program with this environment, pipes for all three descriptors."""

    def __init__(self, wrapper, handler, method="GET", body=None, stdin=subprocess.PIPE, arguments=(), **params):
        environment = fcgi.cgi_params("/cgi-bin/front", method, body, **params)
        self.process = subprocess.Popen([*wrapper.arguments, "--handler", handler, *arguments], stdin=stdin,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={"PATH": os.environ["PATH"], **environment}, **wrapper.popen)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def exchange(self, body=b""):
        """Answer, log, exit status."""
        reply = fcgi.Reply()
        reply.stdout, reply.stderr = self.process.communicate(body, timeout=20)
        return reply, self.process.returncode


@contextlib.contextmanager
def site(settings=None, **more):
    with Wrapper(settings, start=False, **more) as wrapper:
        yield wrapper


def exchange(wrapper, handler, sent=b"", **how):
    with Front(wrapper, handler, **how) as front:
        return front.exchange(sent)


def read_until(front, wanted):
    text = b""
    while wanted not in text:
        is_true(select.select([front.process.stdout], [], [], 10)[0], f"{wanted!r} while the handler runs")
        text += os.read(front.process.stdout.fileno(), 1000)


@case
def answered():
    """a CGI request is answered on standard output, logged on standard error, exit status 0, with no socket made"""
    with site() as wrapper:
        reply, status = exchange(wrapper, wrapper.script("hello", HELLO))
        is_equal((reply.status, reply.body, status), (200, b"hello\n", 0), reply.stderr)
        is_true(not os.path.exists(wrapper.socket), "the configured socket was made")


@case
def exit_status():
    """the exit status is 0 whatever the handler's is, since a web server would throw the answer away"""
    with site() as wrapper:
        reply, status = exchange(wrapper, wrapper.script("seven", HELLO + "exit 7\n"))
        is_equal((reply.body, status), (b"hello\n", 0))
        reply, status = exchange(wrapper, str(wrapper.roots / "missing"))
        is_equal((reply.status, status), (404, 0))
        reply, status = exchange(wrapper, wrapper.script("silent", "#!/bin/sh\nexit 3\n"))
        is_equal((reply.status, status), (502, 0))


@case
def bodies():
    """bodies of 0 B, 1 B, 64 KiB and 3 MB arrive whole, and nothing behind Content-Length is read"""
    with site() as wrapper:
        handler = wrapper.script("digest", DIGEST)
        for length in (0, 1, 65536, 3000000):
            body = os.urandom(length)
            reply, _ = exchange(wrapper, handler, body + b"behind", method="POST", body=body)
            is_equal(reply.body, f"{length} {hashlib.sha256(body).hexdigest()}  -\n".encode(), f"{length} bytes")


@case
def input_left_open():
    """a web server that keeps standard input open behind the body is not waited for, with or without a body"""
    for body in (None, b"12345"):
        with site() as wrapper, Front(wrapper, wrapper.script("digest", DIGEST), "POST", body) as front:
            front.process.stdin.write(body or b"")
            front.process.stdin.flush()
            front.process.wait(10)
            is_true(hashlib.sha256(body or b"").hexdigest().encode() in front.process.stdout.read(), "the digest")


@case
def body_without_length():
    """a chunked body without a length is read to its end (C37)"""
    body = os.urandom(100000)
    with site() as wrapper:
        reply, _ = exchange(wrapper, wrapper.script("digest", DIGEST), body, method="POST",
                            HTTP_TRANSFER_ENCODING="chunked")
        is_equal(reply.body, f"100000 {hashlib.sha256(body).hexdigest()}  -\n".encode())


@case
def body_short():
    """a body that ends before Content-Length, or a length that is none: 400, and nothing is run (C36)"""
    with site() as wrapper:
        handler = wrapper.script("mark", MARK)
        for length in ("100", "1x", "-1"):
            reply, status = exchange(wrapper, handler, b"b" * 99, method="POST", CONTENT_LENGTH=length)
            is_equal((reply.status, status), (400, 0), length)
        is_true(not (wrapper.directory / "ran").exists(), "the handler was run")


def lines_of(log):
    """Each must be one JSON object, whole."""
    return [json.loads(line) for line in log.decode("ascii").splitlines()]


@case
def log_whole():
    """what is logged reaches the web server line by line, each in one piece, however many processes write at once"""
    shout = "#!/bin/sh\n: >\"${0%/*}/../ran.$$\"\nhead -c 9000 /dev/zero | tr '\\000' '\\377' >&2\n" + HELLO.split("\n", 1)[1]
    with site({"log.level": "debug"}) as wrapper:
        script = wrapper.script("shout", shout)
        read, write = os.pipe()
        # As small as can be: what is written in pieces larger than PIPE_BUF mixes.
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, select.PIPE_BUF)
        with open(read, "rb") as log:
            fronts = [subprocess.Popen([*wrapper.arguments, "--handler", script], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=write,
                                       env={"PATH": os.environ["PATH"],
                                            **fcgi.cgi_params("/cgi-bin/front"), "PATH_INFO": "/" + "x" * 2000})
                      for _ in range(12)]
            os.close(write)
            wait_for(lambda: len(list(wrapper.directory.glob("ran.*"))) == 12, "the handlers")
            wait_for(lambda: not any(children(front.pid) for front in fronts), "all to have said what they say")
            lines = lines_of(log.read())
            is_equal([front.wait(10) for front in fronts], [0] * 12)
        is_equal(len([line for line in lines if line["event"] == "unguarded"]), 12)
        is_equal(len([line for line in lines if line.get("stderr_bytes") == 9000]), 12)


@case
def words_elsewhere():
    """where the log goes elsewhere, the web server still has what a handler writes to standard error"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon, site() as wrapper:
        daemon.bind(str(wrapper.directory / "log.sock"))
        wrapper.configure(log__target="syslog", log__socket=str(wrapper.directory / "log.sock"))
        reply, _ = exchange(wrapper, wrapper.script("words", "#!/bin/sh\necho words >&2\n" + HELLO.split("\n", 1)[1]))
        is_equal(reply.stderr, b"words\n\n")
        is_true(b'"stderr":"words' in daemon.recv(65536), "the log's line")


@case
def body_late():
    """a body that does not come in time: 408, and nothing is run"""
    with site({"limits.request_timeout": "300ms"}) as wrapper:
        with Front(wrapper, wrapper.script("mark", MARK), "POST", b"b" * 100) as front:
            front.process.stdin.write(b"bbb")
            front.process.stdin.flush()
            reply = fcgi.Reply()
            reply.stdout = front.process.stdout.read()
            is_equal((reply.status, front.process.wait(10)), (408, 0))
            line, = lines_of(front.process.stderr.read())
            is_equal((line["verdict"], "limits.request_timeout" in line["message"]), ("cut", True))
        is_true(not (wrapper.directory / "ran").exists(), "the handler was run")


@case
def owner_apart():
    """the owner of a request is in a session of its own, and holds nothing of the web server's open"""
    with site() as wrapper, Front(wrapper, wrapper.script("waiting", WAITING)) as front:
        read_until(front, b"begun")
        owner = children(front.process.pid)[0]
        is_true(os.getsid(owner) == owner, "the owner is in the web server's session")
        for fd in (0, 1):
            is_equal(os.readlink(f"/proc/{owner}/fd/{fd}"), "/dev/null", f"descriptor {fd}")
        os.kill(owner, signal.SIGSTOP)
        front.process.terminate()
        front.process.wait(10)
        # To the end, while the owner is held: nobody has them open.
        front.process.stdout.read()
        front.process.stderr.read()
        is_true(is_alive(owner), "the owner ended too early to tell")
        os.kill(owner, signal.SIGCONT)
        wait_for(lambda: not is_alive(owner), "the owner's end")


@case
def front_killed():
    """a front that is killed while a silent unguarded handler runs: the owner lives, and ends the handler (C54)"""
    with site() as wrapper:
        # No output before the end: so the loss of its reader cannot be what ends it.
        handler = wrapper.script("quiet", WAITING.replace("printf 'A: b\\n\\nbegun'\n", ""))
        with Front(wrapper, handler, "POST", b"") as front:
            wait_for((wrapper.directory / "begun").exists, "the handler's start")
            owner = children(front.process.pid)[0]
            handler = children(owner)[0]
            front.process.terminate()
            front.process.wait(10)
            wait_for(lambda: not is_alive(handler), "the handler's end")
            wait_for(lambda: not is_alive(owner), "the owner's end")
            is_true(not (wrapper.directory / "finished").exists(), "the handler ran on")


@case
def group_is_gone():
    """a handler killed by its deadline is answered for once its group has gone, though orphans go to one who reaps none"""
    family = "#!/bin/sh\nsleep 600 >/dev/null 2>&1 &\nexec sleep 600\n"
    with site({"handlers.timeout": "500ms", "handlers.kill_grace": "100ms"}, preexec_fn=adopt_orphans) as wrapper:
        start = time.monotonic()
        reply, status = exchange(wrapper, wrapper.script("family", family))
        is_equal((reply.status, status), (504, 0))
        is_true(time.monotonic() - start < 4, f"answered after {time.monotonic() - start} s")


@case
def streaming():
    """an unguarded handler's output reaches the web server as it is written (C55)"""
    with site() as wrapper, Front(wrapper, wrapper.script("waiting", WAITING)) as front:
        read_until(front, b"begun")
        (wrapper.directory / "go").touch()
        is_equal(front.process.wait(10), 0)


@case
def reader_gone():
    """a client that closes while an unguarded handler runs, talking or silent: the handler is ended (C54)"""
    for loop in ("while :; do echo x; done", "sleep 600"):
        with site() as wrapper, Front(wrapper, wrapper.script(
                "endless", f"#!/bin/sh\nprintf 'A: b\\n\\n'\n: >\"${{0%/*}}/../begun\"\n{loop}\n")) as front:
            wait_for((wrapper.directory / "begun").exists, "the handler's start")
            owner = children(front.process.pid)[0]
            handler = children(owner)[0]
            front.process.stdout.close()
            wait_for(lambda: not is_alive(handler), "the handler's end")
            front.process.stderr.read()
            front.process.wait(10)


@case
def owner_killed():
    """an owner that is killed before it answered: 500, never an empty answer"""
    with site() as wrapper, Front(wrapper, wrapper.script("quiet", "#!/bin/sh\n: >\"${0%/*}/../begun\"\nsleep 600\n")) as front:
        wait_for((wrapper.directory / "begun").exists, "the handler's start")
        os.kill(children(front.process.pid)[0], signal.SIGKILL)
        reply = fcgi.Reply()
        reply.stdout = front.process.stdout.read()
        is_equal((reply.status, front.process.wait(10)), (500, 0))


@case
def non_blocking_output():
    """an answer of 3 MB goes whole through a non-blocking standard output"""
    with site() as wrapper:
        handler = wrapper.script("large", "#!/bin/sh\nprintf 'A: b\\n\\n'; exec head -c 3000000 /dev/zero\n")
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        with ours, theirs:
            process = subprocess.Popen([*wrapper.arguments, "--handler", handler], stdin=subprocess.DEVNULL,
                                       stdout=theirs, stderr=subprocess.DEVNULL,
                                       env={"PATH": os.environ["PATH"], **fcgi.cgi_params("/front")})
            theirs.close()
            received = 0
            ours.settimeout(20)
            while piece := ours.recv(100000):
                received += len(piece)
            is_true(received > 3000000, f"{received} bytes came")
            is_equal(process.wait(10), 0)


@case
def needs_handler():
    """without --handler it refuses, since the script that is asked for is the one that started it"""
    with site() as wrapper:
        done = subprocess.run(wrapper.arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20,
                              env={"PATH": os.environ["PATH"], **fcgi.cgi_params("/front")}, check=False)
        is_equal(done.returncode, 64, done.stderr)
        is_true("--handler" in done.stderr, done.stderr)


@case
def listen_given():
    """with --listen on the command line it serves a socket, whatever its environment looks like"""
    with site() as wrapper:
        other = str(wrapper.directory / "other")
        with Front(wrapper, wrapper.script("hello", HELLO), arguments=["--listen", other]):
            wait_for(lambda: os.path.exists(other), "the socket")
            deadline = time.monotonic() + 10
            while True:
                try:
                    is_equal(fcgi.exchange(other, fcgi.cgi_params("/any")).body, b"hello\n")
                    break
                except ConnectionRefusedError:  # made, but not yet listened at
                    is_true(time.monotonic() < deadline, "served")


if __name__ == "__main__":
    run()
