#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Where the socket comes from, what becomes of it, and how a start that cannot be is refused."""
import contextlib
import errno
import grp
import os
import pathlib
import pwd
import re
import socket
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import fcgi_client as fcgi  # noqa: E402
from tap import case, is_equal, is_true, run, wait_for  # noqa: E402
from wrapper import PROGRAM, Wrapper, forbid_call, free_port, is_alive  # noqa: E402

HELLO = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhello\\n'\n"
WHO = "#!/bin/sh\nprintf 'A: b\\n\\n'\nid -u; id -g; id -G\n"
USAGE, CANNOT_CREATE, NOT_PERMITTED, CONFIGURATION = 64, 73, 77, 78


def serves(address, script):
    reply = fcgi.exchange(address, fcgi.cgi_params(script))
    is_equal((reply.status, reply.body), (200, b"hello\n"), f"a plain request to {address}")


def run_to_end(*arguments, **environment):
    """A start that ends by itself: its exit status and what it said."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=20, env={**os.environ, **environment}, check=False)
    return done.returncode, done.stdout + done.stderr


def refused(wrapper, status, *words, more=()):
    """A second start of the same program is refused with this status and a message that has these words."""
    got, text = run_to_end(*wrapper.arguments[1:], *more)
    is_equal(got, status, text)
    for word in words:
        is_true(word in text, f"{word!r} is not in {text!r}")


@contextlib.contextmanager
def listening(address="", family=socket.AF_UNIX):
    with socket.socket(family) as sock:
        sock.bind(address if family == socket.AF_UNIX else ("localhost", 0))
        sock.listen(5)
        yield sock


def mode_of(path):
    status = os.stat(path)
    return stat.S_IMODE(status.st_mode), grp.getgrgid(status.st_gid).gr_name


@case
def mode_and_group():
    """the socket file has the configured mode and group from the start"""
    group = "daemon" if os.getuid() == 0 else grp.getgrgid([*os.getgroups(), os.getegid()][0]).gr_name
    for mode, name in (("0600", ""), ("0666", group), ("0660", group)):
        with Wrapper({"socket_mode": mode, "socket_group": name}) as wrapper:
            expected = (int(mode, 8), name or grp.getgrgid(os.getegid()).gr_name)
            is_equal(mode_of(wrapper.socket), expected)


def connects_as(account, path):
    """Can a process of that account connect?"""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(*[account.pw_gid] * 3)
            os.setresuid(*[account.pw_uid] * 3)
            fcgi.connect(path)
            os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


@case
def given_to_user():
    """started as root without socket_group, the socket is the configured account's, which web servers run as"""
    if os.getuid() != 0:
        # Then it stays with the only account there is.
        with Wrapper({"user": "nobody-of-that-name"}) as wrapper:
            is_equal(os.stat(wrapper.socket).st_uid, os.getuid())
        return
    nobody = pwd.getpwnam("nobody")
    for group, expected in (("", (nobody.pw_uid, nobody.pw_gid)), ("daemon", (0, grp.getgrnam("daemon").gr_gid))):
        with Wrapper({"user": "nobody", "socket_group": group}, start=False) as wrapper:
            wrapper.directory.chmod(0o755)
            wrapper.start()
            status = os.stat(wrapper.socket)
            is_equal((status.st_uid, status.st_gid), expected, f"owner and group, with socket_group {group!r}")
            is_equal(stat.S_IMODE(status.st_mode), 0o660)
            is_equal(connects_as(nobody, wrapper.socket), group == "", f"connected, with socket_group {group!r}")


@case
def stale_socket():
    """a socket file that nobody serves is replaced"""
    with Wrapper(start=False) as wrapper:
        with listening(wrapper.socket):
            pass
        is_true(os.path.exists(wrapper.socket), "the stale file")
        wrapper.start()
        serves(wrapper.socket, wrapper.script("hello", HELLO))


