#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# C10: two web hosts whose clocks are an hour wrong, in either direction, on one database.

load setting.sh

setup_file() {
	fault_begin
	slow_handler
	wrap_stop
	# Two pools on sockets of their own, each with its own lighttpd.
	local offset
	for offset in ahead behind; do
		sed "s,$WEB/run/oncewrap.sock,$WEB/run/$offset.sock," "$WEB/etc/oncewrap.conf" >"$WEB/etc/$offset.conf"
		deploy_fill lighttpd-socket.conf | sed "s,$WEB/run/oncewrap.sock,$WEB/run/$offset.sock," \
			>"$WEB/etc/lighttpd-$offset.conf"
	done
	pool_with_clock ahead +1h
	pool_with_clock behind -1h
	web_start lighttpd-ahead
	web_start lighttpd-behind
}

# pool_with_clock NAME OFFSET: by the library that faketime(1) loads, without the process that it leaves in between.
pool_with_clock() {
	env -i PATH=/usr/local/bin:/usr/bin:/bin SHOP_CNF="$WEB/etc/shop.cnf" DONT_FAKE_MONOTONIC=1 \
		FAKETIME="$2" LD_PRELOAD="$(faketime -f +0 printenv LD_PRELOAD)" \
		"$WEB/sbin/oncewrap" --config "$WEB/etc/$1.conf" \
		</dev/null >>"$WEB/log/$1.log" 2>&1 3>&- 4>&- &
	echo $! >"$WEB/server/$1.pid"
	wait_until 15 socket_open "$WEB/run/$1.sock"
}

setup() {
	rm -f "$WEB/run/go"
}

teardown_file() {
	touch "$WEB/run/go"
	fault_end
}

on() {
	FRONT=lighttpd-$1
}

@test 'C10: the clocks are an hour wrong indeed' {
	for offset in ahead behind; do
		on $offset
		order rerun "stamp-$offset"
	done
	now=$(date +%s)
	ahead=$(stamp ahead) behind=$(stamp behind)
	[[ $((ahead - now)) -gt 3500 && $((ahead - now)) -lt 3700 ]]
	[[ $((now - behind)) -gt 3500 && $((now - behind)) -lt 3700 ]]
}

# The time of the last log line of a pool.
stamp() {
	date +%s -d "$(sed -n 's/.*"ts":"\([^"]*\)".*/\1/p' "$WEB/log/$1.log" | tail -n 1)"
}

@test 'C10: a record made by one host is replayed by the other, in both directions' {
	for offset in ahead behind; do
		on $offset
		order rerun "made-$offset"
		same 'first' '201 ' "$ANSWER $(answer_header Idempotent-Replayed)"
		first=$(answer_body)
		if [[ $offset == ahead ]]; then on behind; else on ahead; fi
		order rerun "made-$offset"
		same 'at the other' "201 true $first" "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
		same rows 1 "$(orders_made "made-$offset")"
		same 'made now, by the database' 1 "$(sql <<<"SELECT created_at BETWEEN
			UTC_TIMESTAMP(6) - INTERVAL 60 SECOND AND UTC_TIMESTAMP(6) FROM oncewrap.once_record WHERE key_text='made-$offset'")"
	done
}

@test 'C10: a running lease of one host holds at the other, in both directions' {
	for offset in ahead behind; do
		rm -f "$WEB/run/go"
		on $offset
		begin_ask rerun slow "held-$offset"
		wait_until 10 begun "held-$offset"
		if [[ $offset == ahead ]]; then on behind; else on ahead; fi
		ask "$FRONT" POST /cgi-bin/rerun/slow -H "Idempotency-Key: held-$offset" -d x
		same 'at the other' 409 "$ANSWER"
		touch "$WEB/run/go"
		wait "$asking"
		same 'first' '201 1' "$(<"$WEB/status.held-$offset") $(runs "held-$offset")"
	done
}

@test 'C10: a lapsed lease is taken over by the other host once, at its time' {
	for offset in ahead behind; do
		on $offset
		order rerun "dead-$offset"
		sql <<<"UPDATE oncewrap.once_record SET state='in_flight', settled_at=NULL,
			lease_until=UTC_TIMESTAMP(6) + INTERVAL 3 SECOND WHERE key_text='dead-$offset'"
		if [[ $offset == ahead ]]; then on behind; else on ahead; fi
		order rerun "dead-$offset"
		same 'within the lease' '409 1' "$ANSWER $(orders_made "dead-$offset")"
		wait_until 6 lapsed "dead-$offset"
		order rerun "dead-$offset"
		same 'after the lease' '201 2' "$ANSWER $(orders_made "dead-$offset")"
	done
}
