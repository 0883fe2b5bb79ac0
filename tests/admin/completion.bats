#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What the TAB key brings: asked of the function that bash calls, and typed at a bash in a terminal of its own.

load setting.sh

setup_file() {
	setting_begin
	tables
}

teardown_file() {
	setting_end
}

setup() {
	no_records
}

# completed WORD...: what the last of these words may become, sorted, with blanks between; the words as bash makes them,
# "--output=js" being three.
completed() {
	PATH=$builddir:$PATH bash --norc --noprofile -c '
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_once_complete "$1" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
		[[ ${#COMPREPLY[@]} == 0 ]] || printf "%s\n" "${COMPREPLY[@]}"
	' bash "$srcdir/admin/completion/oncewrap" "$@" 2>&1 | sort -u | paste -sd ' '
}

# becomes EXPECTED WORD...
becomes() {
	local expected=$1
	shift
	same "completion of $*" "$expected" "$(completed "$@")"
}

@test 'options by their beginning, of every program its own' {
	becomes '--no-header' once-list --no
	becomes '--no-header --no-input --not-applied' once-resolve --no
	becomes '--no-db' once-doctor --no
	becomes '--version --verbose' once-show --ver || becomes '--verbose --version' once-show --ver
	becomes '--listen' oncewrap --l
	becomes '' once-list --nothing
	local program
	for program in oncewrap once-doctor once-expire once-metrics once-migrate once-release; do
		[[ $(completed $program -) == *--help*--version* ]]
	done
}

@test 'an argument from a closed set, behind the long name, the sign, and the letter' {
	becomes 'json' once-list --output js
	becomes 'json' once-list --output '=' js
	becomes 'csv id json lines table wide' once-list --output '='
	becomes 'csv id json lines table wide' once-list -o ''
	becomes 'human json nagios' once-doctor -o ''
	becomes 'always auto' once-show --color '=' a
	becomes 'age expiry size' once-list --sort ''
	becomes '' once-list --limit ''
	becomes '' once-release --reason js
}

@test 'a list with commas grows by a name that is not in it yet' {
	becomes 'in_flight' once-list --state in_
	becomes 'complete,unknown' once-list --state '=' complete,un
	becomes 'complete,expired complete,in_flight complete,released complete,unknown' once-list --state complete,
	becomes 'version,checksum,cure' once-migrate --columns version,checksum,cu
	becomes 'connection,clock' once-doctor --only connection,cl
	becomes 'local,store' once-metrics --scope local,
}

@test 'files where a file is wanted, with blanks in their names' {
	mkdir -p "$BATS_TEST_TMPDIR/a b"
	cd "$BATS_TEST_TMPDIR"
	touch 'a b/one.conf' two.conf
	becomes 'a b two.conf' once-list --config ''
	becomes 'two.conf' once-list -c tw
	becomes 'two.conf' oncewrap --handler '=' tw
	becomes 'a b/one.conf' once-show --explain 'a b/'
	becomes 'two.conf' once-resolve --body-file tw
	becomes 'two.conf' once-metrics --textfile tw
	becomes '' once-list tw
}

@test 'the first operand of once-migrate is a verb, the second nothing' {
	becomes 'grants mark plan status up verify wait' once-migrate ''
	becomes 'status' once-migrate -o wide st
	becomes 'status' once-migrate --output '=' wide st
	becomes 'verify' once-migrate --config "$CONFIG" v
	becomes '' once-migrate status ''
	becomes 'status' once-migrate -- st
	becomes '' once-migrate -- --out
}

# ident DIGITS: an id that begins so.
ident() {
	printf '%s%0*d' "$1" $((64 - ${#1})) 0
}

@test 'ids of records, of those that the program is for' {
	local complete stuck unknown
	complete=$(ident d0) stuck=$(ident e1) unknown=$(ident e2)
	record "id=x'$complete'"
	record "id=x'$stuck'" "state='in_flight'" 'settled_at=NULL' 'lease_until=UTC_TIMESTAMP(6) - INTERVAL 1 HOUR'
	record "id=x'$unknown'" "state='unknown'"
	becomes "$complete $stuck $unknown" once-show --config "$CONFIG" ''
	becomes "$complete $stuck $unknown" once-show --config '=' "$CONFIG" ''
	becomes "$stuck $unknown" once-show -c "$CONFIG" e
	becomes "$stuck $unknown" once-show -c "$CONFIG" "$complete" E
	becomes "$stuck" once-release --config "$CONFIG" ''
	becomes "$unknown" once-resolve --config "$CONFIG" --applied --reason 'the bank says so' ''
	becomes '' once-resolve --config "$CONFIG" d
	becomes '' once-show --config "$CONFIG" 'x.*'
	becomes '' once-list --config "$CONFIG" ''
}

@test 'a database that is not there brings nothing, says nothing, and is not waited for' {
	configuration >"$HERE/away.conf"
	sed -i 's|socket = .*|host = "192.0.2.1"; tls = "off";|' "$HERE/away.conf"
	local began=$SECONDS
	becomes '' once-show --config "$HERE/away.conf" ''
	becomes '' once-show --config "$HERE/none.conf" ''
	[[ $((SECONDS - began)) -le 4 ]]
}

@test 'where COMP_WORDBREAKS has no sign in it, the option comes back with its argument' {
	same word '--output=json' "$(PATH=$builddir:$PATH bash --norc --noprofile -c '
		. "$1"
		COMP_WORDBREAKS=" " COMP_WORDS=(once-list --output=js) COMP_CWORD=1
		_once_complete once-list --output=js once-list
		echo "${COMPREPLY[@]}"' bash "$srcdir/admin/completion/oncewrap")"
}

@test 'a program that is not there, or too old to know, brings nothing' {
	printf '#!/bin/sh\nexit 64\n' >"$BATS_TEST_TMPDIR/once-list"
	chmod +x "$BATS_TEST_TMPDIR/once-list"
	becomes '' "$BATS_TEST_TMPDIR/once-list" --
	becomes '' "$BATS_TEST_TMPDIR/none/once-list" --
}

@test 'typed at a bash in a terminal: TAB completes, and what it made runs' {
	cat >"$BATS_TEST_TMPDIR/typist" <<-'PYTHON'
		import fcntl, os, pty, select, struct, sys, termios, time
		pid, terminal = pty.fork()
		if pid == 0:
		    os.environ.update(PS1="$ ", TERM="dumb", INPUTRC="/dev/null")
		    os.execlp("bash", "bash", "--norc", "--noprofile", "-i")
		# Wide enough that nothing scrolls sideways.
		fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 1000, 0, 0))
		seen = b""
		def until(text):
		    global seen
		    end = time.monotonic() + 20
		    while text not in seen:
		        if time.monotonic() > end or not select.select([terminal], [], [], 20)[0]:
		            sys.exit("%r did not come: %r" % (text, seen))
		        seen += os.read(terminal, 4096)
		    seen = seen[seen.index(text) + len(text):]
		def type(text):
		    os.write(terminal, text.encode())
		until(b"$ ")
		type(". '%s'\n" % sys.argv[1]); until(b"\n"); until(b"$ ")
		type("once-migr"); type("ate --conf\t"); until(b"--config ")
		type(sys.argv[2] + " --outp\t"); until(b"--output ")
		type("js\t"); until(b"json ")
		type("--columns=st\t"); until(b"=state")
		type(",vers\t"); until(b",version")
		type(" stat\t"); until(b"status ")
		type("\n"); until(b'{"state":"applied","version":1}'); until(b"$ ")
		type("exit\n")
		os.waitpid(pid, 0)
	PYTHON
	PATH=$builddir:$PATH python3 "$BATS_TEST_TMPDIR/typist" "$srcdir/admin/completion/oncewrap" "$CONFIG"
}

@test 'installed: a link for each program, and each is completed when it is typed first' {
	local program place=$BATS_TEST_TMPDIR/root count=0
	make -s -C "$builddir" install-dist_completionDATA install-data-hook DESTDIR="$place" datadir=/share >/dev/null
	for program in "$place"/share/bash-completion/completions/*; do
		count=$((count + 1))
		bash --norc -c '. "$1" && complete -p "${1##*/}"' bash "$program" >/dev/null || {
			echo "$program: not completed"
			return 1
		}
	done
	same 'programs' "$(find "$builddir" -maxdepth 1 -name 'once*' -type f -perm /1 | wc -l)" "$count"
	make -s -C "$builddir" uninstall-dist_completionDATA uninstall-hook DESTDIR="$place" datadir=/share >/dev/null
	same 'left' '' "$(find "$place" ! -type d)"
}
