#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-migrate: from an empty database to the schema of this build, once, whoever else does the same.

load setting.sh

setup_file() {
	setting_begin
}

teardown_file() {
	setting_end
}

setup() {
	mariadb_sql -e 'DROP DATABASE oncewrap; CREATE DATABASE oncewrap'
}

# The newest migration of the source tree.
newest() {
	basename "$(printf '%s\n' "$srcdir"/sql/[0-9]*.sql | sort | tail -n 1)"
}

# column NAME: of the newest migration, as status prints it.
column() {
	migrate status -o csv --no-header --columns="$1" 2>/dev/null | tail -n 1 | tr -d '\r'
}

@test 'status of an empty database: all is pending, and the command to run is told' {
	ends 1 migrate status
	same header 'VERSION FILE STATE CHECKSUM APPLIED_AT APPLIED_BY' "$(head -n 1 "$HERE/out" | xargs)"
	grep -q " $(newest) *pending " "$HERE/out"
	told "run: once-migrate --config=$CONFIG up"
	same 'nothing was made' '' "$(sql <<<'SHOW TABLES')"
}

@test 'up applies each migration and says so; again, it has nothing to do' {
	local file
	ends 0 migrate up
	same said "$(for file in "$srcdir"/sql/[0-9]*.sql; do
		[[ $file == */0000-* ]] || echo "applied ${file##*/}"
	done)" "$(<"$HERE/out")"
	ends 0 migrate up
	same again 'nothing to do: the schema is current' "$(<"$HERE/out")"
	ends 0 migrate status
	same 'standard error' '' "$(<"$HERE/err")"
	grants
	ends 0 list
}

@test 'status tells version, file, checksum, when and by whom' {
	SUDO_USER=alice ends 0 migrate up
	same file "$(newest)" "$(column file)"
	same version "$((10#$(newest | cut -d- -f1)))" "$(column version)"
	same state applied "$(column state)"
	same checksum "$(sha256sum <"$srcdir/sql/$(newest)" | cut -d' ' -f1)" "$(column checksum)"
	same 'by whom' "$(id -un)@$(uname -n) (sudo: alice)" "$(column applied_by)"
	[[ $(($(date +%s) - $(date -d "$(column applied_at)" +%s))) -lt 300 ]]
	sql <<<"UPDATE once_schema SET applied_at = '2026-01-02 03:04:05.678901'"
	same 'when, to the millisecond as in once-list' 2026-01-02T03:04:05.678Z "$(column applied_at)"
	ends 0 migrate status -o id
	same id "$(column version)" "$(tail -n 1 "$HERE/out")"
	ends 0 migrate status -j
	python3 -c 'import json, sys
for line in open(sys.argv[1]):
    assert json.loads(line)["state"] == "applied", line' "$HERE/out"
}

@test 'what a hostile sudo user name wrote is shown harmlessly' {
	SUDO_USER=$'\e[31m' ends 0 migrate up
	ends 0 migrate status --columns=applied_by --no-header
	same shown "$(id -un)@$(uname -n) (sudo: \\x1b[31m)" "$(tail -n 1 "$HERE/out")"
}

@test 'two at once: each migration is applied by one of them, and both end well' {
	local number pid status pids=()
	# Both are stopped at the lock, so that they are at it at once.
	mariadb_sql oncewrap -e "SELECT GET_LOCK('oncewrap-migrate:oncewrap', 0), SLEEP(1000)" >/dev/null 2>&1 3>&- &
	wait_until 20 asks 1 'SELECT GET_LOCK(%SLEEP%'
	for number in 1 2; do
		migrate up --timeout=60 >"$HERE/up.$number" 2>&1 3>&- &
		pids+=($!)
	done
	wait_until 20 asks 2 'SELECT GET_LOCK(CONCAT%'
	sql <<<"KILL $(asking 'SELECT GET_LOCK(%SLEEP%')"
	for pid in "${pids[@]}"; do
		status=0
		wait "$pid" || status=$?
		same 'exit status' 0 "$status"
	done
	same 'applied by one' 1 "$(cat "$HERE"/up.* | grep -c "^applied $(newest)$")"
	same 'left by the other' 1 "$(grep -l 'nothing to do' "$HERE"/up.* | wc -l)"
	ends 0 migrate status
}

# asking PATTERN: the sessions that are at a statement like it; asks N PATTERN: they are N.
asking() {
	sql <<<"SELECT id FROM information_schema.processlist WHERE info LIKE '$1' AND id <> CONNECTION_ID()"
}

asks() {
	[[ $(asking "$2" | wc -l) == "$1" ]]
}

