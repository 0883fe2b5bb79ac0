#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-status behind web servers: what it answers to whom, and what it tells of workers and records.

load ../lib/web.sh
load ../lib/status.sh

FRONTS='lighttpd-status apache-status nginx-status'

setup_file() {
	pool_begin lighttpd-socket
	status_deploy
	fcgiwrap_start
	deploy_fill nginx-status.conf | sed "s,/run/fcgiwrap.socket,$WEB/run/fcgiwrap.sock," >"$WEB/etc/nginx-status.conf"
	for front in $FRONTS; do
		web_start "$front"
	done
}

teardown_file() {
	stop_process "$(<"$WEB/server/fcgiwrap")"
	pool_end
}

teardown() {
	web_tell
	mariadb_thaw
	mariadb_running || mariadb_restart
	[[ -e $WEB/run/oncewrap.pid ]] || wrap_start
	status_deploy
	sql <<<'DELETE FROM oncewrap.once_record'
}

test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "payments"; path = "/cgi-bin/payments"; settle: { on_lapse = "unknown"; }; }
		);
	CONF
}

fronts() {
	for FRONT in $FRONTS; do
		"$@"
	done
}

status() {
	ask "$FRONT" GET "/once-status$1" "${@:2}"
}

# json FILTER [ARGUMENT...]: of the page as JSON.
json() {
	status '?format=json'
	jq -r "${@:2}" "$1" "$WEB/answer.body"
}

# headers: those that every answer has.
headers() {
	same 'cache' no-store "$(answer_header Cache-Control)"
	same 'sniffing' nosniff "$(answer_header X-Content-Type-Options)"
	same 'referrer' no-referrer "$(answer_header Referrer-Policy)"
	same 'vary' Accept "$(answer_header Vary)"
	[[ $(answer_header Content-Security-Policy) == "default-src 'none'; style-src 'sha256-"*"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" ]]
}

formats() {
	local query accept type
	while IFS='|' read -r query accept type; do
		status "$query" -H "Accept: $accept"
		same "status of $query $accept" 200 "$ANSWER"
		same "type of $query $accept" "$type" "$(answer_header Content-Type)"
		# Apache goes by what it has seen, and sends what is longer in chunks.
		[[ -n $(answer_header Transfer-Encoding) ]] ||
			same 'length' "$(stat -c %s "$WEB/answer.body")" "$(answer_header Content-Length)"
		headers
	done <<-'TABLE'
		|text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8|text/html; charset=utf-8
		|application/json|application/json
		|text/plain|text/plain; charset=utf-8
		|*/*|text/plain; charset=utf-8
		?format=html|*/*|text/html; charset=utf-8
		?format=json|text/html|application/json
		?format=text|text/html|text/plain; charset=utf-8
	TABLE
	status '?format=html'
	head -n 1 "$WEB/answer.body" | grep -qx '<!DOCTYPE html>'
	status '?format=json'
	jq -e '.state and .headline and (.routes | length > 0)' "$WEB/answer.body"
}

@test 'the page comes in the format that is asked for, through every web server' {
	fronts formats
}

policy() {
	status '?format=html'
	same 'hash of the style sheet' "$(answer_header Content-Security-Policy | sed -n "s/.*'sha256-\([^']*\)'.*/\1/p")" \
		"$(python3 -c '
import base64, hashlib, re, sys
print(base64.b64encode(hashlib.sha256(re.search("<style>(.*)</style>", sys.stdin.read(), re.S)[1].encode()).digest()).decode())
' <"$WEB/answer.body")"
}

@test 'the policy lets in the style sheet of the page and nothing else' {
	fronts policy
}

methods() {
	local method
	ask "$FRONT" HEAD '/once-status?format=html' --head
	same 'status' 200 "$ANSWER"
	same 'type' 'text/html; charset=utf-8' "$(answer_header Content-Type)"
	headers
	for method in POST PUT DELETE PATCH; do
		ask "$FRONT" "$method" /once-status -d x
		same "status of $method" 405 "$ANSWER"
		same 'allowed' 'GET, HEAD' "$(answer_header Allow)"
		headers
	done
	# A body that nobody reads would cost the answer.
	head -c 300000 /dev/zero >"$WEB/body"
	ask "$FRONT" POST /once-status --data-binary "@$WEB/body"
	same 'status of a long POST' 405 "$ANSWER"
	same 'body of a long POST' 'only GET and HEAD are answered here' "$(answer_body)"
}

