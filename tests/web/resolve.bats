#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What a person says of an outcome that nobody knows, as retries meet it through real web servers: once-resolve
# and once-release beside workers that were killed.

load ../lib/web.sh
load ../lib/preset.sh

FRONTS='lighttpd-socket apache-proxypass nginx'

test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "payments"; path = "/cgi-bin/payments/*"; settle: { on_lapse = "unknown"; on_crash = "unknown"; };
			  times: { retention = "2h"; }; natural_key: { values = [ "json:/order" ]; window = "forever"; }; },
			{ name = "rerun"; path = "/cgi-bin/rerun/*"; }
		);
	CONF
}

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $FRONTS
}

teardown_file() {
	pool_end
}

# once PROGRAM ARGUMENT...: a program of the administrator's, at no terminal; what it printed is in $WEB/out.
once() {
	local program=$1
	shift
	setsid -w "$builddir/once-$program" --config "$WEB/etc/oncewrap.conf" "$@" >"$WEB/out" 2>"$WEB/err" ||
		{ cat "$WEB/out" "$WEB/err" >&2; return 1; }
}

# field NAME: of the one line that it printed by -j.
field() {
	jq -r ".$1" "$WEB/out"
}

# pay NAME [CURL-OPTION...]: a payment by the handler of that name, and its key.
pay() {
	local name=$1
	shift
	ask "$FRONT" POST "/cgi-bin/payments/$name" -H "$(keyed "$name")" -d "{\"order\":\"$name\"}" "$@"
}

# lost ROUTE NAME: the worker dies in the middle of that handler's run, and its lease passes.
lost() {
	waiting "$1/$2"
	begin "$1/$2" -H "$(keyed "$2")" -d "{\"order\":\"$2\"}"
	kill -KILL "$(<"$WEB/cgi-bin/$1/$2.worker")"
	end >/dev/null
	sql <<<"UPDATE oncewrap.once_record SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE key_text = '$2';
		DELETE FROM oncewrap.once_lease WHERE token = (SELECT token FROM oncewrap.once_record WHERE key_text = '$2')"
	rm "$WEB/cgi-bin/$1/$2.worker"
	let_go "$1/$2"
}

# told STATUS CODE RUNS NAME: the last answer was that refusal, and the handler has run so often.
told() {
	same 'status and code' "$1 $2" "$ANSWER $(jq -r .code "$WEB/answer.body")"
	same runs "$3" "$(runs "$4")"
}

@test 'an outcome that a killed worker left unknown is resolved as applied: retries get that answer, byte for byte' {
	local name
	for FRONT in $FRONTS; do
		name=applied-$FRONT
		lost payments "$name"
		pay "$name"
		told 409 unknown 1 "$name"
		pay "$name"
		told 409 unknown 1 "$name"
		printf 'paid\0\xff\r\n' >"$WEB/body"
		once resolve --key="$name" --tenant= --applied --reason='the bank has it' --status=201 --header='Location: /payments/7' \
			--header='Content-Type: application/x-receipt' --header='X-Part: one' --header='X-Part: two' \
			--body-file="$WEB/body" -j
		same row 'resolved unknown complete gets the answer given here, status 201' \
			"$(field result) $(field before) $(field after) $(field next)"
		for _ in 1 2; do
			pay "$name"
			same status 201 "$ANSWER"
			cmp "$WEB/body" "$WEB/answer.body"
			same location /payments/7 "$(answer_header Location)"
			same type application/x-receipt "$(answer_header Content-Type)"
			# Apache joins them.
			same parts 'one two' "$(answer_header X-Part | tr -d , | xargs)"
			same marker true "$(answer_header Idempotent-Replayed)"
		done
		same 'runs in all' 1 "$(runs "$name")"
		pay "$name" -d other
		told 422 mismatch 1 "$name"
	done
}

@test 'another key for the same operation is told of the answer that a person gave' {
	FRONT=lighttpd-socket
	lost payments twin
	pay twin
	told 409 unknown 1 twin
	ask "$FRONT" POST /cgi-bin/payments/twin -H "$(keyed twin-2)" -d '{"order":"twin"}'
	told 409 unknown 1 twin
	once resolve --key=twin --tenant= --applied --reason='the bank has it' --status=201 --header='Location: /payments/8'
	ask "$FRONT" POST /cgi-bin/payments/twin -H "$(keyed twin-2)" -d '{"order":"twin"}'
	told 409 duplicate 1 twin
	same location /payments/8 "$(answer_header Location)"
}

@test 'resolved as applied without an answer: retries are told that it was done, and nothing runs' {
	FRONT=nginx
	lost payments bare
	pay bare
	told 409 unknown 1 bare
	once resolve --key=bare --tenant= --applied --reason='the bank has it' -j
	same next 'is told that it was done, without an answer, status 409' "$(field next)"
	pay bare
	told 409 not_kept 1 bare
}

@test 'resolved as not applied: the next retry runs, once, and is what is replayed' {
	local name
	for FRONT in $FRONTS; do
		name=not-applied-$FRONT
		lost payments "$name"
		pay "$name"
		told 409 unknown 1 "$name"
		once resolve --key="$name" --tenant= --not-applied --reason='the bank has nothing' -j
		same row 'resolved unknown null runs the handler anew' \
			"$(field result) $(field before) $(field after) $(field next)"
		for marker in '' true; do
			pay "$name"
			same answer '201 run 2' "$ANSWER $(answer_body)"
			same marker "$marker" "$(answer_header Idempotent-Replayed)"
		done
		same 'runs in all' 2 "$(runs "$name")"
		same 'its natural key is settled' 1 "$(sql <<<"SELECT COUNT(*) FROM oncewrap.once_natural_key n
			JOIN oncewrap.once_record r ON r.id = n.record_id WHERE r.key_text = '$name' AND n.settled_at IS NOT NULL")"
	done
}

@test 'resolved before any retry has come: from the lapsed lease, and an unknown outcome is never released' {
	FRONT=apache-proxypass
	lost payments early
	once release --stale --route=payments --yes -j && return 1
	same left skipped "$(field result)"
	same state in_flight "$(state_of early)"
	once resolve --key=early --tenant= --applied --reason='the bank has it' --status=200
	pay early
	same answer '200 ' "$ANSWER $(answer_body)"
	same runs 1 "$(runs early)"
}

@test 'a key whose worker was killed is released, and the next request runs at once, as the first of a new life' {
	FRONT=lighttpd-socket
	lost rerun again
	once release --stale --route=rerun --yes --reason='killed by the test' -j
	same row 'released in_flight null' "$(field result) $(field before) $(field after)"
	same 'no record' '' "$(state_of again)"
	ask "$FRONT" POST /cgi-bin/rerun/again -H "$(keyed again)" -d 'another body, for the key is free'
	same answer '201 run 2' "$ANSWER $(answer_body)"
	same attempt 1 "$(sql <<<"SELECT attempt FROM oncewrap.once_record WHERE key_text = 'again'")"
}

@test 'a purge leaves what may have been done for a person to resolve, however long nobody came' {
	FRONT=lighttpd-socket
	lost payments forgotten
	sql <<<"UPDATE oncewrap.once_record SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 DAY WHERE key_text = 'forgotten'"
	once expire -j
	same unknown 1 "$(field unknown)"
	pay forgotten
	told 409 unknown 1 forgotten
	ask "$FRONT" POST /cgi-bin/payments/forgotten -H "$(keyed forgotten-2)" -d '{"order":"forgotten"}'
	told 409 unknown 1 forgotten
}
