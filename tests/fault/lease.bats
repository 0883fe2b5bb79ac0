#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Leases: renewed, lost, taken over; and clocks that are wrong.

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

@test 'C3: a handler that needs three leases keeps its key, and runs once' {
	started=$SECONDS
	begin_ask rerun slow renewed
	wait_until 10 begun renewed
	wait_until $((3 * LEASE)) older_than renewed "$LEASE"
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: renewed' -d x
	same 'a retry past the first lease' 409 "$ANSWER"
	wait_until $((3 * LEASE)) older_than renewed $((2 * LEASE))
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: renewed' -d x
	same 'a retry past the second lease' 409 "$ANSWER"
	touch "$WEB/run/go"
	wait "$asking"
	[[ $((SECONDS - started)) -ge $((2 * LEASE)) ]]
	same 'first answer' '201 run 1' "$(<"$WEB/status.renewed") $(<"$WEB/body.renewed")"
	same runs 1 "$(runs renewed)"
	same 'left in once_lease' 0 "$(sql <<<'SELECT COUNT(*) FROM oncewrap.once_lease')"
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: renewed' -d x
	same 'replay' '201 true run 1' "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
}

# older_than KEY SECONDS: by the database's clock.
older_than() {
	[[ $(sql <<<"SELECT created_at <= UTC_TIMESTAMP(6) - INTERVAL $2 SECOND FROM oncewrap.once_record
		WHERE key_text='$1'") == 1 ]]
}

@test 'C4: an owner that outlived its lease changes nothing, and its successor stands' {
	# The owner stops as its handler has ended; its successor runs and stores; then the owner goes on.
	touch "$WEB/run/go"
	plan handler-ended stop
	begin_ask rerun slow outlived
	first=$asking
	wait_until 10 plan_done
	wait_until 10 a_stopped_worker
	stopped=$(pgrep -P "$(wrap_pid)" -r T)
	wait_until $((2 * LEASE)) lapsed outlived
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: outlived' -d x
	same 'successor' '201 run 2' "$ANSWER $(answer_body)"
	kill -CONT "$stopped"
	wait "$first"
	same 'what the first client gets' '201 run 2' "$(<"$WEB/status.outlived") $(<"$WEB/body.outlived")"
	logged lease_lost
	ask "$FRONT" POST /cgi-bin/rerun/slow -H 'Idempotency-Key: outlived' -d x
	same 'record' '201 true run 2' "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
	same runs 2 "$(runs outlived)"
}

a_stopped_worker() {
	[[ -n $(pgrep -P "$(wrap_pid)" -r T) ]]
}

@test 'C5: of twenty that see a lapsed lease at once, one takes over' {
	for round in 1 2 3; do
		plan after-claim kill
		order rerun "lapsed-$round"
		[[ $ANSWER == 5?? ]]
	done
	for round in 1 2 3; do
		wait_until $((2 * LEASE)) lapsed "lapsed-$round"
		"$builddir/tests/web/volley" -n 20 -H "Idempotency-Key: lapsed-$round" \
			-H 'Content-Type: application/x-www-form-urlencoded' -b "item=lapsed-$round&quantity=1" \
			-s Idempotent-Replayed "$(web_port "$FRONT")" /cgi-bin/rerun/orders >"$WEB/answers"
		same rows 1 "$(orders_made "lapsed-$round")"
		same 'first answers' 1 "$(grep -c '^201 .* Idempotent-Replayed=$' "$WEB/answers")"
		same 'others' 19 "$(grep -c '^201 .* Idempotent-Replayed=true$\|^409 ' "$WEB/answers")"
		same attempt 2 "$(sql <<<"SELECT attempt FROM oncewrap.once_record WHERE key_text='lapsed-$round'")"
	done
}

@test 'C8: an owner that cannot renew ends its handler before another may start' {
	begin_ask rerun slow severed
	wait_until 10 begun severed
	mariadb_freeze
	wait_until $((LEASE + 3)) group_gone "$(in_hand severed)"
	mariadb_thaw
	wait "$asking"
	[[ $(<"$WEB/status.severed") == 5?? ]]
	same runs 0 "$(runs severed)"
	touch "$WEB/run/go"
	wait_until $((2 * LEASE)) free_again severed
	same runs 1 "$(runs severed)"
}

# free_again KEY: the retry is not refused any more.
free_again() {
	ask "$FRONT" POST /cgi-bin/rerun/slow -H "Idempotency-Key: $1" -d x
	[[ $ANSWER == 201 ]]
}

@test 'C8: where a lapse is unknown it goes on, and its answer is stored while its token stands' {
	begin_ask unknown slow patient
	wait_until 10 begun patient
	mariadb_freeze
	frozen=$SECONDS
	wait_until $((LEASE + 6)) past $((frozen + LEASE + 2))
	kill -0 "$(in_hand patient)"
	mariadb_thaw
	touch "$WEB/run/go"
	wait "$asking"
	same 'first answer' '201 run 1' "$(<"$WEB/status.patient") $(<"$WEB/body.patient")"
	same 'runs, record' '1 complete' "$(runs patient) $(state_of patient)"
	logged renew
}

past() {
	[[ $SECONDS -ge $1 ]]
}

@test 'C57: a retention shorter than a run may take is refused by the configuration' {
	sed 's/retention = "1h"/retention = "20s"/' "$WEB/etc/oncewrap.conf" >"$WEB/etc/short.conf"
	run "$WEB/sbin/oncewrap" --check --config "$WEB/etc/short.conf"
	[[ $status != 0 && $output == *short.conf:*retention* ]]
	run "$WEB/sbin/oncewrap" --check --config "$WEB/etc/oncewrap.conf"
	same 'status of the good one' 0 "$status"
}

@test 'a lease shorter than three times the store time-outs is refused by the configuration' {
	sed 's/lease = "4s"/lease = "3s"/' "$WEB/etc/oncewrap.conf" >"$WEB/etc/short.conf"
	run "$WEB/sbin/oncewrap" --check --config "$WEB/etc/short.conf"
	[[ $status != 0 && $output == *short.conf:*lease* ]]
}

@test 'C57: a takeover near the end of the retention gives the record its time' {
	plan after-claim kill
	order rerun late
	wait_until $((2 * LEASE)) lapsed late
	sql <<<"UPDATE oncewrap.once_record SET expires_at=UTC_TIMESTAMP(6) + INTERVAL 5 SECOND WHERE key_text='late'"
	order rerun late
	same status 201 "$ANSWER"
	same 'lives beyond a run' 1 "$(sql <<<"SELECT expires_at > UTC_TIMESTAMP(6) + INTERVAL 15 SECOND
		FROM oncewrap.once_record WHERE key_text='late'")"
	order rerun late
	same 'replay and rows' '201 true 1' "$ANSWER $(answer_header Idempotent-Replayed) $(orders_made late)"
}

@test 'C9: an expired complete record is claimable like an absent one' {
	order rerun expired
	order rerun expired
	same 'before' '201 true 1' "$ANSWER $(answer_header Idempotent-Replayed) $(orders_made expired)"
	sql <<<"UPDATE oncewrap.once_record SET expires_at=UTC_TIMESTAMP(6) WHERE key_text='expired'"
	order rerun expired
	same 'after' '201  2' "$ANSWER $(answer_header Idempotent-Replayed) $(orders_made expired)"
	order rerun expired
	same 'replay' '201 true 2' "$ANSWER $(answer_header Idempotent-Replayed) $(orders_made expired)"
}

@test 'C9: an expired record that is in flight is claimable only once its lease is over' {
	plan after-claim kill
	order rerun both
	sql <<<"UPDATE oncewrap.once_record SET expires_at=UTC_TIMESTAMP(6) WHERE key_text='both'"
	order rerun both
	same 'lease running' '409 0' "$ANSWER $(orders_made both)"
	wait_until $((2 * LEASE)) lapsed both
	order rerun both
	same 'lease over' '201 1' "$ANSWER $(orders_made both)"
	same 'the attempt before it is counted' 2 "$(sql <<<"SELECT attempt FROM oncewrap.once_record WHERE key_text='both'")"
}
