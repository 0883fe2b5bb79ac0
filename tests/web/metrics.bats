#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-metrics behind web servers, and what it tells of the workers: the numbers that the test knows to be right.

load ../lib/web.sh

FRONTS='lighttpd-metrics apache-metrics nginx-metrics'

setup_file() {
	pool_begin lighttpd-socket
	install -m 755 "$builddir/once-metrics" "$WEB/sbin/"
	deploy_script
	fcgiwrap_start
	deploy_fill nginx-metrics.conf | sed "s,/run/fcgiwrap.socket,$WEB/run/fcgiwrap.sock," >"$WEB/etc/nginx-metrics.conf"
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
	if mariadb_running; then mariadb_thaw; else mariadb_restart; fi
	deploy_script
}

# deploy_script [ARGUMENT...]: the script of two lines, with arguments behind its own.
deploy_script() {
	sed -e "s,/usr/sbin/,$WEB/sbin/,; s,/etc/oncewrap/,$WEB/etc/,; \$s|\$| $*|" "$srcdir/cgi-bin/metrics" >"$WEB/oncewrap/metrics"
	chmod 755 "$WEB/oncewrap/metrics"
}

# As the web servers' account, which is whom the sockets are for.
fcgiwrap_start() {
	local as=()
	[[ $(id -u) != 0 ]] || as=(setpriv --reuid "$(web_account)" --regid "$(web_account)" --init-groups)
	env -i PATH="$PATH" "${as[@]}" fcgiwrap -s "unix:$WEB/run/fcgiwrap.sock" </dev/null >>"$WEB/log/fcgiwrap.log" 2>&1 \
		3>&- 4>&- &
	echo $! >"$WEB/server/fcgiwrap"
	wait_until 15 socket_open "$WEB/run/fcgiwrap.sock"
}

test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "idle"; path = "/nowhere/*"; },
			{ name = "watched"; path = "/cgi-bin/watched/*"; mode = "observe"; }
		);
	CONF
}

check() {
	python3 "$srcdir/tests/lib/exposition.py" "$@"
}

# scrape FRONT [CURL-OPTION...]: its answer is checked as what it says that it is.
scrape() {
	local front=$1
	shift
	ask "$front" GET /metrics "$@"
	same 'status' 200 "$ANSWER"
	case $(answer_header Content-Type) in
	'text/plain; version=0.0.4; charset=utf-8') check "$WEB/answer.body" ;;
	'application/openmetrics-text; version=1.0.0; charset=utf-8') check --openmetrics "$WEB/answer.body" ;;
	*) return 1 ;;
	esac
}

# take: the samples of both scopes, of now.
take() {
	"$builddir/once-metrics" --config "$WEB/etc/oncewrap.conf" >"$WEB/metrics" && check --values "$WEB/metrics" >"$WEB/values"
}

# value SERIES: its value in what `take` took last.
value() {
	awk -v series="$1" '$1 == series { print $2 }' "$WEB/values"
}

# sum PATTERN: of all series that match.
sum() {
	awk -v pattern="^$1" '$1 ~ pattern { sum += $2 } END { print sum + 0 }' "$WEB/values"
}

@test 'a scrape is answered in the format that it asks for, through every web server' {
	for FRONT in $FRONTS; do
		scrape "$FRONT"
		same 'type' 'text/plain; version=0.0.4; charset=utf-8' "$(answer_header Content-Type)"
		promtool check metrics <"$WEB/answer.body"
		# Apache takes no CGI program's word for it.
		[[ $FRONT == apache-* ]] || same 'length' "$(stat -c %s "$WEB/answer.body")" "$(answer_header Content-Length)"
		same 'cache' no-store "$(answer_header Cache-Control)"
		grep -qx 'oncewrap_store_up 1' "$WEB/answer.body"
		grep -qx 'oncewrap_segment_up 1' "$WEB/answer.body"
		scrape "$FRONT" -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
		same 'type' 'application/openmetrics-text; version=1.0.0; charset=utf-8' "$(answer_header Content-Type)"
		scrape "$FRONT" -H 'Accept: application/openmetrics-text;version=0.0.1'
		same 'type' 'text/plain; version=0.0.4; charset=utf-8' "$(answer_header Content-Type)"
	done
}

