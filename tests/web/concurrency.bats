#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Identical requests in the same instant, through every web server: the rows of the handler's own table say how
# many ran.

load ../lib/web.sh

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $WEB_POOL_FRONTS $WEB_OWN_FRONTS
}

teardown_file() {
	pool_end
}

# volley FRONT COUNT ITEM: COUNT identical orders at once; the answers go to $WEB/answers.ITEM.
volley() {
	"$builddir/tests/web/volley" -n "$2" -H "Idempotency-Key: $3" \
		-H 'Content-Type: application/x-www-form-urlencoded' -b "item=$3&quantity=1" \
		-s Location -s Idempotent-Replayed -s Content-Type "$(web_port "$1")" /cgi-bin/orders \
		>"$WEB/answers.$3"
}

# burst FRONT COUNT ITEM: one of them runs; every other answer is its replay or 409.
burst() {
	local count=$2 item=$3 row id digest first replays conflicts
	FRONT=$1
	volley "$FRONT" "$count" "$item"
	row=$(sql <<<"SELECT COUNT(*), MAX(id) FROM shop.orders WHERE item='$item'")
	id=${row#*$'\t'}
	same 'rows' 1 "${row%$'\t'*}"
	digest=$(printf '{"id":%s,"item":"%s","quantity":1}\n' "$id" "$item" | sha256sum)
	digest="201 ${digest%% *} Location=/orders/$id"
	first=$(grep -c "^$digest Idempotent-Replayed= Content-Type=application/json\$" "$WEB/answers.$item") || :
	replays=$(grep -c "^$digest Idempotent-Replayed=true Content-Type=application/json\$" "$WEB/answers.$item") || :
	conflicts=$(grep -c '^409 .* Content-Type=application/problem+json$' "$WEB/answers.$item") || :
	if [[ $first != 1 || $((first + replays + conflicts)) != "$count" ]]; then
		sort "$WEB/answers.$item" | uniq -c >&2
	fi
	same 'first answers' 1 "$first"
	same 'answers' "$count" $((first + replays + conflicts))
}

# rounds FRONT: twenty at once, a hundred times, looked at together in the end.
rounds() {
	local round
	for round in {1..100}; do
		volley "$1" 20 "round-$1-$round"
	done
	sql <<<"SELECT item, COUNT(*), MAX(id) FROM shop.orders WHERE item LIKE 'round-$1-%' GROUP BY item" >"$WEB/rows"
	FRONT=$1
	same 'rounds, rounds that went wrong' '100 0' \
		"$(awk -f "$BATS_TEST_DIRNAME/rounds.awk" "$WEB/rows" "$WEB/answers.round-$1-"*)"
}

@test 'C1: two identical requests at once run once, through every web server' {
	for front in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		burst "$front" 2 "two-$front"
	done
}

@test 'C1: two hundred identical requests at once run once, through every web server' {
	for front in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		burst "$front" 200 "two-hundred-$front"
	done
}

@test 'C1: twenty at once run once, a hundred times, through lighttpd' {
	rounds lighttpd-socket
}

@test 'C1: twenty at once run once, a hundred times, through Apache mod_proxy_fcgi' {
	rounds apache-proxypass
}

@test 'C1: twenty at once run once, a hundred times, through Apache mod_fcgid' {
	rounds apache-fcgid
}

@test 'C1: twenty at once run once, a hundred times, through nginx' {
	rounds nginx
}

@test 'C1: twenty at once through a web server that starts oncewrap itself run once' {
	burst lighttpd-spawn 20 twenty-spawned
	burst apache-sethandler 20 twenty-by-handler
}

@test 'C2: the losers of a race are no store trouble' {
	[[ $(grep -c '"store_down"' "$WEB/log/oncewrap.log") == 0 ]]
	[[ $(grep -c '"verdict":"in_flight"\|"verdict":"replayed"' "$WEB/log/oncewrap.log") -gt 100 ]]
}

@test 'C21: sixty-four clients with keys of their own all get their own answer' {
	for FRONT in $WEB_POOL_FRONTS; do
		"$builddir/tests/web/volley" -n 64 -k "own-$FRONT-" \
			-H 'Content-Type: application/x-www-form-urlencoded' -b "item=own-$FRONT&quantity=1" \
			-s Location -s Idempotent-Replayed "$(web_port "$FRONT")" /cgi-bin/orders >"$WEB/answers"
		same 'first answers' 64 "$(grep -c '^201 .* Idempotent-Replayed=$' "$WEB/answers")"
		same 'different orders' 64 "$(cut -d' ' -f3 "$WEB/answers" | sort -u | wc -l)"
		same rows 64 "$(orders_made "own-$FRONT")"
	done
}
