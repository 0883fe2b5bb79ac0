#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A FastCGI client that speaks byte by byte: for tests that need what no web server does.

As a module: Connection sends whole requests or single records, split, stalled, aborted, cut or padded at will, over a
unix socket, IPv4 or IPv6, and reads what comes back record by record. As a program: one request, its answer on
standard output, its error stream on standard error, and the appStatus as exit status.
"""
import argparse
import socket
import struct
import sys
import time

BEGIN_REQUEST, ABORT_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT, STDERR = 1, 2, 3, 4, 5, 6, 7
GET_VALUES, GET_VALUES_RESULT, UNKNOWN_TYPE = 9, 10, 11
RESPONDER, AUTHORIZER, FILTER = 1, 2, 3
KEEP_CONN = 1
REQUEST_COMPLETE, CANT_MPX_CONN, OVERLOADED, UNKNOWN_ROLE = 0, 1, 2, 3
MOST = 0xFFFF  # content bytes of one record


class Silence(Exception):
    """Nothing came within the deadline."""


def record(kind, content=b"", request_id=1, padding=0, version=1):
    """One record's bytes."""
    header = struct.pack("!BBHHBx", version, kind, request_id, len(content), padding)
    return header + content + b"\xa5" * padding


def begin(role=RESPONDER, flags=0, request_id=1, padding=0):
    return record(BEGIN_REQUEST, struct.pack("!HB5x", role, flags), request_id, padding)


def pair(name, value=b"", long_lengths=False):
    """One name-value pair (FastCGI 1.0, 3.4)."""
    lengths = b""
    for text in (name, value):
        if len(text) > 127 or long_lengths:
            lengths += struct.pack("!I", len(text) | 0x80000000)
        else:
            lengths += struct.pack("!B", len(text))
    return lengths + name + value


def pairs(params):
    """Pairs of a dict, or of a list of tuples where names repeat."""
    items = params.items() if isinstance(params, dict) else params
    return b"".join(pair(name.encode(), value.encode("latin-1")) for name, value in items)


def stream(kind, data, size=MOST, request_id=1, padding=0):
    """A stream's records, its end included."""
    pieces = [data[i:i + size] for i in range(0, len(data), size)]
    return b"".join(record(kind, piece, request_id, padding) for piece in pieces) + record(kind, b"", request_id)


def request(params, body=b"", role=RESPONDER, flags=0, size=MOST, padding=0, request_id=1):
    """A whole request's bytes."""
    return (begin(role, flags, request_id) + stream(PARAMS, pairs(params), size, request_id, padding)
            + stream(STDIN, body, size, request_id, padding))


def cgi_params(script, method="GET", body=None, headers=None, **more):
    """The parameters that every web server sends; `script` is its file."""
    params = {
        "GATEWAY_INTERFACE": "CGI/1.1",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1",
        "REQUEST_METHOD": method,
        "QUERY_STRING": "",
        "SCRIPT_FILENAME": script,
        "SCRIPT_NAME": "/" + script.rsplit("/", 1)[-1],
        "REQUEST_URI": "/" + script.rsplit("/", 1)[-1],
    }
    if body is not None:
        params["CONTENT_LENGTH"] = str(len(body))
        params["CONTENT_TYPE"] = "application/octet-stream"
    for name, value in (headers or {}).items():
        params["HTTP_" + name.upper().replace("-", "_")] = value
    params.update({name: value for name, value in more.items() if value is not None})
    for name in [name for name, value in more.items() if value is None]:
        params.pop(name, None)
    return params


class Reply:
    """What came back for one request."""

    def __init__(self):
        self.stdout = b""
        self.stderr = b""
        self.app_status = None
        self.protocol_status = None  # None: no END_REQUEST came
        self.closed = False

    @property
    def head(self):
        return self.stdout.split(b"\r\n\r\n", 1)[0].decode("latin-1")

    @property
    def body(self):
        parts = self.stdout.split(b"\r\n\r\n", 1)
        return parts[1] if len(parts) == 2 else b""

    @property
    def status(self):
        """The number behind Status:, 0 when there is none."""
        for line in self.head.split("\r\n"):
            name, _, value = line.partition(":")
            if name.lower() == "status":
                return int(value.split()[0])
        return 0

    def header(self, name):
        """All values of a field."""
        fields = [line.partition(":") for line in self.head.split("\r\n")]
        return [value.strip() for field, _, value in fields if field.lower() == name.lower()]


