#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-expire --max-lag: a purge does not run away from the replica that has to follow it.

load setting.sh

setup_file() {
	PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	setting_begin --log-bin=binlog --server-id=1 --skip-networking=0 --bind-address=127.0.0.1 --port="$PORT"
	sql <<<"CREATE USER copy@'%' IDENTIFIED BY 'secret'; GRANT REPLICATION SLAVE ON *.* TO copy@'%';
		GRANT SLAVE MONITOR ON *.* TO 'oncewrap-admin'@'localhost'"
	tables
	mariadb_start "$HERE/replica" --server-id=2
	REPLICA=$MARIADB_SOCKET
	mariadb_place "$HERE/db"
	export REPLICA
	at_replica <<-SQL
		CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = $PORT, MASTER_USER = 'copy', MASTER_PASSWORD = 'secret';
		START SLAVE
	SQL
}

teardown_file() {
	mariadb_stop "$HERE/replica"
	mariadb_place "$HERE/db"
	setting_end
}

setup() {
	no_records
	records 5
	sql <<<'UPDATE once_record SET expires_at = UTC_TIMESTAMP(6)'
	at_replica <<<'START SLAVE'
	wait_until 60 has_followed
}

at_replica() {
	MARIADB_SOCKET=$REPLICA mariadb_sql
}

# count_at CLIENT: records that it sees.
count_at() {
	"$1" <<<'SELECT COUNT(*) FROM oncewrap.once_record'
}

has_followed() {
	[[ $(at_replica <<<"SELECT COUNT(*) FROM oncewrap.once_record WHERE expires_at <= UTC_TIMESTAMP(6)" 2>/dev/null) == 5 ]]
}

expire() {
	"$builddir/once-expire" --config "$CONFIG" --max-lag=30s --replica="$REPLICA" "$@"
}

stops_applying() {
	at_replica <<<'STOP SLAVE SQL_THREAD'
}

@test 'a replica that keeps up holds up nothing' {
	ends 0 expire
	same left 0 "$(count_at sql)"
}

@test '75: while replication stands still nothing is purged, and after --timeout it ends' {
	stops_applying
	ends 75 expire --timeout=2 -o csv
	grep -q ',lag' "$HERE/out"
	told 'the replica stayed more than --max-lag behind'
	same left 5 "$(count_at sql)"
}

@test 'once the replica has caught up it goes on' {
	local status=0
	stops_applying
	expire --timeout=60 >"$HERE/out" 2>"$HERE/err" 3>&- &
	wait_until 20 is_held
	at_replica <<<'START SLAVE SQL_THREAD'
	wait $! || status=$?
	same 'exit status' 0 "$status"
	same left 0 "$(count_at sql)"
}

is_held() {
	[[ $(sql <<<"SELECT held_until > UTC_TIMESTAMP(6) FROM once_maintenance WHERE task = 'purge'") == 1 ]]
}

@test '69: a replica that has gone ends it, also in the middle' {
	local status=0
	ends 69 expire --replica=/nowhere
	told 'replica /nowhere: '
	same left 5 "$(count_at sql)"
	stops_applying
	sql <<<'UPDATE once_maintenance SET succeeded_at = NULL'
	expire --timeout=60 >"$HERE/out" 2>"$HERE/err" 3>&- &
	wait_until 20 is_held
	mariadb_stop "$HERE/replica"
	mariadb_place "$HERE/db"
	wait $! || status=$?
	same 'exit status' 69 "$status"
	told "replica $REPLICA: "
	same lines 1 "$(wc -l <"$HERE/err")"
	same left 5 "$(count_at sql)"
	same 'is no success' 1 "$(sql <<<"SELECT succeeded_at IS NULL FROM once_maintenance WHERE task = 'purge'")"
}
