#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""FastCGI as no web server speaks it: records split, padded, repeated, stalled, cut, and not FastCGI at all."""
import contextlib
import hashlib
import os
import pathlib
import select
import socket
import struct
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import fcgi_client as fcgi  # noqa: E402
from tap import case, is_equal, is_true, run, wait_for  # noqa: E402
from wrapper import Wrapper, children, cpu_seconds, free_port  # noqa: E402

HELLO = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhello\\n'\n"
DIGEST = ("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s ' \"$CONTENT_LENGTH\"\n"
          "exec sha256sum\n")
# Leaves a mark beside itself, so that a run that should not have been is seen.
MARK = "#!/bin/sh\n: >\"${0%/*}/../ran\"\nprintf 'Content-Type: text/plain\\n\\nran\\n'\n"

GUARDED = 'routes = ( { name = "all"; path = "/*"; } );\n'


def has_run(wrapper):
    return (wrapper.directory / "ran").exists()


def handlers_of(wrapper):
    return [pid for worker in wrapper.workers() for pid in children(worker)]


def serves(wrapper, script):
    """The pool is alive: a plain request is answered."""
    reply = fcgi.exchange(wrapper.socket, fcgi.cgi_params(script))
    is_equal((reply.status, reply.body), (200, b"hello\n"), "a plain request afterwards")


def digest_line(body):
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}  -\n".encode()


# --- the protocol in order ---


@case
def answered_unix():
    """a request is answered over a unix socket, ended in form, and the connection closed (C52)"""
    with Wrapper() as wrapper:
        script = wrapper.script("hello", HELLO)
        with fcgi.Connection(wrapper.socket) as peer:
            peer.send(fcgi.request(fcgi.cgi_params(script)))
            reply = peer.read_reply()
            is_equal((reply.status, reply.body), (200, b"hello\n"))
            is_equal((reply.app_status, reply.protocol_status), (0, fcgi.REQUEST_COMPLETE))
            peer.is_closed()


@case
def answered_tcp():
    """a request is answered over IPv4 and over IPv6 (C52)"""
    for address in (f"127.0.0.1:{free_port()}", f"[::1]:{free_port(socket.AF_INET6)}"):
        with Wrapper(listen=address) as wrapper:
            serves(wrapper, wrapper.script("hello", HELLO))


@case
def app_status():
    """the handler's exit status is the request's appStatus, 128 and the signal where it was killed"""
    with Wrapper() as wrapper:
        for end, expected in (("exit 7", 7), ("kill -9 $$", 137)):
            script = wrapper.script("end", HELLO + end + "\n")
            is_equal(fcgi.exchange(wrapper.socket, fcgi.cgi_params(script)).app_status, expected, end)


@case
def keep_connection():
    """the connection is closed after the reply even if the peer asked to keep it"""
    with Wrapper() as wrapper, fcgi.Connection(wrapper.socket) as peer:
        peer.send(fcgi.request(fcgi.cgi_params(wrapper.script("hello", HELLO)), flags=fcgi.KEEP_CONN))
        is_equal(peer.read_reply().body, b"hello\n")
        peer.is_closed()


@case
def byte_by_byte():
    """a request that comes byte by byte is the same request"""
    body = bytes(range(256))
    for address in ("unix", f"127.0.0.1:{free_port()}"):
        with Wrapper(listen=address) as wrapper, fcgi.Connection(wrapper.socket) as peer:
            params = fcgi.cgi_params(wrapper.script("digest", DIGEST), "POST", body, {"X-Long": "y" * 300})
            peer.send_split(fcgi.request(params, body))
            is_equal(peer.read_reply().body, digest_line(body), address)


