#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The client's half (docs/clients.md): its two loops against a web server, oncewrap and MariaDB. However an operation
# goes wrong, there is one order at the end, or a clear end and none.

load ../lib/web.sh

CLIENTS='shell c'
FRONTS='lighttpd-socket apache-proxypass nginx'
PRESETS='ietf stripe kobana gc payments'
FRONT=lighttpd-socket

test_routes() {
	cat <<-CONF
		routes = (
			{ name = "unknown"; path = "/cgi-bin/unknown/*"; settle: { on_crash = "unknown"; }; },
			{ name = "waiting"; path = "/cgi-bin/waiting/*"; in_flight = "wait"; wait: { timeout = "1s"; }; }
	CONF
	for preset in $PRESETS; do
		echo ", { name = \"$preset\"; path = \"/cgi-bin/$preset/*\"; preset = \"$preset\"; wait: { timeout = \"1s\"; };"
		[[ $preset != payments ]] ||
			echo 'natural_key: { values = [ "json:/order_number", "json:/amount", "json:/date" ]; };'
		echo '}'
	done
	echo ');'
}

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $FRONTS
	mkdir "$WEB/client" "$WEB/cgi-bin/unknown" "$WEB/cgi-bin/waiting"
	# Orders that are taken only once the gate is open.
	handler guarded/slow <<-SH
		#!/bin/sh
		echo run >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		exec "$WEB/cgi-bin/orders"
	SH
	cp "$WEB/cgi-bin/guarded/slow" "$WEB/cgi-bin/waiting/slow"
	cp "$WEB/cgi-bin/orders" "$WEB/cgi-bin/guarded/orders"
	handler guarded/crash-once <<-SH
		#!/bin/sh
		echo run >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		[ "\$(wc -l <"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY")" -gt 1 ] || kill -KILL \$\$
		exec "$WEB/cgi-bin/orders"
	SH
	cp "$WEB/cgi-bin/guarded/crash-once" "$WEB/cgi-bin/unknown/crash-once"
	# The same as slow, of JSON.
	handler json <<-SH
		#!/bin/sh
		item=\$(sed 's/.*"item":"\([^"]*\)".*/\1/')
		echo run >>"$WEB/run/ran.\$item"
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		export CONTENT_LENGTH=\$((\${#item} + 16))
		printf 'item=%s&quantity=1' "\$item" | exec "$WEB/cgi-bin/orders"
	SH
	for preset in $PRESETS; do
		mkdir "$WEB/cgi-bin/$preset"
		cp "$WEB/cgi-bin/json" "$WEB/cgi-bin/$preset/orders"
		cp "$WEB/cgi-bin/json" "$WEB/cgi-bin/$preset/other"
	done
	printf 'Content-Type: application/json\nAuthorization: Bearer secret\nApiKey: secret\n' >"$WEB/client/credentials"
}

setup() {
	rm -f "$WEB/run/go"
}

teardown() {
	web_tell
	if [[ -z ${BATS_TEST_COMPLETED:-} ]]; then
		find "$WEB/client" -name '*.log' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2 | xargs tail -v
	fi
	touch "$WEB/run/go"
	mariadb_running || mariadb_restart
}

teardown_file() {
	pool_end
}

# operation NAME [BODY]: one to be asked for: an order of item NAME, or that body.
operation() {
	printf %s "${2:-item=$1&quantity=1}" >"$WEB/client/$1"
}

# begin CLIENT NAME PATH [OPTION...]: the loop for that operation, as process $client, with short pauses. Its words come
# to $WEB/client/NAME.log, its answer to NAME.answer.
begin() {
	local program=$srcdir/docs/clients/retry.sh name=$2 path=$3
	[[ $1 == shell ]] || program=$builddir/tests/web/retry
	shift 3
	[[ $path == *:* ]] || path=http://127.0.0.1:$(web_port "$FRONT")$path
	"$program" -b 50 -w 60 "$@" "$WEB/client/$name" "$path" \
		>"$WEB/client/$name.answer" 2>>"$WEB/client/$name.log" </dev/null 3>&- &
	client=$!
}

# end NAME: wait for the loop; its exit status is $ENDED.
end() {
	ENDED=0
	wait "$client" || ENDED=$?
}

run_client() {
	begin "$@"
	end
}

key_of() {
	cat "$WEB/client/$1.key"
}

# told NAME PATTERN: the loop has said so.
told() {
	grep -q -- "$2" "$WEB/client/$1.log"
}

attempts() {
	grep -c 'attempt' "$WEB/client/$1.log" || :
}

# one_order NAME: it was made once, and the client has been told its number.
one_order() {
	same 'exit status' 0 "$ENDED"
	same orders 1 "$(orders_made "$1")"
	same answer "{\"id\":$(sql <<<"SELECT id FROM shop.orders WHERE item='$1'"),\"item\":\"$1\",\"quantity\":1}" \
		"$(cat "$WEB/client/$1.answer")"
}

@test 'a time-out, 409 while the first still runs, then its answer: one order, through every web server' {
	for FRONT in $FRONTS; do
		for which in $CLIENTS; do
			name=timeout-$which-$FRONT
			rm -f "$WEB/run/go"
			operation "$name"
			begin "$which" "$name" /cgi-bin/guarded/slow -t 1
			wait_until 20 told "$name" 'attempt 1: no answer .*; again in'
			wait_until 20 told "$name" ': 409; again in'
			touch "$WEB/run/go"
			end
			one_order "$name"
			same runs 1 "$(runs "$(key_of "$name")")"
			told "$name" ': 201, replayed$'
		done
	done
}

@test 'a retry that may wait gets the answer of the first' {
	for which in $CLIENTS; do
		name=waiting-$which
		rm -f "$WEB/run/go"
		operation "$name"
		begin "$which" "$name" /cgi-bin/waiting/slow -t 3
		wait_until 20 told "$name" 'attempt 1: no answer .*; again in'
		wait_until 20 told "$name" ': 409; again in'
		touch "$WEB/run/go"
		end
		one_order "$name"
	done
}

@test 'a store that is down is 503 until it is back, and then there is one order' {
	for which in $CLIENTS; do
		name=down-$which
		operation "$name"
		mariadb_kill9
		begin "$which" "$name" /cgi-bin/guarded/orders
		wait_until 20 told "$name" 'attempt 1: 503; again in'
		mariadb_restart
		end
		one_order "$name"
	done
}

@test 'another body under the same key is refused with 422 at once, and nothing runs' {
	for which in $CLIENTS; do
		name=changed-$which
		operation "$name"
		run_client "$which" "$name" /cgi-bin/guarded/orders
		one_order "$name"
		operation "$name" "item=$name&quantity=2"
		run_client "$which" "$name" /cgi-bin/guarded/orders
		same 'exit status' 1 "$ENDED"
		same 'attempts of both' 2 "$(attempts "$name")"
		told "$name" 'attempt 1: 422$'
		grep -q '"code":"mismatch"' "$WEB/client/$name.answer"
		same orders 1 "$(orders_made "$name")"
	done
}

@test 'a client that is killed and comes back asks with the key that it had' {
	for which in $CLIENTS; do
		name=killed-$which
		rm -f "$WEB/run/go"
		operation "$name"
		begin "$which" "$name" /cgi-bin/guarded/slow
		wait_until 20 test -s "$WEB/client/$name.key"
		key=$(key_of "$name")
		wait_until 20 test -s "$WEB/run/ran.$key"
		kill -KILL "$client"
		end
		same 'first client' 137 "$ENDED"
		touch "$WEB/run/go"
		run_client "$which" "$name" /cgi-bin/guarded/slow
		one_order "$name"
		same 'key, runs' "$key 1" "$(key_of "$name") $(runs "$key")"
	done
}

@test 'twelve clients that start at once for one operation agree on its key' {
	for which in $CLIENTS; do
		name=together-$which
		operation "$name"
		all=()
		for turn in {1..12}; do
			begin "$which" "$name" /cgi-bin/guarded/orders
			all+=("$client")
		done
		for client in "${all[@]}"; do
			end
			same 'exit status' 0 "$ENDED"
		done
		same orders 1 "$(orders_made "$name")"
		same 'drafts left' '' "$(find "$WEB/client" -name "$name.key.*")"
	done
}

@test 'a key is a version 4 UUID, readable by its owner alone, and new for each operation' {
	for which in $CLIENTS; do
		for turn in 1 2; do
			operation "uuid-$which-$turn"
			run_client "$which" "uuid-$which-$turn" /cgi-bin/guarded/orders
			one_order "uuid-$which-$turn"
			[[ $(key_of "uuid-$which-$turn") =~ ^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ ]]
			same mode 600 "$(stat -c %a "$WEB/client/uuid-$which-$turn.key")"
		done
		[[ $(key_of "uuid-$which-1") != "$(key_of "uuid-$which-2")" ]]
	done
}

@test 'a crash is 502 and frees the key: the retry runs clean' {
	for which in $CLIENTS; do
		name=crash-$which
		operation "$name"
		run_client "$which" "$name" /cgi-bin/guarded/crash-once
		one_order "$name"
		told "$name" 'attempt 1: 502; again in'
		same runs 2 "$(runs "$(key_of "$name")")"
	done
}

@test 'an outcome that is unknown ends the loop, and nothing runs again' {
	for which in $CLIENTS; do
		name=unknown-$which
		operation "$name"
		run_client "$which" "$name" /cgi-bin/unknown/crash-once
		same 'exit status' 1 "$ENDED"
		told "$name" 'attempt 1: 502; again in'
		told "$name" 'attempt 2: 409$'
		grep -q '"code":"unknown"' "$WEB/client/$name.answer"
		same 'orders, runs' '0 1' "$(orders_made "$name") $(runs "$(key_of "$name")")"
	done
}

@test 'a failure that is stored is asked for once more, and then final' {
	handler guarded/fails <<-SH
		#!/bin/sh
		echo run >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		printf 'Status: 500\nContent-Type: text/plain\n\ncharged, then failed\n'
	SH
	for which in $CLIENTS; do
		name=fails-$which
		operation "$name"
		run_client "$which" "$name" /cgi-bin/guarded/fails
		same 'exit status' 1 "$ENDED"
		told "$name" 'attempt 1: 500; again in'
		told "$name" 'attempt 2: 500, replayed$'
		same 'answer, runs' 'charged, then failed 1' \
			"$(cat "$WEB/client/$name.answer") $(runs "$(key_of "$name")")"
	done
}

@test 'Retry-After is waited for, be it a number or a date' {
	# The first run is told in milliseconds, the second must not come before what the first one asked for.
	handler guarded/busy <<-SH
		#!/bin/sh
		date +%s%3N >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		[ "\$(wc -l <"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY")" -gt 1 ] && exec "$WEB/cgi-bin/orders"
		case \$QUERY_STRING in
		date) after=\$(LC_ALL=C date -u -d '3 seconds' '+%a, %d %b %Y %H:%M:%S GMT') ;;
		*) after=2 ;;
		esac
		printf 'Status: 429\nRetry-After: %s\nContent-Type: text/plain\n\nslow down\n' "\$after"
	SH
	for which in $CLIENTS; do
		for form in number date; do
			name=busy-$form-$which
			operation "$name"
			run_client "$which" "$name" "/cgi-bin/guarded/busy?$form"
			one_order "$name"
			told "$name" 'attempt 1: 429; again in'
			{ read -r before && read -r after; } <"$WEB/run/ran.$(key_of "$name")"
			# Dates have whole seconds, and the client's clock is read a little later.
			[[ $((after - before)) -ge $([[ $form == date ]] && echo 1000 || echo 2000) ]]
			[[ $((after - before)) -lt 10000 ]]
		done
	done
}

@test 'when patience ends the key stays, and asking again later makes the one order' {
	nobody=$(web_free_port)
	for which in $CLIENTS; do
		name=patience-$which
		operation "$name"
		run_client "$which" "$name" "http://127.0.0.1:$nobody/cgi-bin/guarded/orders" -w 1
		same 'exit status, answer' '75 ' "$ENDED $(cat "$WEB/client/$name.answer")"
		told "$name" 'not known yet, ask again later$'
		key=$(key_of "$name")
		run_client "$which" "$name" /cgi-bin/guarded/orders
		one_order "$name"
		same key "$key" "$(key_of "$name")"
	done
}

@test 'a key that the API may have forgotten is not sent' {
	for which in $CLIENTS; do
		name=old-$which
		operation "$name"
		echo "$name" >"$WEB/client/$name.key"
		touch -d '24 hours ago' "$WEB/client/$name.key"
		run_client "$which" "$name" /cgi-bin/guarded/orders
		same 'exit status, attempts, orders' '2 0 0' "$ENDED $(attempts "$name") $(orders_made "$name")"
		told "$name" 'too old'
		touch -d '22 hours ago' "$WEB/client/$name.key"
		run_client "$which" "$name" /cgi-bin/guarded/orders
		one_order "$name"
	done
}

@test 'other headers and another name of the key come from the caller' {
	handler guarded/echo <<-'SH'
		#!/bin/sh
		printf 'Content-Type: text/plain\n\n%s|%s|%s|%s|%s' "$REQUEST_METHOD" "$CONTENT_TYPE" "$HTTP_APIKEY" \
			"$HTTP_X_IDEMPOTENCY_KEY" "$HTTP_IDEMPOTENCY_KEY"
	SH
	printf 'Content-Type: application/json\nApiKey: secret\n' >"$WEB/client/headers"
	for which in $CLIENTS; do
		name=headers-$which
		operation "$name" '{}'
		run_client "$which" "$name" /cgi-bin/guarded/echo -X PATCH -n X-Idempotency-Key -H "$WEB/client/headers"
		same 'exit status' 0 "$ENDED"
		same 'what came' "PATCH|application/json|secret|$(key_of "$name")|" "$(cat "$WEB/client/$name.answer")"
	done
}

@test 'what cannot be sent is told, and nothing is asked' {
	for which in $CLIENTS; do
		name=wrong-$which
		operation "$name"
		run_client "$which" "$name" /cgi-bin/guarded/orders -t soon
		same 'no number' 2 "$ENDED"
		run_client "$which" "$name" nowhere://at:all
		same 'no URL' 2 "$ENDED"
		run_client "$which" "absent-$which" /cgi-bin/guarded/orders
		same 'no body' 2 "$ENDED"
		run_client "$which" "$name" /cgi-bin/guarded/orders -H "$WEB/client/absent"
		same 'no headers' 2 "$ENDED"
		same orders 0 "$(orders_made "$name")"
	done
}

# under PRESET CLIENT NAME SCRIPT: begin, with what every client of that API sends.
under() {
	local options=(-H "$WEB/client/credentials")
	[[ $1 != kobana ]] || options+=(-n X-Idempotency-Key)
	begin "$2" "$3" "/cgi-bin/$1/$4" "${options[@]}" "${@:5}"
}

json_operation() {
	operation "$1" "{\"item\":\"$1\",\"order_number\":\"$1\",\"amount\":150.00,\"date\":\"2026-11-30\"}"
}

@test 'under every preset: a time-out, an answer that the first still runs, then its own, and one order' {
	local running last
	for preset in $PRESETS; do
		case $preset in
		gc) running=429 last=201 ;;
		payments) running=409 last='200, replayed' ;;
		*) running=409 last='201, replayed' ;;
		esac
		for which in $CLIENTS; do
			name=$preset-$which
			rm -f "$WEB/run/go"
			json_operation "$name"
			under "$preset" "$which" "$name" orders -t 3
			wait_until 20 told "$name" 'attempt 1: no answer .*; again in'
			wait_until 20 told "$name" ": $running; again in"
			touch "$WEB/run/go"
			end
			one_order "$name"
			same runs 1 "$(runs "$name")"
			told "$name" ": $last\$"
		done
	done
}