@test 'HEAD is answered without a body, and other methods are refused' {
	fronts methods
}

queries() {
	local query
	for query in x 'x=1' 'format=xml' 'probe=' 'probe=ready&x' '%' 'format=json%00' '<script>alert(1)</script>'; do
		status "?$query" --globoff
		[[ $ANSWER == 400 ]] || same "status of $query" 400 "$ANSWER"
		holds_no '<script' <"$WEB/answer.body"
	done
}

@test 'a query that says anything else is refused, and not repeated' {
	fronts queries
}

@test 'arguments that a web server makes of a query are no options' {
	printf '#!/bin/sh\nexec %s "$@"\n' "$WEB/sbin/once-status" >"$WEB/oncewrap/once-status"
	for FRONT in $FRONTS; do
		status "?--config+$WEB/etc/oncewrap.conf+--format+json"
		same 'status' 400 "$ANSWER"
	done
}

probe() {
	status '?probe=ready' -H 'Accept: text/html'
	same 'status' "$1" "$ANSWER"
	same 'word' "$2" "$(answer_body)"
	same 'type' 'text/plain; charset=utf-8' "$(answer_header Content-Type)"
	headers
}

@test 'a probe is told in a word whether requests are served' {
	fronts probe 200 ready
	record
	FRONT=lighttpd-status probe 200 ready
	sql <<<'UPDATE oncewrap.once_schema SET version = version + 100'
	FRONT=lighttpd-status probe 503 schema_mismatch
	sql <<<'UPDATE oncewrap.once_schema SET version = version - 100'
	mariadb_stop
	fronts probe 503 store_unreachable
	mariadb_restart
	wrap_stop
	fronts probe 503 no_workers
	wrap_start
	wait_until 10 eval 'FRONT=lighttpd-status; status "?probe=ready"; [[ $ANSWER == 200 ]]'
}

@test 'the page answers while every worker hangs, and says what they do' {
	FRONT=lighttpd-status
	local i
	handler guarded/hangs <<-SH
		#!/bin/sh
		while [ ! -e "$WEB/run/gate" ]; do sleep 0.05; done
		printf 'Content-Type: text/plain\n\ndone\n'
	SH
	for i in 1 2 3 4 5 6 7 8; do
		curl -s -o /dev/null -H "$(keyed "hang$i")" -d x "http://127.0.0.1:$(web_port lighttpd-socket)/cgi-bin/guarded/hangs" 3>&- 4>&- &
	done
	wait_until 15 eval '[[ $(json .workers.states.running) == 8 ]]'
	same 'workers' 8 "$(json .workers.count)"
	same 'in flight' 8 "$(json '.routes[] | select(.route == "guarded").in_flight')"
	same 'records' 8 "$(json .store.in_flight)"
	same 'headline' OK "$(json .headline)"
	status '?format=text'
	grep -qx HHHHHHHH "$WEB/answer.body"
	grep -q 'H running: 8' "$WEB/answer.body"
	grep -q 'The longest at work began' "$WEB/answer.body"
	: >"$WEB/run/gate"
	wait
	wait_until 10 eval '[[ $(json .workers.states.idle) == 8 ]]'
	status '?format=text'
	holds_no 'longest' <"$WEB/answer.body"
	rm "$WEB/run/gate"
}

@test 'requests are counted where they belong' {
	FRONT=lighttpd-status
	local before
	before=$(json '.routes[] | select(.route == "guarded") | "\(.first) \(.replayed) \(.mismatch)"')
	counting guarded/counted
	for key in a b a a; do
		ask lighttpd-socket POST /cgi-bin/guarded/counted -H "$(keyed "$key")" -d x
	done
	ask lighttpd-socket POST /cgi-bin/guarded/counted -H "$(keyed a)" -d other
	set -- $before
	wait_until 10 eval "[[ \$(json '.routes[] | select(.route == \"guarded\") | \"\(.first) \(.replayed) \(.mismatch)\"') == '$(($1 + 2)) $(($2 + 2)) $(($3 + 1))' ]]"
	[[ $(json '.routes[] | select(.route == "guarded") | .last_hour | map(.[0]) | add') -ge 5 ]]
	[[ $(json '.routes[] | select(.route == "guarded").p95_us') -gt 0 ]]
	same 'complete' 2 "$(json .store.complete)"
}

