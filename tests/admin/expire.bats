#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-expire: what is past its time goes, nothing else does, one at a time, and it can be stopped at any moment.

load setting.sh

setup_file() {
	setting_begin
	tables
}

teardown_file() {
	setting_end
}

setup() {
	mariadb_running || mariadb_restart
	no_records
	sql <<-'SQL'
		DELETE FROM once_natural_key; DELETE FROM once_audit;
		UPDATE once_maintenance SET held_until = '1970-01-01', started_at = NULL, finished_at = NULL, deleted = 0, tombstoned = 0;
	SQL
}

expire() {
	"$builddir/once-expire" --config "$CONFIG" "$@"
}

# gone INTERVAL: an SQL expression for so long ago.
gone() {
	echo "UTC_TIMESTAMP(6) - INTERVAL ${1:-1 HOUR}"
}

# expired_records N [INTERVAL]: so many answers past their retention; their keys are 1 to N.
expired_records() {
	records "$1"
	sql <<<"UPDATE once_record SET expires_at = $(gone "${2:-1 HOUR}")"
}

# keys: of the records that are there.
keys() {
	sql <<<'SELECT key_text FROM once_record ORDER BY key_text' | paste -sd' '
}

count() {
	sql <<<"SELECT COUNT(*) FROM ${1:-once_record}"
}

# figure NAME: of the run that `ends` ran last with -o csv.
figure() {
	python3 - "$HERE/out" "$1" <<-'PY'
		import csv, sys
		[row] = csv.DictReader(open(sys.argv[1], newline=""))
		print(row[sys.argv[2]])
	PY
}

# in_background ARGUMENT...: once-expire, as $PID, what it says in $HERE/out and $HERE/err.
in_background() {
	# A shell starts what it does not wait for with SIGINT ignored.
	env --default-signal=INT "$builddir/once-expire" --config "$CONFIG" "$@" >"$HERE/out" 2>"$HERE/err" 3>&- &
	PID=$!
}

has_left() {
	[[ $(count) == "$1" ]]
}

# ended STATUS: $PID ends with it.
ended() {
	local status=0
	wait "$PID" || status=$?
	same 'exit status' "$1" "$status" || {
		cat "$HERE/out" "$HERE/err" >&2
		return 1
	}
}

# expire_at_terminal SCRIPT ARGUMENT...: what was seen is in $HERE/out.
expire_at_terminal() {
	local script=$1
	shift
	at_terminal "$script" "$HERE/out" "$builddir/once-expire" --config "$CONFIG" "$@"
}

#
# What goes and what stays
#

@test 'C24, C9: answers past their retention go; what lives, is unknown or released stays' {
	local past
	past=$(gone)
	record "key_text='old'" "expires_at=$past"
	record "key_text='late tombstone'" "state='expired'" "expires_at=$past" status=NULL body=NULL headers=NULL
	record "key_text='live'"
	record "key_text='tombstone'" "state='expired'" status=NULL body=NULL headers=NULL
	record "key_text='unknown'" "state='unknown'" "expires_at=$past" status=NULL
	record "key_text='released'" "state='released'" "expires_at=$past" "checkpoint='half'" status=NULL
	record "key_text='young'" "state='in_flight'" status=NULL "lease_until=$past"
	ends 0 expire -o csv
	same left 'live released tombstone unknown young' "$(keys)"
	same deleted 2 "$(figure deleted)"
	same ended 'done' "$(figure ended)"
	same 'no lease was closed' 0 "$(count once_lease)"
}

