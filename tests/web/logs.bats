#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The log: one line a guarded request, the id by which it is found, where it goes, and what must never stand in it.

load ../lib/web.sh

FRONTS='lighttpd-socket apache-proxypass nginx'

# Planted; none of them may be seen anywhere but at the handler. The key is long enough not to be met by chance.
PASSWORD=planted-password-9e1c
TOKEN=planted-token-41b7
COOKIE=planted-cookie-77aa
BASIC=planted-basic-0d2f
BODY=planted-body-c3c3
KEY=planted-key-58e8

test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "compulsory"; path = "/cgi-bin/compulsory/*"; key: { required = true; }; },
			{ name = "owned"; path = "/cgi-bin/owned/*"; tenant: { sources = [ "header:X-Token" ]; }; },
			{ name = "watched"; path = "/cgi-bin/watched/*"; mode = "observe"; }
		);
	CONF
}

setup_file() {
	web_begin
	{
		echo 'LoadModule unique_id_module /usr/lib/apache2/modules/mod_unique_id.so'
		deploy_fill apache-proxypass.conf
	} >"$WEB/etc/apache-proxypass.conf"
	# shellcheck disable=SC2086
	pool_begin $FRONTS
	sql <<<"SET PASSWORD FOR oncewrap@localhost = PASSWORD('$PASSWORD')"
	sed -i "/^user=oncewrap\$/{n;s/=.*/=$PASSWORD/}" "$WEB/etc/mariadb.cnf"
	mkdir "$WEB"/cgi-bin/{compulsory,owned,watched,free}
	# Says the id that it was given, both ways, and claims another one.
	handler guarded/ids <<-'SH'
		#!/bin/sh
		printf 'Content-Type: text/plain\nX-Request-ID: of-the-handler\n\n%s %s\n' "$ONCE_REQUEST_ID" "$HTTP_X_REQUEST_ID"
	SH
	handler guarded/fails <<-'SH'
		#!/bin/sh
		echo "gave up" >&2
		exit 3
	SH
	for place in compulsory owned watched free; do
		cp "$WEB/cgi-bin/guarded/ids" "$WEB/cgi-bin/$place/"
	done
	touch "$WEB/cgi-bin/free/forbidden"
	handler guarded/slow <<-SH
		#!/bin/sh
		echo run >>"$WEB/run/ran.slow"
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		printf 'Content-Type: text/plain\n\ndone\n'
	SH
	cp "$WEB/etc/oncewrap.conf" "$WEB/etc/plain.conf"
	wrap_stop
	wrap_start
}

teardown_file() {
	pool_end
}

teardown() {
	web_tell
	touch "$WEB/run/go"
	mariadb_running || mariadb_restart
}

# lines FILTER [LOG]: those lines of the log for which the jq filter holds.
lines() {
	jq -c "select($1)" <"${2:-$WEB/log/oncewrap.log}"
}

# count_of FILTER [LOG]: how many they are. A line that is no JSON fails here.
count_of() {
	lines "$@" | wc -l
}

at_least() {
	[[ $(count_of "$2") -ge $1 ]]
}

# reloads: how many there were so far, wherever they were told.
reloads() {
	cat "$WEB"/log/{oncewrap.log,syslog,journal} 2>/dev/null | grep -ac 'new configuration in force' || :
}

more_reloads_than() {
	[[ $(reloads) -gt $1 ]]
}

# configure LINE...: the configuration with these settings more, in force.
configure() {
	local before
	{
		cat "$WEB/etc/plain.conf"
		printf '%s\n' "$@"
	} >"$WEB/etc/oncewrap.conf"
	before=$(reloads)
	kill -HUP "$(wrap_pid)"
	wait_until 10 more_reloads_than "$before"
}

# told VERDICT: the last answer's request has exactly one line of its own, with that verdict and its status.
told() {
	local id
	id=$(answer_header X-Request-Id)
	[[ -n $id ]]
	wait_until 5 at_least 1 ".request_id == \"$id\" and .verdict"
	same "lines of $1" 1 "$(count_of ".request_id == \"$id\" and .verdict")"
	same "line of $1" "$1 $ANSWER" "$(lines ".request_id == \"$id\" and .verdict" | jq -r '"\(.verdict) \(.status)"')"
}

