#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# A worker is killed at each point of a guarded request; then comes the retry, and the executions are counted.

load setting.sh

setup_file() {
	fault_begin
	slow_handler
}

setup() {
	rm -f "$WEB/run/go" "$WEB/run/fault"
}

teardown_file() {
	touch "$WEB/run/go"
	fault_end
}

# The first request meets its end: the client sees an error of the web server's, never an answer.
order_is_cut() {
	order "$1" "$2"
	[[ $ANSWER == 5?? ]]
	plan_done
}

@test 'killed before the claim: nothing has happened, the retry is the first request' {
	plan before-claim kill
	order_is_cut rerun before
	same 'rows, record' '0 ' "$(orders_made before) $(state_of before)"
	order rerun before
	same 'retry' '201 ' "$ANSWER $(answer_header Idempotent-Replayed)"
	same rows 1 "$(orders_made before)"
}

@test 'C6: killed after the claim: the key is usable within one lease, and the work is done once' {
	plan after-claim kill
	order_is_cut rerun after
	same 'rows, record' '0 in_flight' "$(orders_made after) $(state_of after)"
	order rerun after
	same 'a retry at once' 409 "$ANSWER"
	wait_until $((LEASE + 1)) lapsed after
	order rerun after
	same 'a retry after the lease' '201 ' "$ANSWER $(answer_header Idempotent-Replayed)"
	same rows 1 "$(orders_made after)"
	order rerun after
	same 'the next' '201 true' "$ANSWER $(answer_header Idempotent-Replayed)"
	same rows 1 "$(orders_made after)"
}

@test 'C6: killed after the claim where a lapse is unknown: no retry runs' {
	plan after-claim kill
	order_is_cut unknown after-unknown
	wait_until $((LEASE + 1)) lapsed after-unknown
	order unknown after-unknown
	same 'a retry after the lease' '409 application/problem+json' "$ANSWER $(answer_header Content-Type)"
	same 'rows, record' '0 unknown' "$(orders_made after-unknown) $(state_of after-unknown)"
}

@test 'killed while the handler runs: the handler ends with it, and the retry runs after the lease' {
	begin_ask rerun slow running
	wait_until 10 begun running
	# The worker comes by there whenever it wakes, at the latest to renew the lease.
	plan handler-running kill
	wait_until 10 plan_done
	wait_until 10 group_gone "$(in_hand running)"
	wait "$asking"
	[[ $(<"$WEB/status.running") == 5?? ]]
	same 'runs, record' '0 in_flight' "$(runs running) $(state_of running)"
	touch "$WEB/run/go"
	wait_until $((LEASE * 2)) lapsed running
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: running' -d x
	same 'retry' '201 run 2' "$ANSWER $(answer_body)"
	same runs 1 "$(runs running)"
}

@test 'killed while the handler runs where a lapse is unknown: no retry runs' {
	begin_ask unknown slow running-unknown
	wait_until 10 begun running-unknown
	plan handler-running kill
	wait_until 10 plan_done
	wait_until 10 group_gone "$(in_hand running-unknown)"
	wait "$asking"
	touch "$WEB/run/go"
	wait_until $((LEASE * 2)) lapsed running-unknown
	ask "$FRONT" POST /cgi-bin/unknown/slow -H 'Idempotency-Key: running-unknown' -d x
	same 'retry' 409 "$ANSWER"
	same 'runs, record' '0 unknown' "$(runs running-unknown) $(state_of running-unknown)"
}

@test 'killed after the handler ended, before its answer is stored: the lease decides by policy' {
	plan handler-ended kill
	order_is_cut rerun ended
	same 'rows, record' '1 in_flight' "$(orders_made ended) $(state_of ended)"
	plan handler-ended kill
	order_is_cut unknown ended-unknown
	same 'rows, record' '1 in_flight' "$(orders_made ended-unknown) $(state_of ended-unknown)"
	wait_until $((LEASE + 1)) lapsed ended
	wait_until $((LEASE + 1)) lapsed ended-unknown
	# The policy that was chosen for handlers that may run again.
	order rerun ended
	same 'rerun' '201 2' "$ANSWER $(orders_made ended)"
	# And the one for those that may not.
	order unknown ended-unknown
	same 'unknown' '409 1' "$ANSWER $(orders_made ended-unknown)"
	same record unknown "$(state_of ended-unknown)"
}

@test 'killed after the answer is stored, before it is sent: the retry replays it at once' {
	plan after-store kill
	order_is_cut rerun stored
	same 'rows, record' '1 complete' "$(orders_made stored) $(state_of stored)"
	id=$(sql <<<"SELECT id FROM shop.orders WHERE item='stored'")
	order rerun stored
	same 'retry' "201 true /orders/$id {\"id\":$id,\"item\":\"stored\",\"quantity\":1}" \
		"$ANSWER $(answer_header Idempotent-Replayed) $(answer_header Location) $(answer_body)"
	same rows 1 "$(orders_made stored)"
}

@test 'C41: a killed worker is replaced, and the pool stays at rest' {
	same workers 4 "$(pgrep -c -P "$(wrap_pid)")"
	victim=$(pgrep -P "$(wrap_pid)" | head -n 1)
	kill -KILL "$victim"
	wait_until 5 four_workers_without "$victim"
	order rerun replaced
	same status 201 "$ANSWER"
	# CPU flat: over a second at rest, clock ticks spent by the supervisor and its workers.
	before=$(ticks)
	sleep 1
	[[ $(($(ticks) - before)) -le 10 ]]
}

four_workers_without() {
	[[ $(pgrep -P "$(wrap_pid)" | grep -vcx "$1") == 4 ]]
}

ticks() {
	local pid sum=0 fields
	for pid in $(wrap_pid) $(pgrep -P "$(wrap_pid)"); do
		read -r fields <"/proc/$pid/stat"
		# shellcheck disable=SC2086
		set -- ${fields##*) }
		sum=$((sum + ${12} + ${13}))
	done
	echo "$sum"
}
