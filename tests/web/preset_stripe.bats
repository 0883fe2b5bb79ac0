#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What clients may rely on with preset = "stripe", line by line.

load ../lib/web.sh
load ../lib/preset.sh

test_routes() {
	local tenant='tenant: { sources = [ "header:Authorization" ]; };'
	echo 'routes = ('
	preset_route shop stripe "$tenant"
	preset_route refunds stripe "$tenant"
	echo '{ name = "recipe"; path = "/cgi-bin/recipe"; preset = "stripe"; } );'
}

setup_file() {
	pool_begin "$FRONT"
}

teardown_file() {
	pool_end
}

@test 'a key of 255 characters is taken, one of 256 is refused' {
	counting shop/length
	send POST shop/length -H "$(keyed "$(printf '%0255d' 1)")" -d x
	same '255' 200 "$ANSWER"
	send POST shop/length -H "$(keyed "$(printf '%0256d' 1)")" -d x
	same '256' '400 key_invalid' "$ANSWER $(jq -r .code "$WEB/answer.body")"
	same 'runs' 1 "$(runs length)"
}

@test 'keys of two tenants never meet' {
	counting shop/tenants
	send POST shop/tenants -H "$(keyed mine)" -H 'Authorization: Bearer a' -d x
	send POST shop/tenants -H "$(keyed mine)" -H 'Authorization: Bearer b' -d y
	same 'the other tenant' '200 run 2' "$ANSWER $(answer_body)"
	sql <<<'SELECT * FROM oncewrap.once_record' | holds_no Bearer
}

@test 'C30: the first answer is kept whatever its status, 500 too, and its replay is marked' {
	local status
	for status in 201 400 404 500 503; do
		counting "shop/s$status" "printf 'Status: $status\nContent-Type: text/plain\n\nrun %s\n' \"\$n\""
		send POST "shop/s$status" -H "$(keyed "s$status")" -d x
		send POST "shop/s$status" -H "$(keyed "s$status")" -d x
		same 'replay' "$status run 1 true" "$ANSWER $(answer_body) $(answer_header Idempotent-Replayed)"
	done
}

@test 'a retry while the first runs is a 409, and the conflict leaves no trace' {
	waiting shop/slow
	begin shop/slow -H "$(keyed slow)" -d x
	local before
	before=$(sql <<<"SELECT * FROM oncewrap.once_record WHERE key_text='slow'" | md5sum)
	send POST shop/slow -H "$(keyed slow)" -d x
	same 'conflict' '409 in_flight' "$ANSWER $(jq -r .code "$WEB/answer.body")"
	[[ $(answer_header Retry-After) -ge 1 ]]
	same 'trace' "$before" "$(sql <<<"SELECT * FROM oncewrap.once_record WHERE key_text='slow'" | md5sum)"
	let_go shop/slow
	same 'first' '201 run 1 201' "$(end)"
	send POST shop/slow -H "$(keyed slow)" -d x
	same 'later' '201 true' "$ANSWER $(answer_header Idempotent-Replayed)"
}

@test 'another body and another path are refused' {
	counting shop/one
	counting shop/two
	send POST shop/one -H "$(keyed reuse)" -d x
	send POST shop/one -H "$(keyed reuse)" -d y
	same 'another body' 422 "$ANSWER"
	send POST shop/two -H "$(keyed reuse)" -d x
	same 'another path' 422 "$ANSWER"
	same 'runs' '1 0' "$(runs one) $(runs two)"
}

@test 'the same key on a second route is a mismatch, not a new run' {
	counting shop/pay
	counting refunds/pay-back
	send POST shop/pay -H "$(keyed across)" -d x
	send POST refunds/pay-back -H "$(keyed across)" -d x
	same 'on the second route' '422 mismatch' "$ANSWER $(jq -r .code "$WEB/answer.body")"
	same 'runs' '1 0' "$(runs pay) $(runs pay-back)"
}