@test 'every guarded request has exactly one line, whatever becomes of it' {
	for FRONT in $FRONTS; do
		before=$(count_of '.event == "request" or .event == "observed"')
		ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed "one-$FRONT")" -d x
		told first
		ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed "one-$FRONT")" -d x
		told replayed
		ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed "one-$FRONT")" -d y
		told mismatch
		ask "$FRONT" POST /cgi-bin/guarded/ids -d x
		told passed
		ask "$FRONT" POST /cgi-bin/compulsory/ids -d x
		told key_missing
		ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed "$(printf 'x%.0s' {1..300})")" -d x
		told key_invalid
		if [[ $FRONT != lighttpd-* ]]; then # which does not ask for a script that is not there
			ask "$FRONT" POST /cgi-bin/guarded/nowhere -H "$(keyed none)" -d x
			told not_found
		fi
		ask "$FRONT" POST /cgi-bin/guarded/fails -H "$(keyed "fails-$FRONT")" -d x
		told handler_failed
		ask "$FRONT" POST /cgi-bin/watched/ids -H "$(keyed "watched-$FRONT")" -d x
		told first
		head -c 17000000 /dev/zero >"$WEB/large"
		ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed large)" --data-binary "@$WEB/large"
		told too_large
		[[ $FRONT == lighttpd-* ]] && expected=9 || expected=10
		same 'lines in all' "$expected" "$(($(count_of '.event == "request" or .event == "observed"') - before))"
	done
}

@test 'a line has its fields' {
	ask nginx POST /cgi-bin/owned/ids -H "$(keyed fields)" -H 'X-Token: me' -d x
	ask nginx POST /cgi-bin/owned/ids -H "$(keyed fields)" -H 'X-Token: me' -d x
	told replayed
	lines ".request_id == \"$(answer_header X-Request-Id)\"" | jq -e --arg digest "$(printf me | sha256sum | cut -c1-32)" '
		(.ts | test("^[0-9-]{10}T[0-9:.]{12}Z$")) and .level == "info" and .event == "request" and .route == "owned"
		and .tenant == "header:x-token=" + $digest
		and .key == "sha256:'"$(printf fields | sha256sum | cut -c1-12)"'"
		and (.record | test("^[0-9a-f]{64}$")) and .replayed == true and (.first_seen | test("Z$"))
		and .status == 200 and .elapsed_ms >= 0 and .handler_ms == 0 and .store_ms >= 0'
}

@test 'a request in hand when its worker is told to stop has its line' {
	rm -f "$WEB/run/go" "$WEB/run/ran.slow"
	ask lighttpd-socket POST /cgi-bin/guarded/slow -H "$(keyed stopping)" -d x &
	asking=$!
	wait_until 10 test -s "$WEB/run/ran.slow"
	kill -TERM "$(wrap_pid)"
	wait_until 10 at_least 1 '.event == "stop"'
	touch "$WEB/run/go"
	wait "$asking"
	wait_until 15 process_gone "$(wrap_pid)"
	same lines 1 "$(count_of '.verdict == "first" and .key == "sha256:'"$(printf stopping | sha256sum | cut -c1-12)"'"')"
	wrap_start
}

@test "the id is the web server's, and log, handler and client have the same one" {
	ask nginx POST /cgi-bin/guarded/ids -H "$(keyed id-nginx)" -H 'X-Request-Id: of-the-client' -d x
	id=$(answer_header X-Request-Id)
	[[ $id =~ ^[0-9a-f]{32}$ ]]
	same 'what the handler has' "$id $id" "$(answer_body)"
	same 'lines' 1 "$(count_of ".request_id == \"$id\" and .event == \"request\"")"
	ask apache-proxypass POST /cgi-bin/guarded/ids -H "$(keyed id-apache)" -H 'X-Request-Id: of-the-client' -d x
	id=$(answer_header X-Request-Id)
	[[ $id =~ ^[A-Za-z0-9@_-]{24,}$ && $id != of-the-client ]]
	same 'what the handler has' "$id $id" "$(answer_body)"
	same 'lines' 1 "$(count_of ".request_id == \"$id\" and .event == \"request\"")"
}

