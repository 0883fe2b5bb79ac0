#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Bodies that are not what they claim to be, bombs, and keys in every malformed shape, through real web servers: each is
# answered within limits, nothing runs, and nothing is recorded.

load ../lib/web.sh

FRONTS="lighttpd-socket nginx"

# What one answer may take, in seconds, on a machine that is busy with other things. The largest bombs below would
# take minutes where time or memory went by the square of their size.
BOUND=10

test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "member"; path = "/cgi-bin/member/*"; key: { sources = "json:/key"; required = true; }; },
			{ name = "field"; path = "/cgi-bin/field/*"; key: { sources = "form:key"; required = true; }; },
			{ name = "cookie"; path = "/cgi-bin/cookie/*"; key: { sources = "cookie:key"; required = true; }; },
			{ name = "strict"; path = "/cgi-bin/strict/*"; key: { required = true; }; require_json = true; },
			{ name = "any"; path = "/cgi-bin/any/*"; key: { required = true; }; },
			{ name = "quoted"; path = "/cgi-bin/quoted/*"; key: { required = true; syntax = "structured"; }; },
			{ name = "utf8"; path = "/cgi-bin/utf8/*"; key: { required = true; syntax = "raw"; charset = "utf8"; }; },
			{ name = "same-json"; path = "/cgi-bin/same-json/*"; fingerprint: { body = "json"; }; },
			{ name = "same-form"; path = "/cgi-bin/same-form/*"; fingerprint: { body = "form"; }; },
			{ name = "same-parts"; path = "/cgi-bin/same-parts/*"; fingerprint: { body = "multipart"; };
				natural_key: { values = [ "form:order" ]; }; }
		);
	CONF
}

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $FRONTS
	local route
	for route in member field cookie strict any quoted utf8 same-json same-form same-parts; do
		counting "$route/bad"
	done
	pgrep -P "$(wrap_pid)" | sort >"$WEB/workers"
}

teardown_file() {
	pool_end
}

setup() {
	KNOWN=$(records)
	rm -f "$WEB/run/ran.bad"
}

# Nothing was recorded, no worker has died of it, and every line of the log is still one of JSON with no byte of a
# stranger's as it came.
teardown() {
	web_tell
	same records "$KNOWN" "$(records)"
	same workers "$(<"$WEB/workers")" "$(pgrep -P "$(wrap_pid)" | sort)"
	jq . "$WEB/log/oncewrap.log" >/dev/null
	same 'raw bytes in the log' 0 "$(LC_ALL=C grep -c '[^ -~]' "$WEB/log/oncewrap.log" || :)"
}

# The bodies of a test: lines of a name, the code of the answer, and Perl that makes the body.
# refuse_bodies ROUTE CONTENT-TYPE <TABLE
refuse_bodies() {
	local name code program
	while IFS=$'\t' read -r name code program; do
		perl -e "binmode STDOUT; print $program" >"$WEB/body"
		for FRONT in $FRONTS; do
			refuse "$1" "$code" "$name" -H "Content-Type: $2" --data-binary "@$WEB/body"
		done
	done
}

# refuse ROUTE CODE WHY CURL-OPTION...: a POST that gets 400 with that code, or where CODE is "-" any 400, as web servers
# refuse some headers themselves.
refuse() {
	local route=$1 code=$2 why=$3 header body
	shift 3
	ask "$FRONT" POST "/cgi-bin/$route/bad" -m "$BOUND" "$@"
	same "$why: status" 400 "$ANSWER"
	if [[ $code != - ]]; then
		# by the shell itself: there are hundreds of these
		header=$(<"$WEB/answer.header") body=$(<"$WEB/answer.body")
		[[ ${header,,} == *$'\ncontent-type: application/problem+json'* && $body == *"\"code\":\"$code\""* ]] ||
			same "$why: answer" "problem details with the code $code" "$header$body"
	fi
	[[ ! -e $WEB/run/ran.bad ]] || same "$why: runs" 0 "$(runs bad)"
}

