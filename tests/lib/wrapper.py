# SPDX-License-Identifier: ISC
"""The real oncewrap, run by a test in a directory of its own, with a configuration of its own."""
import contextlib
import ctypes
import errno
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile

from tap import wait_for

PROGRAM = os.environ.get("ONCEWRAP") or os.path.join(os.environ.get("builddir", "."), "oncewrap")


def free_port(family=socket.AF_INET):
    with socket.socket(family) as sock:
        sock.bind(("localhost" if family == socket.AF_INET else "::1", 0))
        return sock.getsockname()[1]


def settings_text(settings):
    """{"limits.max_body": "1M", "workers": 2} as libconfig text."""
    groups, lines = {}, []
    for name, value in settings.items():
        group, _, setting = name.rpartition(".")
        line = f"{setting} = {json.dumps(value)};"
        if group:
            groups.setdefault(group, []).append(line)
        else:
            lines.append(line)
    lines += [f"{group}: {{ {' '.join(inner)} }};" for group, inner in groups.items()]
    return "\n".join(lines) + "\n"


def stat_fields(pid):
    """/proc/PID/stat behind the command's name; None when the process has gone or is a zombie."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields


def is_alive(pid):
    return stat_fields(pid) is not None


def children(pid):
    """Living children of a process."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [child for child in pids if (stat_fields(child) or [None, None])[1] == str(pid)]


def zombies(pid):
    """Children of a process that nobody has reaped."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            fields = pathlib.Path(f"/proc/{int(name)}/stat").read_text().rpartition(")")[2].split()
            if fields[:2] == ["Z", str(pid)]:
                found.append(int(name))
    return found


def adopt_orphans():
    """For preexec_fn: orphans below this process become its children, as if it were a container's first one."""
    if ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
        raise OSError(ctypes.get_errno(), "prctl")


def forbid_call(number, reason=errno.ENOSYS):
    """For preexec_fn: that system call fails with this errno from here on."""
    # seccomp(2): load the call's number; if it is the one, fail; else allow.
    instructions = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | reason), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in instructions))
    program = ctypes.create_string_buffer(struct.pack("HP", len(instructions), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    # PR_SET_NO_NEW_PRIVS; PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    if prctl(38, 1, 0, 0, 0) != 0 or prctl(22, 2, program) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def cpu_seconds(pid):
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


class Wrapper:
    """with Wrapper(...) as wrapper: the program runs and serves; what it started is gone at the end."""

    def __init__(self, settings=None, routes="", listen="unix", arguments=(), start=True, **popen):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="oncewrap-test-"))
        self.roots = self.directory / "cgi"
        self.roots.mkdir()
        (self.directory / "spool").mkdir()
        self.socket = {"unix": str(self.directory / "socket"), "": ""}.get(listen, listen)
        self.config = self.directory / "oncewrap.conf"
        self.routes = routes
        self.settings = {
            "listen": self.socket,
            "workers": 2,
            "user": "root",
            "handlers.roots": [str(self.roots)],
            "spool.directory": str(self.directory / "spool"),
            "store.socket": str(self.directory / "no-database"),
            "store.connect_timeout": "500ms",
            "store.read_timeout": "1s",
        }
        self.settings.update(settings or {})
        self.arguments = [PROGRAM, "--config", str(self.config), *arguments]
        self.log_file = self.directory / "log"
        self.process = None
        self.popen = popen
        self.configure()
        if start:
            try:
                self.start()
            except BaseException:
                self.__exit__()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def family(self):
        """All that runs by our configuration or from our directory, whoever its parent is by now."""
        mark = str(self.directory).encode()
        pids = []
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                if mark in pathlib.Path(f"/proc/{int(name)}/cmdline").read_bytes():
                    pids.append(int(name))
        return pids

    def configure(self, **settings):
        """Write the configuration, with these changes ("__" for a dot)."""
        self.settings.update({name.replace("__", "."): value for name, value in settings.items()})
        self.config.write_text(settings_text(self.settings) + self.routes)

    def script(self, name, text):
        """A handler; its file."""
        path = self.roots / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def start(self):
        """Start, and wait until it says that it is ready."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            name = self.directory / "notify"
            name.unlink(missing_ok=True)
            told.bind(str(name))
            name.chmod(0o666)  # it may have become another account
            told.settimeout(0.05)
            self.launch(NOTIFY_SOCKET=str(name))

            def is_ready():
                if self.process.poll() is not None:
                    raise AssertionError(f"ended with {self.process.returncode}: {self.log_text()}")
                with contextlib.suppress(socket.timeout):
                    return told.recv(256) == b"READY=1"

            wait_for(is_ready, "READY=1")

    def launch(self, **environment):
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **environment}, **self.popen)

    def workers(self):
        return sorted(children(self.process.pid))

    def log_text(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def log(self, **wanted):
        """Log lines whose fields are these; a message need only contain the text."""
        lines = []
        for line in self.log_text().splitlines():
            with contextlib.suppress(ValueError):
                lines.append(json.loads(line))
        return [line for line in lines if all(
            value in line.get("message", "") if name == "message" else line.get(name) == value
            for name, value in wanted.items())]

    def wait_log(self, **wanted):
        try:
            return wait_for(lambda: self.log(**wanted), f"a log line with {wanted}")
        except AssertionError as error:
            raise AssertionError(f"{error}; the log:\n{self.log_text()}") from None

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, timeout=30):
        """TERM; the exit status."""
        self.process.terminate()
        return self.process.wait(timeout)