@test "where the web server gives none, the client's is taken if it is harmless, and else one is made" {
	ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed id-client)" -H 'X-Request-Id: of-the-client.1' -d x
	same 'given back' of-the-client.1 "$(answer_header X-Request-Id)"
	same 'what the handler has' 'of-the-client.1 of-the-client.1' "$(answer_body)"
	number=0
	for hostile in '"}{"x":"' '<script>alert(1)</script>' 'a, b' "$(printf 'x%.0s' {1..200})" '' $'\xff\xfe'; do
		number=$((number + 1))
		ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed "hostile-$number")" -H "X-Request-Id: $hostile" -d x
		id=$(answer_header X-Request-Id)
		[[ $id =~ ^[0-9a-f]{32}$ ]]
		same 'what the handler has' "$id $id" "$(answer_body)"
	done
	holds_no 'alert(1)' <"$WEB/log/oncewrap.log"
}

@test "a replay has an id of its own, as has what no route guards and what is refused" {
	for FRONT in $FRONTS; do
		ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed "fresh-$FRONT")" -d x
		first=$(answer_header X-Request-Id)
		body=$(answer_body)
		ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed "fresh-$FRONT")" -d x
		same 'replay' "true $body" "$(answer_header Idempotent-Replayed) $(answer_body)"
		same 'ids of a replay' 1 "$(answer_header X-Request-Id | wc -l)"
		[[ $(answer_header X-Request-Id) != "$first" ]]
		ask "$FRONT" GET /cgi-bin/free/ids
		same 'unguarded' "$(answer_header X-Request-Id)" "$(cut -d' ' -f1 "$WEB/answer.body")"
		ask "$FRONT" GET /cgi-bin/free/forbidden
		same 'unguarded and refused' '403 1' "$ANSWER $(count_of ".request_id == \"$(answer_header X-Request-Id)\"")"
	done
}

@test 'the answer gives no id back where the configuration names no header, and the handler may have its own' {
	configure 'log: { request_header = ""; };'
	ask lighttpd-socket GET /cgi-bin/free/ids
	same 'given back' of-the-handler "$(answer_header X-Request-Id)"
	configure 'log: { request_header = "X-Trace"; request_id = [ "header:X-Trace" ]; };'
	ask lighttpd-socket GET /cgi-bin/free/ids -H 'X-Trace: t-1' -H 'X-Request-Id: r-1'
	same 'given back' 't-1 of-the-handler t-1 t-1' \
		"$(answer_header X-Trace) $(answer_header X-Request-Id) $(answer_body)"
	configure
}

@test 'whatever is sent, every line is one JSON object, and the next one is whole' {
	handler guarded/shouts <<-'SH'
		#!/bin/sh
		printf '{"ts":"forged"}\n\033[31m\000\377\r\n"}\n%70000s' x >&2
		printf 'no header at all \001\377\n'
	SH
	for FRONT in lighttpd-socket nginx; do
		for bad in $'\x01' $'\xff\xfe' '"}' '\' $'\xe2\x80\xa8' $'\x7f' "'; DROP TABLE x" '%s%n'; do
			ask "$FRONT" POST /cgi-bin/guarded/ids -H "$(keyed "k$bad")" -H "X-$bad: y" -H "X-Y: $bad" -d "$bad"
			ask "$FRONT" POST "/cgi-bin/guarded/%01%ff%22%0a%7f/$FRONT" -H "$(keyed k)" -d "$bad"
			ask "$FRONT" POST /cgi-bin/owned/ids -H "$(keyed k)" -H "X-Token: $bad" -d x
		done
		ask "$FRONT" POST /cgi-bin/guarded/shouts -H "$(keyed "shouts-$FRONT")" -d x
		same 'shouting' 502 "$ANSWER"
	done
	[[ $(count_of 'true') -eq $(wc -l <"$WEB/log/oncewrap.log") ]]
	same 'forged lines' 0 "$(count_of '.ts == "forged"')"
	LC_ALL=C holds_no $'[\x01-\x08\x0b-\x1f\x7f]' <"$WEB/log/oncewrap.log"
}

