#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The exit status of an admin program tells a script what to do next, and standard error tells a person.

load setting.sh

setup_file() {
	setting_begin
	tables
}

teardown_file() {
	setting_end
}

teardown() {
	mariadb_thaw
	mariadb_running || mariadb_restart
	let_go
}

# hold STATEMENT: a session of its own runs it and stays until let_go. A server does not notice that a client which
# waits for a statement has gone: it is told to end it.
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

# as OPTION-FILE-LINE: a configuration whose accounts come from a file of that one group [oncewrap].
as() {
	printf '[oncewrap]\n%s\n' "$@" >"$HERE/other.cnf"
	chmod 600 "$HERE/other.cnf"
	configuration | sed "s,accounts.cnf,other.cnf," >"$HERE/other.conf"
}

other() {
	local program=$1
	shift
	"$builddir/$program" --config "$HERE/other.conf" "$@"
}

@test '64: the command line is wrong, and --help is pointed at' {
	while IFS='|' read -r program arguments text; do
		# shellcheck disable=SC2086
		ends 64 "$builddir/$program" $arguments
		told "$text"
		told "Try '$program --help'."
		same 'standard output' '' "$(<"$HERE/out")"
	done <<-'CASES'
		once-list|--nothing|unrecognized option '--nothing'
		once-list|--limit|requires an argument
		once-list|--limit=-1|--limit: "-1" is not a number from 0
		once-list|--limit=+1|--limit: "+1" is not a number
		once-list|--limit=|--limit: "" is not a number
		once-list|--limit=1x|--limit: "1x" is not a number
		once-list|--limit=99999999999999999999|is not a number
		once-list|--timeout=0|--timeout: "0" is not a number from 1 to 86400
		once-list|--timeout=86401|is not a number from 1 to 86400
		once-list|-o xml|--output: "xml" is none of table, wide, json, csv, id
		once-list|--state=|"" is none of in_flight
		once-list|--state=unknown,|"" is none of in_flight
		once-list|more|"more": takes no arguments
		once-list|-x|invalid option -- 'x'
		once-migrate||say one of: status, plan, up
		once-migrate|down|"down" is none of: status, plan, up
		once-migrate|status up|say one of: status, plan, up
		once-migrate|mark|mark: say the number of a migration
		once-migrate|mark 0|mark: say the number of a migration
		once-migrate|plan --host=x|plan: has no use for --host
		once-migrate|grants -j|grants: prints no list that options could shape
		once-doctor|more|"more": takes no arguments
		once-doctor|-o csv|"csv" is none of human, json, nagios
		once-doctor|--only=handlers,nothing|"nothing" is none of configuration, config_file
		once-doctor|--only=|"" is none of configuration
		once-migrate|up -j|up: prints no list that options could shape
		once-migrate|up --full|up: prints no list that options could shape
		once-migrate|status --columns=size|"size" is none of version, file, state
	CASES
}

@test '69: the database does not run' {
	mariadb_stop
	ends 69 list
	told 'see whether the database runs'
	ends 69 migrate status
	ends 69 migrate up
	same 'standard output' '' "$(<"$HERE/out")"
}

@test '69: the database accepts and says nothing, and --timeout bounds the wait' {
	local began=$SECONDS
	mariadb_freeze
	ends 69 list --timeout=1
	ends 69 migrate status --timeout=1
	ends 69 migrate up --timeout 1
	mariadb_thaw
	# 10 s each without the option
	[[ $((SECONDS - began)) -lt 25 ]]
}

@test '73: the output cannot be written, in any format' {
	record
	for format in table wide json csv id; do
		ends 73 sh -c "'$builddir/once-list' --config '$CONFIG' -o $format >/dev/full"
		told 'once-list: standard output: No space left on device'
	done
	ends 73 sh -c "'$builddir/once-migrate' --config '$CONFIG' status >/dev/full"
	ends 73 sh -c "'$builddir/once-list' --help >/dev/full"
	ends 73 sh -c "'$builddir/once-migrate' --version >/dev/full"
	ends 73 sh -c "'$builddir/once-list' --config '$CONFIG' >&-"
	told 'once-list: standard output: Bad file descriptor'
}

# unread COMMAND...: it runs with a pipe that nobody reads as standard output, and with SIGPIPE as it is by nature.
unread() {
	perl -e 'pipe(my $out, STDOUT_NEW); close $out; open STDOUT, ">&STDOUT_NEW"; $SIG{PIPE} = "DEFAULT"; exec @ARGV' "$@"
}

@test '0: a reader that has closed the pipe is no failure and brings no message' {
	records 3000
	for format in table json csv id; do
		ends 0 unread "$builddir/once-list" --config "$CONFIG" --limit=0 -o $format
		same "standard error of $format" '' "$(<"$HERE/err")"
		ends 0 bash -c "set -o pipefail; '$builddir/once-list' --config '$CONFIG' --limit=0 -o $format | head -n 1"
		same "standard error of $format" '' "$(<"$HERE/err")"
		same "lines of $format" 1 "$(wc -l <"$HERE/out")"
	done
	no_records
	ends 0 unread "$builddir/once-list" --help
	ends 0 unread "$builddir/once-migrate" --config "$CONFIG" status
	same 'standard error' '' "$(<"$HERE/err")"
}