@case
def served_socket():
    """a socket that another process serves is left to it, also when its backlog is full"""
    with Wrapper() as wrapper:
        refused(wrapper, CANNOT_CREATE, wrapper.socket, "another process is serving")
        serves(wrapper.socket, wrapper.script("hello", HELLO))
    with Wrapper(start=False) as wrapper, socket.socket(socket.AF_UNIX) as full, contextlib.ExitStack() as stack:
        full.bind(wrapper.socket)
        full.listen(0)
        with contextlib.suppress(BlockingIOError):
            for _ in range(5):
                peer = stack.enter_context(socket.socket(socket.AF_UNIX))
                peer.setblocking(False)
                peer.connect(wrapper.socket)
        refused(wrapper, CANNOT_CREATE, "another process is serving")


@case
def other_file():
    """what is not a socket is left alone: a file, a directory, a link to a stale socket"""
    with Wrapper(start=False) as wrapper:
        path = pathlib.Path(wrapper.socket)
        path.write_text("precious")
        refused(wrapper, CANNOT_CREATE, wrapper.socket, "is not a socket")
        is_equal(path.read_text(), "precious")
        path.unlink()
        path.mkdir()
        refused(wrapper, CANNOT_CREATE, "is not a socket")
        path.rmdir()
        with listening(str(wrapper.directory / "stale")):
            pass
        path.symlink_to("stale")
        refused(wrapper, CANNOT_CREATE, "is not a socket")
        is_true(path.is_symlink() and path.exists(), "the link or what it names was removed")


@case
def replaced_file():
    """a socket file that is another's by the time we stop is not removed"""
    with Wrapper() as wrapper:
        os.unlink(wrapper.socket)
        with listening(wrapper.socket):
            is_equal(wrapper.stop(), 0)
            is_true(os.path.exists(wrapper.socket), "the other's socket was removed")


@case
def many_starters():
    """of ten that start at once at the place of a stale socket exactly one serves"""
    with Wrapper(start=False) as wrapper:
        script = wrapper.script("hello", HELLO)
        for _ in range(5):
            with listening(wrapper.socket):
                pass
            with open(os.devnull, "r+b") as null:
                starters = [subprocess.Popen(wrapper.arguments, stdin=null, stdout=null, stderr=null)
                            for _ in range(10)]
                try:
                    wait_for(lambda: sum(one.poll() is None for one in starters) == 1, "one to be left")
                    is_equal(sorted(one.poll() or 0 for one in starters), [0] + [CANNOT_CREATE] * 9)
                    serves(wrapper.socket, script)
                finally:
                    for one in starters:
                        one.terminate()
                    for one in starters:
                        one.wait(20)


@case
def taken_port():
    """a TCP port that is taken is refused"""
    with listening(family=socket.AF_INET) as sock, Wrapper(
            listen=f"127.0.0.1:{sock.getsockname()[1]}", start=False) as wrapper:
        refused(wrapper, CANNOT_CREATE, "cannot listen at 127.0.0.1", "in use")


@case
def restart_on_port():
    """a TCP port can be listened at again right after a stop"""
    with Wrapper(listen=f"127.0.0.1:{free_port()}") as wrapper:
        script = wrapper.script("hello", HELLO)
        serves(wrapper.socket, script)
        is_equal(wrapper.stop(), 0)
        wrapper.start()
        serves(wrapper.socket, script)


@case
def open_to_the_world():
    """a TCP socket that is reachable from outside is warned of, one on the loopback is not"""
    for host, expected in (("*", 1), ("0.0.0.0", 1), ("127.0.0.1", 0), ("localhost", 0), ("[::1]", 0), ("[::]", 1)):
        with Wrapper(listen=f"{host}:{free_port()}") as wrapper:
            is_equal(len(wrapper.log(event="listen", level="warning")), expected, f"warnings for {host}")


@case
def standard_input():
    """a listening socket as descriptor 0 is served before any configured address, and is not removed"""
    with Wrapper(start=False) as wrapper:
        path = str(wrapper.directory / "given")
        with listening(path) as sock:
            launch(wrapper, sock)
        serves(path, wrapper.script("hello", HELLO))
        is_true(not os.path.exists(wrapper.socket), "the configured socket was made, too")
        is_equal(wrapper.stop(), 0)
        is_true(os.path.exists(path), "the given socket was removed")