def connect(address, timeout=10):
    """A socket to /PATH, HOST:PORT or [IPV6]:PORT."""
    if address.startswith("/"):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(timeout)
        sock.connect(address)
        return sock
    host, _, port = address.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout)


class Connection:
    """One connection, on which everything has a deadline of `timeout` seconds."""

    def __init__(self, address, timeout=20):
        self.timeout = timeout
        self.sock = connect(address, timeout)
        if self.sock.family != socket.AF_UNIX:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unread = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.sock.sendall(data)

    def send_split(self, data, size=1):
        """In pieces of `size` bytes, each a packet of its own."""
        for i in range(0, len(data), size):
            self.sock.sendall(data[i:i + size])

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def reset(self):
        """Vanish: on TCP with a reset in place of a proper end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.sock.close()

    def _take(self, length, deadline):
        while len(self.unread) < length:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Silence(f"{length} bytes were expected within {self.timeout} s, {len(self.unread)} came")
            self.sock.settimeout(left)
            try:
                piece = self.sock.recv(65536)
            except socket.timeout:
                continue
            except ConnectionResetError:
                piece = b""
            if not piece:
                return None
            self.unread += piece
        taken, self.unread = self.unread[:length], self.unread[length:]
        return taken

    def read_record(self):
        """(kind, request id, content); None: the connection was closed."""
        deadline = time.monotonic() + self.timeout
        header = self._take(8, deadline)
        if header is None:
            return None
        _, kind, request_id, length, padding = struct.unpack("!BBHHBx", header)
        content = self._take(length + padding, deadline)
        return None if content is None else (kind, request_id, content[:length])

    def read_until(self, text, reply=None):
        """Records until standard output holds `text` or ends."""
        reply = reply or Reply()
        while text not in reply.stdout and self._add(reply):
            pass
        return reply

    def _add(self, reply):
        got = self.read_record()
        if got is None:
            reply.closed = True
            return False
        kind, _, content = got
        if kind == STDOUT:
            reply.stdout += content
        elif kind == STDERR:
            reply.stderr += content
        elif kind == END_REQUEST:
            reply.app_status, reply.protocol_status = struct.unpack("!IB3x", content)
            return False
        return True

    def read_reply(self, reply=None):
        """Everything up to END_REQUEST or the connection's end."""
        reply = reply or Reply()
        while self._add(reply):
            pass
        return reply

    def is_closed(self):
        """Wait for the peer to close; anything else it says is an error."""
        got = self.read_record()
        if got is not None:
            raise AssertionError(f"expected the connection's end, got record {got}")
        return True


def exchange(address, params, body=b"", timeout=20, **how):
    """One whole request on a connection of its own."""
    with Connection(address, timeout) as connection:
        connection.send(request(params, body, **how))
        return connection.read_reply()


def main():
    parser = argparse.ArgumentParser(description="Send one FastCGI request and print the answer.")
    parser.add_argument("address", help="/PATH, HOST:PORT or [IPV6]:PORT")
    parser.add_argument("script", help="the script's file")
    parser.add_argument("-X", "--method", default="GET")
    parser.add_argument("-H", "--header", action="append", default=[], metavar="NAME: VALUE")
    parser.add_argument("-p", "--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("-d", "--data", help="the body; - reads standard input")
    parser.add_argument("-t", "--timeout", type=float, default=20)
    options = parser.parse_args()
    body = sys.stdin.buffer.read() if options.data == "-" else options.data and options.data.encode()
    headers = dict(header.split(": ", 1) for header in options.header)
    params = cgi_params(options.script, options.method, body, headers,
                        **dict(param.split("=", 1) for param in options.param))
    reply = exchange(options.address, params, body or b"", options.timeout)
    sys.stderr.buffer.write(reply.stderr)
    sys.stdout.buffer.write(reply.stdout)
    if reply.protocol_status is None:
        sys.exit("fcgi_client: the connection was closed without an answer's end")
    sys.exit(min(reply.app_status, 255))


if __name__ == "__main__":
    main()