@test 'HEAD is answered without a body, and other methods are refused' {
	for FRONT in $FRONTS; do
		ask "$FRONT" HEAD /metrics --head
		same 'status' 200 "$ANSWER"
		same 'type' 'text/plain; version=0.0.4; charset=utf-8' "$(answer_header Content-Type)"
		for method in POST PUT DELETE; do
			ask "$FRONT" "$method" /metrics -d x
			same "status of $method" 405 "$ANSWER"
			same 'allowed' 'GET, HEAD' "$(answer_header Allow)"
		done
	done
}

@test 'the query chooses a scope of those that the script has, and nothing else' {
	for FRONT in $FRONTS; do
		scrape "$FRONT" -G -d scope=local
		same 'store series' 0 "$(grep -c oncewrap_store_up "$WEB/answer.body")"
		scrape "$FRONT" -G -d scope=store
		same 'local series' 0 "$(grep -c oncewrap_build_info "$WEB/answer.body")"
		scrape "$FRONT" -G -d scope=store -d scope=local
		same 'both' 2 "$(grep -c '^oncewrap_build_info\|^oncewrap_store_up' "$WEB/answer.body")"
		for query in scope=all scope= 'scope=%00' textfile=/tmp/x '%' 'scope=local&x'; do
			ask "$FRONT" GET "/metrics?$query"
			same "status of $query" 400 "$ANSWER"
		done
	done
	deploy_script --scope=local
	ask nginx-metrics GET '/metrics?scope=store'
	same 'status' 400 "$ANSWER"
	scrape nginx-metrics
	same 'store series' 0 "$(grep -c oncewrap_store_up "$WEB/answer.body")"
}

@test 'arguments that a web server makes of a query are no options' {
	printf '#!/bin/sh\nexec %s --config %s "$@"\n' "$WEB/sbin/once-metrics" "$WEB/etc/oncewrap.conf" >"$WEB/oncewrap/metrics"
	for FRONT in $FRONTS; do
		ask "$FRONT" GET "/metrics?--textfile+$WEB/run/planted"
		[[ ! -e $WEB/run/planted ]]
		same 'status' 400 "$ANSWER"
	done
	# All that such an argument could name is not looked at, --config first of all.
	QUERY_STRING="--textfile+$WEB/run/planted" GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD=GET \
		"$WEB/sbin/once-metrics" --config "$WEB/etc/oncewrap.conf" --textfile "$WEB/run/planted" >"$WEB/out"
	[[ ! -e $WEB/run/planted && $(head -n 1 "$WEB/out") == $'Status: 400 Bad Request\r' ]]
}

@test 'what is wrong is told to the error log and not to the client' {
	mv "$WEB/etc/oncewrap.conf" "$WEB/etc/saved.conf"
	for FRONT in $FRONTS; do
		ask "$FRONT" GET /metrics
		same 'status' 500 "$ANSWER"
		holds_no "$WEB" <"$WEB/answer.body"
	done
	mv "$WEB/etc/saved.conf" "$WEB/etc/oncewrap.conf"
	grep -q 'oncewrap.conf' "$WEB/log/apache-metrics.log"
	mariadb_stop
	scrape nginx-metrics
	grep -qx 'oncewrap_store_up 0' "$WEB/answer.body"
	grep -qx 'oncewrap_segment_up 1' "$WEB/answer.body"
	deploy_script --strict
	ask nginx-metrics GET /metrics
	same 'status' 503 "$ANSWER"
	holds_no 'socket' <"$WEB/answer.body"
	mariadb_restart
	scrape nginx-metrics
}

@test 'a database that says nothing costs a scrape 2 s' {
	mariadb_freeze
	scrape nginx-metrics
	grep -qx 'oncewrap_store_up 0' "$WEB/answer.body"
	# As the program has it: the web server and a busy machine may add to it.
	[[ $(sed -n 's/^oncewrap_collect_duration_seconds //p' "$WEB/answer.body") =~ ^(1\.9|2\.[0-4]) ]]
	mariadb_thaw
	scrape nginx-metrics
	grep -qx 'oncewrap_store_up 1' "$WEB/answer.body"
}

