#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Who asks, with which key, for what: keys, tenants and fingerprints as they arrive through real web servers.

load ../lib/web.sh

FRONTS="lighttpd-socket apache-proxypass apache-fcgid nginx"

test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "owned"; path = "/cgi-bin/owned/*"; tenant: { sources = [ "header:ApiKey" ]; }; },
			{ name = "emoji"; path = "/cgi-bin/emoji/*"; key: { charset = "utf8"; }; }
		);
	CONF
}

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $FRONTS
	mkdir "$WEB/cgi-bin/owned" "$WEB/cgi-bin/emoji"
	# What it read, and which run it was.
	handler guarded/count <<-SH
		#!/bin/sh
		echo "\$HTTP_IDEMPOTENCY_KEY" >>"$WEB/run/ran.count"
		printf 'Content-Type: text/plain\nStatus: 201\n\n'
		printf '%s %s %s\n' "\$(sha256sum | cut -c1-64)" "\${CONTENT_LENGTH-none}" "\$\$"
	SH
	cp "$WEB/cgi-bin/guarded/count" "$WEB/cgi-bin/owned/count"
	cp "$WEB/cgi-bin/guarded/count" "$WEB/cgi-bin/emoji/count"
}

teardown_file() {
	pool_end
}

# ran KEY: how many runs with that key.
ran() {
	grep -cxF "$1" "$WEB/run/ran.count" || :
}

# refused STATUS RUNS-BEFORE RECORDS-BEFORE: the last answer, and that nothing came of it.
refused() {
	same status "$1" "$ANSWER"
	same runs "$2" "$(runs count)"
	same records "$3" "$(records)"
}

@test 'C14: the same key by another tenant has a run and an answer of its own' {
	for FRONT in $FRONTS; do
		ask "$FRONT" POST /cgi-bin/owned/count -H "Idempotency-Key: tenant-$FRONT" -H 'ApiKey: alice' -d x
		same status 201 "$ANSWER"
		first=$(answer_body)
		ask "$FRONT" POST /cgi-bin/owned/count -H "Idempotency-Key: tenant-$FRONT" -H 'ApiKey: mallory' -d x
		same status 201 "$ANSWER"
		same 'replay marker' '' "$(answer_header Idempotent-Replayed)"
		[[ $(answer_body) != "$first" ]]
		# Not even that the key exists: another body of another tenant is no mismatch.
		ask "$FRONT" POST /cgi-bin/owned/count -H "Idempotency-Key: tenant-$FRONT" -H 'ApiKey: oscar' -d other
		same status 201 "$ANSWER"
		ask "$FRONT" POST /cgi-bin/owned/count -H "Idempotency-Key: tenant-$FRONT" -H 'ApiKey: alice' -d x
		same 'replay marker' true "$(answer_header Idempotent-Replayed)"
		same replay "$first" "$(answer_body)"
		same runs 3 "$(ran "tenant-$FRONT")"
	done
}

@test 'C14: the same key on another path never gets the first answer' {
	cp "$WEB/cgi-bin/guarded/count" "$WEB/cgi-bin/guarded/other"
	for FRONT in $FRONTS; do
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: path-$FRONT" -d x
		same status 201 "$ANSWER"
		ask "$FRONT" POST /cgi-bin/guarded/other -H "Idempotency-Key: path-$FRONT" -d x
		same 'status where the scope joins the paths' 422 "$ANSWER"
		ask "$FRONT" POST /cgi-bin/owned/count -H "Idempotency-Key: path-$FRONT" -H 'ApiKey: alice' -d x
		same 'status on another route' 201 "$ANSWER"
		same 'replay marker' '' "$(answer_header Idempotent-Replayed)"
		same runs 2 "$(ran "path-$FRONT")"
	done
}

@test 'C16: bodies of every size are read whole, compared whole, and replayed' {
	for size in 0 1 65535 65536 65537 10485760; do
		head -c "$size" /dev/zero | tr '\0' a >"$WEB/body"
		cp "$WEB/body" "$WEB/other"
		printf b | dd of="$WEB/other" bs=1 seek=$((size > 0 ? size - 1 : 0)) conv=notrunc status=none
		digest=$(sha256sum <"$WEB/body")
		for FRONT in $FRONTS; do
			ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: size-$size-$FRONT" \
				--data-binary "@$WEB/body"
			same status 201 "$ANSWER"
			first=$(answer_body)
			same 'what the handler read' "${digest%% *} $size" "${first% *}"
			ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: size-$size-$FRONT" \
				--data-binary "@$WEB/body"
			same replay "201 true $first" "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
			ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: size-$size-$FRONT" \
				--data-binary "@$WEB/other"
			same 'status of a body that differs in its last byte' 422 "$ANSWER"
			same runs 1 "$(ran "size-$size-$FRONT")"
		done
	done
}

