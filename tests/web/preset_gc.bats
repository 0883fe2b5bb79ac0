#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What clients may rely on with preset = "gc", line by line.

load ../lib/web.sh
load ../lib/preset.sh

test_routes() {
	echo 'routes = ('
	preset_route v1 gc
	preset_route impatient gc 'wait: { timeout = "300ms"; };'
	echo '{ name = "invoices"; path = "/cgi-bin/invoices/*"; preset = "gc";
		natural_key: { values = [ "json:/Supplier", "json:/Document" ]; }; } );'
}

setup_file() {
	pool_begin "$FRONT"
}

teardown_file() {
	pool_end
}

API='ApiKey: secret-of-acme'

# envelope CODE: the answer's body is the documented one.
envelope() {
	same 'code and field' "$1 Idempotency-Key" "$(jq -r '.Error.Code + " " + .Error.Field' "$WEB/answer.body")"
	same 'members' '[["Error"],["Code","Field","Message"]]' "$(jq -c '[keys, (.Error | keys)]' "$WEB/answer.body")"
	same 'type' application/json "$(answer_header Content-Type)"
}

@test 'POST, PATCH and DELETE are guarded; without a key every request runs' {
	local method
	for method in POST PATCH DELETE; do
		counting "v1/m$method"
		send "$method" "v1/m$method" -H "$API" -H "$(keyed "m$method")" -d x
		send "$method" "v1/m$method" -H "$API" -H "$(keyed "m$method")" -d x
		same "$method with a key" 'run 1' "$(answer_body)"
		send "$method" "v1/m$method" -H "$API" -d x
		send "$method" "v1/m$method" -H "$API" -d x
		same "$method without" 'run 3' "$(answer_body)"
	done
	counting v1/mPUT
	send PUT v1/mPUT -H "$API" -H "$(keyed mPUT)" -d x
	send PUT v1/mPUT -H "$API" -H "$(keyed mPUT)" -d x
	same 'PUT' 'run 2' "$(answer_body)"
}

@test 'two credentials may use the same key, and no credential is written down' {
	counting v1/who
	send POST v1/who -H "$API" -H "$(keyed who)" -d x
	send POST v1/who -H 'ApiKey: secret-of-other' -H "$(keyed who)" -d x
	same 'the other' 'run 2' "$(answer_body)"
	sql <<<'SELECT * FROM oncewrap.once_record' | holds_no secret-of
	holds_no secret-of <"$WEB/log/oncewrap.log"
}

@test 'a replay is the first answer byte for byte, Date and X-Request-Id apart, and nothing marks it' {
	counting v1/bytes "printf 'Status: 201 Made\nContent-Type: application/json\nX-B: 2\nX-A: 1\n\n{\"Id\":7}'"
	send POST v1/bytes -H "$API" -H "$(keyed bytes)" -d x
	grep -viE '^(Date|X-Request-Id):' "$WEB/answer.header" >"$WEB/first.header"
	cp "$WEB/answer.body" "$WEB/first.body"
	send POST v1/bytes -H "$API" -H "$(keyed bytes)" -d x
	same 'header' "$(<"$WEB/first.header")" "$(grep -viE '^(Date|X-Request-Id):' "$WEB/answer.header")"
	cmp "$WEB/first.body" "$WEB/answer.body"
	same 'runs' 1 "$(runs bytes)"
}

@test '204 replays as 204 without a body, and a repeated DELETE gets the 204 and not a 404' {
	# shellcheck disable=SC2016 # for the handler
	counting v1/entry '[ "$n" -gt 1 ] && { printf "Status: 404\n\nENTRY_NOT_FOUND"; exit; }; printf "Status: 204\n\n"'
	send DELETE v1/entry -H "$API" -H "$(keyed entry)"
	send DELETE v1/entry -H "$API" -H "$(keyed entry)"
	same 'repeated' '204 0' "$ANSWER $(wc -c <"$WEB/answer.body")"
	same 'length' '' "$(answer_header Content-Length)"
	send DELETE v1/entry -H "$API"
	same 'without the key' 404 "$ANSWER"
}

@test 'another method or path is refused in the documented words' {
	counting v1/reused
	counting v1/elsewhere
	send POST v1/reused -H "$API" -H "$(keyed reused)" -d x
	send PATCH v1/reused -H "$API" -H "$(keyed reused)" -d x
	same 'another method' 409 "$ANSWER"
	envelope IDEMPOTENCY_KEY_REUSED
	send POST v1/elsewhere -H "$API" -H "$(keyed reused)" -d x
	same 'another path' 409 "$ANSWER"
	same 'body' "$(jq -cS . <<-'JSON'
		{
		  "Error": {
		    "Code": "IDEMPOTENCY_KEY_REUSED",
		    "Message": "This Idempotency-Key was already used on a different request. Use a new one.",
		    "Field": "Idempotency-Key"
		  }
		}
	JSON
	)" "$(jq -cS . "$WEB/answer.body")"
	same 'runs' '1 0' "$(runs reused) $(runs elsewhere)"
}