@test 'a body that claims to be JSON and is not gives no key' {
	refuse_bodies member application/json <<-'TABLE'
		empty	key_missing	""
		cut in the middle	key_invalid	'{"key":"k"'
		something behind	key_invalid	'{"key":"k"} x'
		a second text	key_invalid	'{"key":"k"}{"key":"k"}'
		a member twice	key_invalid	'{"key":"k","key":"k"}'
		the same member twice, spelt otherwise	key_invalid	'{"key":"k","\u006bey":"l"}'
		single quotes	key_invalid	"{'key':'k'}"
		a comma too many	key_invalid	'{"key":"k",}'
		a comment	key_invalid	'{"key":"k"/**/}'
		a number that is none	key_invalid	'{"key":"k","n":01}'
		not a number	key_invalid	'{"key":"k","n":NaN}'
		an escape that is none	key_invalid	'{"key":"\x6b"}'
		half a pair of surrogates	key_invalid	'{"key":"\ud800"}'
		a line break in a string	key_invalid	qq({"key":"a\nb"})
		bad UTF-8	key_invalid	qq({"key":"\xc0\xaf"})
		a NUL behind it	key_invalid	qq({"key":"k"}\0)
		a byte order mark	key_invalid	qq(\xef\xbb\xbf{"key":"k"})
		UTF-16	key_invalid	join("\0", "", split(//, '{"key":"k"}'))
		a form	key_invalid	'key=k'
		bytes	key_invalid	join("", map { chr } 0 .. 255)
	TABLE
}

@test 'a member that is no key is refused' {
	refuse_bodies member application/json <<-'TABLE'
		null	key_invalid	'{"key":null}'
		true	key_invalid	'{"key":true}'
		an array	key_invalid	'{"key":["k"]}'
		an object	key_invalid	'{"key":{"key":"k"}}'
		empty	key_invalid	'{"key":""}'
		too long	key_invalid	'{"key":"' . "k" x 256 . '"}'
		a NUL	key_invalid	'{"key":"a\u0000b"}'
		a line break	key_invalid	'{"key":"a\nb"}'
		no ASCII	key_invalid	'{"key":"\u00e9"}'
		a number of 300 digits	key_invalid	'{"key":' . "9" x 300 . '}'
		one with an exponent without end	key_invalid	'{"key":1e' . "9" x 100000 . '}'
		not an object	key_missing	'["key","k"]'
		another name	key_missing	'{"Key":"k"}'
	TABLE
}

@test 'bombs of JSON are refused within the bound: nested, wide, long and many' {
	refuse_bodies member application/json <<-'TABLE'
		arrays in arrays	key_invalid	'{"key":"k","x":' . "[" x 5000000 . "]" x 5000000 . '}'
		arrays that do not end	key_invalid	"[" x 10000000
		objects in objects	key_invalid	'{"key":' x 1000000 . '1' . '}' x 1000000
		a million values and more	key_invalid	'{"key":"k","x":[' . "0," x 2000000 . '0]}'
		a million strings and more	key_invalid	'{"key":"k","x":[' . '"",' x 2000000 . '0]}'
		a million members and more	key_invalid	'{"key":"k"' . join("", map { ",\"$_\":0" } 1 .. 1100000) . '}'
	TABLE
	for type in application/json application/x-www-form-urlencoded; do
		refuse_bodies strict "$type" <<-'TABLE'
			no key, and what it costs is not even looked at	key_missing	"[" x 10000000
		TABLE
	done
}

@test 'require_json: bombs and what is no JSON are refused, whatever they claim to be' {
	local type body
	for type in application/json text/plain application/x-www-form-urlencoded; do
		for body in '"[" x 5000000' '"[" . "0," x 2000000 . "0]"' "'key=k'" '"\0" x 1000000' "'{\"a\":1,\"a\":2}'"; do
			perl -e "print $body" >"$WEB/body"
			for FRONT in $FRONTS; do
				refuse strict bad_body "$type: $body" -H "$(keyed strict)" -H "Content-Type: $type" \
					--data-binary "@$WEB/body"
			done
		done
	done
}

@test 'a body that claims to be a form and is not gives no key' {
	refuse_bodies field application/x-www-form-urlencoded <<-'TABLE'
		empty	key_missing	""
		no digits	key_invalid	'key=k&x=%'
		one digit	key_invalid	'key=%4'
		no hex digits	key_invalid	'key=k&x=%zz'
		a bad escape in a name	key_invalid	'%g0=1&key=k'
		JSON	key_missing	'{"key":"k"}'
		another name	key_missing	'Key=k'
	TABLE
}

@test 'a field that is no key is refused' {
	refuse_bodies field application/x-www-form-urlencoded <<-'TABLE'
		empty	key_invalid	'key='
		without a sign	key_invalid	'key'
		twice	key_invalid	'key=k&key=k'
		twice, spelt otherwise	key_invalid	'key=k&%6Bey=k'
		a NUL	key_invalid	'key=a%00b'
		a line break	key_invalid	'key=a%0d%0ab'
		no ASCII	key_invalid	'key=%c3%a9'
		bad UTF-8	key_invalid	'key=%ff'
		bytes	key_invalid	"key=" . join("", map { chr } 0x80 .. 0xff)
		too long	key_invalid	'key=' . "%6b" x 256
	TABLE
}

@test 'bombs of form fields are refused within the bound' {
	refuse_bodies field application/x-www-form-urlencoded <<-'TABLE'
		many fields	key_invalid	'key=k' . '&a=1' x 3000000
		many that are empty, and key twice	key_invalid	'key=k' . '&' x 10000000 . 'key=k'
		many names	key_invalid	'key=k' . join("", map { "&$_=1" } 1 .. 1000000)
		a value of escapes	key_invalid	'key=' . "%41" x 4000000
	TABLE
}

@test 'a body that claims to be multipart and is not gives no key' {
	local part='Content-Disposition: form-data; name=\"key\"\r\n' type
	refuse_bodies field 'multipart/form-data; boundary=XX' <<-TABLE
		empty	key_missing	""
		a form	key_invalid	'key=k'
		JSON	key_invalid	'{"key":"k"}'
		no part	key_invalid	"--XX\r\n"
		no end	key_invalid	"--XX\r\n${part}\r\nk\r\n"
		another boundary	key_invalid	"--YY\r\n${part}\r\nk\r\n--YY--\r\n"
		newlines alone	key_invalid	"--XX\nContent-Disposition: form-data; name=\"key\"\n\nk\n--XX--\n"
		a part without a name	key_invalid	"--XX\r\nContent-Type: text/plain\r\n\r\nk\r\n--XX--\r\n"
		a part with two names	key_invalid	"--XX\r\n${part}${part}\r\nk\r\n--XX--\r\n"
		a name without its quote	key_invalid	"--XX\r\nContent-Disposition: form-data; name=\"key\r\n\r\nk\r\n--XX--\r\n"
		headers without end	key_invalid	"--XX\r\n" . "X: y\r\n" x 1000000
		base64	key_invalid	"--XX\r\n${part}Content-Transfer-Encoding: base64\r\n\r\naw==\r\n--XX--\r\n"
		the key twice	key_invalid	"--XX\r\n${part}\r\nk\r\n--XX\r\n${part}\r\nk\r\n--XX--\r\n"
		the key as a file	key_invalid	"--XX\r\nContent-Disposition: form-data; name=\"key\"; filename=\"k\"\r\n\r\nk\r\n--XX--\r\n"
		an empty key	key_invalid	"--XX\r\n${part}\r\n\r\n--XX--\r\n"
		a key with a NUL	key_invalid	"--XX\r\n${part}\r\na\0b\r\n--XX--\r\n"
		a key with a line break	key_invalid	"--XX\r\n${part}\r\na\r\nb\r\n--XX--\r\n"
	TABLE
	for type in 'multipart/form-data' 'multipart/form-data; boundary=' 'multipart/form-data; boundary="XX' \
		"multipart/form-data; boundary=$(printf 'X%.0s' {1..71})" 'multipart/form-data; boundary=XX; boundary=YY'; do
		refuse_bodies field "$type" <<-TABLE
			$type	key_invalid	"--XX\r\n${part}\r\nk\r\n--XX--\r\n"
		TABLE
	done
}

@test 'bombs of parts are refused within the bound' {
	local part='Content-Disposition: form-data; name='
	refuse_bodies field 'multipart/form-data; boundary=XX' <<-TABLE
		many parts	key_invalid	"--XX\r\n${part}key\r\n\r\nk\r\n" . "--XX\r\n${part}a\r\n\r\n1\r\n" x 200000 . "--XX--\r\n"
		many empty ones	key_invalid	"--XX\r\n" x 2000000
		nearly boundaries	key_invalid	"--XX\r\n${part}a\r\n\r\n" . "\r\n--X" x 2000000
		a header of megabytes	key_invalid	"--XX\r\nX: " . "y" x 10000000 . "\r\n${part}key\r\n\r\nk\r\n--XX--\r\n"
		a name of megabytes	key_invalid	"--XX\r\n${part}" . "k" x 10000000 . "\r\n\r\nk\r\n--XX--\r\n"
		a preface of megabytes	key_invalid	"-" x 10000000
	TABLE
}

@test 'a key in the header is refused in every malformed shape' {
	local value long
	long=$(printf 'k%.0s' {1..256})
	for FRONT in $FRONTS; do
		for value in '"' '""' '"k' 'k, k' 'k,' ',' '"k", "k"' '"k"k' '"k" "k"' '"k";' '"k";A' '"k";a=' '"a\b"' '"k\"' \
			"$long" "\"$long\"" "\"$long" $'caf\xc3\xa9' $'\xff' $'"caf\xc3\xa9"' $'k\xc2\x85'; do
			refuse any key_invalid "any: $value" -H "Idempotency-Key: $value" -d x
		done
		for value in k "'k'" '' ':aw==:' 42 '?1' '("k")' '"k", "l"' "\"$long\""; do
			# without a value, lighttpd drops the header
			[[ -n $value || $FRONT == nginx ]] || continue
			refuse quoted key_invalid "structured: $value" -H "Idempotency-Key${value:+: }${value:-;}" -d x
		done
		for value in $'\xff' $'k\xc3' $'\xa9k' $'\xc0\xaf' $'\xed\xa0\x80' $'\xf4\x90\x80\x80' $'k\xc2\x80' $'k\xe2\x80\xa8' \
			$'\xef\xbf\xbf' 'k,k' "$long" "$(perl -e 'print "\xf0\x9f\x98\x80" x 256')"; do
			refuse utf8 key_invalid "raw, utf8: $(printf %q "$value")" -H "Idempotency-Key: $value" -d x
		done
		for value in $'k\x01' $'k\x1b[2J' $'k\x7f' $'k\tk'; do
			refuse any - "any: $(printf %q "$value")" -H "Idempotency-Key: $value" -d x
			refuse utf8 - "utf8: $(printf %q "$value")" -H "Idempotency-Key: $value" -d x
		done
		refuse any key_invalid 'twice' -H 'Idempotency-Key: k' -H 'Idempotency-Key: k' -d x
		refuse any key_missing 'under another name' -H 'Idempotency-Keys: k' -d x
	done
}

@test 'a key in a cookie is refused in every malformed shape' {
	local value
	for FRONT in $FRONTS; do
		for value in 'key=' 'key=k; key=k' 'key=k; a=b; key=l' $'key=\xff' $'key=caf\xc3\xa9' "key=$(printf 'k%.0s' {1..256})"; do
			refuse cookie key_invalid "cookie: $(printf %q "$value")" -H "Cookie: $value" -d x
		done
		for value in key 'Key=k' 'a=key=k' ';;;' "$(printf 'a=b;%.0s' {1..800})"; do
			refuse cookie key_missing "cookie: $value" -H "Cookie: $value" -d x
		done
	done
}

# once ROUTE NAME CURL-OPTION...: runs, and its repetition is a replay; each within the bound.
once() {
	local route=$1 key="$2-$FRONT"
	shift 2
	counting "$route/once"
	rm -f "$WEB/run/ran.once"
	for again in '' true; do
		ask "$FRONT" POST "/cgi-bin/$route/once" -m "$BOUND" -H "$(keyed "$key")" "$@"
		same "$key: status, marker and runs" "200 $again 1" "$ANSWER $(answer_header Idempotent-Replayed) $(runs once)"
	done
}

@test 'where the form counts for the fingerprint alone, what is not of it is compared as it stands' {
	local body
	perl -e 'print "[" x 5000000, "]" x 5000000' >"$WEB/nested"
	perl -e 'print "a=1&" x 2000000' >"$WEB/fields"
	perl -e 'print "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n" x 200000, "--XX--\r\n"' >"$WEB/parts"
	perl -e 'print "{\"a\":1,\"a\":2}"' >"$WEB/twice"
	for FRONT in $FRONTS; do
		for body in nested twice fields; do
			once same-json "json-$body" -H 'Content-Type: application/json' --data-binary "@$WEB/$body"
		done
		for body in fields twice; do
			once same-form "form-$body" -H 'Content-Type: application/x-www-form-urlencoded' --data-binary "@$WEB/$body"
		done
		for body in parts nested; do
			once same-parts "parts-$body" -H 'Content-Type: multipart/form-data; boundary=XX' --data-binary "@$WEB/$body"
		done
		printf ' ' >>"$WEB/nested"
		ask "$FRONT" POST /cgi-bin/same-json/once -m "$BOUND" -H "$(keyed "json-nested-$FRONT")" \
			-H 'Content-Type: application/json' --data-binary "@$WEB/nested"
		same 'one blank more' 422 "$ANSWER"
	done
	KNOWN=$((KNOWN + 14))
}