@test 'C24: in flight past its retention: gone once its lease could be closed, never while it is renewed' {
	local past
	past=$(gone)
	for key in renewed lapsed first closed; do
		record "key_text='$key'" "state='in_flight'" status=NULL settled_at=NULL "expires_at=$past" "lease_until=$past" \
			"token=UNHEX(MD5('$key'))"
	done
	sql <<-SQL
		UPDATE once_record SET lease_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE key_text = 'first';
		INSERT INTO once_lease (token, lease_until) VALUES (UNHEX(MD5('renewed')), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR);
		INSERT INTO once_lease (token, lease_until) VALUES (UNHEX(MD5('closed')), '1970-01-01');
		INSERT INTO once_natural_key (natural_id, record_id, token, window_until)
			SELECT id, id, token, '9999-12-31' FROM once_record;
	SQL
	ends 0 expire
	same left 'first renewed' "$(keys)"
	same 'natural keys' 2 "$(count once_natural_key)"
	same 'the owner that wakes up is told' 1970-01-01 \
		"$(sql <<<"SELECT DATE(lease_until) FROM once_lease WHERE token = UNHEX(MD5('lapsed'))")"
}

@test 'C24, C9: what must not run twice becomes unknown at the end of its retention, and a checkpoint is never lost' {
	local past
	past=$(gone)
	for key in payment half both; do
		record "key_text='$key'" "state='in_flight'" status=NULL settled_at=NULL "expires_at=$past" "lease_until=$past" \
			"token=UNHEX(MD5('$key'))"
	done
	sql <<-SQL
		UPDATE once_record SET flags = 2 WHERE key_text <> 'half';
		UPDATE once_record SET checkpoint = 'half' WHERE key_text <> 'payment';
		INSERT INTO once_natural_key (natural_id, record_id, token, window_until)
			SELECT id, id, token, '9999-12-31' FROM once_record WHERE key_text = 'payment';
	SQL
	ends 0 expire -n -o csv
	same 'would be' '2 0' "$(figure unknown) $(figure deleted)"
	ends 0 expire -o csv
	same left 'both unknown, half in_flight, payment unknown' "$(sql <<<"SELECT GROUP_CONCAT(key_text, ' ', state
		ORDER BY key_text SEPARATOR ', ') FROM once_record")"
	same figures '2 0' "$(figure unknown) $(figure deleted)"
	same 'its natural key is held on' 1 "$(count once_natural_key)"
	same 'nobody can renew it' 2 "$(sql <<<"SELECT COUNT(*) FROM once_lease WHERE lease_until = '1970-01-01'")"
	same 'the trail has it' 1 "$(sql <<<"SELECT COUNT(*) FROM once_audit WHERE reason LIKE '%deleted 0, tombstoned 0, unknown 2 in %'")"
}

@test 'C24: a lease that somebody else is at work on stops nothing: its record is left, the next one goes' {
	local past
	past=$(gone)
	for key in held free; do
		record "key_text='$key'" "state='in_flight'" status=NULL settled_at=NULL "expires_at=$past" "lease_until=$past" \
			"token=UNHEX(MD5('$key'))"
	done
	sql <<<"UPDATE once_record SET expires_at = expires_at - INTERVAL 1 MINUTE WHERE key_text = 'held'"
	mariadb_sql oncewrap -e "BEGIN; INSERT INTO once_lease (token, lease_until) VALUES (UNHEX(MD5('held')), '1970-01-01');
		SELECT SLEEP(1000)" >/dev/null 2>&1 3>&- &
	wait_until 20 sleeps
	ends 0 expire -o csv
	sql <<<"KILL $(sleeper)"
	same left held "$(keys)"
	same busy 1 "$(figure busy)"
}

