#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What a retry gets is what the first caller got, byte for byte, through every web server.

load ../lib/web.sh

FRONTS="lighttpd-socket apache-proxypass apache-fcgid nginx"

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $FRONTS
}

teardown_file() {
	pool_end
}

# answering NAME: a guarded handler that prints the file $WEB/run/NAME as its whole output, header block included, and
# leaves a line for each run.
answering() {
	handler "guarded/$1" <<-SH
		#!/bin/sh
		echo run >>"$WEB/run/ran.$1"
		exec cat "$WEB/run/$1"
	SH
	cat >"$WEB/run/$1"
}

# twice NAME: ask for it twice with one key of $FRONT's; what came is in $WEB/first.* and $WEB/answer.*.
twice() {
	local before
	before=$(runs "$1")
	ask "$FRONT" POST "/cgi-bin/guarded/$1" -H "Idempotency-Key: $1-$FRONT" -d x
	first_status=$ANSWER
	cp "$WEB/answer.header" "$WEB/first.header"
	cp "$WEB/answer.body" "$WEB/first.body"
	ask "$FRONT" POST "/cgi-bin/guarded/$1" -H "Idempotency-Key: $1-$FRONT" -d x
	same 'runs' $((before + 1)) "$(runs "$1")"
}

# stable FILE: a header block without what the web server makes anew for each answer and without the marker.
stable() {
	grep -vi '^\(Date\|X-Request-Id\|Keep-Alive\|Connection\|Server\|Idempotent-Replayed\):' "$1" | sort
}

# same_answers: the replay is the first answer, and says that it is a replay.
same_answers() {
	same 'first status' "$1" "$first_status"
	same 'replayed status' "$1" "$ANSWER"
	same 'marker of the replay' true "$(answer_header Idempotent-Replayed)"
	same 'marker of the first' '' "$(sed -n '/^Idempotent-Replayed:/Ip' "$WEB/first.header")"
	same 'headers' "$(stable "$WEB/first.header")" "$(stable "$WEB/answer.header")"
	cmp "$WEB/first.body" "$WEB/answer.body"
}

@test 'C20: all byte values, 70 KB and 7 MB are replayed byte for byte' {
	perl -e 'print map { chr } 0 .. 255' >"$WEB/bytes"
	head -c 70000 /dev/urandom >"$WEB/seventy"
	head -c 7000000 /dev/urandom >"$WEB/seven"
	for what in bytes seventy seven; do
		{ printf 'Content-Type: application/octet-stream\n\n' && cat "$WEB/$what"; } | answering "blob-$what"
		for FRONT in $FRONTS; do
			twice "blob-$what"
			same_answers 200
			cmp "$WEB/$what" "$WEB/answer.body"
		done
	done
}

@test 'C20: an answer over the limit reaches its client, and its key does not stay stuck' {
	head -c 10000000 /dev/urandom >"$WEB/ten"
	{ printf 'Content-Type: application/octet-stream\n\n' && cat "$WEB/ten"; } | answering huge
	for FRONT in $FRONTS; do
		twice huge
		same 'first status' 200 "$first_status"
		cmp "$WEB/ten" "$WEB/first.body"
		same 'status of the retry' 409 "$ANSWER"
		same 'its type' application/problem+json "$(answer_header Content-Type)"
		same 'in the store' complete "$(sql <<<"SELECT state FROM oncewrap.once_record
			WHERE key_text='huge-$FRONT'")"
	done
}

@test 'C25: 201 with Location and ETag replays with both' {
	answering made <<-'OUTPUT'
		Status: 201 Made it
		Location: /orders/7
		ETag: "v1"
		Content-Type: application/json

		{"id":7}
	OUTPUT
	for FRONT in $FRONTS; do
		twice made
		same_answers 201
		same Location /orders/7 "$(answer_header Location)"
		same ETag '"v1"' "$(answer_header ETag)"
		same body '{"id":7}' "$(answer_body)"
	done
}

@test 'C26: a gzip body keeps Content-Encoding and Vary' {
	{
		printf 'Content-Type: text/plain\nContent-Encoding: gzip\nVary: Accept-Encoding\n\n'
		echo 'squeezed' | gzip -n
	} | answering gzip
	for FRONT in $FRONTS; do
		twice gzip
		same_answers 200
		same Content-Encoding gzip "$(answer_header Content-Encoding)"
		same Vary Accept-Encoding "$(answer_header Vary)"
		same 'inside' squeezed "$(gunzip <"$WEB/answer.body")"
	done
}