@test 'who is not named may not know' {
	for FRONT in $FRONTS; do
		deploy_fill "$FRONT.conf" | sed -e 's,127\.0\.0\.0/8,192.0.2.0/24,' \
			-e "s,/run/fcgiwrap.socket,$WEB/run/fcgiwrap.sock," >"$WEB/etc/$FRONT.new"
		web_stop "$FRONT"
		mv "$WEB/etc/$FRONT.conf" "$WEB/etc/$FRONT.saved"
		mv "$WEB/etc/$FRONT.new" "$WEB/etc/$FRONT.conf"
		web_start "$FRONT"
		ask "$FRONT" GET /metrics
		same 'status' 403 "$ANSWER"
		web_stop "$FRONT"
		mv "$WEB/etc/$FRONT.saved" "$WEB/etc/$FRONT.conf"
		web_start "$FRONT"
		scrape "$FRONT"
	done
}

# A table of docs/metrics.md as "name type label,label", one series a line.
documented() {
	sed -n "/^### Scope $1\$/,/^##/p" "$srcdir/docs/metrics.md" |
		sed -nE 's/^\| `([a-z_]+)` \| ([a-z]+) \| ([^|]*)\|.*/\1 \2 \3/p' | tr -d '`,' | sed -E 's/ +$//' | tr -s ' '
}

