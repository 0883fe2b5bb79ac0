#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What clients may rely on with preset = "payments", line by line.

load ../lib/web.sh
load ../lib/preset.sh

test_routes() {
	echo 'routes = ('
	preset_route pay payments
	preset_route impatient payments 'wait: { timeout = "300ms"; };'
	echo '{ name = "last"; path = "/cgi-bin/none"; } );'
}

setup_file() {
	pool_begin "$FRONT"
}

teardown_file() {
	pool_end
}

# paying PATH: answers 201 with an id.
paying() {
	# shellcheck disable=SC2016 # for the handler
	counting "$1" 'printf "Status: 201\nContent-Type: application/json\n\n{\"id\":\"pag_%s\"}\n" "$n"'
}

@test 'a key is compulsory, and its absence is told clearly' {
	paying pay/nokey
	send POST pay/nokey -d '{"valor":150.00}'
	same 'status' 400 "$ANSWER"
	same 'code' key_missing "$(jq -r .code "$WEB/answer.body")"
	same 'in words' 'This operation requires an idempotency key.' "$(jq -r .detail "$WEB/answer.body")"
	same 'runs' 0 "$(runs nokey)"
}

@test 'a key of 64 characters is taken, one of 65 is refused' {
	paying pay/length
	send POST pay/length -H "$(keyed "$(printf '%064d' 1)")" -d x
	same '64' 201 "$ANSWER"
	send POST pay/length -H "$(keyed "$(printf '%065d' 1)")" -d x
	same '65' 400 "$ANSWER"
}

@test 'first 201; repeated 200 with the same body and X-Idempotent-Replayed: true' {
	paying pay/twice
	send POST pay/twice -H "$(keyed 550e8400-e29b-41d4-a716-446655440000)" -d '{"valor":150.00,"moeda":"BRL"}'
	same 'first' '201 {"id":"pag_1"} ' "$ANSWER $(answer_body) $(answer_header X-Idempotent-Replayed)"
	send POST pay/twice -H "$(keyed 550e8400-e29b-41d4-a716-446655440000)" -d '{"valor":150.00,"moeda":"BRL"}'
	same 'repeated' '200 {"id":"pag_1"} true' "$ANSWER $(answer_body) $(answer_header X-Idempotent-Replayed)"
}

@test 'another body under the key is a 422' {
	paying pay/reuse
	send POST pay/reuse -H "$(keyed reuse)" -d '{"valor":1}'
	send POST pay/reuse -H "$(keyed reuse)" -d '{"valor":2}'
	same 'status' '422 1' "$ANSWER $(runs reuse)"
}

@test 'a second request at once waits for the first, then replays' {
	waiting pay/slow
	begin pay/slow -H "$(keyed slow)" -d x
	join_in pay/slow -H "$(keyed slow)" -d x
	let_go pay/slow
	same 'first' '201 run 1 201' "$(end)"
	same 'second' 'run 1 200' "$(joined)"
	same 'runs' 1 "$(runs slow)"
}

@test '... or is told 409 after the bound' {
	waiting impatient/slower
	begin impatient/slower -H "$(keyed slower)" -d x
	send POST impatient/slower -H "$(keyed slower)" -d x
	same 'status' '409 in_flight' "$ANSWER $(jq -r .code "$WEB/answer.body")"
	[[ $(answer_header Retry-After) -ge 1 ]]
	let_go impatient/slower
	same 'first' '201 run 1 201' "$(end)"
}

@test 'the time to live counts from the creation of the record, by the clock of the database' {
	paying pay/ttl
	send POST pay/ttl -H "$(keyed ttl)" -d x
	same 'kept' 86400 "$(seconds_kept ttl)"
	same 'by the database' 1 "$(sql <<<"SELECT ABS(TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP())) < 30
		FROM oncewrap.once_record WHERE key_text='ttl'")"
	past ttl expires_at
	send POST pay/ttl -H "$(keyed ttl)" -d x
	same 'anew' '201 {"id":"pag_2"}' "$ANSWER $(answer_body)"
}

@test 'a client that lost its key and comes with a new one is caught by order, amount and date' {
	paying pay/order
	local body='{"pedido":"77","valor":150.00,"data":"2026-11-30"}' other
	send POST pay/order -H "$(keyed lost-1)" -d "$body"
	send POST pay/order -H "$(keyed lost-2)" -d "$body"
	same 'status' '409 duplicate' "$ANSWER $(jq -r .code "$WEB/answer.body")"
	same 'record of the new key' '' "$(state_of lost-2)"
	past lost-1 expires_at
	send POST pay/order -H "$(keyed lost-3)" -d "$body"
	same 'after the 24 hours too' '409 duplicate' "$ANSWER $(jq -r .code "$WEB/answer.body")"
	same 'runs' 1 "$(runs order)"
	for other in '{"pedido":"79","valor":150.00,"data":"2026-11-30"}' '{"pedido":"77","valor":150.01,"data":"2026-11-30"}' \
		'{"pedido":"77","valor":150.00,"data":"2026-12-01"}'; do
		send POST pay/order -H "$(keyed "other-$(md5sum <<<"$other" | cut -c1-8)")" -d "$other"
		same "another operation: $other" 201 "$ANSWER"
	done
}

@test '... also where the process of the first died: told to wait for its lease, then run' {
	waiting pay/dies
	local body='{"pedido":"78","valor":1,"data":"2026-11-30"}'
	begin pay/dies -H "$(keyed died-1)" -d "$body"
	kill -KILL "$(<"$WEB/cgi-bin/pay/dies.worker")"
	end >/dev/null
	send POST pay/dies -H "$(keyed died-2)" -d "$body"
	same 'within the lease' '409 in_flight' "$ANSWER $(jq -r .code "$WEB/answer.body")"
	past died-1 lease_until
	let_go pay/dies
	send POST pay/dies -H "$(keyed died-2)" -d "$body"
	same 'after it' '201 2' "$ANSWER $(runs dies)"
	same 'the record of the first' '' "$(state_of died-1)"
}

@test 'while the database is away nothing runs' {
	paying pay/down
	mariadb_kill9
	send POST pay/down -H "$(keyed down)" -d x
	mariadb_restart
	same 'status and runs' '503 0' "$ANSWER $(runs down)"
	send POST pay/down -H "$(keyed down)" -d x
	same 'after it came back' 201 "$ANSWER"
}

@test 'C30: a 402 or a 500 is not kept and never replayed as 200' {
	local status
	for status in 402 500 401 404 503; do
		counting "pay/f$status" "[ \"\$n\" -gt 1 ] || { printf 'Status: $status\n\n'; exit; }; printf 'Status: 201\n\n'"
		send POST "pay/f$status" -H "$(keyed "f$status")" -d x
		same 'first' "$status" "$ANSWER"
		same 'record' '' "$(state_of "f$status")"
		send POST "pay/f$status" -H "$(keyed "f$status")" -d x
		same 'repeated' '201 2' "$ANSWER $(runs "f$status")"
	done
}

@test 'a client that times out and tries again gets 200 or 201, and one operation was made' {
	waiting pay/timeout
	same 'first' 000 "$(curl -s -m 1 -o /dev/null -w '%{http_code}' -H "$(keyed timeout)" -d x \
		"http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/pay/timeout")"
	wait_until 15 is_running pay/timeout
	let_go pay/timeout
	send POST pay/timeout -H "$(keyed timeout)" -d x
	[[ $ANSWER == 20[01] ]]
	same 'runs' 1 "$(runs timeout)"
}