@test 'C27: two Set-Cookie lines stay two on the first run and are not replayed' {
	answering cookies <<-'OUTPUT'
		Content-Type: text/plain
		Set-Cookie: a=1; Path=/
		Set-Cookie: b=2; Path=/

		cookies
	OUTPUT
	for FRONT in $FRONTS; do
		twice cookies
		same 'first status' 200 "$first_status"
		same 'first cookies' $'a=1; Path=/\nb=2; Path=/' \
			"$(tr -d '\r' <"$WEB/first.header" | sed -n 's/^Set-Cookie: *//Ip')"
		same 'replayed cookies' '' "$(answer_header Set-Cookie)"
		same 'replay' 'true cookies' "$(answer_header Idempotent-Replayed) $(answer_body)"
	done
}

@test 'C28: Latin-1 text replays unchanged, in a header too' {
	printf 'Content-Type: text/plain; charset=iso-8859-1\nX-Name: Andr\xe9\n\ncaf\xe9 \xa4\n' | answering latin
	for FRONT in $FRONTS; do
		twice latin
		same_answers 200
		same charset 'text/plain; charset=iso-8859-1' "$(answer_header Content-Type)"
		same 'header bytes' $'Andr\xe9' "$(LC_ALL=C answer_header X-Name)"
		same 'body bytes' $'caf\xe9 \xa4' "$(answer_body)"
	done
}

@test 'C30: a clean 500 is kept and marked as a replay, 429 frees its key' {
	printf 'Status: 500\nContent-Type: text/plain\n\ncharged, then failed\n' | answering failing
	printf 'Status: 429\nRetry-After: 7\nContent-Type: text/plain\n\nslow down\n' | answering busy
	for FRONT in $FRONTS; do
		twice failing
		same_answers 500
		before=$(runs busy)
		ask "$FRONT" POST /cgi-bin/guarded/busy -H "Idempotency-Key: busy-$FRONT" -d x
		same 'first' '429 7' "$ANSWER $(answer_header Retry-After)"
		ask "$FRONT" POST /cgi-bin/guarded/busy -H "Idempotency-Key: busy-$FRONT" -d x
		same 'second' '429 ' "$ANSWER $(answer_header Idempotent-Replayed)"
		same runs $((before + 2)) "$(runs busy)"
	done
}

@test 'C46: Location without Status is 302, and 201 with Location stays 201, guarded or not' {
	printf 'Location: /elsewhere\n\n' | answering moved
	printf 'Status: 201\nLocation: /orders/9\n\n' | answering created
	cp "$WEB/cgi-bin/guarded/moved" "$WEB/cgi-bin/guarded/created" "$WEB/cgi-bin/"
	for FRONT in $FRONTS; do
		twice moved
		same_answers 302
		same Location /elsewhere "$(answer_header Location | sed 's,^http://[^/]*,,')"
		twice created
		same_answers 201
		same Location /orders/9 "$(answer_header Location)"
		ask "$FRONT" GET /cgi-bin/moved
		same 'passed through' 302 "$ANSWER"
		same Location /elsewhere "$(answer_header Location | sed 's,^http://[^/]*,,')"
		ask "$FRONT" GET /cgi-bin/created
		same 'passed through' '201 /orders/9' "$ANSWER $(answer_header Location)"
	done
}

@test 'C56: 204 is sent and replayed without body and without Content-Length' {
	printf 'Status: 204\nETag: "gone"\n\nnobody may see this' | answering nothing
	for FRONT in $FRONTS; do
		twice nothing
		same_answers 204
		same ETag '"gone"' "$(answer_header ETag)"
		same Content-Length '' "$(answer_header Content-Length)"
		same 'body bytes' 0 "$(wc -c <"$WEB/answer.body")"
	done
}

@test 'C56: HEAD and 304 have no body' {
	handler plain <<-'SH'
		#!/bin/sh
		if [ "$QUERY_STRING" = known ]; then
			printf 'Status: 304\nETag: "v2"\n\nnobody may see this'
		else
			printf 'Content-Type: text/plain\nContent-Length: 12\nETag: "v2"\n\ntwelve bytes'
		fi
	SH
	for FRONT in $FRONTS; do
		ask "$FRONT" GET /cgi-bin/plain
		same GET '200 twelve bytes' "$ANSWER $(answer_body)"
		# Every byte that comes, since curl would not look for a body.
		{ printf 'HEAD /cgi-bin/plain HTTP/1.0\r\nHost: localhost\r\n\r\n' >&5 && cat <&5 >"$WEB/raw"; } \
			5<>"/dev/tcp/127.0.0.1/$(web_port "$FRONT")"
		same HEAD '200 "v2"' "$(sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p' "$WEB/raw") $(tr -d '\r' <"$WEB/raw" |
			sed -n 's/^ETag: *//Ip')"
		same 'end of the answer' "$(printf '\r\n\r\n' | od -An -c)" "$(tail -c 4 "$WEB/raw" | od -An -c)"
		ask "$FRONT" GET '/cgi-bin/plain?known'
		same 304 '304 "v2" 0' "$ANSWER $(answer_header ETag) $(wc -c <"$WEB/answer.body")"
	done
}
