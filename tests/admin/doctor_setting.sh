# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# What the tests of once-doctor share: a sound installation, faults planted in it, and cures typed as they are printed.
# Sourced by bats after setting.sh.

# doctor_begin [SERVER-OPTION...]
doctor_begin() {
	setting_begin --log-bin --binlog-format=MIXED "$@"
	tables
	cp -p "$HERE/accounts.cnf" "$HERE/accounts.saved"
	# What is typed finds the programs of this build; and cron or systemd is what a test says it is.
	mkdir "$HERE/bin"
	local program
	for program in once-list once-migrate once-show once-release once-resolve once-expire once-doctor; do
		ln -s "$builddir/$program" "$HERE/bin/"
	done
	cat >"$HERE/bin/systemctl" <<-'SYSTEMCTL'
		#!/bin/sh
		case $* in
		'is-system-running') echo running ;;
		'is-enabled oncewrap-expire.timer') if test -e "$HERE/enabled"; then echo enabled; else echo disabled; exit 1; fi ;;
		'enable --now oncewrap-expire.timer') : >"$HERE/enabled" ;;
		'edit oncewrap-expire.service') test -e "$HERE/bin" ;;
		'is-active mariadb') if test -e "$HERE/active"; then echo active; else echo inactive; exit 3; fi ;;
		'start mariadb' | 'restart mariadb') sh "$HERE/$1-mariadb" ;;
		*) exit 64 ;;
		esac
	SYSTEMCTL
	chmod 755 "$HERE/bin/systemctl"
	export PATH=$HERE/bin:$PATH
}

teardown_file() {
	setting_end
}

setup() {
	mkdir -p "$HERE/spool" "$HERE/cgi" "$HERE/run"
	chmod 755 "$HERE/spool" "$HERE/cgi" "$HERE/run"
	handler good '#!/bin/sh' 'echo'
	: >"$HERE/enabled"
	sql <<<"ALTER USER oncewrap@localhost IDENTIFIED BY 'secret' ACCOUNT UNLOCK"
	sql <<<"UPDATE once_maintenance SET started_at = NULL, finished_at = UTC_TIMESTAMP(6),
		succeeded_at = UTC_TIMESTAMP(6)"
	configured
}

teardown() {
	rm -rf "$HERE/spool" "$HERE/cgi" "$HERE/run" "$HERE/oncewrap.conf" "$HERE/conf.d"
	rm -rf "$HERE/accounts.cnf"
	cp -p "$HERE/accounts.saved" "$HERE/accounts.cnf"
	mariadb_thaw
	mariadb_running || mariadb_restart
	no_records
}

# handler NAME LINE...
handler() {
	printf '%s\n' "${@:2}" >"$HERE/cgi/$1"
	chmod 755 "$HERE/cgi/$1"
}

# configured [STORE-LINE [LINE...]]: the configuration of a sound installation, with these lines more.
configured() {
	{
		configuration "${1:-}"
		cat <<-CONF
			spool: { directory = "$HERE/spool"; };
			handlers: { roots = [ "$HERE/cgi" ]; };
			run_directory = "$HERE/run";
			limits: { max_body = "1M"; };
			routes = (
				{ name = "orders"; path = "/orders"; in_flight = "wait"; },
				{ name = "payments"; path = "/pay"; settle: { on_lapse = "unknown"; }; }
			);
		CONF
		printf '%s\n' "${@:2}"
	} >"$CONFIG"
}

doctor() {
	once-doctor --config "$CONFIG" "$@"
}

# sound: nothing is found, and that is not because nothing was looked at.
sound() {
	ends 0 doctor
	[[ $(grep -c '^ok ' "$HERE/out") -ge 24 ]]
	same 'what is not ok' '' "$(grep -v '^ok ' "$HERE/out" || :)"
}

# finds LEVEL CHECK TEXT: it is found, with that exit status; the cure is left in $HERE/cure.
finds() {
	local status
	case $1 in
	warn) status=1 ;;
	fail) status=2 ;;
	skip) status=3 ;;
	esac
	ends "$status" doctor --only="$2" -j
	found "$@"
}

found() {
	python3 -c '
import json, sys
level, check, text = sys.argv[2:5]
lines = [json.loads(line) for line in open(sys.argv[1])]
hits = [line for line in lines if (line["level"], line["check"]) == (level, check) and text in line["reason"]]
if not hits:
    sys.exit(f"not found: {level} {check} {text!r}, but: {lines}")
print(hits[0]["cure"] or "")
' "$HERE/out" "$@" >"$HERE/cure"
}

# cure TEXT: the cure is a command that begins so; it is typed.
cure() {
	same 'start of the cure' "$1" "$(head -c "${#1}" "$HERE/cure")"
	bash -e -c "$(<"$HERE/cure")" </dev/null >"$HERE/typed" 2>&1 || {
		cat "$HERE/cure" "$HERE/typed" >&2
		return 1
	}
}

client() {
	echo "mariadb --socket=$MARIADB_SOCKET"
}