@case
def cut_in_two():
    """a request may be cut in two at any byte"""
    body = b"0123456789"
    with Wrapper() as wrapper:
        data = fcgi.request(fcgi.cgi_params(wrapper.script("digest", DIGEST), "POST", body), body, size=50, padding=3)
        for position in [*range(1, 40), *range(40, len(data), 7), *range(len(data) - 40, len(data))]:
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(data[:position])
                peer.send(data[position:])
                is_equal(peer.read_reply().body, digest_line(body), f"cut at byte {position}")


@case
def record_sizes():
    """bodies about 64 KiB come whole in records of one byte, of 64 KiB and of odd sizes, padded or not (C16)"""
    with Wrapper() as wrapper:
        script = wrapper.script("digest", DIGEST)
        for length, size, padding in ((0, 1, 0), (1, 1, 255), (3000, 1, 7), (65535, 65535, 0), (65536, 65535, 255),
                                      (65537, 8191, 1), (300001, 65528, 8)):
            body = os.urandom(length)
            reply = fcgi.exchange(wrapper.socket, fcgi.cgi_params(script, "POST", body), body, size=size,
                                  padding=padding)
            is_equal(reply.body, digest_line(body), f"{length} bytes in records of {size}, padding {padding}")


@case
def large_params():
    """a parameter longer than a record, with four-byte lengths, arrives whole"""
    with Wrapper() as wrapper:
        script = wrapper.script("long", "#!/bin/sh\nprintf 'A: b\\n\\n%s' \"${#QUERY_STRING}\"\n")
        params = fcgi.cgi_params(script, QUERY_STRING="q" * 100000)
        is_equal(fcgi.exchange(wrapper.socket, params).body, b"100000")
        data = (fcgi.begin() + fcgi.stream(fcgi.PARAMS, b"".join(
            fcgi.pair(name.encode(), value.encode(), long_lengths=True) for name, value in params.items()), 33)
            + fcgi.record(fcgi.STDIN))
        with fcgi.Connection(wrapper.socket) as peer:
            peer.send(data)
            is_equal(peer.read_reply().body, b"100000", "in records of 33 bytes")


@case
def large_reply():
    """an answer of a megabyte comes whole, in many records"""
    with Wrapper() as wrapper:
        script = wrapper.script("large", "#!/bin/sh\nprintf 'A: b\\n\\n'; head -c 1000003 /dev/zero\n")
        is_equal(fcgi.exchange(wrapper.socket, fcgi.cgi_params(script)).body, bytes(1000003))


@case
def request_ids():
    """the reply carries the request's id, whatever it is"""
    with Wrapper() as wrapper:
        params = fcgi.cgi_params(wrapper.script("hello", HELLO))
        for number in (1, 255, 256, 65535):
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(fcgi.request(params, request_id=number))
                kind, request_id, _ = peer.read_record()
                is_equal((kind, request_id), (fcgi.STDOUT, number))


# --- management records, and what is refused in form ---


def values(content):
    """GET_VALUES_RESULT as a list of pairs."""
    found = []
    while content:
        name, value = content[0], content[1]
        found.append((content[2:2 + name].decode(), content[2 + name:2 + name + value].decode()))
        content = content[2 + name + value:]
    return found


ALL_VALUES = [("FCGI_MAX_CONNS", "3"), ("FCGI_MAX_REQS", "3"), ("FCGI_MPXS_CONNS", "0")]


@case
def get_values():
    """GET_VALUES is answered before the request that follows on the connection, be it in one piece or byte by byte"""
    asked = fcgi.pairs({name: "" for name, _ in ALL_VALUES})
    with Wrapper({"workers": 3}) as wrapper:
        params = fcgi.cgi_params(wrapper.script("hello", HELLO))
        for size in (100000, 1):
            for padding in (0, 5):
                with fcgi.Connection(wrapper.socket) as peer:
                    peer.send_split(fcgi.record(fcgi.GET_VALUES, asked, 0, padding), size)
                    kind, request_id, content = peer.read_record()
                    is_equal((kind, request_id, values(content)), (fcgi.GET_VALUES_RESULT, 0, ALL_VALUES))
                    peer.send(fcgi.request(params))
                    is_equal(peer.read_reply().body, b"hello\n")


