#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Plain CGI: a two-line fronting script in cgi-bin, without FastCGI and without a daemon.

load ../lib/web.sh

# front_script NAME HANDLER: cgi-bin/front of the examples, for that handler.
front_script() {
	sed -e "s,/usr/sbin/,$WEB/sbin/,; s,/etc/oncewrap/,$WEB/etc/," \
		-e "s,/usr/lib/oncewrap/handlers/orders,$2," "$srcdir/cgi-bin/front" | handler "$1"
}

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $WEB_CGI_FRONTS
	wrap_stop
	mv "$WEB"/cgi-bin/orders* "$WEB/oncewrap/handlers/"
	front_script orders "$WEB/oncewrap/handlers/orders"
	front_script orders-perl "$WEB/oncewrap/handlers/orders.pl"
	handler ../oncewrap/handlers/slow <<-SH
		#!/bin/sh
		echo "\$HTTP_IDEMPOTENCY_KEY" >>"$WEB/run/ran.slow"
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		printf 'Status: 201\nContent-Type: text/plain\n\ndone by %s\n' "\$\$"
	SH
	front_script guarded/slow "$WEB/oncewrap/handlers/slow"
	handler ../oncewrap/handlers/show <<-'SH'
		#!/bin/sh
		printf 'Content-Type: text/plain\n\n%s %s %s\n' "$SCRIPT_NAME" "$PATH_INFO" "$(cat)"
	SH
	front_script show "$WEB/oncewrap/handlers/show"
}

teardown_file() {
	touch "$WEB/run/go"
	pool_end
}

is_complete() {
	[[ $(sql <<<"SELECT state FROM oncewrap.once_record WHERE key_text='$1'") == complete ]]
}

# of_key KEY: the processes that serve a request, told by the variable that names the key.
of_key() {
	grep -lzx "HTTP_IDEMPOTENCY_KEY=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

# relay_of KEY: the one of them that the web server has started; the owner of the key leads a session of its own.
relay_of() {
	local pid
	for pid in $(of_key "$1"); do
		if [[ $(ps -o comm= -p "$pid") == oncewrap && $(ps -o sid= -p "$pid") -ne $pid ]]; then
			echo "$pid"
		fi
	done
}

none_of_key() {
	[[ -z $(of_key "$1") ]]
}

@test 'C1: twenty at once run once behind a fronting script' {
	for FRONT in $WEB_CGI_FRONTS; do
		for script in orders orders-perl; do
			item=cgi-$script-$FRONT
			"$builddir/tests/web/volley" -n 20 -H "Idempotency-Key: $item" -b "item=$item&quantity=4" \
				-H 'Content-Type: application/x-www-form-urlencoded' -s Location \
				-s Idempotent-Replayed "$(web_port "$FRONT")" "/cgi-bin/$script" >"$WEB/answers"
			same rows 1 "$(orders_made "$item")"
			id=$(sql <<<"SELECT id FROM shop.orders WHERE item='$item'")
			first=$(grep -c "^201 .* Location=/orders/$id Idempotent-Replayed=\$" "$WEB/answers") || :
			others=$(grep -c "^201 .* Idempotent-Replayed=true\$\|^409 " "$WEB/answers") || :
			same 'first, other answers' '1 19' "$first $others"
			same 'different bodies of 201' 1 "$(grep '^201' "$WEB/answers" | cut -d' ' -f2 | sort -u | wc -l)"
			ask "$FRONT" POST "/cgi-bin/$script" -H "Idempotency-Key: $item" -d "item=$item&quantity=4"
			same retry "201 true {\"id\":$id,\"item\":\"$item\",\"quantity\":4}" \
				"$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
			ask "$FRONT" POST "/cgi-bin/$script" -H "Idempotency-Key: $item" -d "item=$item&quantity=5"
			same 'another body' 422 "$ANSWER"
			same rows 1 "$(orders_made "$item")"
		done
	done
}

@test 'C32: the client hangs up, the web server ends its CGI child, the handler finishes all the same' {
	for FRONT in $WEB_CGI_FRONTS; do
		rm -f "$WEB/run/go"
		key=gone-$FRONT
		curl --silent --max-time 60 -H "Idempotency-Key: $key" -d x \
			"http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/guarded/slow" 3>&- &
		asking=$!
		wait_until 10 grep -qx "$key" "$WEB/run/ran.slow"
		kill "$asking"
		wait_until 5 process_gone "$asking"
		# What a web server does sooner or later to its child, in the gentler or the harder way.
		relay=$(relay_of "$key")
		kill -"$([[ $FRONT == lighttpd-* ]] && echo TERM || echo KILL)" "$relay"
		wait_until 5 process_gone "$relay"
		ask "$FRONT" POST /cgi-bin/guarded/slow -H "Idempotency-Key: $key" -d x
		same meanwhile 409 "$ANSWER"
		touch "$WEB/run/go"
		wait_until 10 is_complete "$key"
		ask "$FRONT" POST /cgi-bin/guarded/slow -H "Idempotency-Key: $key" -d x
		same retry '201 true' "$ANSWER $(answer_header Idempotent-Replayed)"
		same runs 1 "$(grep -cx "$key" "$WEB/run/ran.slow")"
		# Nobody is left behind.
		wait_until 10 none_of_key "$key"
	done
}

@test 'an unguarded request passes through a fronting script unchanged' {
	for FRONT in $WEB_CGI_FRONTS; do
		ask "$FRONT" POST '/cgi-bin/show/and/more' -d 'a body'
		same answer '200 /cgi-bin/show /and/more a body' "$ANSWER $(answer_body)"
	done
}

@test 'C46: Location without Status is 302 behind a fronting script' {
	handler ../oncewrap/handlers/moved <<-'SH'
		#!/bin/sh
		printf 'Location: http://localhost/elsewhere\n\n'
	SH
	front_script guarded/moved "$WEB/oncewrap/handlers/moved"
	front_script moved "$WEB/oncewrap/handlers/moved"
	for FRONT in $WEB_CGI_FRONTS; do
		ask "$FRONT" POST /cgi-bin/guarded/moved -H "Idempotency-Key: moved-$FRONT" -d x
		same guarded '302 http://localhost/elsewhere' "$ANSWER $(answer_header Location)"
		ask "$FRONT" GET /cgi-bin/moved
		same passed '302 http://localhost/elsewhere' "$ANSWER $(answer_header Location)"
	done
}
