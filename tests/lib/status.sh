# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# The status page in its states, for tests and pictures. Sourced after web.sh, by files whose pool has begun.

# status_deploy [ARGUMENT...]: the script of two lines, with arguments behind its own.
status_deploy() {
	install -m 755 "$builddir/once-status" "$WEB/sbin/"
	sed -e "s,/usr/sbin/,$WEB/sbin/,; s,/etc/oncewrap/,$WEB/etc/,; \$s|\$| $*|" "$srcdir/cgi-bin/once-status" >"$WEB/oncewrap/once-status"
	chmod 755 "$WEB/oncewrap/once-status"
}

# fcgiwrap_start: for nginx, as the web servers' account, which is whom the sockets are for.
fcgiwrap_start() {
	local as=()
	[[ $(id -u) != 0 ]] || as=(setpriv --reuid "$(web_account)" --regid "$(web_account)" --init-groups)
	env -i PATH="$PATH" "${as[@]}" fcgiwrap -c 2 -s "unix:$WEB/run/fcgiwrap.sock" </dev/null >>"$WEB/log/fcgiwrap.log" 2>&1 \
		3>&- 4>&- &
	echo $! >"$WEB/server/fcgiwrap"
	wait_until 15 socket_open "$WEB/run/fcgiwrap.sock"
}

# status_history [LINE...]: what tests/web/history takes, or lines on standard input; $HISTORY is its process.
status_history() {
	exec {HISTORY_OUT}< <(exec "$builddir/tests/web/history" "$WEB/run" 3>&- 4>&-)
	HISTORY=$!
	[[ $(head -n 1 <&"$HISTORY_OUT") == ready ]]
}

# record NAME=SQL-EXPRESSION...: a row of once_record with these columns, the others filled with something.
record() {
	local pair names='' values=''
	local -A columns=(
		[id]='RANDOM_BYTES(32)' [tenant]="'acme'" [route]="'orders'" [key_text]="'key'" [state]="'unknown'"
		[token]='RANDOM_BYTES(16)' [attempt]=1 [fingerprint]='RANDOM_BYTES(32)' [fingerprint_scheme]="'raw'"
		[part_digests]="''" [lease_until]='UTC_TIMESTAMP(6)' [created_at]='UTC_TIMESTAMP(6)'
		[expires_at]='UTC_TIMESTAMP(6) + INTERVAL 1 DAY' [owner_host]="'web1'" [owner_boot]="'boot'"
		[owner_pidns]=1 [owner_pid]=4711 [owner_start]=1
	)
	for pair; do
		columns[${pair%%=*}]=${pair#*=}
	done
	for pair in "${!columns[@]}"; do
		names+=", $pair"
		values+=", ${columns[$pair]}"
	done
	sql <<<"INSERT INTO oncewrap.once_record (${names#, }) VALUES (${values#, })"
}

# status_hour: lines of tests/web/history for a busy hour: the same at each run.
status_hour() {
	awk 'BEGIN {
		for (ago = 59; ago >= 0; ago--) {
			wave = 1 + sin((60 - ago) / 7)
			print "requests orders first", ago, int(60 + 40 * wave), 38000
			print "requests orders replayed", ago, int(8 + 30 * wave * (ago < 25)), 1800
			print "requests payments first", ago, int(9 + 5 * wave), 420000
			print "requests payments replayed", ago, int(2 * wave), 2100
			if (ago % 9 == 4) print "requests payments in_flight", ago, 3, 900
			if (ago % 13 == 5) print "requests orders mismatch", ago, 1, 1100
			if (ago >= 20 && ago < 26) print "requests payments store_down", ago, 4, 900000
			if (ago == 31) print "requests invoices first", ago, 2, 95000
		}
		for (i = 0; i < 5; i++) print "worker orders running", i
		print "worker payments running 12"
		print "worker payments waiting 3"
		print "worker orders claiming 0"
		print "worker orders settling 0"
		print "worker orders sending 0"
		for (i = 0; i < 6; i++) print "worker other idle 0"
	}'
}

# status_trouble: records that wait for a person.
status_trouble() {
	local i
	record id="UNHEX(SHA2('a', 256))" route="'payments'" created_at='UTC_TIMESTAMP(6) - INTERVAL 187 MINUTE' \
		key_text="'pay-2026-000417'" flags=2
	record id="UNHEX(SHA2('b', 256))" route="'payments'" tenant="'globex'" created_at='UTC_TIMESTAMP(6) - INTERVAL 52 MINUTE' \
		key_text="'pay-2026-000561'" owner_pid=5120 attempt=2 flags=2
	record id="UNHEX(SHA2('c', 256))" state="'in_flight'" lease_until='UTC_TIMESTAMP(6) - INTERVAL 4 MINUTE' \
		created_at='UTC_TIMESTAMP(6) - INTERVAL 5 MINUTE' key_text="'order-88213'" owner_host="'web2'" owner_pid=902
	for i in 1 2 3; do
		record id="UNHEX(SHA2('live$i', 256))" state="'in_flight'" lease_until='UTC_TIMESTAMP(6) + INTERVAL 1 DAY' key_text="'live$i'"
	done
	sql <<-SQL
		INSERT INTO oncewrap.once_record (id, tenant, route, key_text, state, token, attempt, fingerprint,
			fingerprint_scheme, part_digests, lease_until, created_at, settled_at, expires_at, owner_host, owner_boot,
			owner_pidns, owner_pid, owner_start, status)
		SELECT UNHEX(SHA2(seq, 256)), 'acme', 'orders', seq, 'complete', UNHEX(MD5(seq)), 1, UNHEX(SHA2(seq, 256)),
			'raw', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY, 'web1',
			'boot', 1, 4711, 1, 201 FROM oncewrap.seq_1_to_12840;
		UPDATE oncewrap.once_maintenance SET succeeded_at = UTC_TIMESTAMP(6) - INTERVAL 22 MINUTE, deleted = 18349,
			expired = 18349 WHERE task = 'purge'
	SQL
}
