#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Waiting for another's answer: how many may, for how long, and who wakes them.

load ../lib/web.sh

FRONT=lighttpd-socket

# Eight workers.
test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "queue"; path = "/cgi-bin/queue/*"; in_flight = "wait";
				wait: { timeout = "60s"; max_waiters = 2; }; },
			{ name = "wide"; path = "/cgi-bin/wide/*"; in_flight = "wait";
				wait: { timeout = "60s"; max_waiters = 7; }; },
			{ name = "brief"; path = "/cgi-bin/brief/*"; in_flight = "wait"; wait: { timeout = "1s"; }; }
		);
	CONF
}

setup_file() {
	pool_begin lighttpd-socket lighttpd-cgi nginx
	local route
	for route in queue wide brief; do
		mkdir "$WEB/cgi-bin/$route"
		slow_handler "$route/slow"
	done
	sed -i 's/^workers = 1;/workers = 8;/' "$WEB/etc/oncewrap-cgi.conf"
	sed -e "s,/usr/sbin/,$WEB/sbin/,; s,/etc/oncewrap/,$WEB/etc/," \
		-e "s,/usr/lib/oncewrap/handlers/orders,$WEB/cgi-bin/queue/slow," "$srcdir/cgi-bin/front" |
		handler queue/front
	handler plain <<-'SH'
		#!/bin/sh
		printf 'Content-Type: text/plain\n\nplain\n'
	SH
}

teardown_file() {
	touch "$WEB"/run/go.{capped,second,full,bounded,left,told,elsewhere}
	pool_end
}

# A handler that says that it runs, and ends once the test lets it: let_go KEY.
slow_handler() {
	handler "$1" <<-SH
		#!/bin/sh
		echo run >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		until [ -e "$WEB/run/go.\$HTTP_IDEMPOTENCY_KEY" ]; do sleep 0.02; done
		printf 'Status: 201\nContent-Type: text/plain\n\nby %s\n' "\$\$"
	SH
}

let_go() {
	touch "$WEB/run/go.$1"
}

# call ROUTE KEY NAME: a request in the background; its answer goes to $WEB/run/answer.NAME as one line: status,
# replay marker, Retry-After, body.
call() {
	curl -s --max-time 90 -d x -H "$(keyed "$2")" -o "$WEB/run/body.$3" \
		-w '%{http_code} %header{idempotent-replayed} %header{retry-after} ' \
		"http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/$1/slow" >"$WEB/run/code.$3" 3>&- && {
		cat "$WEB/run/code.$3"
		head -n 1 "$WEB/run/body.$3"
	} >"$WEB/run/answer.$3" 3>&- &
}

# own ROUTE KEY: the first request of a key, until its handler runs.
own() {
	call "$1" "$2" "$2-owner"
	wait_until 15 test -e "$WEB/run/ran.$2"
}

# answered GLOB STATUS COUNT: so many of those calls have that status by now.
answered() {
	[[ $(cat "$WEB"/run/answer.$1 2>/dev/null | grep -c "^$2 ") == "$3" ]]
}

@test 'C13: two may wait: the others get 409 and Retry-After meanwhile, and the pool serves on' {
	own queue capped
	for i in {1..9}; do
		call queue capped "capped-waiter-$i"
	done
	wait_until 15 answered 'capped-waiter-*' 409 7
	same 'refusals that say when to retry' 7 "$(grep -c '^409  [1-9][0-9]* ' <(cat "$WEB"/run/answer.capped-waiter-*))"
	ask "$FRONT" GET /cgi-bin/plain
	same 'a request beside them' '200 plain' "$ANSWER $(answer_body)"
	# The places are the pool's, whatever the key.
	own queue second
	ask "$FRONT" POST /cgi-bin/queue/slow -H "$(keyed second)" -d x
	same 'a third waiter' 409 "$ANSWER"
	let_go capped
	wait_until 15 answered 'capped-*' 201 3
	same 'first answers and replays' '1 2' "$(cat "$WEB"/run/answer.capped-* | sed -n 's/^201 \(true\)* .*/\1./p' |
		sort | uniq -c | awk '{ print $1 }' | xargs)"
	same 'different answers' 1 "$(cat "$WEB"/run/answer.capped-* | grep -o 'by .*' | sort -u | wc -l)"
	same runs 1 "$(runs capped)"
	let_go second
	wait_until 15 answered second-owner 201 1
}

