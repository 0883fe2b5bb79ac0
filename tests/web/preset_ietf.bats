#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What clients may rely on with preset = "ietf", line by line.

load ../lib/web.sh
load ../lib/preset.sh

DOCS=https://example.org/idempotency

test_routes() {
	echo 'routes = ('
	preset_route api ietf "documentation = \"$DOCS\";"
	echo "{ name = \"required\"; path = \"/cgi-bin/required/*\"; preset = \"ietf\"; documentation = \"$DOCS\";
		key: { required = true; }; } );"
}

setup_file() {
	pool_begin "$FRONT"
}

teardown_file() {
	pool_end
}

# problem STATUS CODE: problem details with a link to the documentation.
problem() {
	same 'status' "$1" "$ANSWER"
	same 'type' application/problem+json "$(answer_header Content-Type)"
	same 'members' "$DOCS $1 $2" "$(jq -r '"\(.type) \(.status) \(.code)"' "$WEB/answer.body")"
	same 'link' "<$DOCS>; rel=\"describedby\"" "$(answer_header Link)"
}

@test 'a structured and a bare key are one key; parameters behind it are ignored' {
	counting api/one
	send POST api/one -H 'Idempotency-Key: "8e03978e"' -d x
	send POST api/one -H 'Idempotency-Key: 8e03978e' -d x
	same 'bare' true "$(answer_header Idempotent-Replayed)"
	send POST api/one -H 'Idempotency-Key: "8e03978e";v=1' -d x
	same 'with parameters' true "$(answer_header Idempotent-Replayed)"
	same 'runs' 1 "$(runs one)"
}

@test 'a key that is malformed is a 400' {
	counting api/malformed
	local value
	for value in '"8e03978e' '"8e\x"' '"a", "b"' '"a";'; do
		send POST api/malformed -H "Idempotency-Key: $value" -d x
		problem 400 key_invalid
	done
	same 'runs' 0 "$(runs malformed)"
}

@test 'a missing key is a 400' {
	counting required/missing
	send POST required/missing -d x
	problem 400 key_missing
	same 'runs' 0 "$(runs missing)"
}

@test 'another request under the key is a 422' {
	counting api/mismatch
	send POST api/mismatch -H "$(keyed mismatch)" -d x
	send POST api/mismatch -H "$(keyed mismatch)" -d y
	problem 422 mismatch
	send POST 'api/mismatch?q' -H "$(keyed mismatch)" -d x
	problem 422 mismatch
	same 'runs' 1 "$(runs mismatch)"
}

@test 'a request while the first runs is a 409 with Retry-After' {
	waiting api/slow
	begin api/slow -H "$(keyed slow)" -d x
	send POST api/slow -H "$(keyed slow)" -d x
	problem 409 in_flight
	[[ $(answer_header Retry-After) -ge 1 ]]
	let_go api/slow
	same 'first' '201 run 1 201' "$(end)"
}

@test 'PUT and DELETE are untouched' {
	local method
	for method in PUT DELETE; do
		counting "api/u$method"
		send "$method" "api/u$method" -H "$(keyed "u$method")" -d x
		send "$method" "api/u$method" -H "$(keyed "u$method")" -d x
		same "$method" 2 "$(runs "u$method")"
		same "record of $method" '' "$(state_of "u$method")"
	done
}