@test 'the oldest twenty records that need attention are listed, each with the commands that fit it' {
	FRONT=lighttpd-status
	sql <<-'SQL'
		INSERT INTO oncewrap.once_record (id, tenant, route, key_text, state, token, attempt, fingerprint,
			fingerprint_scheme, part_digests, lease_until, created_at, expires_at, owner_host, owner_boot, owner_pidns,
			owner_pid, owner_start, status, settled_at)
		SELECT UNHEX(SHA2(seq, 256)), 'acme', 'guarded', CONCAT('key', seq), ELT(1 + seq % 3, 'in_flight', 'unknown', 'complete'),
			UNHEX(MD5(seq)), 1, UNHEX(SHA2(seq, 256)), 'raw', '', UTC_TIMESTAMP(6) + INTERVAL IF(seq > 36, 1, -1) HOUR,
			UTC_TIMESTAMP(6) - INTERVAL (100 - seq) MINUTE, UTC_TIMESTAMP(6) + INTERVAL seq HOUR, 'web1', 'boot', 1, 1, 1,
			IF(seq % 3 = 2, 201, NULL), IF(seq % 3 = 2, UTC_TIMESTAMP(6), NULL)
		FROM oncewrap.seq_1_to_60
	SQL
	same 'ids' "$(for i in $(seq 60); do ((i % 3 == 2 || (i % 3 == 0 && i > 36))) || printf '%s' "$i" | sha256sum; done | head -n 20 | cut -c1-64)" \
		"$(json '.attention[].id')"
	same 'more' true "$(json .attention_more)"
	same 'headline' '20 unknown outcomes, 12 stale leases' "$(json .headline)"
	same 'state' attention "$(json .state)"
	same 'unknown' "once-show --config=$WEB/etc/oncewrap.conf 6b86b273ff34
once-resolve --applied --reason=TEXT --config=$WEB/etc/oncewrap.conf 6b86b273ff34
once-resolve --not-applied --reason=TEXT --config=$WEB/etc/oncewrap.conf 6b86b273ff34" "$(json '.attention[0].steps[].command')"
	same 'stale' "once-show --config=$WEB/etc/oncewrap.conf 4e07408562be
once-release --reason=TEXT --config=$WEB/etc/oncewrap.conf 4e07408562be" "$(json '.attention[1].steps[].command')"
	status '?format=text'
	grep -qx 'There are more; these are the oldest.' "$WEB/answer.body"
	same 'entries' 20 "$(grep -c '^[0-9a-f]\{12\}  ' "$WEB/answer.body")"
	status '?format=html'
	same 'entries' 20 "$(grep -c '^<h3>' "$WEB/answer.body")"
	# What it says to type, does it.
	cp "$builddir/once-resolve" "$WEB/sbin/"
	PATH="$WEB/sbin:$PATH" sh -c "$(json '.attention[0].steps[1].command' | sed 's/=TEXT/=seen/') --yes" >"$WEB/out"
	same 'settled' complete "$(state_of key1)"
}

@test 'never a key, an answer or a header, whatever the record holds' {
	FRONT=lighttpd-status
	record key_text="'planted-key-4711'" headers="'X-Planted: 4711\r\n'" body="'planted-body'" checkpoint="'planted-check'"
	for format in html json text; do
		status "?format=$format"
		same 'status' 200 "$ANSWER"
		holds_no '[Pp]lanted' <"$WEB/answer.body"
		grep -q "sha256:$(printf planted-key-4711 | sha256sum | cut -c1-12)" "$WEB/answer.body"
	done
}

@test 'hostile tenants and routes are shown harmlessly' {
	FRONT=lighttpd-status
	status_history <<<'requests <b>&"'\''odd first 0 1 1000'
	kill "$HISTORY"
	record tenant="'<img src=x onerror=alert(1)>'" route="'\" onclick=\"x'" owner_host="X'1b5b324aff'"
	status '?format=html'
	grep -q '&lt;img src=x onerror=alert(1)&gt;' "$WEB/answer.body"
	grep -q '&lt;b&gt;&amp;&quot;&#39;odd' "$WEB/answer.body"
	holds_no '<img\|<b>\|" onclick' <"$WEB/answer.body"
	same 'control bytes' 0 "$(LC_ALL=C grep -c "$(printf '\x1b')" "$WEB/answer.body")"
	grep -q '\\x1b\[2J\\xff' "$WEB/answer.body"
	status '?format=text'
	grep -q '\\x1b\[2J\\xff' "$WEB/answer.body"
	same 'tenant' '<img src=x onerror=alert(1)>' "$(json '.attention[0].tenant')"
	same 'host' 1b5b324aff "$(json '.attention[0].owner_host.hex')"
	same 'beyond ASCII' 0 "$(LC_ALL=C grep -c '[^ -~]' "$WEB/answer.body")"
}