@test 'C13: waiters on all workers but one hold nobody up for ever' {
	own wide full
	for i in {1..20}; do
		call wide full "full-waiter-$i"
	done
	# Seven wait, and the owner works: whoever comes later finds its turn once the first answer is there.
	wait_until 15 pool_is_full
	let_go full
	wait_until 30 answered 'full-*' 201 21
	same runs 1 "$(runs full)"
}

pool_is_full() {
	ask "$FRONT" GET /cgi-bin/plain -m 1 2>/dev/null
	[[ $ANSWER == 000 ]]
}

@test 'a wait ends at its bound: 409 with Retry-After, and nothing has run twice' {
	own brief bounded
	started=${EPOCHREALTIME/./}
	ask "$FRONT" POST /cgi-bin/brief/slow -H "$(keyed bounded)" -d x
	same 'after the bound' 409 "$ANSWER"
	[[ $(answer_header Retry-After) -ge 1 ]]
	[[ $((${EPOCHREALTIME/./} - started)) -ge 1000000 ]]
	let_go bounded
	wait_until 15 answered bounded-owner 201 1
	same runs 1 "$(runs bounded)"
}

@test 'a waiter whose client hangs up gives its place to another' {
	# lighttpd says nothing of a client that hangs up before the answer.
	FRONT=nginx
	own queue left
	local callers=()
	for i in {1..6}; do
		curl -s --max-time 90 -d x -H "$(keyed left)" -o /dev/null -w '%{http_code} \n' \
			"http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/queue/slow" >"$WEB/run/answer.left-$i" 3>&- &
		callers+=($!)
	done
	wait_until 15 answered 'left-[1-6]' 409 4
	kill "${callers[@]}" 2>/dev/null || : # the two that wait
	wait_until 15 may_wait left
	let_go left
	wait_until 15 answered left-owner 201 1
}

# may_wait KEY: a request with it is not answered at once.
may_wait() {
	ask "$FRONT" POST /cgi-bin/queue/slow -H "$(keyed "$1")" -d x -m 1 2>/dev/null
	[[ $ANSWER == 000 ]]
}

@test 'the bell is a file of the account that the workers run as, and of nobody else' {
	same bell "regular file 600 $(web_account) 16384" "$(stat -c '%F %a %U %s' "$WEB/run/bell")"
	if grep -q 'in this pool alone' "$WEB/log/oncewrap.log"; then return 1; fi
}

@test 'an owner under plain CGI rings the bell of the pool' {
	let_go elsewhere
	inode=$(stat -c %i "$WEB/run/bell")
	cp "$WEB/run/bell" "$WEB/run/before"
	ask lighttpd-cgi POST /cgi-bin/queue/front -H "$(keyed elsewhere)" -d x
	same 'first answer' 201 "$ANSWER"
	same file "$inode" "$(stat -c %i "$WEB/run/bell")"
	same 'words that changed' 1 "$(cmp -l "$WEB/run/before" "$WEB/run/bell" | awk '{ print int(($1 - 1) / 4) }' |
		sort -u | wc -l)"
}

@test 'a pool whose run_directory cannot be says so once, and its waiters are woken all the same' {
	FRONT=lighttpd-socket
	wrap_stop
	sed "s,run_directory = \"[^\"]*\",run_directory = \"$WEB/etc/oncewrap.conf/no\"," "$WEB/etc/oncewrap.conf" \
		>"$WEB/etc/no-bell.conf"
	: >"$WEB/log/oncewrap.log"
	wrap_start "$WEB/etc/no-bell.conf"
	own queue told
	call queue told told-waiter
	let_go told
	wait_until 15 answered 'told-*' 201 2
	same 'lines about it' 1 "$(grep -c 'in this pool alone' "$WEB/log/oncewrap.log")"
	wrap_stop
	wrap_start
}