@case
def get_values_many():
    """GET_VALUES with 300 names, repeated and unknown ones among them, or none, is answered in bounds"""
    names = [("FCGI_MAX_REQS", ""), ("FCGI_NONSENSE", "x"), ("FCGI_MPXS_CONNS", "")] * 100
    with Wrapper({"workers": 3}) as wrapper:
        workers = wrapper.workers()
        for asked, expected in ((fcgi.pairs(names), ALL_VALUES[1:]), (fcgi.pairs([("A" * 60000, "")]), []),
                                (fcgi.pairs([("FCGI_MAX_CONNS", "v" * 500)] * 120), ALL_VALUES[:1]), (b"", [])):
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(fcgi.record(fcgi.GET_VALUES, asked, 0))
                is_equal(values(peer.read_record()[2]), expected, f"{len(asked)} bytes asked")
        is_equal(wrapper.workers(), workers, "the workers")


@case
def get_values_malformed():
    """GET_VALUES whose lengths lie is dropped, and the worker lives"""
    with Wrapper() as wrapper:
        workers = wrapper.workers()
        for content in (b"\x05", b"\x05\x00FCGI", b"\xff\xff\xff\xff\xff\xff\xff\xff", b"\x80\x00", b"\x0e\x7f" + b"a" * 20):
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(fcgi.record(fcgi.GET_VALUES, content, 0))
                peer.is_closed()
        is_equal(len(wrapper.log(event="peer", message="malformed management record")), 5, "log lines")
        is_equal(wrapper.workers(), workers, "the workers")


@case
def unknown_management():
    """a management record of an unknown type is answered with UNKNOWN_TYPE"""
    with Wrapper() as wrapper, fcgi.Connection(wrapper.socket) as peer:
        for kind in (10, 17, 255):
            peer.send(fcgi.record(kind, b"what" * 5, 0, 4))
            is_equal(peer.read_record(), (fcgi.UNKNOWN_TYPE, 0, struct.pack("!B7x", kind)))
        peer.send(fcgi.request(fcgi.cgi_params(wrapper.script("hello", HELLO))))
        is_equal(peer.read_reply().body, b"hello\n")


@case
def management_flood():
    """a peer that asks for ever is dropped"""
    with Wrapper() as wrapper, fcgi.Connection(wrapper.socket) as peer:
        peer.send(fcgi.record(fcgi.GET_VALUES, b"", 0) * 1000)
        while peer.read_record() is not None:
            pass
        wrapper.wait_log(event="peer", message="management records")
        serves(wrapper, wrapper.script("hello", HELLO))


@case
def second_begin():
    """a second request on a busy connection is told CANT_MPX_CONN, and the first is served"""
    with Wrapper() as wrapper, fcgi.Connection(wrapper.socket) as peer:
        params = fcgi.cgi_params(wrapper.script("hello", HELLO))
        peer.send(fcgi.begin() + fcgi.begin(request_id=2) + fcgi.stream(fcgi.PARAMS, fcgi.pairs(params))
                  + fcgi.record(fcgi.STDIN))
        is_equal(peer.read_record(), (fcgi.END_REQUEST, 2, struct.pack("!IB3x", 0, fcgi.CANT_MPX_CONN)))
        is_equal(peer.read_reply().body, b"hello\n")


@case
def unknown_role():
    """a request for another role is told UNKNOWN_ROLE, over TCP too, where its unread rest must not destroy the answer"""
    for address in ("unix", f"127.0.0.1:{free_port()}"):
        with Wrapper(listen=address) as wrapper:
            workers = wrapper.workers()
            for role in (fcgi.AUTHORIZER, fcgi.FILTER, 0, 77):
                with fcgi.Connection(wrapper.socket) as peer:
                    peer.send(fcgi.request(fcgi.cgi_params("/x"), bytes(3000000), role=role))
                    is_equal(peer.read_record(), (fcgi.END_REQUEST, 1, struct.pack("!IB3x", 0, fcgi.UNKNOWN_ROLE)))
            is_equal(wrapper.workers(), workers, "the workers")