@test 'a database that is down or silent costs 2 s, and the workers are told of all the same' {
	FRONT=lighttpd-status
	local began
	mariadb_freeze
	began=${EPOCHREALTIME/[.,]/}
	same 'state' trouble "$(json .state)"
	[[ $((${EPOCHREALTIME/[.,]/} - began)) -lt 4000000 ]]
	same 'workers' 8 "$(json .workers.count)"
	same 'up' false "$(json .store.up)"
	same 'attention' null "$(json .attention)"
	mariadb_thaw
	same 'up' true "$(json .store.up)"
	mariadb_stop
	for FRONT in $FRONTS; do
		status '?format=html'
		same 'status' 200 "$ANSWER"
		grep -q '<h1>Store unreachable</h1>' "$WEB/answer.body"
		grep -q 'once-doctor' "$WEB/answer.body"
	done
}

@test 'the account reads what the page tells and may write nothing' {
	FRONT=lighttpd-status
	record
	same 'error' null "$(json .store.error)"
	for statement in 'DELETE FROM once_record' "UPDATE once_record SET state = 'complete'" 'SELECT body FROM once_record'; do
		run mariadb --no-defaults --socket="$MARIADB_SOCKET" -uoncewrap-metrics -ponce oncewrap -e "$statement"
		[[ $status != 0 && $output == *denied* ]]
	done
}

@test 'what is wrong with the configuration is told to the error log and not to the client' {
	mv "$WEB/etc/oncewrap.conf" "$WEB/etc/saved.conf"
	for FRONT in $FRONTS; do
		status ''
		same 'status' 500 "$ANSWER"
		holds_no "$WEB" <"$WEB/answer.body"
	done
	mv "$WEB/etc/saved.conf" "$WEB/etc/oncewrap.conf"
	grep -q 'oncewrap.conf' "$WEB/log/apache-status.log"
}

@test 'who is not named may not know' {
	for FRONT in $FRONTS; do
		cp "$WEB/etc/$FRONT.conf" "$WEB/etc/$FRONT.saved"
		sed -i 's,127\.0\.0\.0/8,192.0.2.0/24,' "$WEB/etc/$FRONT.conf"
		web_stop "$FRONT"
		web_start "$FRONT"
		status ''
		same 'status' 403 "$ANSWER"
		web_stop "$FRONT"
		mv "$WEB/etc/$FRONT.saved" "$WEB/etc/$FRONT.conf"
		web_start "$FRONT"
		status ''
		same 'status' 200 "$ANSWER"
	done
}

@test 'at a shell it prints text, or what is asked for' {
	same 'headline' OK "$("$WEB/sbin/once-status" --config "$WEB/etc/oncewrap.conf" | head -n 1)"
	"$WEB/sbin/once-status" -c "$WEB/etc/oncewrap.conf" --format=json | jq -e '.state == "ok"'
	"$WEB/sbin/once-status" -c "$WEB/etc/oncewrap.conf" --format=html | grep -q '<h1>OK</h1>'
	run "$WEB/sbin/once-status" -c "$WEB/etc/nowhere.conf"
	same 'exit status' 78 "$status"
	run "$WEB/sbin/once-status" --format=xml
	same 'exit status' 64 "$status"
	run "$WEB/sbin/once-status" x
	same 'exit status' 64 "$status"
}

@test 'each code of a concern stands in the manual page, and the other way round' {
	same 'codes' "$(grep -ohE 'add\(concerns, "[a-z_]+"|"[a-z]+_[a-z]+", "' "$srcdir/cgi-bin/status/concerns.c" | grep -oE '[a-z]+_[a-z]+' | sort -u)" \
		"$(sed -n '/^\.Ss Concerns/,/^\.Ss JSON/s/^\.It Cm //p' "$srcdir/docs/man/once-status.8" | sort -u)"
}