@test 'C24: a route with tombstones: the answer goes, the key stays until the end of the tombstone' {
	local name tokens
	configuration >"$HERE/routes.conf"
	cat >>"$HERE/routes.conf" <<-'CONF'
		routes = (
			{ name = "orders"; path = "/orders*"; times: { tombstone = "2h"; }; },
			{ name = "quick"; path = "/quick*"; },
			{ name = "long"; path = "/long*"; times: { tombstone = "30d"; }; }
		);
	CONF
	for name in orders quick long elsewhere; do
		record "key_text='$name'" "route='$name'" "expires_at=$(gone '1 HOUR')" "reference='r'"
	done
	record "key_text='over'" "expires_at=$(gone '3 HOUR')"
	tokens=$(sql <<<"SELECT HEX(token) FROM once_record WHERE key_text = 'orders'")
	ends 0 "$builddir/once-expire" --config "$HERE/routes.conf" -o csv
	same left 'elsewhere long orders' "$(keys)"
	same deleted 2 "$(figure deleted)"
	same tombstoned 3 "$(figure tombstoned)"
	same 'the answer' "expired 1 $tokens" "$(sql <<<"SELECT state, status IS NULL AND headers IS NULL AND body IS NULL AND
		reference IS NULL, HEX(token) FROM once_record WHERE key_text = 'orders'" | tr '\t' ' ')"
	same 'the end: an hour ago and 2 hours; as long as the longest of a route that is not configured' \
		'elsewhere 719 long 719 orders 1' "$(sql <<<"SELECT key_text, TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6),
			expires_at + INTERVAL 30 SECOND) DIV 3600 FROM once_record ORDER BY 1" | xargs)"
	ends 0 "$builddir/once-expire" --config "$HERE/routes.conf" -o csv
	same 'a tombstone that stands is left alone' '0 0' "$(figure deleted) $(figure tombstoned)"
	sql <<<"UPDATE once_record SET expires_at = UTC_TIMESTAMP(6)"
	ends 0 "$builddir/once-expire" --config "$HERE/routes.conf"
	same left '' "$(keys)"
}

@test 'leases of records that are over go after a day, natural keys when their window is over' {
	record "key_text='flying'" "state='in_flight'" status=NULL "lease_until=$(gone '2 DAY')" "token=UNHEX(MD5('flying'))"
	record "key_text='complete'" "token=UNHEX(MD5('complete'))"
	sql <<-SQL
		INSERT INTO once_lease (token, lease_until, written_at) VALUES
			(UNHEX(MD5('flying')), '1970-01-01', $(gone '2 DAY')), (UNHEX(MD5('complete')), $(gone '2 DAY'), $(gone '2 DAY')),
			(UNHEX(MD5('no record')), '1970-01-01', $(gone '25 HOUR')),
			(UNHEX(MD5('closed today')), '1970-01-01', $(gone '23 HOUR')),
			(UNHEX(MD5('renewed')), UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE, $(gone '2 DAY'));
		INSERT INTO once_natural_key (natural_id, record_id, token, window_until) VALUES
			(RANDOM_BYTES(32), RANDOM_BYTES(32), RANDOM_BYTES(16), $(gone)),
			(RANDOM_BYTES(32), RANDOM_BYTES(32), RANDOM_BYTES(16), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR);
	SQL
	ends 0 expire -o csv
	same leases 2 "$(figure leases)"
	same 'natural keys' 1 "$(figure natural_keys)"
	for name in flying 'closed today' renewed; do
		same "$name" 1 "$(sql <<<"SELECT COUNT(*) FROM once_lease WHERE token = UNHEX(MD5('$name'))")"
	done
	same 'left' 1 "$(count once_natural_key)"
}

@test 'written_at is written by each renewal, so that only what is silent gets old' {
	sql <<<"INSERT INTO once_lease (token, lease_until, written_at) VALUES (REPEAT('a', 16), $(gone), $(gone '2 DAY'))"
	sql <<<"UPDATE once_lease SET lease_until = UTC_TIMESTAMP(6)"
	ends 0 expire
	same leases 1 "$(count once_lease)"
}

@test 'all of many go, batch by batch, also where hundreds expired in the same moment' {
	expired_records 2500
	sql <<<"UPDATE once_record SET expires_at = expires_at - INTERVAL key_text MICROSECOND WHERE key_text <= 500"
	record "key_text='live'"
	ends 0 expire --batch=100 --sleep=0 -o csv
	same left live "$(keys)"
	same deleted 2500 "$(figure deleted)"
	[[ $(figure batches) -ge 25 ]]
}

