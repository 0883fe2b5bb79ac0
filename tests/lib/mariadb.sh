# SPDX-License-Identifier: ISC
# shellcheck shell=sh disable=SC2119,SC2120
#
# A private MariaDB for tests and the demonstration: its own data directory, a unix socket and no network, no
# system service touched. Works as root (the server then runs as `mysql`, where that account can reach the
# directory) and as anybody else.
#
#   . tests/lib/mariadb.sh                   from sh or bash (bats)
#   sh tests/lib/mariadb.sh VERB DIR ...     from anything else: `kill9 DIR` is mariadb_kill9, and so on
#
#   mariadb_start DIR [SERVER-OPTION...]     make a data directory in DIR if there is none, start, wait until it answers
#   mariadb_stop [DIR]                       stop in good order; fine when it is not running
#   mariadb_kill9 [DIR]                      SIGKILL, and wait until the process has gone
#   mariadb_restart [DIR]                    start once more, with the options of mariadb_start
#   mariadb_freeze [DIR], mariadb_thaw [DIR] SIGSTOP and SIGCONT: a server that accepts and says nothing
#   mariadb_running [DIR]                    true while the process lives
#   mariadb_sql [CLIENT-OPTION...]           the client as administrator; SQL on standard input or by -e
#   mariadb_account NAME DATABASE            make DATABASE and an account of that name with all rights on it; prints the
#                                            option file (mode 0600, groups [client] and [oncewrap]) that logs it in
#
# After mariadb_start: MARIADB_DIR, MARIADB_SOCKET and MARIADB_LOG are set and exported; what takes [DIR] uses
# MARIADB_DIR without it. A server ends with its owner, however that one ends, so that none is left behind: the
# process MARIADB_OWNER, or without that the shell that called mariadb_start (the caller of VERB start).