def launch(wrapper, sock, **popen):
    with open(wrapper.log_file, "ab") as log:
        wrapper.process = subprocess.Popen(wrapper.arguments, stdin=sock, stdout=log, stderr=log, **popen)


@case
def standard_input_tcp():
    """a listening TCP socket as descriptor 0, alone, as FastCGI 1.0 section 2.2 gives it: with 1 and 2 closed"""
    def close_others():
        os.close(1)
        os.close(2)

    with Wrapper(start=False) as wrapper, listening(family=socket.AF_INET) as sock:
        address = f"127.0.0.1:{sock.getsockname()[1]}"
        launch(wrapper, sock, preexec_fn=close_others)
        serves(address, wrapper.script("hello", HELLO))
        # Not the connection that happens to be accepted first may become descriptor 1 or 2.
        for worker in wait_for(wrapper.workers, "workers"):
            is_equal([os.readlink(f"/proc/{worker}/fd/{fd}") for fd in (0, 1, 2)], ["/dev/null"] * 3)


@case
def activation():
    """a socket passed by the service manager is served, before descriptor 0, if it was passed to this very process"""
    for addressee, served in (("$$", "passed"), ("1", "given")):
        with Wrapper(start=False) as wrapper, listening(str(wrapper.directory / "passed")) as passed:
            with listening(str(wrapper.directory / "given")) as given:
                wrapper.arguments = ["/bin/sh", "-c", f'LISTEN_PID={addressee} LISTEN_FDS=1 exec "$@" 3<&{passed.fileno()}',
                                     "sh", *wrapper.arguments]
                launch(wrapper, given, pass_fds=[passed.fileno()])
                serves(str(wrapper.directory / served), wrapper.script("hello", HELLO))


@case
def activation_wrong():
    """passed sockets that cannot be served are refused: two of them, a datagram socket, no socket"""
    with Wrapper(start=False) as wrapper, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
        datagram.bind(str(wrapper.directory / "datagram"))
        for count, redirect, word in (("2", "", "one is wanted"), ("1", f"3<&{datagram.fileno()}", "not a listening"),
                                      ("1", "3</dev/null", "not a listening"), ("1", "3<&-", "not a listening")):
            done = subprocess.run(["/bin/sh", "-c", f'LISTEN_PID=$$ LISTEN_FDS={count} exec "$@" {redirect}', "sh",
                                   *wrapper.arguments], pass_fds=[datagram.fileno()], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=20, check=False)
            is_equal(done.returncode, CANNOT_CREATE, done.stderr)
            is_true(word in done.stderr, done.stderr)


@case
def no_socket():
    """without any socket: one clear message, exit status 64"""
    with Wrapper(listen="", start=False) as wrapper:
        refused(wrapper, USAGE, "no socket to serve", "--listen ADDRESS")


@case
def command_line():
    """a command line that makes no sense: exit status 64, and a pointer to --help"""
    for arguments in (["--nonsense"], ["-x"], ["--workers", "0"], ["--workers", "2x"], ["--workers", ""], ["--listen", ""],
                      ["--listen", "nowhere"], ["--handler"], ["extra"]):
        status, text = run_to_end(*arguments)
        is_equal(status, USAGE, f"{arguments}")
        is_true("oncewrap --help" in text, text)


@case
def manual():
    """--help and the manual page tell of the same options"""
    status, text = run_to_end("--help")
    is_equal(status, 0, text)
    source = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "man" / "oncewrap.8"
    described = re.findall(r"^\.It .*?Fl -([a-z-]+)", source.read_text(encoding="utf-8"), re.MULTILINE)
    is_equal(sorted(re.findall(r"--([a-z-]+)(?:=[A-Z]+)? {2}", text)), sorted(described))


