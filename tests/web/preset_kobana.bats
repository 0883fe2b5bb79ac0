#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What clients may rely on with preset = "kobana", line by line.

load ../lib/web.sh
load ../lib/preset.sh

test_routes() {
	echo 'routes = ('
	preset_route v1 kobana
	echo '{ name = "last"; path = "/cgi-bin/none"; } );'
}

setup_file() {
	pool_begin "$FRONT" nginx
}

teardown_file() {
	pool_end
}

key() {
	printf 'X-Idempotency-Key: %s' "$1"
}

# refused STATUS CODE REASON: in the envelope, with nothing beside it.
refused() {
	same 'status' "$1" "$ANSWER"
	same 'envelope' "{\"code\":\"$2\",\"reason\":\"$3\"}" \
		"$(jq -c '{code: .error.code, reason: .error.details.reason}' "$WEB/answer.body")"
	same 'its members' '[["error"],["code","details","message"],["reason"],"string"]' \
		"$(jq -c '[keys, (.error | keys), (.error.details | keys), (.error.message | type)]' "$WEB/answer.body")"
	same 'type' application/json "$(answer_header Content-Type)"
}

@test 'POST, PUT and PATCH are guarded' {
	local method
	for method in POST PUT PATCH; do
		counting "v1/m$method"
		send "$method" "v1/m$method" -H "$(key "m$method")" -d '{}'
		send "$method" "v1/m$method" -H "$(key "m$method")" -d '{}'
		same "$method" 'run 1 true' "$(answer_body) $(answer_header X-Idempotent-Replay)"
	done
}

@test 'on GET and DELETE a key is silently ignored, and nothing is recorded' {
	local method
	for method in GET DELETE; do
		counting "v1/i$method"
		send "$method" "v1/i$method" -H "$(key "i$method")"
		send "$method" "v1/i$method" -H "$(key "i$method")"
		same "$method" 'run 2 ' "$(answer_body) $(answer_header X-Idempotent-Replay)"
		same "record of $method" '' "$(state_of "i$method")"
	done
}

@test 'without a key a request runs each time' {
	counting v1/bare
	send POST v1/bare -d '{}'
	send POST v1/bare -d '{}'
	same 'runs' 2 "$(runs bare)"
}

@test 'the key is reserved atomically: of twenty at once one runs' {
	counting v1/twenty 'sleep 0.3; printf "Status: 201\n\n"'
	for _ in {1..20}; do
		curl -s -o /dev/null -w '%{http_code}\n' -H "$(key twenty)" -d '{}' \
			"http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/v1/twenty" 3>&- &
	done >"$WEB/run/codes"
	wait
	same 'runs' 1 "$(runs twenty)"
	same 'answers of 201 or 409' 20 "$(grep -c '^\(201\|409\)$' "$WEB/run/codes")"
	grep -qx 201 "$WEB/run/codes"
}

@test 'keys of two organisations do not meet' {
	counting v1/orgs
	send POST v1/orgs -H "$(key shared)" -H 'Authorization: Bearer one' -d '{}'
	send POST v1/orgs -H "$(key shared)" -H 'Authorization: Bearer two' -d '{"other":1}'
	same 'the second' 'run 2' "$(answer_body)"
	sql <<<'SELECT * FROM oncewrap.once_record' | holds_no Bearer
}

@test 'method, path and raw body are compared; neither query nor content type' {
	counting v1/print
	counting v1/other
	send POST v1/print -H "$(key print)" -H 'Content-Type: application/json' -d '{"a":1}'
	send POST 'v1/print?x=1' -H "$(key print)" -H 'Content-Type: text/json' -d '{"a":1}'
	same 'another query and type' true "$(answer_header X-Idempotent-Replay)"
	send POST v1/print -H "$(key print)" -d '{"a": 1}'
	refused 409 conflict idempotency_key_reused
	send PUT v1/print -H "$(key print)" -d '{"a":1}'
	refused 409 conflict idempotency_key_reused
	send POST v1/other -H "$(key print)" -d '{"a":1}'
	refused 409 conflict idempotency_key_reused
	same 'runs' '1 0' "$(runs print) $(runs other)"
}

@test 'the answer to a reused key is the documented one to the letter' {
	counting v1/letter
	send POST v1/letter -H "$(key letter)" -d '{}'
	send POST v1/letter -H "$(key letter)" -d '{"x":1}'
	same 'body' "$(jq -cS . <<-'JSON'
		{
		  "error": {
		    "code": "conflict",
		    "message": "X-Idempotency-Key was already used with different request parameters. Reuse the original parameters or generate a new key.",
		    "details": { "reason": "idempotency_key_reused" }
		  }
		}
	JSON
	)" "$(jq -cS . "$WEB/answer.body")"
}