@test 'a migration that was cut short stops everything until a person has looked' {
	migrate up
	sql <<<'UPDATE once_schema SET dirty = TRUE'
	ends 78 migrate status
	grep -q " dirty " "$HERE/out"
	told 'see once-migrate(8)'
	ends 78 migrate up
	told 'is dirty; see once-migrate(8)'
	# The cure of the manual page.
	sql <<<"DELETE FROM once_schema WHERE version = $(column version)"
	ends 0 migrate up
	same said "applied $(newest)" "$(<"$HERE/out")"
	ends 0 migrate status
}

@test 'a failure half way leaves the mark, names the statement, and goes on after the cure' {
	# A view in the place of a table: CREATE TABLE IF NOT EXISTS takes it, the INSERT that follows does not.
	sql <<<'CREATE VIEW once_maintenance AS SELECT 1 AS nothing'
	ends 70 migrate up
	told "$(newest), statement "
	ends 78 migrate status
	same state dirty "$(column state)"
	sql <<<"DROP VIEW once_maintenance; DELETE FROM once_schema WHERE dirty"
	ends 0 migrate up
	ends 0 migrate status
}

@test 'a schema that is newer, or that came of another text, is not touched' {
	migrate up
	sql <<<"INSERT INTO once_schema VALUES (9999, '9999-future.sql', REPEAT('x', 32), FALSE, UTC_TIMESTAMP(6), 'bob')"
	ends 78 migrate status
	same state newer "$(column state)"
	told 'newer than this build'
	ends 78 migrate up
	told '9999-future.sql'
	sql <<<"DELETE FROM once_schema WHERE version = 9999; UPDATE once_schema SET checksum = REPEAT('x', 32)"
	ends 78 migrate status
	same state changed "$(column state)"
	ends 78 migrate up
}

@test 'up does its work although nobody reads what it says' {
	ends 0 bash -c "set -o pipefail; '$builddir/once-migrate' --config '$CONFIG' up | sleep 0"
	ends 0 migrate status
	mariadb_sql -e 'DROP DATABASE oncewrap; CREATE DATABASE oncewrap'
	ends 73 sh -c "'$builddir/once-migrate' --config '$CONFIG' up >/dev/full"
	ends 0 migrate status
}

@test 'the rights of sql/grants.sql are enough for both programs' {
	tables
	record
	ends 0 migrate status
	ends 0 list
}

@test 'plan prints what up would do, as SQL that does it, and changes nothing' {
	ends 0 migrate plan
	same 'nothing was made' '' "$(sql <<<'SHOW TABLES')"
	sql <"$HERE/out"
	ends 0 migrate status
	same 'by whom' "$(id -un)@$(uname -n)" "$(column applied_by)"
	ends 0 migrate verify
	ends 0 migrate plan
	same 'nothing more' '-- nothing is pending' "$(<"$HERE/out")"
	sql <<<'UPDATE once_schema SET dirty = TRUE'
	ends 78 migrate plan
	same 'no SQL' '' "$(<"$HERE/out")"
}

@test 'verify finds each difference, its statement takes it away, and a site'\''s own index is none' {
	migrate up
	ends 0 migrate verify --no-header
	same 'no difference' '' "$(<"$HERE/out")"
	sql <<-'SQL'
		ALTER TABLE once_record DROP KEY once_record_tenant, MODIFY COLUMN tenant VARBINARY(100) NOT NULL,
			DROP CONSTRAINT once_record_attempt, ADD COLUMN note TEXT NULL, ADD KEY site (created_at);
		ALTER TABLE once_lease ENGINE=Aria;
		DROP TABLE once_audit
	SQL
	ends 1 migrate verify --no-header
	same differences 5 "$(wc -l <"$HERE/out")"
	ends 1 migrate verify -j
	python3 -c 'import json, sys
for line in open(sys.argv[1]):
    print(json.loads(line)["cure"] + ";")' "$HERE/out" | sql
	ends 0 migrate verify
}

@test 'verify and mark hide no table and leave none: records stay, and are seen' {
	tables
	record
	ends 0 migrate verify
	ends 0 migrate mark 1
	same records 1 "$(sql <<<'SELECT COUNT(*) FROM once_record')"
	ends 0 list --no-header
	same listed 1 "$(wc -l <"$HERE/out")"
}

@test 'mark records a migration that is whole, and refuses one that is not or is not ours' {
	migrate up
	sql <<<"UPDATE once_schema SET dirty = TRUE, checksum = REPEAT('x', 32)"
	ends 0 migrate mark 1
	same said 'marked 1 as applied' "$(<"$HERE/out")"
	ends 0 migrate status
	sql <<<'UPDATE once_schema SET dirty = TRUE; ALTER TABLE once_record DROP KEY once_record_tenant'
	ends 78 migrate mark 1
	told "nothing is marked; run: once-migrate --config=$CONFIG verify -o wide"
	same 'still' dirty "$(column state)"
	sql <<<'ALTER TABLE once_record ADD KEY once_record_tenant (tenant, created_at)'
	ends 0 migrate mark 1
	ends 78 migrate mark 4711
	told 'has no migration 4711'
}