@test 'a record that somebody else is at work on is left, the others of its batch go' {
	expired_records 100
	mariadb_sql oncewrap -e "BEGIN; UPDATE once_record SET attempt = 2 WHERE key_text = '50'; SELECT SLEEP(1000)" \
		>/dev/null 2>&1 3>&- &
	wait_until 20 sleeps
	ends 0 expire -o csv
	sql <<<"KILL $(sleeper)"
	same left 50 "$(keys)"
	same busy 1 "$(figure busy)"
	wait_until 20 purges_last
}

sleeper() {
	sql <<<"SELECT id FROM information_schema.processlist WHERE info = 'SELECT SLEEP(1000)'"
}

sleeps() {
	[[ -n $(sleeper) ]]
}

purges_last() {
	expire --quiet && has_left 0
}

@test 'among many that live it looks at what has expired only: picked by the index on expiry, deleted by their ids' {
	local log=$MARIADB_DIR/run/statements
	records 20000
	sql <<<"UPDATE once_record SET expires_at = $(gone) WHERE key_text <= 1000; ANALYZE TABLE once_record" >/dev/null
	mariadb_sql -e "SET GLOBAL log_slow_verbosity = 'query_plan,explain', slow_query_log_file = '$log', long_query_time = 0,
		slow_query_log = ON"
	ends 0 expire --sleep=0 -o csv
	mariadb_sql -e 'SET GLOBAL slow_query_log = OFF'
	same deleted 1000 "$(figure deleted)"
	# Whose statements those are: this file's other sessions are the administrator's.
	awk '/^# User@Host/ { ours = /oncewrap-admin/ } ours' "$log" >"$HERE/statements"
	same 'ways to the records' 'once_record_expiry PRIMARY' \
		"$(awk -F '\t' '/explain:/ && $3 == "once_record" { print $6 }' "$HERE/statements" | LC_ALL=C sort -u |
			LC_ALL=C sort -r | xargs)"
	# Each once to pick it, once to delete it, and some at the ends of pages.
	[[ $(sed -n 's/.*Rows_examined: //p' "$HERE/statements" | awk '{ sum += $1 } END { print sum }') -lt 2500 ]]
}

#
# Selections
#

@test 'other selections are written out, counted, and need --yes where nobody can be asked' {
	records 20
	record "key_text='theirs'" "tenant='other'" "route='theirs'" "created_at=$(gone '3 DAY')"
	record "key_text='unknown'" "tenant='other'" "state='unknown'" status=NULL
	for selection in --tenant=other --route=theirs --older=2d --all=ALL; do
		ends 64 setsid "$builddir/once-expire" --config "$CONFIG" $selection
		told --yes
		told 'delete'
		ends 64 expire $selection --no-input
	done
	told 'delete 21 records, and make tombstones of 0? nobody'
	same 'nothing happened' 22 "$(count)"
	ends 0 expire --yes --tenant=other --older=4d
	same 'nothing fits both' 22 "$(count)"
	ends 0 expire --yes --tenant=other --older=2d
	same left 21 "$(count)"
	ends 0 expire --yes --all=ALL
	same left unknown "$(keys)"
	same 'told in the trail' 1 "$(sql <<<"SELECT COUNT(*) FROM once_audit WHERE reason LIKE '--tenant=other --older=2d: deleted 1,%'")"
	same 'told in the trail' 1 "$(sql <<<"SELECT COUNT(*) FROM once_audit WHERE reason LIKE '--all=ALL: deleted 20,%'")"
}

@test 'a selection within what has expired asks nothing' {
	expired_records 10
	sql <<<"UPDATE once_record SET tenant = 'other' WHERE key_text > 5; UPDATE once_record SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 DAY WHERE key_text = 7"
	ends 0 setsid "$builddir/once-expire" --config "$CONFIG" --expired --tenant=other --batch=2
	same left '1 10 2 3 4 5 6 7 8 9' "$(echo 1 2 3 4 5 7 10 6 8 9 | tr ' ' '\n' | sort | xargs)"
	same left 6 "$(count)"
}