mariadb_place() {
	if [ $# -gt 0 ]; then
		MARIADB_DIR=$1
	fi
	MARIADB_SOCKET=$MARIADB_DIR/run/mariadb.sock
	MARIADB_LOG=$MARIADB_DIR/run/error.log
	export MARIADB_DIR MARIADB_SOCKET MARIADB_LOG
}

mariadb_start() {
	mkdir -p "$1/run" "$1/data" || return 1
	mariadb_place "$(cd "$1" && pwd -P)"
	shift
	if [ ${#MARIADB_SOCKET} -gt 107 ]; then
		echo "mariadb.sh: $MARIADB_SOCKET is too long a name for a socket (107 bytes at most)" >&2
		return 1
	fi
	mariadb_account=$(mariadb_runner) || return 1
	if [ ! -d "$MARIADB_DIR/data/mysql" ]; then
		mariadb_initialise "$mariadb_account" || return 1
	fi
	printf '%s\n' "$@" >"$MARIADB_DIR/options"
	echo "${MARIADB_OWNER:-$$}" >"$MARIADB_DIR/owner"
	mariadb_launch "$mariadb_account" "$@"
}

mariadb_restart() {
	mariadb_place "$@"
	set --
	while IFS= read -r mariadb_option; do
		[ -z "$mariadb_option" ] || set -- "$@" "$mariadb_option"
	done <"$MARIADB_DIR/options"
	mariadb_launch "$(mariadb_runner)" "$@"
}

# The account the server runs as. Only root can choose; a directory that `mysql` cannot enter (under /root, or
# made by mktemp -d) leaves root itself.
mariadb_runner() {
	if [ "$(id -u)" -ne 0 ]; then
		id -un
		return
	fi
	if chown mysql "$MARIADB_DIR/run" "$MARIADB_DIR/data" 2>/dev/null &&
		setpriv --reuid mysql --clear-groups -- test -w "$MARIADB_DIR/run" 2>/dev/null; then
		echo mysql
	else
		chown root "$MARIADB_DIR/run" "$MARIADB_DIR/data" && echo root
	fi
}

# No fsync while the data directory is made: it is made anew if that was cut short.
mariadb_initialise() {
	if ! mariadb-install-db --no-defaults --user="$1" --datadir="$MARIADB_DIR/data" \
		--tmpdir="$MARIADB_DIR/run" \
		--auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" \
		--skip-test-db --skip-name-resolve --innodb-log-file-size=32M --innodb-flush-method=nosync \
		>"$MARIADB_DIR/install.log" 2>&1; then
		cat "$MARIADB_DIR/install.log" >&2
		rm -rf "$MARIADB_DIR/data"
		return 1
	fi
}

mariadb_launch() {
	mariadb_user=$1
	shift
	if mariadb_running; then
		echo "mariadb.sh: a server is already running in $MARIADB_DIR" >&2
		return 1
	fi
	rm -f "$MARIADB_SOCKET"
	# In a subshell and a session of its own, so that nothing that ends the caller's process group ends it; with
	# a temporary directory of its own, since a server that starts removes what it finds of another's there.
	(
		setsid mariadbd --no-defaults --user="$mariadb_user" --datadir="$MARIADB_DIR/data" \
			--socket="$MARIADB_SOCKET" --tmpdir="$MARIADB_DIR/run" \
			--pid-file="$MARIADB_DIR/run/server.pid" --log-error="$MARIADB_LOG" --skip-networking \
			--skip-log-bin --skip-name-resolve --performance-schema=OFF \
			--character-set-server=utf8mb4 --innodb-buffer-pool-size=128M \
			--innodb-log-file-size=32M --max-connections=300 "$@" \
			</dev/null >/dev/null 2>&1 3>&- 4>&- &
		echo $! >"$MARIADB_DIR/process"
	)
	mariadb_guard "$(cat "$MARIADB_DIR/owner")" "$(cat "$MARIADB_DIR/process")"
	mariadb_await
}

# Kill the server once its owner has gone. A shell of its own, so that an owner killed with -9 is noticed too.
mariadb_guard() {
	# shellcheck disable=SC2016 # the arguments are the inner shell's
	(
		setsid sh -c 'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done; kill -0 "$1" || kill -KILL "$2"' \
			mariadb-guard "$1" "$2" </dev/null >/dev/null 2>&1 3>&- 4>&- &
	)
}

mariadb_await() {
	mariadb_tries=0
	until mariadb-admin --no-defaults --socket="$MARIADB_SOCKET" --user="$(id -un)" \
		--connect-timeout=5 ping >/dev/null 2>&1; do
		mariadb_tries=$((mariadb_tries + 1))
		if ! mariadb_running || [ $mariadb_tries -gt 1200 ]; then
			echo "mariadb.sh: the server in $MARIADB_DIR does not answer; its log ends:" >&2
			tail -n 20 "$MARIADB_LOG" >&2
			return 1
		fi
		sleep 0.05
	done
}

mariadb_running() {
	mariadb_place "$@"
	[ -s "$MARIADB_DIR/process" ] || return 1
	case $(ps -o stat= -p "$(cat "$MARIADB_DIR/process")" 2>/dev/null) in
	'' | Z*) return 1 ;;
	esac
}

# $1: the signal; then wait until the process has gone.
mariadb_end() {
	mariadb_running || return 0
	kill "-$1" "$(cat "$MARIADB_DIR/process")" || return 1
	mariadb_tries=0
	while mariadb_running; do
		mariadb_tries=$((mariadb_tries + 1))
		if [ $mariadb_tries -gt 1200 ]; then
			echo "mariadb.sh: the server in $MARIADB_DIR does not end" >&2
			return 1
		fi
		sleep 0.05
	done
	rm -f "$MARIADB_DIR/process"
}

mariadb_stop() {
	mariadb_place "$@"
	mariadb_end TERM
}

mariadb_kill9() {
	mariadb_place "$@"
	mariadb_end KILL
}

mariadb_freeze() {
	mariadb_place "$@"
	kill -STOP "$(cat "$MARIADB_DIR/process")"
}

mariadb_thaw() {
	mariadb_place "$@"
	kill -CONT "$(cat "$MARIADB_DIR/process")"
}

mariadb_sql() {
	mariadb --no-defaults --socket="$MARIADB_SOCKET" --user="$(id -un)" --batch --skip-column-names "$@"
}

mariadb_account() {
	mariadb_password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n') || return 1
	mariadb_sql -e "CREATE DATABASE IF NOT EXISTS \`$2\`;
		CREATE OR REPLACE USER '$1'@'localhost' IDENTIFIED BY '$mariadb_password';
		GRANT ALL ON \`$2\`.* TO '$1'@'localhost'" || return 1
	(
		umask 077
		for mariadb_group in client oncewrap; do
			printf '[%s]\nuser=%s\npassword=%s\n' "$mariadb_group" "$1" "$mariadb_password"
		done >"$MARIADB_DIR/$1.cnf"
	) || return 1
	echo "$MARIADB_DIR/$1.cnf"
}

# Run as a program, from a test that is no shell script. The server's owner is then who called.
case ${0##*/} in
mariadb.sh)
	MARIADB_OWNER=${MARIADB_OWNER:-$PPID}
	mariadb_verb=$1
	shift
	"mariadb_$mariadb_verb" "$@"
	;;
esac