@case
def not_fastcgi():
    """what is not FastCGI is dropped with one log line, and the worker lives"""
    junk = {
        "version 2": fcgi.record(fcgi.BEGIN_REQUEST, bytes(8), version=2),
        "HTTP": b"GET / HTTP/1.0\r\n\r\n",
        "a NUL": b"\0",
        "parameters first": fcgi.record(fcgi.PARAMS, b"\1\1ab"),
        "body first": fcgi.record(fcgi.STDIN, b"body"),
        "abort first": fcgi.record(fcgi.ABORT_REQUEST),
        "request id 0": fcgi.begin(request_id=0),
        "a short BEGIN_REQUEST": fcgi.record(fcgi.BEGIN_REQUEST, bytes(7)),
        "a long BEGIN_REQUEST": fcgi.record(fcgi.BEGIN_REQUEST, bytes(16)),
    }
    with Wrapper({"limits.silent_timeout": "60s"}) as wrapper:
        workers = wrapper.workers()
        for what, data in junk.items():
            before = len(wrapper.log(event="peer"))
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(data)
                is_true(peer.is_closed(), what)
            is_equal(len(wrapper.log(event="peer")), before + 1, f"log lines for {what}")
        is_equal(wrapper.workers(), workers, "the workers")
        serves(wrapper, wrapper.script("hello", HELLO))


@case
def junk_after_begin():
    """junk behind a proper BEGIN_REQUEST is dropped, nothing is run, and the worker lives"""
    with Wrapper() as wrapper:
        workers = wrapper.workers()
        params = fcgi.stream(fcgi.PARAMS, fcgi.pairs(fcgi.cgi_params(wrapper.script("mark", MARK))))
        for data in (b"\xff" * 100, fcgi.record(fcgi.STDIN, b"x"), fcgi.record(fcgi.PARAMS, b"\x7f\x7fshort") +
                     fcgi.record(fcgi.PARAMS), params + b"\0" * 8, params + fcgi.record(fcgi.PARAMS, b"\1\1ab")):
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(fcgi.begin() + data)
                is_equal(peer.read_reply().stdout, b"")
        is_true(not has_run(wrapper), "a handler was run")
        is_equal(wrapper.workers(), workers, "the workers")
        serves(wrapper, wrapper.script("hello", HELLO))


# --- bodies that are not what they should be ---


@case
def body_cut():
    """a peer that closes after 3 of 100 body bytes, or within the parameters: nothing is run or claimed (C35)"""
    for address in ("unix", f"127.0.0.1:{free_port()}"):
        with Wrapper(routes=GUARDED, listen=address) as wrapper:
            script = wrapper.script("mark", MARK)
            params = fcgi.cgi_params(script, "POST", b"b" * 100, {"Idempotency-Key": "cut"})
            head = fcgi.begin() + fcgi.stream(fcgi.PARAMS, fcgi.pairs(params))
            for data in (head + fcgi.record(fcgi.STDIN, b"bbb"), head + fcgi.record(fcgi.STDIN, b"b" * 100)[:11],
                         head, head[:-4], head[:200], head + fcgi.record(fcgi.STDIN, b"b" * 100)):
                for vanish in (fcgi.Connection.close, fcgi.Connection.reset):
                    peer = fcgi.Connection(wrapper.socket)
                    peer.send(data)
                    vanish(peer)
            serves(wrapper, wrapper.script("hello", HELLO))
            wait_for(lambda: len(wrapper.log(event="request")) + len(wrapper.log(event="peer")) >= 12,
                     "each of them to be noticed")
            is_true(not has_run(wrapper), "a handler was run")
            requests = wrapper.log(event="request")
            is_true(len(requests) >= 6, "those whose parameters came whole")
            is_equal([line for line in requests if line["verdict"] != "cut"], [], "claims tried")
            is_equal(len({line["request_id"] for line in requests}), len(requests), "more than one line a request")