@test 'at a terminal it asks: y does it, anything else does not' {
	records 5
	expire_at_terminal '[y/N]|n\n' --all=ALL
	same 'after n' 5 "$(count)"
	expire_at_terminal '[y/N]|\n' --all=ALL
	same 'after nothing' 5 "$(count)"
	expire_at_terminal 'delete 5 records, and make tombstones of 0? [y/N]|y\n' --all=ALL
	same 'after y' 0 "$(count)"
}

@test 'the answers that a selection takes from a route with tombstones leave them' {
	configuration >"$HERE/routes.conf"
	echo 'routes = ( { name = "orders"; path = "/orders*"; times: { tombstone = "2h"; }; } );' >>"$HERE/routes.conf"
	record "key_text='fresh'"
	ends 0 "$builddir/once-expire" --config "$HERE/routes.conf" --yes --all=ALL -o csv
	same tombstoned 1 "$(figure tombstoned)"
	same state expired "$(sql <<<'SELECT state FROM once_record')"
}

@test 'a tombstone stands until its end, however many there are and however often a selection is run' {
	configuration >"$HERE/routes.conf"
	echo 'routes = ( { name = "orders"; path = "/orders*"; times: { tombstone = "2h"; }; } );' >>"$HERE/routes.conf"
	for selection in --all=ALL --tenant=acme; do
		no_records
		records 6
		record "key_text='over'" "state='expired'" "expires_at=$(gone)" status=NULL body=NULL headers=NULL
		ends 0 "$builddir/once-expire" --config "$HERE/routes.conf" --yes $selection --batch=2 --sleep=0 -o csv
		same "figures of $selection" '6 1' "$(figure tombstoned) $(figure deleted)"
		ends 0 "$builddir/once-expire" --config "$HERE/routes.conf" --yes $selection --batch=2 --sleep=0 -o csv
		same "figures of another $selection" '0 0' "$(figure tombstoned) $(figure deleted)"
		same "left by $selection" 6 "$(count)"
	done
}

@test "a tenant's records are found by their index, not among all others" {
	local log=$MARIADB_DIR/run/statements-of-tenant
	records 20000
	sql <<<"UPDATE once_record SET tenant = 'small' WHERE key_text <= 20; ANALYZE TABLE once_record" >/dev/null
	mariadb_sql -e "SET GLOBAL log_slow_verbosity = 'query_plan,explain', slow_query_log_file = '$log', long_query_time = 0,
		slow_query_log = ON"
	ends 0 expire --yes --tenant=small --batch=7 --sleep=0 -o csv
	mariadb_sql -e 'SET GLOBAL slow_query_log = OFF'
	same deleted 20 "$(figure deleted)"
	same left 19980 "$(count)"
	awk '/^# User@Host/ { ours = /oncewrap-admin/ } ours' "$log" >"$HERE/statements"
	[[ $(sed -n 's/.*Rows_examined: //p' "$HERE/statements" | awk '{ sum += $1 } END { print sum }') -lt 200 ]]
}

@test '--dry-run tells what would be done and does nothing' {
	expired_records 30
	record "key_text='live'"
	ends 0 expire -n -o csv
	same deleted 30 "$(figure deleted)"
	ends 0 expire --dry-run --all=ALL -o csv
	same deleted 31 "$(figure deleted)"
	same left 31 "$(count)"
	same 'no trace' 'NULL 0' "$(sql <<<'SELECT started_at, deleted FROM once_maintenance' | tr '\t' ' ')"
}

#
# One at a time, and to be stopped
#