# secrets_in FILE...: those that were planted.
secrets_in() {
	grep -aoE "$PASSWORD|$TOKEN|$COOKIE|$BASIC|$BODY|$KEY" "$@" | sort -u
}

plant() {
	ask "$1" POST "/cgi-bin/$2" -H "$(keyed "$KEY")" -H "X-Token: $TOKEN" -H "Cookie: s=$COOKIE" -u "user:$BASIC" \
		-H "Authorization: Bearer $BASIC" -d "$BODY"
}

@test 'no secret in logs, process titles, refusals, and what the admin programs print' {
	rm -f "$WEB/run/go" "$WEB/run/ran.slow"
	configure
	for FRONT in $FRONTS; do
		for script in owned/ids owned/ids guarded/fails guarded/nowhere compulsory/ids; do
			plant "$FRONT" "$script"
			same "in the answer of $script" '' "$(secrets_in "$WEB/answer.header" "$WEB/answer.body")"
		done
		ask "$FRONT" POST /cgi-bin/owned/ids -H "$(keyed "$KEY")" -H "X-Token: $TOKEN" -d "$BODY-other"
		same 'a mismatch' '422 ' "$ANSWER $(secrets_in "$WEB/answer.header" "$WEB/answer.body")"
	done
	mariadb_kill9
	plant nginx owned/ids
	same 'without a database' '503 ' "$ANSWER $(secrets_in "$WEB/answer.header" "$WEB/answer.body")"
	mariadb_restart
	plant lighttpd-socket guarded/slow &
	wait_until 10 test -s "$WEB/run/ran.slow"
	for process in /proc/[0-9]*; do
		case $(cat "$process/comm" || :) in
		oncewrap | lighttpd | apache2 | nginx | slow) cat "$process/cmdline" ;;
		esac
	done >"$WEB/titles" 2>/dev/null || :
	touch "$WEB/run/go"
	wait
	[[ $(tr '\0' '\n' <"$WEB/titles" | grep -c oncewrap.conf) -ge 2 ]]
	same 'in process titles' '' "$(secrets_in "$WEB/titles")"
	"$WEB/sbin/oncewrap" --config "$WEB/etc/oncewrap.conf" --print-config >"$WEB/printed"
	for program in list doctor 'list --json' 'doctor --json'; do
		# shellcheck disable=SC2086
		"$builddir/once-${program%% *}" --config "$WEB/etc/oncewrap.conf" ${program#"${program%% *}"} >>"$WEB/printed" 2>&1 || :
	done
	grep -q owned "$WEB/printed"
	# once-list shows keys to those who may read the table; nothing else of it is a secret.
	same 'in what the admin programs print' "$KEY" "$(secrets_in "$WEB/printed")"
	same 'in the logs' '' "$(secrets_in "$WEB"/log/oncewrap.log "$WEB"/log/*.log)"
}

@test 'keys in clear, where the configuration says so' {
	configure 'log: { keys = true; };'
	ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed 'in "clear"')" -d x
	same lines 1 "$(count_of '.key == "in \"clear\""')"
	configure
}

worker_of() {
	pgrep -P "$(wrap_pid)" | head -n 1
}

@test 'a worker that crashes leaves no memory behind, unless the configuration lets it' {
	for allowed in false true; do
		configure "core_dumps = $allowed;"
		ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed "core-$allowed")" -d x
		# What is not dumpable belongs to root in proc(5).
		[[ $allowed == true ]] && expected=$(web_account) || expected=root
		same "owner with core_dumps = $allowed" "$expected" "$(stat -c %U "/proc/$(worker_of)/environ")"
	done
	configure
}

