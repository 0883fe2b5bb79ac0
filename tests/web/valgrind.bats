#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# One pass over the main paths under valgrind: nothing read wrongly, nothing lost, no descriptor left open.

load ../lib/web.sh

setup_file() {
	pool_begin lighttpd-socket
	wrap_stop
	sed -i 's/^workers = 8;/workers = 2;/' "$WEB/etc/oncewrap.conf"
	"${CC:-cc}" -shared -fPIC -O1 -pthread -o "$WEB/run/pidfd.so" "$srcdir/tests/web/pidfd.c" -ldl
	WRAP_RUNNER=(env "LD_PRELOAD=$WEB/run/pidfd.so" valgrind --leak-check=full
		--show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible
		--track-fds=yes "--log-file=$WEB/log/valgrind.%p")
	wrap_start
	handler guarded/slow <<-SH
		#!/bin/sh
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		printf 'Content-Type: text/plain\n\nslow\n'
	SH
	handler guarded/crash <<-'SH'
		#!/bin/sh
		echo complaint >&2
		kill -KILL $$
	SH
	handler stream <<-'SH'
		#!/bin/sh
		printf 'Content-Type: text/plain\n\n'
		head -c 3000000 /dev/zero
	SH
}

teardown_file() {
	touch "$WEB/run/go"
	pool_end
}

order() {
	ask lighttpd-socket POST /cgi-bin/orders -H "Idempotency-Key: $1" -d "item=$2&quantity=1"
}

@test 'an end-to-end pass under valgrind shows no error, no leak and no descriptor left' {
	# Every worker gets some of each.
	for turn in {1..6}; do
		order "valgrind-$turn" valgrind
		same first 201 "$ANSWER"
		order "valgrind-$turn" valgrind
		same replay "201 true" "$ANSWER $(answer_header Idempotent-Replayed)"
		order "valgrind-$turn" other
		same mismatch 422 "$ANSWER"
		order $'bad\tkey' valgrind
		same 'bad key' 400 "$ANSWER"
		ask lighttpd-socket POST /cgi-bin/guarded/crash -H "Idempotency-Key: crash-$turn" -d x
		same crash 502 "$ANSWER"
		ask lighttpd-socket GET /cgi-bin/missing
		same missing 404 "$ANSWER"
		ask lighttpd-socket GET /cgi-bin/stream
		same 'streamed bytes' 3000000 "$(wc -c <"$WEB/answer.body")"
	done
	head -c 3000000 /dev/urandom >"$WEB/body"
	ask lighttpd-socket POST /cgi-bin/guarded/stream -H 'Idempotency-Key: large' --data-binary "@$WEB/body"
	same 'no such guarded script' 404 "$ANSWER"
	cp "$WEB/cgi-bin/stream" "$WEB/cgi-bin/guarded/stream"
	for turn in 1 2; do
		ask lighttpd-socket POST /cgi-bin/guarded/stream -H 'Idempotency-Key: large' --data-binary "@$WEB/body"
		same 'stored bytes' 3000000 "$(wc -c <"$WEB/answer.body")"
	done
	"$builddir/tests/web/volley" -n 20 -H 'Idempotency-Key: together' -b x "$(web_port lighttpd-socket)" \
		/cgi-bin/guarded/slow >"$WEB/answers" &
	touch "$WEB/run/go"
	wait $!
	kill -HUP "$(wrap_pid)"
	order valgrind-after-reload valgrind
	same 'after a reload' 201 "$ANSWER"

	wrap_stop
	processes=0
	for log in "$WEB"/log/valgrind.*; do
		# A child that went from vfork to execve writes no summary.
		grep -q 'ERROR SUMMARY' "$log" || continue
		processes=$((processes + 1))
		if [[ $(left_open "$log") || $(grep -c 'ERROR SUMMARY: 0 errors' "$log") == 0 ]]; then
			cat "$log"
			return 1
		fi
	done
	# The supervisor, its two workers, and those after the reload.
	same processes 5 "$processes"
}

# left_open LOG: the descriptors open at the end that were neither there at the start nor are the listening socket.
left_open() {
	sed -n '/Open .*descriptor\|Open .*socket/{N;/inherited from parent/d;/oncewrap.sock/d;p}' "$1"
}