@test 'another body on the same path returns the original answer, silently' {
	counting v1/silent
	send POST v1/silent -H "$API" -H "$(keyed silent)" -d '{"a":1}'
	send POST v1/silent -H "$API" -H "$(keyed silent)" -d '{"a":2}'
	same 'answer' '200 run 1' "$ANSWER $(answer_body)"
}

@test 'a request that comes while the first runs waits for its answer' {
	waiting v1/patient
	begin v1/patient -H "$API" -H "$(keyed patient)" -d x
	join_in v1/patient -H "$API" -H "$(keyed patient)" -d x
	let_go v1/patient
	same 'first' '201 run 1 201' "$(end)"
	same 'second' 'run 1 201' "$(joined)"
	same 'runs' 1 "$(runs patient)"
}

@test '... and when that takes too long, is told 429 with Retry-After in the envelope' {
	waiting impatient/slow
	begin impatient/slow -H "$API" -H "$(keyed impatient)" -d x
	send POST impatient/slow -H "$API" -H "$(keyed impatient)" -d x
	same 'status' 429 "$ANSWER"
	[[ $(answer_header Retry-After) -ge 1 ]]
	envelope IDEMPOTENCY_REQUEST_IN_PROGRESS
	let_go impatient/slow
	same 'first' '201 run 1 201' "$(end)"
}

@test 'C30: 429 and 500 to 504 may be repeated with the same key and run again' {
	local status
	for status in 429 500 501 502 503 504; do
		counting "v1/t$status" "[ \"\$n\" -gt 1 ] || { printf 'Status: $status\n\n'; exit; }; printf 'Status: 201\n\n'"
		send POST "v1/t$status" -H "$API" -H "$(keyed "t$status")" -d x
		same 'first' "$status" "$ANSWER"
		send POST "v1/t$status" -H "$API" -H "$(keyed "t$status")" -d x
		same 'repeated' '201 2' "$ANSWER $(runs "t$status")"
	done
}

@test '400, 404 and 422 are kept' {
	local status
	for status in 400 404 422; do
		counting "v1/k$status" "printf 'Status: $status\nContent-Type: text/plain\n\nrun %s\n' \"\$n\""
		send POST "v1/k$status" -H "$API" -H "$(keyed "k$status")" -d x
		send POST "v1/k$status" -H "$API" -H "$(keyed "k$status")" -d x
		same 'repeated' "$status run 1" "$ANSWER $(answer_body)"
	done
}

@test 'for 24 hours; after that a repetition is a new operation' {
	counting v1/day
	send POST v1/day -H "$API" -H "$(keyed day)" -d x
	same 'kept' 86400 "$(seconds_kept day)"
	past day expires_at
	send POST v1/day -H "$API" -H "$(keyed day)" -d x
	same 'anew' 'run 2' "$(answer_body)"
}

@test 'an invalid key is refused in the envelope' {
	counting v1/invalid
	send POST v1/invalid -H "$API" -H "$(keyed "$(printf '%0300d' 1)")" -d x
	same 'status' 400 "$ANSWER"
	envelope IDEMPOTENCY_KEY_INVALID
	same 'runs' 0 "$(runs invalid)"
}

@test 'with its natural key, an invoice that was registered under another key is refused' {
	counting invoices/new "printf 'Status: 201\n\n'"
	send POST invoices/new -H "$API" -H "$(keyed inv-1)" -d '{"Supplier":9,"Document":"F/12"}'
	send POST invoices/new -H "$API" -H "$(keyed inv-2)" -d '{"Supplier":9,"Document":"F/12"}'
	same 'status and code' '409 DOCUMENT_ALREADY_EXISTS' "$ANSWER $(jq -r .Error.Code "$WEB/answer.body")"
	same 'runs' 1 "$(runs new)"
}

# The last one, as it restarts the pool.
@test 'C30: a handler that crashed (502) or was stopped at its deadline (504) may be repeated too' {
	sed -i 's/timeout = "55s"/timeout = "1s"/' "$WEB/etc/oncewrap.conf"
	wrap_stop
	wrap_start
	# shellcheck disable=SC2016 # for the handler
	counting v1/crash '[ "$n" -gt 1 ] || kill -KILL $$; printf "Status: 201\n\n"'
	# shellcheck disable=SC2016 # for the handler
	counting v1/stop '[ "$n" -gt 1 ] || exec sleep 60; printf "Status: 201\n\n"'
	local how
	for how in 'crash 502' 'stop 504'; do
		send POST "v1/${how% *}" -H "$API" -H "$(keyed "$how")" -d x
		same "$how" "${how#* } REQUEST_FAILED null" "$ANSWER $(jq -r '"\(.Error.Code) \(.Error.Field)"' "$WEB/answer.body")"
		send POST "v1/${how% *}" -H "$API" -H "$(keyed "$how")" -d x
		same "$how, repeated" '201 2' "$ANSWER $(runs "${how% *}")"
	done
}
