#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-metrics: what it tells of the database, in both formats and whatever the locale, and what becomes of it when the
# database is slow, gone and back. tests/web/metrics.bats has the workers' part.

load setting.sh

setup_file() {
	setting_begin
	tables
}

teardown_file() {
	setting_end
}

setup() {
	mkdir -p "$HERE/run"
	configured
}

teardown() {
	if mariadb_running; then mariadb_thaw; else mariadb_restart; fi
	let_go
}

# configured [LINE]: $CONFIG, with a run directory in which no worker has ever counted, and that line in its store.
configured() {
	{
		configuration "$@"
		echo "run_directory = \"$HERE/run\";"
	} >"$CONFIG"
}

metrics() {
	"$builddir/once-metrics" --config "$CONFIG" "$@"
}

check() {
	python3 "$srcdir/tests/lib/exposition.py" "$@"
}

# values ARGUMENT...: the samples of the scope store, "name{labels} value".
values() {
	ends 0 metrics --scope=store "$@" || return 1
	check --values "$HERE/out" >"$HERE/values"
}

# value SERIES: its value in what `values` took last; nothing where it is not there.
value() {
	awk -v series="$1" '$1 == series { print $2 }' "$HERE/values"
}

# near SERIES TIME: a time, within half a minute.
near() {
	awk -v found="$(value "$1")" -v expected="$2" 'BEGIN { exit !(found != "" && (found - expected) ^ 2 < 900) }' || {
		echo "$1: $(value "$1"), not about $2" >&2
		return 1
	}
}

# hold STATEMENT: a session of its own runs it and stays until let_go.
hold() {
	mariadb_sql oncewrap -e "$1; SELECT SLEEP(1000)" >/dev/null 2>&1 3>&- &
	wait_until 20 holding
}

holding() {
	[[ -n $(holder) ]]
}

holder() {
	mariadb_sql -e "SELECT id FROM information_schema.processlist WHERE info = 'SELECT SLEEP(1000)'"
}

let_go() {
	local session
	session=$(holder)
	[[ -z $session ]] || mariadb_sql -e "KILL $session"
}

# took LEAST MOST: so many seconds the program says it took. A machine that has other things to do as well may add to what
# a clock outside would show.
took() {
	awk -v found="$(value oncewrap_collect_duration_seconds)" -v least="$1" -v most="$2" \
		'BEGIN { exit !(found >= least && found <= most) }' || {
		echo "took $(value oncewrap_collect_duration_seconds) s, not $1 to $2" >&2
		return 1
	}
}

NOW='UTC_TIMESTAMP(6)'

@test 'each series of the database has the value that the tables have' {
	local i now
	no_records
	now=$(date +%s)
	record "state='in_flight'" "status=NULL" "settled_at=NULL" "lease_until=$NOW + INTERVAL 1 HOUR"
	record "state='in_flight'" "status=NULL" "settled_at=NULL" "created_at=$NOW - INTERVAL 3 HOUR" \
		"lease_until=$NOW - INTERVAL 1 HOUR"
	# renewed, and closed
	record "state='in_flight'" "status=NULL" "settled_at=NULL" "lease_until=$NOW - INTERVAL 1 HOUR" "token=REPEAT('r', 16)"
	record "state='in_flight'" "status=NULL" "settled_at=NULL" "lease_until=$NOW - INTERVAL 1 HOUR" "token=REPEAT('c', 16)"
	sql <<<"INSERT INTO once_lease (token, lease_until) VALUES
		(REPEAT('r', 16), $NOW + INTERVAL 1 MINUTE), (REPEAT('c', 16), '1970-01-01')"
	for i in 1 2 3; do
		record "state='unknown'" "status=NULL" "created_at=$NOW - INTERVAL $i DAY" "expires_at=$NOW - INTERVAL 1 MINUTE"
	done
	record "state='released'" "status=NULL" "expires_at=$NOW - INTERVAL 1 MINUTE"
	record "state='expired'" "status=NULL"
	record "state='expired'" "status=NULL" "expires_at=$NOW - INTERVAL 1 SECOND"
	for i in 1 2 3 4 5; do
		record "expires_at=$NOW - INTERVAL $i SECOND"
		record
	done
	values
	while read -r series expected; do
		same "$series" "$expected" "$(value "$series")"
	done <<-'VALUES'
		oncewrap_store_up 1
		oncewrap_records{state=in_flight} 4
		oncewrap_records{state=complete} 10
		oncewrap_records{state=unknown} 3
		oncewrap_records{state=released} 1
		oncewrap_records{state=expired} 2
		oncewrap_count_limit 100000
		oncewrap_stale_leases 2
		oncewrap_records_past_expiry 6
		oncewrap_schema_version 1
		oncewrap_schema_expected_version 1
		oncewrap_purge_last_success_timestamp_seconds 0
		oncewrap_purge_deleted_total 0
		oncewrap_keys_expired_total 0
	VALUES
	near oncewrap_oldest_in_flight_timestamp_seconds $((now - 3 * 3600))
	near oncewrap_oldest_unknown_timestamp_seconds $((now - 3 * 86400))
	near oncewrap_clock_skew_seconds 0
	[[ $(value oncewrap_store_bytes) -ge 16384 ]]
	[[ $(value oncewrap_collect_duration_seconds) =~ ^[01]\.[0-9]+$ ]]
	"$builddir/once-expire" --config "$CONFIG" --quiet
	values
	same deleted 6 "$(value oncewrap_purge_deleted_total)"
	same expired 5 "$(value oncewrap_keys_expired_total)" # the tombstone's key had expired before
	same 'past expiry' 0 "$(value oncewrap_records_past_expiry)"
	near oncewrap_purge_last_success_timestamp_seconds "$(date +%s)"
	no_records
	values
	same 'oldest of none' '' "$(value oncewrap_oldest_in_flight_timestamp_seconds)$(value oncewrap_oldest_unknown_timestamp_seconds)"
	same 'none in flight' '0 0' "$(value 'oncewrap_records{state=in_flight}') $(value oncewrap_stale_leases)"
}