@test '75: somebody else holds the table: try again later, and --timeout bounds the wait, not the configuration' {
	local began=$SECONDS
	configuration 'connect_timeout = "60s"; read_timeout = "120s";' >"$HERE/other.conf"
	hold 'LOCK TABLES once_record WRITE'
	ends 75 other once-list --timeout=2
	same 'standard output' '' "$(<"$HERE/out")"
	[[ $((SECONDS - began)) -lt 30 ]]
}

@test '75: another once-migrate is at work and is not done in time' {
	hold "SELECT GET_LOCK('oncewrap-migrate:oncewrap', 0)"
	ends 75 migrate up --timeout=1
	told 'another once-migrate is at work'
}

@test '77: the database refuses the account: a wrong password, a missing right' {
	as 'user = oncewrap-admin' 'password = wrong'
	ends 77 other once-list
	told 'see user and password in the file'
	ends 77 other once-migrate status
	sql <<<"CREATE OR REPLACE USER stranger@localhost IDENTIFIED BY 'x'; GRANT SELECT ON oncewrap.once_lease TO stranger@localhost"
	as 'user = stranger' 'password = x'
	ends 77 other once-list
	told 'compare the account'
	ends 77 other once-migrate up
}

@test '78: no configuration, or one with mistakes, told with file and line' {
	ends 78 "$builddir/once-list" --config "$HERE/none.conf"
	told "$HERE/none.conf"
	configuration 'sokcet = "/x";' >"$HERE/other.conf"
	ends 78 other once-list
	told "$HERE/other.conf:4: store.sokcet: unknown setting; did you mean"
	ends 78 other once-migrate up
}

@test '78: an option file that must not be used, told with the command that cures' {
	as 'user = oncewrap-admin' 'password = secret'
	ends 0 other once-list
	chmod 644 "$HERE/other.cnf"
	ends 78 other once-list
	told "run: chmod u=rw,g=r,o= $HERE/other.cnf"
	chmod 620 "$HERE/other.cnf"
	ends 78 other once-migrate status
	rm "$HERE/other.cnf"
	ends 78 other once-list
	told "$HERE/other.cnf: No such file"
	ln -s accounts.cnf "$HERE/other.cnf"
	ends 78 other once-list
	rm "$HERE/other.cnf"
	mkdir "$HERE/other.cnf"
	ends 78 other once-list
	rmdir "$HERE/other.cnf"
	as '!include /etc/mysql/my.cnf'
	ends 78 other once-list
}

@test '78: no such database, no tables' {
	mariadb_account everything oncewrap >"$HERE/name"
	configuration 'database = "nowhere";' | sed "s,$HERE/accounts.cnf,$(<"$HERE/name")," >"$HERE/other.conf"
	sql <<<'GRANT ALL ON nowhere.* TO everything@localhost'
	ends 78 other once-list
	told "then run: once-migrate --config=$HERE/other.conf up"
	sql <<<'CREATE DATABASE nowhere'
	ends 78 other once-list
	told "run: once-migrate --config=$HERE/other.conf up"
	ends 1 other once-migrate status
	sql <<<'DROP DATABASE nowhere'
}

@test '130: interrupted' {
	local pid status=0
	mariadb_freeze
	# A shell starts what it does not wait for with SIGINT ignored.
	env --default-signal=INT "$builddir/once-list" --config "$CONFIG" --timeout=60 >/dev/null 2>&1 3>&- &
	pid=$!
	wait_until 20 waits "$pid"
	kill -INT "$pid"
	wait "$pid" || status=$?
	same status 130 "$status"
}

# It has a socket, and sleeps.
waits() {
	[[ -n $(find "/proc/$1/fd" -lname 'socket:*' 2>/dev/null) && $(<"/proc/$1/stat") == *') S '* ]]
}

# option_file USER LINE...: an option file of these lines, with store.user = USER.
option_file() {
	printf '%s\n' "${@:2}" >"$HERE/other.cnf"
	chmod 600 "$HERE/other.cnf"
	configuration "user = \"$1\";" | sed "s,accounts.cnf,other.cnf," >"$HERE/other.conf"
}

@test 'the user of the group of its own wins over store.user, which wins over that of the configured group' {
	configuration 'user = "nobody";' >"$HERE/other.conf"
	ends 0 other once-list
	ends 0 other once-migrate status
	option_file nobody '[oncewrap-admin]' 'password = secret'
	ends 77 other once-list
	told nobody
	option_file oncewrap-admin '[oncewrap-admin]' 'password = secret' '[oncewrap]' 'user = nobody'
	ends 0 other once-list
	option_file oncewrap-admin '[oncewrap]' 'user = nobody' 'password = secret'
	ends 0 other once-list
}

@test 'each program takes the group of its own, and the configured one where that is missing' {
	record "key_text='mine'"
	# No account of that name exists for once-list, so only its own group can work.
	printf '[oncewrap]\nuser = nobody\n[oncewrap-admin]\nuser = oncewrap-admin\npassword = secret\n' >"$HERE/other.cnf"
	chmod 600 "$HERE/other.cnf"
	configuration | sed 's,accounts.cnf,other.cnf,' >"$HERE/other.conf"
	ends 0 other once-list --no-header --columns=key
	same key mine "$(<"$HERE/out")"
	ends 77 other once-migrate status
	as 'user = oncewrap-admin' 'password = secret'
	ends 0 other once-list
	ends 0 other once-migrate status
	ends 77 other once-migrate up
	configuration 'option_group = "people";' | sed 's,accounts.cnf,other.cnf,' >"$HERE/other.conf"
	ends 78 other once-list
	told 'has no group [people]'
}