@case
def client_gone_told():
    """a guarded request whose client has gone before its answer has its one line, which says so"""
    routes = 'routes = ( { name = "all"; path = "/*"; store_down = "run"; } );\n'
    with Wrapper(routes=routes) as wrapper:
        script = wrapper.script("waits", f"#!/bin/sh\n: >{wrapper.directory}/ran\nexec sleep 60\n")
        peer = fcgi.Connection(wrapper.socket)
        peer.send(fcgi.request(fcgi.cgi_params(script, "POST", b"x", {"Idempotency-Key": "gone"}), b"x"))
        wait_for(lambda: has_run(wrapper), "the handler")
        is_equal(wrapper.log(event="request"), [])
        peer.close()
        line, = wrapper.wait_log(event="request")
        is_equal((line["verdict"], line.get("client_gone")), ("store_down", True))
        fcgi.exchange(wrapper.socket, fcgi.cgi_params(wrapper.script("hello", HELLO), "POST", b""), b"")
        is_equal([line.get("client_gone") for line in wrapper.log(event="request")], [True, None])


@case
def half_closed():
    """a peer that only half closes in the middle of its body gets no END_REQUEST, which would read as an empty 200"""
    with Wrapper() as wrapper, fcgi.Connection(wrapper.socket) as peer:
        params = fcgi.cgi_params(wrapper.script("mark", MARK), "POST", b"b" * 100)
        peer.send(fcgi.begin() + fcgi.stream(fcgi.PARAMS, fcgi.pairs(params)) + fcgi.record(fcgi.STDIN, b"bbb"))
        peer.half_close()
        is_equal(peer.read_record(), None)
        is_true(not has_run(wrapper), "the handler was run")


@case
def body_aborted():
    """ABORT_REQUEST in the middle of the body: nothing is run or claimed, and the request is ended in form"""
    with Wrapper(routes=GUARDED) as wrapper, fcgi.Connection(wrapper.socket) as peer:
        params = fcgi.cgi_params(wrapper.script("mark", MARK), "POST", b"b" * 100, {"Idempotency-Key": "abort"})
        peer.send(fcgi.begin() + fcgi.stream(fcgi.PARAMS, fcgi.pairs(params)) + fcgi.record(fcgi.STDIN, b"bbb")
                  + fcgi.record(fcgi.ABORT_REQUEST))
        reply = peer.read_reply()
        is_equal((reply.stdout, reply.protocol_status), (b"", fcgi.REQUEST_COMPLETE))
        is_true(not has_run(wrapper), "the handler was run")
        is_equal([line["verdict"] for line in wrapper.log(event="request")], ["cut"], "claims tried")


@case
def body_length_wrong():
    """a body shorter or longer than CONTENT_LENGTH, or a length that is none: 400, nothing is run or claimed (C36)"""
    with Wrapper(routes=GUARDED) as wrapper:
        script = wrapper.script("mark", MARK)
        for length, body in (("100", b"b" * 99), ("100", b"b" * 101), ("1", b""), ("0", b"b"), ("3x", b"bbb"),
                             ("-3", b"bbb"), ("99999999999999999999", b"bbb")):
            params = fcgi.cgi_params(script, "POST", body, {"Idempotency-Key": "length"}, CONTENT_LENGTH=length)
            is_equal(fcgi.exchange(wrapper.socket, params, body).status, 400, f"{length} for {len(body)} bytes")
        is_true(not has_run(wrapper), "the handler was run")
        is_equal(wrapper.log(event="request", verdict="store_down"), [], "claims tried")


