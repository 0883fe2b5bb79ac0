#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Clients that watch, and clients that go away.

load ../lib/web.sh

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $WEB_POOL_FRONTS $WEB_OWN_FRONTS
	# Shows its progress: a line, then, when $WEB/run/go is there, another.
	handler progress <<-SH
		#!/bin/sh
		printf 'Content-Type: text/plain\n\nfirst line\n'
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		echo second line
	SH
	# Writes for ever.
	handler ticking <<-SH
		#!/bin/sh
		echo \$\$ >"$WEB/run/ticking"
		printf 'Content-Type: text/plain\n\n'
		while :; do echo tick; sleep 0.05; done
	SH
	# Says that it has begun, and works until $WEB/run/go is there.
	handler guarded/slow <<-SH
		#!/bin/sh
		echo "\$HTTP_IDEMPOTENCY_KEY" >>"$WEB/run/ran.slow"
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		printf 'Status: 201\nContent-Type: text/plain\n\ndone by %s\n' "\$\$"
	SH
}

setup() {
	rm -f "$WEB/run/go" "$WEB/run/ticking"
}

teardown() {
	web_tell
	touch "$WEB/run/go"
}

teardown_file() {
	pool_end
}

# begin_ask FRONT METHOD PATH [CURL-OPTION...]: an `ask` that goes on: output in $WEB/stream, process $asking.
begin_ask() {
	local front=$1 method=$2 path=$3
	shift 3
	: >"$WEB/stream"
	curl --silent --no-buffer --max-time 60 --request "$method" --output "$WEB/stream" "$@" \
		"http://127.0.0.1:$(web_port "$front")$path" 3>&- &
	asking=$!
}

state_of() {
	sql <<<"SELECT state FROM oncewrap.once_record WHERE key_text='$1'"
}

is_complete() {
	[[ $(state_of "$1") == complete ]]
}

@test 'C55: what an unguarded handler writes reaches the client as it is written' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		rm -f "$WEB/run/go"
		begin_ask "$FRONT" GET /cgi-bin/progress
		wait_until 10 grep -q 'first line' "$WEB/stream"
		same 'so far' 'first line' "$(<"$WEB/stream")"
		touch "$WEB/run/go"
		wait "$asking"
		same 'in the end' $'first line\nsecond line' "$(<"$WEB/stream")"
	done
}

@test 'C54: the script of a client that went away from its stream is ended' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		rm -f "$WEB/run/ticking"
		begin_ask "$FRONT" GET /cgi-bin/ticking
		wait_until 10 grep -q tick "$WEB/stream"
		script=$(<"$WEB/run/ticking")
		kill "$asking"
		wait_until 10 process_gone "$script"
		wait_until 10 group_gone "$script"
	done
}

@test 'C32: a client hangs up, the handler finishes, and the retry gets its answer' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		rm -f "$WEB/run/go"
		key=gone-$FRONT
		begin_ask "$FRONT" POST /cgi-bin/guarded/slow -H "Idempotency-Key: $key" -d x
		wait_until 10 grep -qx "$key" "$WEB/run/ran.slow"
		same state in_flight "$(state_of "$key")"
		kill "$asking"
		wait_until 5 process_gone "$asking"
		ask "$FRONT" POST /cgi-bin/guarded/slow -H "Idempotency-Key: $key" -d x
		same 'meanwhile' '409 application/problem+json' "$ANSWER $(answer_header Content-Type)"
		[[ $(answer_header Retry-After) -gt 0 ]]
		touch "$WEB/run/go"
		wait_until 10 is_complete "$key"
		ask "$FRONT" POST /cgi-bin/guarded/slow -H "Idempotency-Key: $key" -d x
		same 'retry' '201 true' "$ANSWER $(answer_header Idempotent-Replayed)"
		[[ $(answer_body) == 'done by '[0-9]* ]]
		same runs 1 "$(grep -cx "$key" "$WEB/run/ran.slow")"
	done
}
