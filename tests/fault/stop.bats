#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Stopping and reloading the pool.

load setting.sh

setup_file() {
	fault_begin
	slow_handler
}

setup() {
	rm -f "$WEB/run/go"
	if [[ ! -e $WEB/run/oncewrap.pid ]] || process_gone "$(wrap_pid)"; then
		wrap_start
	fi
}

teardown_file() {
	touch "$WEB/run/go"
	fault_end
}

@test 'C40: TERM finishes the request in hand, leaves no process, and removes the socket' {
	begin_ask rerun slow finishing
	wait_until 10 begun finishing
	supervisor=$(wrap_pid)
	workers=$(pgrep -P "$supervisor")
	kill -TERM "$supervisor"
	# It takes no new request meanwhile, but does not drop the one in hand.
	wait_until 5 only_one_of "$workers"
	kill -0 "$supervisor"
	touch "$WEB/run/go"
	wait "$asking"
	same 'the request in hand' '201 run 1' "$(<"$WEB/status.finishing") $(<"$WEB/body.finishing")"
	wait_until 5 process_gone "$supervisor"
	for worker in $workers; do
		process_gone "$worker"
	done
	group_gone "$(in_hand finishing)"
	[[ ! -e $WEB/run/oncewrap.sock ]]
	wrap_start
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: finishing' -d x
	same 'replay after a new start' '201 true 1' "$ANSWER $(answer_header Idempotent-Replayed) $(runs finishing)"
}

# only_one_of PIDS: one of those processes still lives.
only_one_of() {
	local pid alive=0
	for pid in $1; do
		process_gone "$pid" || alive=$((alive + 1))
	done
	[[ $alive == 1 ]]
}

@test 'C40: TERM with a handler that never ends is over within the deadline and stop_timeout' {
	begin_ask rerun slow endless
	wait_until 10 begun endless
	supervisor=$(wrap_pid)
	kill -TERM "$supervisor"
	# handlers.timeout 15 s, kill_grace, settle_timeout 3 s and stop_timeout 3 s.
	wait_until 24 process_gone "$supervisor"
	group_gone "$(in_hand endless)"
	wait "$asking"
	same runs 0 "$(runs endless)"
}

@test 'killed supervisor: its workers and their handlers end too' {
	begin_ask rerun slow orphaned
	wait_until 10 begun orphaned
	supervisor=$(wrap_pid)
	workers=$(pgrep -P "$supervisor")
	kill -KILL "$supervisor"
	for worker in $workers; do
		wait_until 20 process_gone "$worker"
	done
	wait "$asking" || :
	wait_until 5 group_gone "$(in_hand orphaned)"
	wrap_start
	order rerun again
	same 'after a new start' 201 "$ANSWER"
}

@test 'HUP reads the configuration anew, and requests in hand are not disturbed' {
	begin_ask rerun slow reloading
	wait_until 10 begun reloading
	ask "$FRONT" POST /cgi-bin/rerun/orders -d 'item=keyless&quantity=1'
	same 'without a key, before' 201 "$ANSWER"
	sed '/name = "rerun"/s,; },; key: { required = true; }; },' "$WEB/etc/oncewrap.conf" >"$WEB/etc/new.conf"
	cp "$WEB/etc/new.conf" "$WEB/etc/oncewrap.conf"
	kill -HUP "$(wrap_pid)"
	wait_until 10 refuses_without_key
	touch "$WEB/run/go"
	wait "$asking"
	same 'the request in hand' '201 run 1' "$(<"$WEB/status.reloading") $(<"$WEB/body.reloading")"
}

refuses_without_key() {
	ask "$FRONT" POST /cgi-bin/rerun/orders -d 'item=keyless&quantity=1'
	[[ $ANSWER == 400 ]]
}

@test 'HUP with a broken configuration keeps the old one and says why' {
	cp "$WEB/etc/oncewrap.conf" "$WEB/etc/good.conf"
	echo 'wrokers = 4;' >>"$WEB/etc/oncewrap.conf"
	kill -HUP "$(wrap_pid)"
	wait_until 10 logged wrokers
	order rerun still
	same 'still served' 201 "$ANSWER"
	cp "$WEB/etc/good.conf" "$WEB/etc/oncewrap.conf"
}