@test 'answers are kept for 24 hours, and then the key is new' {
	counting shop/day
	send POST shop/day -H "$(keyed day)" -d x
	same 'kept' 86400 "$(seconds_kept day)"
	past day expires_at
	send POST shop/day -H "$(keyed day)" -d y
	same 'anew' '200 run 2' "$ANSWER $(answer_body)"
}

@test 'a process that dies frees the key after its lease of 90 seconds' {
	waiting shop/dies
	begin shop/dies -H "$(keyed dies)" -d x
	same 'lease' 90 "$(sql <<<"SELECT TIMESTAMPDIFF(SECOND, created_at, lease_until) FROM oncewrap.once_record
		WHERE key_text='dies'")"
	kill -KILL "$(<"$WEB/cgi-bin/shop/dies.worker")"
	end >/dev/null
	send POST shop/dies -H "$(keyed dies)" -d x
	same 'within the lease' 409 "$ANSWER"
	past dies lease_until
	let_go shop/dies
	send POST shop/dies -H "$(keyed dies)" -d x
	same 'after it' '201 run 2' "$ANSWER $(answer_body)"
}

@test 'what the program refuses before it works (401, 407, 429) is not tied to the key' {
	local status
	for status in 401 407 429; do
		counting "shop/r$status" "[ \"\$n\" -gt 1 ] || { printf 'Status: $status\n\n'; exit; }
			printf 'Status: 201\n\n'"
		send POST "shop/r$status" -H "$(keyed "r$status")" -d x
		same 'first' "$status" "$ANSWER"
		same 'record' '' "$(state_of "r$status")"
		send POST "shop/r$status" -H "$(keyed "r$status")" -d x
		same 'then' 201 "$ANSWER"
	done
}

@test 'what the web server refuses is not tied to the key' {
	local log
	counting shop/guarded
	head -c 18000000 /dev/zero >"$WEB/large"
	log=$(wc -l <"$WEB/log/oncewrap.log")
	send POST shop/guarded -H "$(keyed denied)" --data-binary "@$WEB/large"
	same 'too large for the web server' 413 "$ANSWER"
	same 'what oncewrap saw of it' "$log" "$(wc -l <"$WEB/log/oncewrap.log")"
	same 'record' '' "$(state_of denied)"
	send POST shop/guarded -H "$(keyed denied)" -d x
	same 'then' '200 run 1' "$ANSWER $(answer_body)"
}

@test 'two at the same instant: one order; 201 and a replayed 201 or a 409, never two ids' {
	local round key url
	handler recipe <<-SH
		#!/bin/sh
		body=\$(cat)
		echo "\$body" >>"$WEB/run/recipe.orders"
		printf 'Status: 201\nContent-Type: application/json\n\n{"id":"%s"}\n' \$\$
	SH
	url="http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/recipe"
	for round in {1..10}; do
		: >"$WEB/run/recipe.orders"
		chmod 666 "$WEB/run/recipe.orders"
		key=$(cat /proc/sys/kernel/random/uuid)
		for i in 1 2; do
			curl -s -o "$WEB/run/resp_$i.json" -w "%{http_code}\n" \
				-X POST "$url" \
				-H "Idempotency-Key: $key" \
				-H "Content-Type: application/json" \
				-d '{"cart_id":"c_42","total_cents":1900}' >"$WEB/run/code_$i" 3>&- &
		done
		wait
		same "round $round: orders" 1 "$(grep -c c_42 "$WEB/run/recipe.orders")"
		case $(sort "$WEB/run/code_1" "$WEB/run/code_2" | xargs) in
		'201 201') cmp "$WEB/run/resp_1.json" "$WEB/run/resp_2.json" ;;
		'201 409') ;;
		*) same "round $round: statuses" '201 and 201 or 409' "$(cat "$WEB/run"/code_?)" ;;
		esac
	done
}