@test 'C37: an upload in chunks is read to its end, and the handler is told its true length' {
	head -c 900000 /dev/urandom >"$WEB/body"
	digest=$(sha256sum <"$WEB/body")
	for FRONT in $FRONTS; do
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: chunks-$FRONT" \
			-H 'Transfer-Encoding: chunked' --data-binary "@$WEB/body"
		same status 201 "$ANSWER"
		first=$(answer_body)
		same 'what the handler read' "${digest%% *} 900000" "${first% *}"
		# C16: the same bytes with a length are the same request.
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: chunks-$FRONT" \
			--data-binary "@$WEB/body"
		same replay "201 true $first" "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
		same runs 1 "$(ran "chunks-$FRONT")"
	done
}

@test 'C17: headers that nobody named change nothing' {
	for FRONT in $FRONTS; do
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: trace-$FRONT" -d x \
			-H 'Traceparent: 00-1' -H 'Date: Mon, 30 Nov 2026 00:00:00 GMT'
		first=$(answer_body)
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: trace-$FRONT" -d x \
			-H 'Traceparent: 00-2' -H 'Date: Mon, 30 Nov 2026 00:01:00 GMT' -A other -H 'Accept: */xml'
		same replay "201 true $first" "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
		same runs 1 "$(ran "trace-$FRONT")"
	done
}

@test 'C18: a key that is too long, or of other bytes than allowed, is refused before the store is asked' {
	long=$(printf 'k%.0s' {1..256})
	for FRONT in $FRONTS; do
		before=$(runs count) known=$(records)
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: $long" -d x
		refused 400 "$before" "$known"
		same 'content type' application/problem+json "$(answer_header Content-Type)"
		ask "$FRONT" POST /cgi-bin/guarded/count -H $'Idempotency-Key: caf\xc3\xa9' -d x
		refused 400 "$before" "$known"
		ask "$FRONT" POST /cgi-bin/guarded/count -H $'Idempotency-Key: a\x01b' -d x
		refused 400 "$before" "$known"
		ask "$FRONT" POST /cgi-bin/guarded/count -H $'Idempotency-Key: a\tb' -d x
		refused 400 "$before" "$known"
		ask "$FRONT" POST /cgi-bin/emoji/count -H $'Idempotency-Key: a\xff\xfeb' -d x
		refused 400 "$before" "$known"
		# Present and empty; lighttpd drops empty headers, and then there is no key.
		ask "$FRONT" POST /cgi-bin/guarded/count -H 'Idempotency-Key;' -d x
		case $FRONT in
		lighttpd-*) refused 201 $((before + 1)) "$known" ;;
		*) refused 400 "$before" "$known" ;;
		esac
	done
	[[ $(LC_ALL=C grep -c $'caf\xc3\xa9\\|\x01\\|\xff\xfe' "$WEB/log/oncewrap.log") == 0 ]]
}

@test 'C18: 255 characters pass where UTF-8 is allowed, 256 do not' {
	emoji=$(printf '\xf0\x9f\x98\x80%.0s' {1..255})
	for FRONT in $FRONTS; do
		ask "$FRONT" POST /cgi-bin/emoji/count -H "Idempotency-Key: $emoji" -d "$FRONT"
		[[ $ANSWER == 201 || $ANSWER == 422 ]]
		before=$(runs count) known=$(records)
		ask "$FRONT" POST /cgi-bin/emoji/count -H "Idempotency-Key: $emoji"$'\xf0\x9f\x98\x80' -d "$FRONT"
		refused 400 "$before" "$known"
	done
	same runs 1 "$(ran "$emoji")"
}

@test 'C19: a key that is sent twice is refused, however the web server hands it on' {
	for FRONT in $FRONTS; do
		before=$(runs count) known=$(records)
		ask "$FRONT" POST /cgi-bin/guarded/count -H 'Idempotency-Key: one' -H 'Idempotency-Key: two' -d x
		refused 400 "$before" "$known"
		ask "$FRONT" POST /cgi-bin/guarded/count -H 'Idempotency-Key: one' -H 'Idempotency-Key: one' -d x
		refused 400 "$before" "$known"
	done
}

@test 'C19: a key that is sent again with an underscore is refused, or the web server has dropped it' {
	for FRONT in $FRONTS; do
		before=$(runs count) known=$(records)
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: hyphen-$FRONT" \
			-H "Idempotency_Key: underscore-$FRONT" -d x
		case $FRONT in
		lighttpd-*) refused 400 "$before" "$known" ;;
		*) same 'status and runs' "201 1" "$ANSWER $(ran "hyphen-$FRONT")" ;;
		esac
		same 'runs by the other spelling' 0 "$(ran "underscore-$FRONT")"
	done
}

@test 'a body over limits.max_body gets 413 from oncewrap and not from the web server, and nothing runs' {
	head -c $((16 * 1024 * 1024 + 1)) /dev/zero >"$WEB/body"
	for FRONT in $FRONTS; do
		before=$(runs count) known=$(records)
		ask "$FRONT" POST /cgi-bin/guarded/count -H "Idempotency-Key: over-$FRONT" --data-binary "@$WEB/body"
		refused 413 "$before" "$known"
		same type application/problem+json "$(answer_header Content-Type)"
	done
}