@case
def overrides():
    """--listen, --workers and --handler go before the configuration, also after a reload"""
    with Wrapper(start=False) as wrapper:
        hello = wrapper.script("hello", HELLO)
        other = str(wrapper.directory / "other")
        wrapper.arguments += ["--listen", other, "--workers=3", "--handler", hello]
        wrapper.start()
        for _ in range(2):
            is_equal(len(wrapper.workers()), 3)
            serves(other, "/no/such/script")
            wrapper.signal(1)
            wrapper.wait_log(event="reload", message="3 workers")
            wait_for(lambda: len(wrapper.workers()) == 3, "the old workers' end")
        is_true(not os.path.exists(wrapper.socket), "the configured socket was made, too")


@case
def check_good():
    """--check of a good configuration says so, and makes no socket"""
    with Wrapper(start=False, routes='routes = ( { name = "a"; path = "/a"; }, { name = "b"; path = "/*"; } );') as wrapper:
        status, text = run_to_end(*wrapper.arguments[1:], "--check")
        is_equal((status, text), (0, f"configuration {wrapper.config} is good: 2 routes\n"))
        wrapper.routes = 'routes = ( { name = "a"; path = "/*"; } );'
        wrapper.configure()
        is_equal(run_to_end(*wrapper.arguments[1:], "--check")[1], f"configuration {wrapper.config} is good: 1 route\n")
        is_true(not os.path.exists(wrapper.socket), "the socket was made")


@case
def check_bad():
    """--check names every problem of the configuration, or every place that it names in vain: exit status 78"""
    with Wrapper(start=False) as wrapper:
        gone = str(wrapper.directory / "gone")
        wrapper.configure(**{"spool__directory": gone, "handlers__roots": [gone + "1", str(wrapper.config)],
                             "user": "nobody-of-that-name", "socket_group": "no-such-group"})
        anyhow = [f"spool.directory: {gone}:", "nobody-of-that-name", "no-such-group"]
        roots = [f"handlers.roots: {gone}1:", f"{wrapper.config} is not a directory"]
        handler = [f"--handler: {gone}2:"]
        for arguments, told, untold in (([], anyhow + roots, handler), (["--handler", gone + "2"], anyhow + handler, roots)):
            status, text = run_to_end(*wrapper.arguments[1:], "--check", *arguments)
            is_equal(status, CONFIGURATION, text)
            is_equal([word for word in told if word not in text], [], f"not told by {text!r}")
            is_equal([word for word in untold if word in text], [], f"told, though of no matter, by {text!r}")
        wrapper.configure(workers=0, listen=":::")
        status, text = run_to_end(*wrapper.arguments[1:], "--check")
        is_equal(status, CONFIGURATION, text)
        is_true("workers" in text and "listen" in text, text)
        is_equal(run_to_end(*wrapper.arguments[1:])[0], CONFIGURATION, "a start with it")
        is_equal(run_to_end("--config", gone)[0], CONFIGURATION, "a file that is not there")


@case
def places_gone():
    """a start without the spool directory, a root or the handler is refused like --check, and makes no socket"""
    with Wrapper(start=False) as wrapper:
        gone = str(wrapper.directory / "gone")
        for settings, arguments, word in (({"spool__directory": gone}, [], f"spool.directory: {gone}: No such file"),
                                          ({"handlers__roots": [str(wrapper.config)]}, [],
                                           f"handlers.roots: {wrapper.config} is not a directory"),
                                          ({}, ["--handler", gone], f"--handler: {gone}: No such file")):
            before = dict(wrapper.settings)
            wrapper.configure(**settings)
            refused(wrapper, CONFIGURATION, word, more=arguments)
            is_true(not os.path.exists(wrapper.socket), "the socket was made")
            with listening(str(wrapper.directory / "given")) as given:
                done = subprocess.run([*wrapper.arguments, *arguments], stdin=given, capture_output=True, text=True,
                                      timeout=20, check=False)
            is_equal(done.returncode, CONFIGURATION, done.stderr)
            os.unlink(wrapper.directory / "given")
            wrapper.settings = before