@case
def body_without_length():
    """a chunked body comes without a length: the handler is told the true one (C37)"""
    body = os.urandom(900000)
    with Wrapper() as wrapper:
        script = wrapper.script("digest", DIGEST)
        for length in (None, ""):  # as Apache sends it, and as nginx does
            params = fcgi.cgi_params(script, "POST", body, {"Transfer-Encoding": "chunked"}, CONTENT_LENGTH=length)
            is_equal(fcgi.exchange(wrapper.socket, params, body, size=8000).body, digest_line(body))


@case
def body_too_large():
    """a body over limits.max_body is read to its end and answered 413, over TCP too; the next request is served"""
    with Wrapper({"limits.max_body": "64K"}, listen=f"127.0.0.1:{free_port()}") as wrapper:
        script = wrapper.script("mark", MARK)
        body = bytes(3000000)
        is_equal(fcgi.exchange(wrapper.socket, fcgi.cgi_params(script, "POST", body), body).status, 413)
        is_true(not has_run(wrapper), "the handler was run")
        serves(wrapper, wrapper.script("hello", HELLO))


# --- peers that take their time ---


@case
def silent_peers():
    """fifty peers that say nothing, or one byte, delay nobody, cost no CPU, and are dropped at the deadline (C51)"""
    for address in ("unix", f"127.0.0.1:{free_port()}"):
        with Wrapper({"workers": 1, "limits.silent_timeout": "2s"}, listen=address) as wrapper:
            script = wrapper.script("hello", HELLO)
            for words in (b"", b"\x01"):
                before = cpu_seconds(wrapper.workers()[0])
                with contextlib.ExitStack() as stack:
                    peers = [stack.enter_context(fcgi.Connection(wrapper.socket)) for _ in range(50)]
                    for peer in peers:
                        peer.send(words)
                    start = time.monotonic()
                    serves(wrapper, script)
                    is_true(time.monotonic() - start < 1, f"served after {time.monotonic() - start} s")
                    start = time.monotonic()
                    serves(wrapper, script)
                    is_true(time.monotonic() - start < 0.2, f"then served after {time.monotonic() - start} s")
                    for peer in peers:
                        peer.is_closed()
                    spent = cpu_seconds(wrapper.workers()[0]) - before
                    is_true(spent < 0.3, f"{spent} s of CPU with {words!r}")


@case
def late_peers():
    """a peer that was silent for a while is served when it speaks"""
    with Wrapper({"workers": 1}) as wrapper, contextlib.ExitStack() as stack:
        script = wrapper.script("hello", HELLO)
        peers = [stack.enter_context(fcgi.Connection(wrapper.socket)) for _ in range(5)]
        serves(wrapper, script)  # by now they were all asked to speak and sit in the lobby
        data = fcgi.request(fcgi.cgi_params(script))
        for peer in peers:
            peer.send(data[:12])
        serves(wrapper, script)
        for peer in peers:
            peer.send(data[12:])
        for peer in peers:
            is_equal(peer.read_reply().body, b"hello\n")


@case
def silence_while_busy():
    """a peer that spoke while its only worker was busy longer than the silent deadline is served, not dropped"""
    with Wrapper({"workers": 1, "limits.silent_timeout": "500ms"}) as wrapper:
        hello = wrapper.script("hello", HELLO)
        slow = wrapper.script("slow", "#!/bin/sh\nsleep 1\n" + HELLO)
        with fcgi.Connection(wrapper.socket) as late, fcgi.Connection(wrapper.socket) as first:
            serves(wrapper, hello)
            first.send(fcgi.request(fcgi.cgi_params(slow)))
            wait_for(lambda: handlers_of(wrapper), "the slow handler")
            late.send(fcgi.request(fcgi.cgi_params(hello)))
            is_equal(first.read_reply().body, b"hello\n")
            is_equal(late.read_reply().body, b"hello\n")