@test 'counts and last run are kept, and the trail has a row for a run that changed something' {
	local row
	expired_records 7
	SUDO_USER=alice ends 0 expire
	row=$(sql <<<"SELECT deleted, tombstoned, holder, held_until <= UTC_TIMESTAMP(6), started_at <= finished_at,
		TIMESTAMPDIFF(SECOND, finished_at, UTC_TIMESTAMP(6)) < 300 FROM once_maintenance")
	same kept $'7\t0\t\t1\t1\t1' "$row"
	ends 0 expire
	same trail "$(id -un) (sudo: alice)|$(uname -n)|once-expire|--expired: deleted 7, tombstoned 0, unknown 0 in 0 s, ended: done" \
		"$(sql <<<"SELECT CONCAT_WS('|', who, host, program, reason) FROM once_audit WHERE record_id = REPEAT('\0', 32)")"
}

@test '75: one purge at a time; it says whose it is, and one that died is succeeded' {
	expired_records 3
	in_background --batch=1 --sleep=60000
	wait_until 20 has_left 2
	ends 75 expire
	told "another purge is at work: $(id -un)@$(uname -n), process $PID"
	same 'nothing was taken' 2 "$(count)"
	kill -KILL "$PID"
	ended 137
	ends 75 expire
	sql <<<"UPDATE once_maintenance SET held_until = $(gone '1 SECOND')"
	ends 0 expire
	same left 0 "$(count)"
}

@test '75: one that was taken for dead finds out and stops' {
	expired_records 3
	# Its next look comes when it has held the task for 15 s.
	in_background --batch=1 --sleep=16000
	wait_until 20 has_left 2
	sql <<<"UPDATE once_maintenance SET holder = 'bob@db2', held_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"
	ended 75
	told 'another purge began'
	told 'bob@db2 is at it'
	same 'nothing more was taken' 2 "$(count)"
	same "the other's is left alone" bob@db2 "$(sql <<<'SELECT holder FROM once_maintenance')"
	same 'the trail has it' 1 "$(count once_audit)"
}

@test '130: interrupted between two batches; what was done is kept and told, and the next run goes on' {
	for signal in INT TERM HUP; do
		expired_records 3
		in_background --batch=1 --sleep=60000 -o csv
		wait_until 20 has_left 2
		kill "-$signal" "$PID"
		ended 130
		same deleted 1 "$(figure deleted)"
		same ended interrupted "$(figure ended)"
		told 'it was interrupted'
		ends 0 expire
		same left 0 "$(count)"
	done
	same counted 9 "$(sql <<<'SELECT deleted FROM once_maintenance')"
}

@test 'there is a pause after each batch, whichever table it was of' {
	sql <<<"INSERT INTO once_natural_key (natural_id, record_id, token, window_until)
		SELECT UNHEX(SHA2(seq, 256)), REPEAT('r', 32), REPEAT('t', 16), $(gone) FROM seq_1_to_3"
	in_background --batch=1 --sleep=60000
	wait_until 20 natural_keys_left 2
	kill -INT "$PID"
	ended 130
	same left 2 "$(count once_natural_key)"
}

natural_keys_left() {
	[[ $(count once_natural_key) == "$1" ]]
}

@test 'at a terminal there is a bar, and Ctrl-C ends it with 130' {
	local status=0
	expired_records 4
	expire_at_terminal '1 records, |\x03' --batch=1 --sleep=60000 || status=$?
	same status 130 "$status"
	same left 3 "$(count)"
	grep -qF '[##########..............................]  25% 1 records' "$HERE/out"
	expire_at_terminal '' --quiet
	same 'quiet' '' "$(<"$HERE/out")"
	same left 0 "$(count)"
}

@test '75: --max-rows and --run-time end it early, and the next run goes on' {
	expired_records 100
	ends 75 expire --max-rows=30 -o csv
	same deleted 30 "$(figure deleted)"
	same ended max-rows "$(figure ended)"
	told 'as many records as --max-rows'
	same left 70 "$(count)"
	ends 75 expire --batch=1 --sleep=1100 --run-time=1s -o csv
	same ended run-time "$(figure ended)"
	same deleted 1 "$(figure deleted)"
	ends 75 expire --quiet --max-rows=1
	same 'standard error' '' "$(<"$HERE/err")"
	ends 75 expire --quiet --why-quit --max-rows=1
	told 'as many records as --max-rows'
	ends 0 expire --why-quit
	told 'nothing is left'
}

@test '69: the database goes away in the middle: told once, what was done is kept' {
	expired_records 5
	in_background --batch=1 --sleep=1500 -o csv
	wait_until 20 has_left 4
	mariadb_kill9
	ended 69
	told 'see whether the database runs'
	same lines 1 "$(wc -l <"$HERE/err")"
	same deleted 1 "$(figure deleted)"
	same ended failed "$(figure ended)"
	mariadb_restart
	same left 4 "$(count)"
	sql <<<"UPDATE once_maintenance SET held_until = '1970-01-01'"
	ends 0 expire
	same left 0 "$(count)"
}

@test '69, 75, 77, 78: as every program of this kind' {
	local file=$HERE/other.cnf
	mariadb_stop
	ends 69 expire
	mariadb_restart
	sql <<<"INSERT INTO once_schema VALUES (9999, '9999-future.sql', REPEAT('x', 32), FALSE, UTC_TIMESTAMP(6), 'bob')"
	ends 78 expire
	told "the schema is newer; run: once-migrate --config=$CONFIG status"
	sql <<<'DELETE FROM once_schema WHERE version = 9999'
	ends 78 "$builddir/once-expire" --config "$HERE/none.conf"
	printf '[oncewrap-admin]\nuser = oncewrap-admin\npassword = wrong\n' >"$file"
	chmod 600 "$file"
	configuration | sed 's,accounts.cnf,other.cnf,' >"$HERE/other.conf"
	ends 77 "$builddir/once-expire" --config "$HERE/other.conf"
	sql <<<"DELETE FROM once_maintenance"
	ends 78 expire
	told 'once_maintenance has no row "purge"'
	sql <<<"INSERT INTO once_maintenance (task) VALUES ('purge')"
}

@test '73: the output cannot be written, and yet the work is done; a closed pipe is no failure' {
	expired_records 2
	ends 73 sh -c "'$builddir/once-expire' --config '$CONFIG' >/dev/full"
	told 'No space left on device'
	same left 0 "$(count)"
	expired_records 2
	ends 0 bash -c "set -o pipefail; '$builddir/once-expire' --config '$CONFIG' | sleep 0"
	same left 0 "$(count)"
}

@test '64: the command line is wrong' {
	while IFS='|' read -r arguments text; do
		# shellcheck disable=SC2086
		ends 64 expire $arguments
		told "$text"
		told "Try 'once-expire --help'."
	done <<-'CASES'
		now|"now": takes no arguments
		--batch=0|"0" is not a number from 1 to 10000
		--batch=10001|is not a number
		--sleep=-1|is not a number
		--older=7|"7" is no time such as
		--older=0s|"0s" is no time such as
		--older=-1d|is no time
		--older=99999999999999999999d|is no time
		--run-time=|"" is no time
		--max-rows=0|is not a number
		--max-lag=10s|--max-lag and --replica go together
		--replica=db2|--max-lag and --replica go together
		--replica= --max-lag=1s|"" is no HOST
		--replica=db2:0 --max-lag=1s|"0" is not a number from 1 to 65535
		--replica=db2: --max-lag=1s|"" is not a number
		--replica=[::1 --max-lag=1s|"[::1" is no HOST
		--replica=[::1]x --max-lag=1s|is no HOST
		--max-flow-control=1|no part of the time such as 0.1
		--max-flow-control=0|no part of the time
		--max-flow-control=nan|no part of the time
		--max-flow-control=0x0.8|no part of the time
		--all=all|write it out: --all=ALL
		--all=ALL --expired|--all=ALL goes with no other selection
		--all=ALL --tenant=acme|--all=ALL goes with no other selection
		-o id|"id" is none of table, wide, json, csv, lines
		-o xml|is none of
	CASES
}

@test 'the figures in every format, progress by lines, and what took how long' {
	expired_records 10
	ends 0 expire -j --batch=2 --sleep=0 --progress=4
	python3 - "$HERE/out" <<-'PY'
		import json, sys
		[run] = [json.loads(line) for line in open(sys.argv[1])]
		assert list(run) == "deleted tombstoned unknown busy leases natural_keys batches seconds ended".split(), run
		assert (run["deleted"], run["ended"]) == (10, "done"), run
	PY
	same lines '4 8' "$(sed -nE 's/^once-expire: ([0-9]+) records, [0-9]+\/s$/\1/p' "$HERE/err" | xargs)"
	ends 0 expire
	same header 'DELETED TOMBSTONED UNKNOWN BUSY LEASES NATURAL_KEYS BATCHES SECONDS ENDED' "$(head -n 1 "$HERE/out" | xargs)"
	same 'standard error' '' "$(<"$HERE/err")"
	expired_records 10
	ends 0 expire --quiet --statistics
	same 'standard output' '' "$(<"$HERE/out")"
	told 'once-expire: delete: 1 statements, 10 rows, '
	told 'once-expire: pause: '
}

@test 'the cron line does it, in silence, and takes 75 for well done; beside systemd it leaves it to the timer' {
	local line
	line=$(sed -n 's/^17 \* \* \* \*\twww-data\t//p' "$srcdir/docs/deploy/oncewrap-expire.cron")
	line=${line/\/usr\/sbin\/once-expire/"$builddir/once-expire"}
	line=${line/\/etc\/oncewrap\/oncewrap.conf/"$CONFIG"}
	expired_records 3
	mkdir "$HERE/systemd"
	ends 0 sh -c "${line/\/run\/systemd\/system/"$HERE/systemd"}"
	same 'beside systemd' 3 "$(count)"
	line=${line/\/run\/systemd\/system/"$HERE/none"}
	sql <<<"UPDATE once_maintenance SET held_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"
	ends 0 sh -c "$line"
	same 'while another one is at it' 3 "$(count)"
	sql <<<"UPDATE once_maintenance SET held_until = '1970-01-01'"
	ends 0 sh -c "$line"
	same left 0 "$(count)"
	same said '' "$(cat "$HERE/out" "$HERE/err")"
	ends 1 sh -c "${line/"$CONFIG"/"$HERE/none.conf"}"
}

@test 'the timer runs the same command as the cron line' {
	same command "$(sed -n 's/^ExecStart=//p' "$srcdir/docs/deploy/systemd/oncewrap-expire.service")" \
		"$(grep -o '/usr/sbin/once-expire.* --run-time=50m' "$srcdir/docs/deploy/oncewrap-expire.cron")"
	grep -q '^SuccessExitStatus=75' "$srcdir/docs/deploy/systemd/oncewrap-expire.service"
	if command -v systemd-analyze >/dev/null; then
		sed "s,/usr/sbin/,$builddir/," "$srcdir/docs/deploy/systemd/oncewrap-expire.service" >"$HERE/oncewrap-expire.service"
		cp "$srcdir/docs/deploy/systemd/oncewrap-expire.timer" "$HERE"
		ends 0 systemd-analyze verify --man=no "$HERE/oncewrap-expire.timer" "$HERE/oncewrap-expire.service"
		same findings '' "$(grep oncewrap "$HERE/err" || :)"
	fi
}

#
# Who follows behind
#

@test '78: what is to be waited for is not there' {
	ends 78 expire --max-flow-control=0.1
	told 'the database is no node of a Galera cluster'
	ends 77 expire --max-lag=1s --replica="$MARIADB_SOCKET"
	told "replica $MARIADB_SOCKET: "
	sql <<<"GRANT SLAVE MONITOR ON *.* TO 'oncewrap-admin'@'localhost'"
	ends 78 expire --max-lag=1s --replica="$MARIADB_SOCKET"
	told 'is no replica of any other'
	ends 69 expire --max-lag=1s --replica=/nowhere
	ends 69 expire --max-lag=1s --replica=127.0.0.1:1
	ends 69 expire --max-lag=1s --replica='[::1]:1'
}
