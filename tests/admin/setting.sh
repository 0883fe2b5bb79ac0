# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# What the tests of the admin programs share: a MariaDB of their own with the accounts of sql/grants.sql, and a
# configuration for it. Sourced by bats. $HERE is the directory of the test file that runs.

# shellcheck source=tests/lib/wait.sh
. "${BASH_SOURCE[0]%/*}/../lib/wait.sh"
# shellcheck source=tests/lib/mariadb.sh
. "${BASH_SOURCE[0]%/*}/../lib/mariadb.sh"

: "${srcdir:=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)}" "${builddir:=$PWD}"

# setting_begin [SERVER-OPTION...]: the server, the accounts, the configuration $CONFIG. No tables yet.
setting_begin() {
	HERE=$(mktemp -d "${TMPDIR:-/tmp}/oncewrap-admin.XXXXXX")
	CONFIG=$HERE/oncewrap.conf
	export HERE CONFIG
	chmod 755 "$HERE"
	mariadb_start "$HERE/db" "$@" || return 1
	# What it says of tables has to wait until there are some.
	grants --force 2>/dev/null
	for group in oncewrap oncewrap-admin oncewrap-migrate oncewrap-metrics; do
		printf '[%s]\nuser = %s\npassword = secret\n' "$group" "$group"
	done >"$HERE/accounts.cnf"
	chmod 600 "$HERE/accounts.cnf"
	configuration >"$CONFIG"
}

setting_end() {
	[[ -z ${MARIADB_DIR:-} ]] || mariadb_stop
	[[ -z ${HERE:-} ]] || rm -rf "$HERE"
}

grants() {
	sed 's/change-me/secret/' "$srcdir/sql/grants.sql" | mariadb_sql "$@"
}

# configuration [LINE]: a store section, with that line in it.
configuration() {
	cat <<-CONF
		store: {
			socket = "$MARIADB_SOCKET";
			option_file = "$HERE/accounts.cnf";
			${1:-}
		};
	CONF
}

# tables: the schema, and the rights on it.
tables() {
	"$builddir/once-migrate" --config "$CONFIG" up && grants
}

list() {
	"$builddir/once-list" --config "$CONFIG" "$@"
}

show() {
	"$builddir/once-show" --config "$CONFIG" "$@"
}

migrate() {
	"$builddir/once-migrate" --config "$CONFIG" "$@"
}

# sql [CLIENT-OPTION...]: statements on standard input, in the database oncewrap, as its administrator.
sql() {
	mariadb_sql oncewrap "$@"
}

# record NAME=SQL-EXPRESSION...: a row of once_record with these columns, the others filled with something.
record() {
	local pair names='' values=''
	local -A columns=(
		[id]='RANDOM_BYTES(32)' [tenant]="'acme'" [route]="'orders'" [key_text]="'key'" [state]="'complete'"
		[token]='RANDOM_BYTES(16)' [attempt]=1 [fingerprint]='RANDOM_BYTES(32)' [fingerprint_scheme]="'raw'"
		[part_digests]="''" [lease_until]='UTC_TIMESTAMP(6)' [created_at]='UTC_TIMESTAMP(6)'
		[settled_at]='UTC_TIMESTAMP(6)' [expires_at]='UTC_TIMESTAMP(6) + INTERVAL 1 DAY' [owner_host]="'web1'"
		[owner_boot]="'boot'" [owner_pidns]=1 [owner_pid]=4711 [owner_start]=1 [status]=201
		[headers]="'Status: 201\r\n'" [body]="'made'"
	)
	for pair; do
		columns[${pair%%=*}]=${pair#*=}
	done
	for pair in "${!columns[@]}"; do
		names+=", $pair"
		values+=", ${columns[$pair]}"
	done
	sql <<<"INSERT INTO once_record (${names#, }) VALUES (${values#, })"
}

# records N: many of them at once; their keys are 1 to N.
records() {
	sql <<-SQL
		INSERT INTO once_record (id, tenant, route, key_text, state, token, attempt, fingerprint, fingerprint_scheme,
			part_digests, lease_until, created_at, settled_at, expires_at, owner_host, owner_boot, owner_pidns, owner_pid,
			owner_start, status)
		SELECT UNHEX(SHA2(seq, 256)), 'acme', 'orders', seq, 'complete', UNHEX(MD5(seq)), 1, UNHEX(SHA2(seq, 256)), 'raw',
			'', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY, 'web1', 'boot', 1,
			4711, 1, 201
		FROM seq_1_to_$1
	SQL
}

# no_records: the table emptied, so that a test sees its own only.
no_records() {
	sql <<<'DELETE FROM once_record; DELETE FROM once_lease'
}

# at_terminal SCRIPT FILE COMMAND...: the command at a terminal of its own. The script is lines of "TEXT TO WAIT FOR|WHAT
# TO TYPE"; what was seen is in the file. 99: silent for a minute; 98: ended by a signal.
at_terminal() {
	python3 - "$@" <<-'PY'
		import os, pty, select, sys
		script, out, *command = sys.argv[1:]
		pid, terminal = pty.fork()
		if pid == 0:
		    os.execvp(command[0], command)
		steps = [line.split("|") for line in script.splitlines()]
		seen = b""
		while True:
		    ready, _, _ = select.select([terminal], [], [], 60)
		    if not ready:
		        sys.exit(99)
		    try:
		        data = os.read(terminal, 4096)
		    except OSError:
		        break
		    if not data:
		        break
		    seen += data
		    if steps and steps[0][0].encode() in seen:
		        os.write(terminal, steps.pop(0)[1].encode().decode("unicode_escape").encode())
		open(out, "wb").write(seen.replace(b"\r", b""))
		status = os.waitpid(pid, 0)[1]
		sys.exit(os.waitstatus_to_exitcode(status) if not os.WIFSIGNALED(status) else 98)
	PY
}

# ends STATUS COMMAND...: it ends with that exit status; what it printed is in $HERE/out and $HERE/err.
ends() {
	local expected=$1 status=0
	shift
	"$@" >"$HERE/out" 2>"$HERE/err" || status=$?
	same "exit status of $*" "$expected" "$status" || {
		cat "$HERE/out" "$HERE/err" >&2
		return 1
	}
}

# told TEXT: it stands on standard error of what `ends` ran last.
told() {
	grep -qF -- "$1" "$HERE/err" || {
		printf 'not told: "%s", but:\n' "$1" >&2
		cat "$HERE/err" >&2
		return 1
	}
}

# same WHAT EXPECTED FOUND
same() {
	[[ $2 == "$3" ]] || {
		printf '%s: expected "%s", found "%s"\n' "$1" "$2" "$3" >&2
		return 1
	}
}