@test 'a purge that the database refused is no success' {
	no_records
	record "expires_at=$NOW - INTERVAL 1 SECOND"
	sql <<<"UPDATE once_maintenance SET succeeded_at = '2026-01-01'; REVOKE DELETE ON once_record FROM 'oncewrap-admin'@localhost"
	ends 77 "$builddir/once-expire" --config "$CONFIG"
	values
	same 'last success' "$(date -d 2026-01-01T00:00:00Z +%s)" "$(value oncewrap_purge_last_success_timestamp_seconds)"
	grants
}

@test 'counts end at --count-limit, and the statements go by the index' {
	no_records
	records 2000
	sql <<<"UPDATE once_record SET state = 'unknown', status = NULL WHERE key_text <= 300"
	values --count-limit=100
	same complete 100 "$(value 'oncewrap_records{state=complete}')"
	same unknown 100 "$(value 'oncewrap_records{state=unknown}')"
	same limit 100 "$(value oncewrap_count_limit)"
	mariadb_sql -e "SET GLOBAL log_slow_verbosity = 'query_plan,explain', slow_query_log_file = '$MARIADB_DIR/run/slow',
		long_query_time = 0, slow_query_log = ON"
	values --count-limit=100
	mariadb_sql -e 'SET GLOBAL slow_query_log = OFF'
	awk '/^# User@Host/ { ours = /oncewrap-metrics/ } ours' "$MARIADB_DIR/run/slow" >"$HERE/statements"
	same 'ways into the table' 'eq_ref PRIMARY,range once_record_expiry,ref once_record_expiry' \
		"$(awk -F '\t' '/explain:/ && $3 == "once_record" { print $4, $6 }' "$HERE/statements" | sort -u | paste -sd,)"
	# 300 of each kind that is looked up or counted, of 2000
	[[ $(sed -n 's/.*Rows_examined: //p' "$HERE/statements" | sort -n | tail -n 1) -le 400 ]]
	no_records
}

@test 'the account of [oncewrap-metrics] is enough, and may read no answer and change nothing' {
	local statement
	values
	printf '[client]\nuser=oncewrap-metrics\npassword=secret\n' >"$HERE/client.cnf"
	while read -r statement; do
		ends 1 mariadb --defaults-file="$HERE/client.cnf" --socket="$MARIADB_SOCKET" oncewrap -e "$statement"
		grep -q denied "$HERE/err"
	done <<-'STATEMENTS'
		SELECT body FROM once_record
		SELECT headers FROM once_record
		SELECT checkpoint_data FROM once_record
		SELECT fingerprint FROM once_record
		SELECT location FROM once_natural_key
		SELECT reason FROM once_audit
		DELETE FROM once_record
		UPDATE once_maintenance SET deleted = 0
		INSERT INTO once_lease VALUES (REPEAT('x', 16), NOW())
	STATEMENTS
}

