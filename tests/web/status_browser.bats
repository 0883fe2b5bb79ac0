#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The status page as a browser shows it (status_page.py says what is looked at), and as a text browser does.

load ../lib/web.sh
load ../lib/status.sh

test_routes() {
	cat <<-'CONF'
		routes = ( { name = "payments"; path = "/cgi-bin/payments"; settle: { on_lapse = "unknown"; }; } );
	CONF
}

setup_file() {
	pool_begin lighttpd-socket
	status_deploy
	web_start lighttpd-status
}

teardown_file() {
	pool_end
}

teardown() {
	web_tell
	mariadb_running || mariadb_restart
	[[ -z ${HISTORY:-} ]] || kill "$HISTORY"
	sql <<<'DELETE FROM oncewrap.once_record'
}

# look WORD...: through the browser; nothing may be wrong.
look() {
	python3 "$srcdir/tests/web/status_page.py" check "http://127.0.0.1:$(web_port lighttpd-status)/once-status?format=html" "$@"
}

@test 'the page of a new installation is sound in a browser: light, dark, at 100, 200 and 400 %' {
	look OK Store reachable 'Nothing: no unknown outcome, no stale lease.' Routes 'no requests' 'idle: 8' Spool
}

@test 'so is that of a busy host with records that need attention' {
	status_trouble
	status_history < <(status_hour)
	look '2 unknown outcomes, 1 stale lease' 'Attention: 2 unknown outcomes.' 'outcome unknown for 3h07m' \
		'stale lease for' once-resolve once-release orders payments 'a minute' 'running: 6' 'waiting: 1' HHHHHHWCSA
}

@test 'a text browser shows all of it, in order' {
	local text
	record
	text=$(curl -s -H 'Accept: text/html' "http://127.0.0.1:$(web_port lighttpd-status)/once-status" | w3m -dump -T text/html -cols 120)
	same 'headings' 'Store Needs attention Routes Workers Spool' \
		"$(grep -xE 'Store|Needs attention|Routes|Workers|Spool' <<<"$text" | xargs)"
	grep -q 'once-resolve --applied' <<<"$text"
	grep -qE 'Route +Requests +First +Replayed +In flight +Mismatch +Errors +p50 +p95' <<<"$text"
}

@test 'so is that of a host whose database is down' {
	mariadb_stop
	look 'Store unreachable' 'Trouble: store unreachable.' once-doctor 'Not known: the database has not told.' 'idle: 8'
}

@test 'so is one full of hostile names, which do nothing' {
	local script='<script>document.title = "run"</script>' i
	for i in $(seq 20); do
		record tenant="'$script$i'" route="'\"><img src=x onerror=alert($i)>'" owner_host="REPEAT('x', 255)" \
			key_text="'<b>planted</b>'"
	done
	status_history <<-'LINES'
		requests "><img/src=x/onerror=alert(1)> first 0 5 1000
		requests WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW replayed 3 99999999 1000
	LINES
	look "$script" 'onerror=alert(1)>' 99\ 999\ 999
}