# The same of what is printed.
printed() {
	"$builddir/once-metrics" --config "$WEB/etc/oncewrap.conf" --scope="$1" | awk '
		/^# TYPE/ { name = $3; type[name] = $4; order[++count] = name; next }
		/^#/ { next }
		{
			labels = $0
			if (labels !~ /{/) next
			sub(/^[^{]*{/, "", labels); gsub(/="[^"]*"/, "", labels); sub(/}.*/, "", labels); gsub(/,/, " ", labels)
			sub(/ ?le$/, "", labels)
			seen[name] = labels
		}
		END { for (i = 1; i <= count; i++) print order[i], (order[i] ~ /_info$/ ? "info" : type[order[i]]) (seen[order[i]] != "" ? " " seen[order[i]] : "") }'
}

@test 'docs/metrics.md names each series with its type and labels, in the order in which they are printed' {
	sql oncewrap <<-'SQL'
		DELETE FROM once_record;
		INSERT INTO once_record (id, tenant, route, key_text, state, token, attempt, fingerprint, fingerprint_scheme,
			part_digests, lease_until, created_at, expires_at, owner_host, owner_boot, owner_pidns, owner_pid, owner_start)
		SELECT RANDOM_BYTES(32), '', 'r', 'k', ELT(seq, 'in_flight', 'unknown'), RANDOM_BYTES(16), 1, RANDOM_BYTES(32), 'raw', '',
			UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY, 'h', 'b', 1, 1, 1 FROM seq_1_to_2
	SQL
	same 'scope local' "$(documented local)" "$(printed local)"
	same 'scope store' "$(documented store)" "$(printed store)"
	[[ $(documented local | wc -l) == 19 && $(documented store | wc -l) == 15 ]]
	sql <<<'DELETE FROM oncewrap.once_record'
}

@test 'the values of labels that docs/metrics.md lists are those that are printed' {
	local series label
	take
	while read -r series label; do
		for value in $(sed -nE "s/.*\{(.*,)?$label=([^,}]*)[,}].*/\2/p" <(grep "^$series" "$WEB/values") | sort -u); do
			grep -qF "\`$value\`" "$srcdir/docs/metrics.md" || {
				echo "$series: $label=$value is not in docs/metrics.md"
				return 1
			}
		done
		[[ -n $value ]]
	done <<-'LABELS'
		oncewrap_requests_total outcome
		oncewrap_settlements_total outcome
		oncewrap_store_duration_seconds op
		oncewrap_store_errors_total reason
		oncewrap_log_messages_total level
		oncewrap_workers state
		oncewrap_records state
	LABELS
}

@test 'every combination of labels is there before anything has happened' {
	take
	local outcomes
	outcomes=$(grep -c '^oncewrap_requests_total{.*route=other}' "$WEB/values")
	[[ $outcomes -ge 25 ]]
	for route in idle guarded orders other; do
		same "outcomes of $route" "$outcomes" "$(grep -c "^oncewrap_requests_total{.*route=$route}" "$WEB/values")"
		same "settlements of $route" 6 "$(grep -c "^oncewrap_settlements_total{.*route=$route}" "$WEB/values")"
		same "buckets of $route" 14 "$(grep -c "^oncewrap_handler_duration_seconds_bucket{.*route=$route}" "$WEB/values")"
	done
	same 'all of idle are 0' 0 "$(sum 'oncewrap_[a-z_]*{.*route=idle}')"
	same 'states' 8 "$(grep -c '^oncewrap_workers{' "$WEB/values")"
}

@test 'requests are counted where they belong' {
	counting guarded/counted
	counting watched/seen
	take
	cp "$WEB/values" "$WEB/before"
	for key in a b c a a; do
		ask lighttpd-socket POST /cgi-bin/guarded/counted -H "$(keyed "$key")" -d x
	done
	ask lighttpd-socket POST /cgi-bin/guarded/counted -H "$(keyed a)" -d other
	ask lighttpd-socket POST /cgi-bin/watched/seen -H "$(keyed a)" -d x
	sql <<<"UPDATE oncewrap.once_record SET expires_at = UTC_TIMESTAMP(6) WHERE key_text = 'c'"
	ask lighttpd-socket POST /cgi-bin/guarded/counted -H "$(keyed c)" -d x
	ask lighttpd-socket POST /cgi-bin/watched/seen -H "$(keyed a)" -d x
	wait_until 10 counted
	while read -r series expected; do
		same "$series" "$expected" "$(grown "$series")"
	done <<-'VALUES'
		oncewrap_requests_total{outcome=first,route=guarded} 4
		oncewrap_requests_total{outcome=replayed,route=guarded} 2
		oncewrap_requests_total{outcome=mismatch,route=guarded} 1
		oncewrap_settlements_total{outcome=stored,route=guarded} 4
		oncewrap_request_duration_seconds_count{route=guarded} 7
		oncewrap_handler_duration_seconds_count{route=guarded} 4
		oncewrap_reclaims_total{route=guarded} 1
		oncewrap_observed_total{outcome=first,route=watched} 1
		oncewrap_observed_total{outcome=replayed,route=watched} 1
		oncewrap_conflicts_total{route=guarded} 0
		oncewrap_takeovers_total{route=guarded} 0
	VALUES
	[[ $(grown oncewrap_replay_bytes_total) -gt 0 && $(grown 'oncewrap_store_duration_seconds_count{op=claim}') -ge 6 ]]
	[[ $(value oncewrap_worker_resident_memory_bytes) -gt 1000000 ]]
	same 'workers' 8 "$(sum 'oncewrap_workers{')"
	"$builddir/once-metrics" --config "$WEB/etc/oncewrap.conf" --classic >"$WEB/classic"
	check "$WEB/classic"
	same 'classic first' "$(sum 'oncewrap_requests_total{outcome=first,')" \
		"$(sed -n 's/^idempotency_requests_total{status="first"} //p' "$WEB/classic")"
	same 'classic replayed' "$(sum 'oncewrap_requests_total{outcome=replayed,')" \
		"$(sed -n 's/^idempotency_requests_total{status="replayed"} //p' "$WEB/classic")"
	same 'classic expired' "$(sum 'oncewrap_reclaims_total{')" "$(sed -n 's/^idempotency_key_expired_total //p' "$WEB/classic")"
	same 'classic names' 'idempotency_requests_total idempotency_requests_total idempotency_key_conflicts_total idempotency_key_expired_total' \
		"$(sed -n 's/^\([a-z_]*\).*/\1/p' "$WEB/classic" | xargs)"
}

# A reply may be there before its worker has counted it.
counted() {
	take
	[[ $(grown 'oncewrap_requests_total{outcome=mismatch,route=guarded}') == 1 &&
		$(grown 'oncewrap_observed_total{outcome=replayed,route=watched}') == 1 ]]
}

# grown SERIES: by how much since $WEB/before.
grown() {
	echo $(($(value "$1") + 0 - $(awk -v series="$1" '$1 == series { print $2 }' "$WEB/before") + 0))
}