@test 'a right that is missing costs what needs it, and is told' {
	sql <<<"REVOKE SELECT ON once_maintenance FROM 'oncewrap-metrics'@localhost"
	values
	told once_maintenance
	same 'purge series' '' "$(grep purge "$HERE/values" || :)"
	same 'up, and counted' '1 0' "$(value oncewrap_store_up) $(value oncewrap_stale_leases)"
	ends 77 metrics --scope=store --strict
	same 'standard output' '' "$(<"$HERE/out")"
	grants
}

@test 'the database down is 0 and no failure, unless --strict; and it is back at once' {
	mariadb_stop
	values
	same 'what is there' 'oncewrap_store_up 0' "$(grep -v duration "$HERE/values")"
	told 'see whether the database runs'
	ends 69 metrics --scope=store --strict
	same 'standard output' '' "$(<"$HERE/out")"
	mariadb_restart
	ends 0 metrics --scope=store --strict
	values
	same up 1 "$(value oncewrap_store_up)"
}

@test 'a database that says nothing costs 2 s, and is down; and it is back at once' {
	mariadb_freeze
	values
	took 1.9 2.5
	same up 0 "$(value oncewrap_store_up)"
	same 'what is there' 'oncewrap_store_up 0' "$(grep -v duration "$HERE/values")"
	values --timeout=1
	took 0.9 1.5
	mariadb_thaw
	values
	same up 1 "$(value oncewrap_store_up)"
}

@test 'a database that falls silent in the middle is down' {
	hold 'LOCK TABLES once_maintenance WRITE'
	"$builddir/once-metrics" --config "$CONFIG" --scope=store --timeout=20 >"$HERE/out" 2>/dev/null 3>&- &
	local pid=$!
	wait_until 20 metrics_waits
	kill -KILL "$(cat "$MARIADB_DIR/process")"
	wait "$pid"
	check --values "$HERE/out" >"$HERE/values"
	same 'what is there' 'oncewrap_store_up 0' "$(grep -v duration "$HERE/values")"
}

metrics_waits() {
	[[ -n $(mariadb_sql -e "SELECT id FROM information_schema.processlist WHERE user = 'oncewrap-metrics' AND state LIKE 'Waiting%'") ]]
}

@test 'a table that somebody holds costs 2 s; the rest is told, and the database is up' {
	hold 'LOCK TABLES once_record WRITE'
	values
	took 0.9 2.5
	same up 1 "$(value oncewrap_store_up)"
	same schema 1 "$(value oncewrap_schema_version)"
	same 'counts' '' "$(grep oncewrap_records "$HERE/values" || :)"
	told 'Lock wait timeout exceeded'
	ends 75 metrics --scope=store --strict --timeout=1
	told 'the time was over before everything was counted'
}

@test 'the skew is what the clock of this host is wrong by' {
	local library
	library=$(faketime -f +0 printenv LD_PRELOAD)
	FAKETIME=-100 FAKETIME_DONT_FAKE_MONOTONIC=1 LD_PRELOAD=$library values
	near oncewrap_clock_skew_seconds 100
	[[ $(value oncewrap_clock_skew_seconds) == 100.* || $(value oncewrap_clock_skew_seconds) == 99.9* ]]
	FAKETIME=+100 FAKETIME_DONT_FAKE_MONOTONIC=1 LD_PRELOAD=$library values
	[[ $(value oncewrap_clock_skew_seconds) == -100* || $(value oncewrap_clock_skew_seconds) == -99.9* ]]
}

@test 'both formats are sound, to promtool and to our own checker, and tell the same' {
	record "state='in_flight'" "status=NULL" "settled_at=NULL"
	ends 0 metrics
	check "$HERE/out"
	promtool check metrics <"$HERE/out"
	check --values "$HERE/out" | grep -v 'duration\|skew' >"$HERE/series"
	ends 0 metrics --openmetrics
	check --openmetrics "$HERE/out"
	check --openmetrics --values "$HERE/out" | grep -v 'duration\|skew' >"$HERE/open"
	same 'series of both' "$(<"$HERE/series")" "$(<"$HERE/open")"
	no_records
}