@case
def without_a_file():
    """--handler without any configuration has its large bodies where temporary files go; where there is one, it counts"""
    default = re.search(r"configuration file \((.*)\)", run_to_end("--help")[1])[1]
    found = [run_to_end("--handler", "/bin/true", "--print-config", **environment)
             for environment in ({"TMPDIR": "/var/tmp"}, {"TMPDIR": "relative"}, {"TMPDIR": ""})]
    is_equal([status for status, _ in found], [0] * 3, f"{found}")
    if os.path.exists(default):
        is_equal({text for _, text in found}, {run_to_end("--config", default, "--print-config")[1]})
        return
    for (_, text), directory in zip(found, ("/var/tmp", "/tmp", "/tmp")):
        is_true(re.search(rf'^spool: \{{[^}}]*directory = "{directory}"', text, re.M), text)


@case
def no_pidfd():
    """where pidfd_open is refused, the log and --check warn of it, and requests are served all the same"""
    warning = "pidfd_open(2) is refused"
    for reason in (errno.ENOSYS, errno.EPERM):
        def forbid(reason=reason):
            forbid_call(434, reason)

        with Wrapper(preexec_fn=forbid) as wrapper:
            is_equal(len(wrapper.log(event="start", level="warning", message=warning)), 1, "warnings")
            serves(wrapper.socket, wrapper.script("hello", HELLO))
            done = subprocess.run([*wrapper.arguments, "--check"], capture_output=True, text=True, timeout=20,
                                  preexec_fn=forbid, check=False)
            is_equal(done.returncode, 0, done.stderr)
            is_true(warning in done.stderr, done.stderr)
    with Wrapper() as wrapper:
        is_equal(wrapper.log(message=warning), [])


@case
def print_config():
    """--print-config prints what is in force, as a configuration that gives the same again"""
    with Wrapper(start=False) as wrapper:
        status, text = run_to_end(*wrapper.arguments[1:], "--print-config", "--workers", "7")
        is_equal(status, 0, text)
        is_true("workers = 7;" in text, text)
        wrapper.config.write_text(text)
        is_equal(run_to_end(*wrapper.arguments[1:], "--print-config"), (0, text))
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([*wrapper.arguments, "--print-config"], stdout=full, stderr=subprocess.PIPE,
                                  timeout=20, check=False)
        is_equal(done.returncode, CANNOT_CREATE, done.stderr)


@case
def account():
    """started as root it becomes the configured account, with its groups and no others; without one it refuses"""
    if os.getuid() != 0:
        # Then neither can be asked for: what holds is that the setting is not looked at.
        with Wrapper({"user": ""}) as wrapper:
            reply = fcgi.exchange(wrapper.socket, fcgi.cgi_params(wrapper.script("who", WHO)))
            is_equal(int(reply.body.split()[0]), os.getuid())
        return
    nobody = pwd.getpwnam("nobody")
    with Wrapper({"user": ""}, start=False) as wrapper:
        refused(wrapper, NOT_PERMITTED, "started as root", "set user")
        is_true(not os.path.exists(wrapper.socket), "the socket is left")
        wrapper.configure(user="nobody-of-that-name")
        refused(wrapper, NOT_PERMITTED, "there is no account")
        wrapper.configure(user="nobody")
        wrapper.directory.chmod(0o755)
        wrapper.popen = {"preexec_fn": lambda: os.setgroups([0, 1, 2])}
        wrapper.start()
        reply = fcgi.exchange(wrapper.socket, fcgi.cgi_params(wrapper.script("who", WHO)))
        groups = sorted(os.getgrouplist("nobody", nobody.pw_gid))
        is_equal([int(word) for word in reply.body.split()], [nobody.pw_uid, nobody.pw_gid, *groups])


@case
def closed_descriptors():
    """started with descriptors 0, 1 and 2 closed it serves, and a message finds /dev/null in their place"""
    def close_all():
        for fd in (0, 1, 2):
            os.close(fd)

    with Wrapper(preexec_fn=close_all) as wrapper:
        serves(wrapper.socket, wrapper.script("hello", HELLO))
        is_equal([os.readlink(f"/proc/{wrapper.process.pid}/fd/{fd}") for fd in (0, 1, 2)], ["/dev/null"] * 3)
        is_true(all(is_alive(worker) for worker in wrapper.workers()), "workers")


if __name__ == "__main__":
    run()
