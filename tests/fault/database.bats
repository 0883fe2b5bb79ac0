#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# MariaDB is killed, frozen, and comes back, before a claim and while a handler runs.

# Longer than the server needs to come back, so that "in time" is decided by the tests.
LEASE=10
load setting.sh

setup_file() {
	fault_begin
	slow_handler
	everywhere note <<-SH
		#!/bin/sh
		echo run >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		printf 'Status: 201\nContent-Type: text/plain\n\nrun %s\n' "\${ONCE_ATTEMPT-unguarded}"
	SH
}

setup() {
	rm -f "$WEB/run/go"
}

teardown() {
	web_tell
	touch "$WEB/run/go"
	mariadb_running || mariadb_restart
}

teardown_file() {
	fault_end
}

note() {
	ask "$FRONT" POST "/cgi-bin/$1/note" -H "Idempotency-Key: $2" -d x
}

@test 'killed before a claim: 503, nothing runs; back: the same request is the first' {
	note rerun warm
	same 'while it lives' 201 "$ANSWER"
	mariadb_kill9
	for turn in 1 2; do
		note rerun absent
		same 'while it is gone' '503 application/problem+json 0' \
			"$ANSWER $(answer_header Content-Type) $(runs absent)"
		[[ $(answer_header Retry-After) -gt 0 ]]
	done
	note rerun warm
	same 'a replay while it is gone' '503 1' "$ANSWER $(runs warm)"
	mariadb_restart
	note rerun absent
	same 'after it came back' '201 run 1 1' "$ANSWER $(answer_body) $(runs absent)"
	note rerun warm
	same 'a record from before' '201 true 1' "$ANSWER $(answer_header Idempotent-Replayed) $(runs warm)"
}

@test 'killed before a claim where the route says run: it runs, unguarded' {
	mariadb_kill9
	note run bold
	same 'answer' '201 run unguarded 1' "$ANSWER $(answer_body) $(runs bold)"
}

@test 'C23: killed while the handler runs and back in time: the answer is stored, and the client gets it' {
	begin_ask rerun slow back
	wait_until 10 begun back
	mariadb_kill9
	mariadb_restart
	touch "$WEB/run/go"
	wait "$asking"
	same 'first answer' '201 run 1' "$(<"$WEB/status.back") $(<"$WEB/body.back")"
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: back' -d x
	same 'replay' '201 true run 1' "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
	same runs 1 "$(runs back)"
}

@test 'C23: killed as the handler has run, and back while its answer is waiting to be stored' {
	begin_ask rerun slow settling
	wait_until 10 begun settling
	mariadb_kill9
	touch "$WEB/run/go"
	wait_until 5 ran settling
	mariadb_restart
	wait "$asking"
	case $(<"$WEB/status.settling") in
	201) same state complete "$(state_of settling)" ;;
	# The server was not back within settle_timeout: then the lease decides, as in the next test.
	503) same state in_flight "$(state_of settling)" ;;
	*) same status '201 or 503' "$(<"$WEB/status.settling")" ;;
	esac
	same runs 1 "$(runs settling)"
}

ran() {
	[[ $(runs "$1") -ge 1 ]]
}

@test 'C23: killed while the handler runs and gone for longer than settle_timeout: 503, then the lease decides' {
	for policy in rerun unknown; do
		begin_ask "$policy" slow "lost-$policy"
		wait_until 10 begun "lost-$policy"
	done
	mariadb_kill9
	touch "$WEB/run/go"
	for policy in rerun unknown; do
		wait_until 20 test -s "$WEB/status.lost-$policy"
		same "$policy" '503 1' "$(<"$WEB/status.lost-$policy") $(runs "lost-$policy")"
	done
	mariadb_restart
	same 'records' 'in_flight in_flight' "$(state_of lost-rerun) $(state_of lost-unknown)"
	wait_until $((2 * LEASE)) lapsed lost-rerun
	wait_until $((2 * LEASE)) lapsed lost-unknown
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: lost-rerun' -d x
	same 'rerun' '201 run 2 2' "$ANSWER $(answer_body) $(runs lost-rerun)"
	ask "$FRONT" POST /cgi-bin/unknown/slow -H 'Idempotency-Key: lost-unknown' -d x
	same 'unknown' '409 1' "$ANSWER $(runs lost-unknown)"
	same record unknown "$(state_of lost-unknown)"
}

@test 'a database that accepts and says nothing: 503 within the time-outs, and no second run once it wakes' {
	mariadb_freeze
	started=$SECONDS
	note rerun mute
	mariadb_thaw
	same 'while it is mute' '503 0' "$ANSWER $(runs mute)"
	[[ $((SECONDS - started)) -le 6 ]]
	# A claim that was given up while uncertain may stand: then its lease decides.
	wait_until $((2 * LEASE)) accepted mute
	same 'in the end' '201 1' "$ANSWER $(runs mute)"
}

accepted() {
	note rerun "$1"
	[[ $ANSWER == 201 ]]
}

@test 'twenty at once around a killed database: one run in the end' {
	mariadb_kill9
	"$builddir/tests/web/volley" -n 20 -H 'Idempotency-Key: storm' -b x "$(web_port "$FRONT")" \
		/cgi-bin/rerun/note >"$WEB/answers"
	same 'all refused' '20 0' "$(grep -c '^503' "$WEB/answers") $(runs storm)"
	mariadb_restart
	"$builddir/tests/web/volley" -n 20 -H 'Idempotency-Key: storm' -b x -s Idempotent-Replayed \
		"$(web_port "$FRONT")" /cgi-bin/rerun/note >"$WEB/answers"
	same 'one run' '1 1' "$(grep -c '^201 .* Idempotent-Replayed=$' "$WEB/answers") $(runs storm)"
	same 'others' 19 "$(grep -c '^201 .* Idempotent-Replayed=true$\|^409' "$WEB/answers")"
}