@test 'under every preset: a key used for something else ends the loop at once, and nothing runs' {
	touch "$WEB/run/go"
	for preset in $PRESETS; do
		case $preset in kobana | gc) refused=409 ;; *) refused=422 ;; esac
		for which in $CLIENTS; do
			name=other-$preset-$which
			json_operation "$name"
			under "$preset" "$which" "$name" orders
			end
			one_order "$name"
			under "$preset" "$which" "$name" other
			end
			same 'exit status, attempts of both' '1 2' "$ENDED $(attempts "$name")"
			told "$name" "attempt 1: $refused\$"
			same 'orders, runs' '1 1' "$(orders_made "$name") $(runs "$name")"
		done
	done
}

@test 'payments: a client that lost its key is told where its order is, and makes no second one' {
	touch "$WEB/run/go"
	for which in $CLIENTS; do
		name=lost-$which
		json_operation "$name"
		under payments "$which" "$name" orders
		end
		one_order "$name"
		rm "$WEB/client/$name.key"
		under payments "$which" "$name" orders
		end
		same 'exit status' 1 "$ENDED"
		told "$name" 'attempt 1: 409$'
		same 'where' "duplicate /orders/$(sql <<<"SELECT id FROM shop.orders WHERE item='$name'")" \
			"$(jq -r '.code + " " + .location' "$WEB/client/$name.answer")"
		same 'orders, runs' '1 1' "$(orders_made "$name") $(runs "$name")"
	done
}

@test 'semantics.md has every verdict, with its status, Retry-After and retryable' {
	# verdict.c: {"name", status, places, {"title", "detail", retry after, retryable}}
	perl -0777 -ne 'print "$1 $2 $3 $4\n" while /\{"(\w+)",\s*(\d+),.*?(\d+),\s*(true|false)\}\}/gs' \
		"$srcdir/src/broker/verdict.c" | grep -v '^\(passed\|first\|replayed\) ' | sort >"$WEB/coded"
	sed -n 's/^| `\([a-z_]*\)` | \([0-9]*\) | \(yes\|no\) | \([0-9]*\)\( s\)\{0,1\} *| \(yes\|no\) |.*/\1 \2 \4 \6/p' \
		"$srcdir/docs/semantics.md" |
		awk '{ print $1, $2, NF == 4 ? $3 : 0, $NF == "yes" ? "true" : "false" }' | sort >"$WEB/told"
	[[ $(wc -l <"$WEB/coded") -ge 20 ]]
	diff "$WEB/coded" "$WEB/told"
}