def drip(peer, data, pause=0.05):
    """Send a byte now and then until the peer closes; how long that took."""
    start = time.monotonic()
    for byte in data:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            peer.send(bytes([byte]))
        if select.select([peer.sock], [], [], pause)[0]:
            break
    return time.monotonic() - start


@case
def slow_peers():
    """a peer that drips its parameters or its body byte by byte is dropped at limits.request_timeout"""
    with Wrapper({"workers": 1, "limits.request_timeout": "1s"}) as wrapper:
        params = fcgi.cgi_params(wrapper.script("mark", MARK), "POST", b"b" * 500)
        head = fcgi.begin() + fcgi.stream(fcgi.PARAMS, fcgi.pairs(params))
        for quick, slow in ((head[:16], head[16:]), (head, fcgi.stream(fcgi.STDIN, b"b" * 500))):
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(quick)
                took = drip(peer, slow)
                is_true(0.8 < took < 3, f"dropped after {took} s")
                is_equal(peer.read_reply().stdout, b"")
        is_equal([len(wrapper.log(event="peer", message="limits.request_timeout")),
                  len(wrapper.log(verdict="cut", message="limits.request_timeout"))], [1, 1], "log lines")
        is_true(not has_run(wrapper), "the handler was run")
        serves(wrapper, wrapper.script("hello", HELLO))


@case
def stalled_reader():
    """a peer that does not take its reply, or drips it, is dropped at limits.reply_timeout"""
    with Wrapper({"workers": 1, "limits.reply_timeout": "1s"}) as wrapper:
        hello = wrapper.script("hello", HELLO)
        flood = wrapper.script("flood", "#!/bin/sh\nprintf 'A: b\\n\\n'; exec head -c 50000000 /dev/zero\n")
        for pause in (None, 0.05):
            with fcgi.Connection(wrapper.socket) as peer:
                peer.send(fcgi.request(fcgi.cgi_params(flood)))
                start = time.monotonic()
                while pause and time.monotonic() - start < 5 and len(wrapper.log(message="reply_timeout")) < 2:
                    peer.sock.recv(100)
                    time.sleep(pause)  # the peer's own slowness, not a wait for anything
                serves(wrapper, hello)
                took = time.monotonic() - start
                is_true(0.8 < took < 4, f"the worker was free after {took} s")
        is_equal(len(wrapper.log(event="peer", message="limits.reply_timeout")), 2, "log lines")


@case
def streaming_slowly():
    """a handler that streams longer than limits.reply_timeout is not cut: only waiting for the peer counts"""
    with Wrapper({"limits.reply_timeout": "300ms"}) as wrapper:
        script = wrapper.script("stream", "#!/bin/sh\nprintf 'A: b\\n\\n'\n"
                                          "for i in 1 2 3 4; do printf $i; sleep 0.2; done\n")
        is_equal(fcgi.exchange(wrapper.socket, fcgi.cgi_params(script)).body, b"1234")


@case
def gone_while_streaming():
    """a peer that closes, resets or aborts while an unguarded handler streams: the handler is ended (C54)"""
    for address in ("unix", f"127.0.0.1:{free_port()}"):
        with Wrapper({"workers": 1}, listen=address) as wrapper:
            script = wrapper.script("endless", "#!/bin/sh\nprintf 'A: b\\n\\nstarted'\nsleep 600\n")
            for vanish in (fcgi.Connection.close, fcgi.Connection.reset,
                           lambda peer: peer.send(fcgi.record(fcgi.ABORT_REQUEST))):
                with fcgi.Connection(wrapper.socket) as peer:
                    peer.send(fcgi.request(fcgi.cgi_params(script)))
                    peer.read_until(b"started")
                    is_true(handlers_of(wrapper), "the handler runs")
                    vanish(peer)
                    wait_for(lambda: not handlers_of(wrapper), "the handler's end", 10)
            serves(wrapper, wrapper.script("hello", HELLO))


if __name__ == "__main__":
    run()