@test 'a German locale changes nothing' {
	mkdir -p "$HERE/locale"
	localedef -i de_DE -f UTF-8 "$HERE/locale/de_DE.UTF-8" 2>/dev/null
	same 'it is one' 0,5 "$(LOCPATH=$HERE/locale LC_ALL=de_DE.UTF-8 awk --use-lc-numeric 'BEGIN { print 0.5 }' 2>/dev/null ||
		LOCPATH=$HERE/locale LC_ALL=de_DE.UTF-8 bash -c 'printf %.1f 0,5')"
	sql <<<"UPDATE once_maintenance SET succeeded_at = '2026-01-01 00:00:00.25'"
	LOCPATH=$HERE/locale LC_ALL=de_DE.UTF-8 values
	same 'a fraction' "$(date -d 2026-01-01T00:00:00Z +%s).25" "$(value oncewrap_purge_last_success_timestamp_seconds)"
}

@test 'without a segment the workers are not known, which is told and is no failure, unless --strict' {
	ends 0 metrics --scope=local
	told "$HERE/run"
	check --values "$HERE/out" >"$HERE/values"
	same 'series' 'oncewrap_build_info oncewrap_segment_up' "$(sed 's/[{ ].*//' "$HERE/values" | xargs)"
	same 'segment' 0 "$(value oncewrap_segment_up)"
	ends 69 metrics --scope=local --strict
	same 'standard output' '' "$(<"$HERE/out")"
	mariadb_stop
	ends 0 metrics --scope=local # asks no database
}

@test 'a file is replaced as a whole, readable by all, and nothing is left beside it' {
	local old
	mkdir -p "$HERE/text"
	(umask 077 && metrics --scope=store --textfile="$HERE/text/once.prom")
	check "$HERE/text/once.prom"
	same mode 644 "$(stat -c %a "$HERE/text/once.prom")"
	same files once.prom "$(ls -A "$HERE/text")"
	old=$(stat -c %i "$HERE/text/once.prom")
	exec 7<"$HERE/text/once.prom"
	cp "$HERE/text/once.prom" "$HERE/before"
	metrics --scope=store --textfile="$HERE/text/once.prom"
	[[ $(stat -c %i "$HERE/text/once.prom") != "$old" ]]
	# Who has begun to read goes on with the old one.
	cmp "$HERE/before" - <&7
	exec 7<&-
	(cd "$HERE/text" && metrics --scope=store --textfile=once.prom)
	same files once.prom "$(ls -A "$HERE/text")"
}

@test '73: a file that cannot be written stays as it was' {
	mkdir -p "$HERE/text"
	echo old >"$HERE/text/once.prom"
	# A full disk, as far as a process can be shown one without being root.
	ends 73 bash -c "trap '' XFSZ; ulimit -f 1; exec '$builddir/once-metrics' --config '$CONFIG' --textfile='$HERE/text/once.prom'"
	told "$HERE/text/once.prom: cannot be written: File too large"
	same content old "$(<"$HERE/text/once.prom")"
	same files once.prom "$(ls -A "$HERE/text")"
	ends 73 metrics --textfile="$HERE/nowhere/once.prom"
	told "$HERE/nowhere/once.prom: cannot be made: No such file or directory"
	mkdir "$HERE/text/folder"
	ends 73 metrics --textfile="$HERE/text/folder"
	same files 'folder once.prom' "$(ls -A "$HERE/text" | xargs)"
	ends 73 sh -c "'$builddir/once-metrics' --config '$CONFIG' >/dev/full"
}

@test '0: a reader that has closed the pipe is no failure and brings no message' {
	ends 0 bash -c "set -o pipefail; '$builddir/once-metrics' --config '$CONFIG' --scope=store 2>'$HERE/told' | true"
	same 'standard error' '' "$(<"$HERE/told")"
}

@test '64: what does not fit together' {
	while IFS='|' read -r arguments text; do
		# shellcheck disable=SC2086
		ends 64 metrics $arguments
		told "$text"
		same 'standard output' '' "$(<"$HERE/out")"
	done <<-'CASES'
		--scope=everything|"everything" is none of local, store
		--scope=|"" is none of local, store
		--scope=local,|"" is none of local, store
		--classic --scope=store|--classic: its series are of --scope=local only
		--openmetrics --textfile=x|only the text format
		--textfile=|names no file
		--textfile=/tmp/|names no file
		--count-limit=0|is not a number from 1
		--timeout=0|is not a number from 1 to 3600
		more|"more": takes no arguments
	CASES
	ends 78 "$builddir/once-metrics" --config "$HERE/none.conf"
}