@test 'status, body and headers come back verbatim, success or failure, 5xx too' {
	local status
	for status in 201 422 500; do
		counting "v1/v$status" "printf 'Status: $status\nLocation: /v1/7\nX-Total: 3\nContent-Type: text/plain\n\nrun 1\n'"
		send POST "v1/v$status" -H "$(key "v$status")" -d '{}'
		same 'marker of the first' '' "$(answer_header X-Idempotent-Replay)"
		send POST "v1/v$status" -H "$(key "v$status")" -d '{}'
		same 'replay' "$status run 1 /v1/7 3 text/plain true" "$ANSWER $(answer_body) $(answer_header Location) $(
			answer_header X-Total) $(answer_header Content-Type) $(answer_header X-Idempotent-Replay)"
		same 'runs' 1 "$(runs "v$status")"
	done
}

@test 'an empty key and one of 256 characters are refused; 255 characters of any printable UTF-8 are taken' {
	counting v1/keys
	# lighttpd drops header fields that are present and empty
	ask nginx POST /cgi-bin/v1/keys -H 'X-Idempotency-Key;' -d '{}'
	refused 400 bad_request invalid_idempotency_key
	send POST v1/keys -H "$(key "$(printf '%0256d' 1)")" -d '{}'
	refused 400 bad_request invalid_idempotency_key
	send POST v1/keys -H "$(key "$(perl -CS -e 'print "\x{e9}\x{1f600}" x 128')")" -d '{}'
	refused 400 bad_request invalid_idempotency_key
	same 'runs' 0 "$(runs keys)"
	send POST v1/keys -H "$(key "$(perl -CS -e 'print "\x{e9}\x{1f600}" x 127, "z"')")" -d '{}'
	same '255 characters, 763 bytes' 200 "$ANSWER"
	send POST v1/keys -H "$(key $'bad\xff')" -d '{}'
	refused 400 bad_request invalid_idempotency_key
}

@test 'a crash of the handler releases the key, and the next retry runs clean' {
	local how
	for how in 'kill -9 $$' 'exit 1' 'printf "Status: 201\n\n"; exit 3'; do
		counting "v1/crash${how:0:1}" "[ \"\$n\" -gt 1 ] || { $how; }; printf 'Status: 201\n\n'"
		send POST "v1/crash${how:0:1}" -H "$(key "crash${how:0:1}")" -d '{}'
		same "record after $how" '' "$(state_of "crash${how:0:1}")"
		send POST "v1/crash${how:0:1}" -H "$(key "crash${how:0:1}")" -d '{}'
		same "retry after $how" '201 2' "$ANSWER $(runs "crash${how:0:1}")"
	done
}

@test 'a request with the key while the first runs is a conflict' {
	waiting v1/slow
	begin v1/slow -H "$(key slow)" -d '{}'
	send POST v1/slow -H "$(key slow)" -d '{}'
	refused 409 conflict idempotency_request_in_progress
	let_go v1/slow
	same 'first' '201 run 1 201' "$(end)"
}

@test 'a key is new 24 hours after its creation' {
	counting v1/day
	send POST v1/day -H "$(key day)" -d '{}'
	same 'kept' 86400 "$(seconds_kept day)"
	past day expires_at
	send POST v1/day -H "$(key day)" -d '{"new":1}'
	same 'anew' '200 run 2' "$ANSWER $(answer_body)"
}

@test 'invalid JSON is refused before the claim: no run, no record' {
	counting v1/json
	send POST v1/json -H "$(key json)" -d '{"a":'
	refused 400 bad_request invalid_json
	same 'runs and record' '0 ' "$(runs json) $(state_of json)"
	send POST v1/json -H "$(key json)" -d '{"a":1}'
	same 'then' '200 run 1' "$ANSWER $(answer_body)"
}

@test 'what the handler refuses for want of credentials leaves no record' {
	# shellcheck disable=SC2016 # for the handler
	counting v1/auth '[ -n "$HTTP_X_TOKEN" ] || { printf "Status: 401\n\n"; exit; }; printf "Status: 201\n\n"'
	send POST v1/auth -H "$(key auth)" -d '{}'
	same 'refused' '401 ' "$ANSWER $(state_of auth)"
	send POST v1/auth -H "$(key auth)" -H 'X-Token: t' -d '{}'
	same 'then' '201 2' "$ANSWER $(runs auth)"
}

@test 'every other refusal comes in the same envelope' {
	counting v1/large
	head -c 17000000 /dev/zero >"$WEB/large"
	send POST v1/large -H "$(key large)" --data-binary "@$WEB/large"
	refused 413 payload_too_large request_too_large
	ask nginx POST /cgi-bin/v1/absent -H "$(key absent)" -d '{}'
	refused 404 not_found not_found
	counting v1/empty :
	send POST v1/empty -H "$(key empty)" -d '{}'
	refused 502 handler_failed handler_failed
	counting v1/unsure 'printf "Status: 200\nOnce-Outcome: unknown\n\n"'
	send POST v1/unsure -H "$(key unsure)" -d '{}'
	send POST v1/unsure -H "$(key unsure)" -d '{}'
	refused 409 conflict idempotency_outcome_unknown
	mariadb_kill9
	send POST v1/large -H "$(key down)" -d '{}'
	mariadb_restart
	refused 503 service_unavailable idempotency_unavailable
	same 'runs' 0 "$(runs large)"
}