@test 'mark records tables that were made by hand' {
	local file
	for file in "$srcdir"/sql/[0-9]*.sql; do
		sql <"$file"
	done
	ends 1 migrate status
	ends 0 migrate mark 1
	ends 0 migrate status
}

@test 'wait ends when another one has migrated, and says 75 when nobody does' {
	ends 75 migrate wait --timeout=1
	told 'the schema is older than this build'
	migrate wait --timeout=60 >"$HERE/wait" 2>&1 3>&- &
	wait_until 20 grep -q 'State.*[SR]' "/proc/$!/status"
	migrate up
	wait $!
	ends 0 migrate wait --timeout=1
	sql <<<"INSERT INTO once_schema VALUES (9999, '9999-future.sql', REPEAT('x', 32), FALSE, UTC_TIMESTAMP(6), 'bob')"
	ends 78 migrate wait --timeout=60
}

@test 'wait also waits for a database that is still to come up' {
	migrate up
	mariadb_stop
	ends 69 migrate wait --timeout=1
	migrate wait --timeout=60 2>"$HERE/wait" 3>&- &
	local waiting=$!
	wait_until 20 test -s "$HERE/wait"
	mariadb_restart
	wait $waiting
}

@test 'grants prints the rights of sql/grants.sql for the accounts and the database of this place, and no password' {
	tables
	ends 0 migrate grants
	same 'no password' 0 "$(grep -c secret "$HERE/out")"
	same 'no account is made' 0 "$(grep -v '^--' "$HERE/out" | grep -ci 'create user\|identified')"
	for account in oncewrap oncewrap-admin oncewrap-migrate; do
		sql <<<"SHOW GRANTS FOR '$account'@localhost" | sort >"$HERE/before"
		sql <<<"REVOKE ALL, GRANT OPTION FROM '$account'@localhost"
		mariadb_sql <"$HERE/out"
		same "rights of $account" "$(<"$HERE/before")" "$(sql <<<"SHOW GRANTS FOR '$account'@localhost" | sort)"
	done
	# Another name of database and user, another host; what has no group has no account.
	printf '[wrap]\nuser = web%%x\npassword = secret\n' >"$HERE/other.cnf"
	chmod 600 "$HERE/other.cnf"
	configuration 'database = "o_w"; option_group = "wrap";' | sed 's,accounts.cnf,other.cnf,' >"$HERE/other.conf"
	ends 0 "$builddir/once-migrate" --config "$HERE/other.conf" grants --host=10.%
	grep -qF "GRANT SELECT, INSERT, UPDATE, DELETE ON \`o_w\`.once_record TO 'web%x'@'10.%';" "$HERE/out"
	same 'other accounts' 0 "$(grep -c oncewrap- "$HERE/out")"
	# Without an option file the socket tells who serves; people are let in as themselves.
	{
		configuration | sed /option_file/d
		echo 'user = "www-data";'
	} >"$HERE/socket.conf"
	ends 0 "$builddir/once-migrate" --config "$HERE/socket.conf" grants
	grep -qF "GRANT SELECT, INSERT, UPDATE, DELETE ON \`oncewrap\`.once_record TO 'www-data'@'localhost';" "$HERE/out"
	same 'other accounts' 0 "$(grep -c oncewrap- "$HERE/out")"
	chmod 644 "$HERE/other.cnf"
	ends 78 "$builddir/once-migrate" --config "$HERE/other.conf" grants
	told 'lets others read it'
}

@test '-q tells what is wrong only, up -n is plan, and -v tells whom it has reached' {
	ends 1 migrate -q status
	same 'no list' '' "$(<"$HERE/out")"
	told "run: once-migrate --config=$CONFIG up"
	ends 0 migrate plan
	cp "$HERE/out" "$HERE/plan"
	ends 0 migrate up --dry-run
	same plan "$(grep -v applied_by "$HERE/plan" | grep -c .)" "$(grep -v applied_by "$HERE/out" | grep -c .)"
	ends 1 migrate -q status
	ends 0 migrate up -q
	same 'nothing to tell' '' "$(cat "$HERE/out" "$HERE/err")"
	ends 0 migrate -q status
	same 'no list' '' "$(<"$HERE/out")"
	ends 0 migrate -q verify
	same 'no list' '' "$(<"$HERE/out")"
	ends 0 migrate status -v
	told 'once-migrate: connected in 0.'
	told 'account oncewrap-migrate, no TLS'
	for verb in status plan verify wait grants 'mark 1'; do
		# shellcheck disable=SC2086
		ends 64 migrate -n $verb
		told 'has no use for --dry-run'
	done
	sql <<<'ALTER TABLE once_lease ADD COLUMN more INT NOT NULL'
	ends 1 migrate -q verify
	same 'no list' '' "$(<"$HERE/out")"
}