@test 'the database going and coming back is one line each, however many requests meet it' {
	gone=$(count_of '.event == "store_gone"')
	back=$(count_of '.event == "store_back"')
	refused=$(count_of '.verdict == "store_down"')
	mariadb_kill9
	for turn in {1..16}; do
		curl -s -o /dev/null -X POST -H "$(keyed "gone-$turn")" -d x "http://127.0.0.1:$(web_port nginx)/cgi-bin/guarded/ids" &
	done
	wait
	same 'gone' 1 "$(($(count_of '.event == "store_gone"') - gone))"
	lines '.event == "store_gone"' | tail -n 1 | jq -e '.level == "error" and (.message | test("see whether the database runs"))'
	same 'requests refused' 16 "$(($(count_of '.verdict == "store_down"') - refused))"
	mariadb_restart
	for turn in {1..16}; do
		ask nginx POST /cgi-bin/guarded/ids -H "$(keyed "back-$turn")" -d x
	done
	wait_until 10 at_least "$((back + 1))" '.event == "store_back"'
	same 'back' 1 "$(($(count_of '.event == "store_back"') - back))"
}

# listen_at SOCKET FILE: a datagram socket; what comes is written there, a datagram a line, its line feeds as NULs.
listen_at() {
	rm -f "$1"
	python3 -c '
import os, socket, sys
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
with open(sys.argv[2], "ab", buffering=0) as out:
    while True:
        out.write(sock.recv(1 << 18).rstrip(b"\n").replace(b"\n", b"\0") + b"\n")
' "$1" "$2" 3>&- 4>&- &
	listener=$!
	wait_until 10 test -S "$1"
}

@test 'a reload sends the log to syslog, to the journal, and back' {
	: >"$WEB/log/syslog"
	: >"$WEB/log/journal"
	listen_at "$WEB/run/syslog.sock" "$WEB/log/syslog"
	syslog=$listener
	listen_at "$WEB/run/journal.sock" "$WEB/log/journal"
	journal=$listener
	configure "log: { target = \"syslog\"; socket = \"$WEB/run/syslog.sock\"; };"
	before=$(wc -l <"$WEB/log/oncewrap.log")
	ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed syslog)" -d x
	id=$(answer_header X-Request-Id)
	wait_until 5 grep -q "$id" "$WEB/log/syslog"
	grep "$id" "$WEB/log/syslog" | grep -qE '^<30>[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} oncewrap\[[0-9]+\]: \{"ts":'
	configure "log: { target = \"journald\"; socket = \"$WEB/run/journal.sock\"; };"
	ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed journal)" -d x
	id=$(answer_header X-Request-Id)
	wait_until 5 grep -aq "$id" "$WEB/log/journal"
	grep -a "ONCEWRAP_REQUEST_ID=$id" "$WEB/log/journal" | tr '\0' '\n' >"$WEB/entry"
	same 'the entry' 'PRIORITY=6 ONCEWRAP_EVENT=request ONCEWRAP_ROUTE=guarded ONCEWRAP_VERDICT=first ONCEWRAP_STATUS=200' \
		"$(grep -E '^(PRIORITY|ONCEWRAP_(EVENT|ROUTE|VERDICT|STATUS))=' "$WEB/entry" | xargs)"
	grep ^MESSAGE= "$WEB/entry" | cut -d= -f2- | jq -e ".request_id == \"$id\""
	same 'lines on standard error meanwhile' "$before" "$(wc -l <"$WEB/log/oncewrap.log")"
	# Nobody there any more: told once, nothing lost, nobody waits.
	kill "$syslog" "$journal"
	wait "$syslog" "$journal" || :
	configure "log: { target = \"syslog\"; socket = \"$WEB/run/nobody.sock\"; };"
	for turn in 1 2 3; do
		ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed "nobody-$turn")" -d x
		same 'without a daemon' 200 "$ANSWER"
		told first
	done
	[[ $(count_of '.event == "log" and (.message | test("nobody.sock"))') -le 9 ]]
	configure
	ask lighttpd-socket POST /cgi-bin/guarded/ids -H "$(keyed stderr)" -d x
	told first
}
