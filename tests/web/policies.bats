#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What a route's settings promise, through a real web server. Presets have files of their own (preset_*.bats).

load ../lib/web.sh

FRONT=lighttpd-socket

test_routes() {
	cat <<-'CONF'
		routes = (
			{ name = "sources"; path = "/cgi-bin/sources/*"; methods = [ "POST", "PUT" ];
			  key: { sources = [ "header:Idempotency-Key", "json:/cart/id", "form:token", "cookie:order" ];
			         required = [ "PUT" ]; }; },
			{ name = "json"; path = "/cgi-bin/json/*";
			  fingerprint: { parts = [ "method", "path", "body", "header:X-Unit" ]; body = "json"; };
			  require_json = true; },
			{ name = "not-done"; path = "/cgi-bin/not-done/*"; settle: { exit_not_done = 75; on_crash = "unknown"; }; },
			{ name = "reference"; path = "/cgi-bin/reference/*"; keep = "reference"; rebuild = true; },
			{ name = "marker"; path = "/cgi-bin/marker/*"; keep = "marker"; },
			{ name = "oversize"; path = "/cgi-bin/oversize/*"; oversize = "reference"; rebuild = true; },
			{ name = "replay"; path = "/cgi-bin/replay/*";
			  replay: { status = 200; header = [ "X-Replayed: yes", "X-Cache: hit" ]; first_header = true;
			            first_seen_header = "X-First-Seen"; }; },
			{ name = "tomb"; path = "/cgi-bin/tomb/*"; times: { tombstone = "1h"; }; },
			{ name = "closed"; path = "/cgi-bin/closed/*"; methods = [ "POST", "PUT" ]; scope = "method+path";
			  key: { sources = [ "env:QUERY_STRING" ]; }; fingerprint: { parts = [ "method", "path", "body" ]; };
			  tenant: { sources = [ "header:ApiKey" ]; missing = "refuse"; }; },
			{ name = "form"; path = "/cgi-bin/form/*"; fingerprint: { parts = [ "body" ]; body = "form"; }; },
			{ name = "multipart"; path = "/cgi-bin/multipart/*"; fingerprint: { parts = [ "body" ]; body = "multipart"; }; },
			{ name = "preset"; path = "/cgi-bin/preset/*"; preset = "ietf"; },
			{ name = "natural"; path = "/cgi-bin/natural/*";
			  natural_key: { values = [ "json:/order", "json:/amount" ]; window = "forever"; }; },
			{ name = "observed"; path = "/cgi-bin/observed/*"; mode = "observe"; key: { required = true; }; },
			{ name = "worded"; path = "/cgi-bin/worded/*"; documentation = "https://example.org/retry";
			  key: { required = true; max_length = 8; };
			  errors: { content_type = "application/json";
			            body = "{\"error\":{\"code\":\"{code}\",\"text\":\"{detail}\",\"again\":{retryable}}}\n";
			            mismatch = "{\"oops\":\"{title}\",\"see\":\"{docs}\"}\n"; }; }
		);
	CONF
}

setup_file() {
	pool_begin "$FRONT"
}

teardown_file() {
	pool_end
}

# post PATH [CURL-OPTION...]
post() {
	local path=$1
	shift
	ask "$FRONT" POST "/cgi-bin/$path" "$@"
}

code_is() {
	same 'status' "$1" "$ANSWER"
	same 'code' "$2" "$(answer_body | jq -r .code)"
}

# told CONDITION: the log has a line of which that is true, for jq.
told() {
	jq -es "any($1)" "$WEB/log/oncewrap.log" >/dev/null
}

# differs PART: what the last mismatch of the log was about.
differs() {
	same 'what differs' "$1" "$(jq -rs 'map(select(.verdict == "mismatch")) | last.differs' "$WEB/log/oncewrap.log")"
}

@test 'a key is found in the body or a cookie, in the order of the sources' {
	counting sources/any
	local json='{"cart":{"id":"c-42"}}'
	post sources/any -H 'Content-Type: application/json' -d "$json"
	same 'first' 'run 1' "$(answer_body)"
	post sources/any -H 'Content-Type: application/json' -d "$json"
	same 'by JSON Pointer' true "$(answer_header Idempotent-Replayed)"
	post sources/any -H 'Content-Type: application/json' -H "$(keyed own)" -d "$json"
	same 'the header comes first' 'run 2' "$(answer_body)"
	post sources/any -d 'token=t%2B1&x=y'
	post sources/any -d 'token=t%2B1&x=y'
	same 'by form field' true "$(answer_header Idempotent-Replayed)"
	same 'decoded' complete "$(state_of t+1)"
	post sources/any -F token=upload -F file=@/etc/hostname
	same 'by multipart field' complete "$(state_of upload)"
	post sources/any -H 'Content-Type: text/plain' -H 'Cookie: a=b; order=o-1; c=d' -d x
	same 'by cookie' complete "$(state_of o-1)"
	same 'runs' 5 "$(runs any)"
}

@test 'a key in the body that is no text, or given twice, is refused and nothing runs' {
	counting sources/bad
	for body in '{"cart":{"id":{"x":1}}}' '{"cart":{"id":true}}' '{"cart":{"id":""}}' '{"cart":{"id":"a\u0000b"}}'; do
		post sources/bad -H 'Content-Type: application/json' -d "$body"
		code_is 400 key_invalid
	done
	post sources/bad -d 'token=1&token=2'
	code_is 400 key_invalid
	post sources/bad -H 'Content-Type: text/plain' -H 'Cookie: order=1; order=2' -d x
	code_is 400 key_invalid
	same 'runs' 0 "$(runs bad)"
}

@test 'a key can be required of some methods' {
	counting sources/put
	ask "$FRONT" PUT /cgi-bin/sources/put -H 'Content-Type: text/plain' -d x
	code_is 400 key_missing
	ask "$FRONT" POST /cgi-bin/sources/put -H 'Content-Type: text/plain' -d x
	same 'without a key' 200 "$ANSWER"
}

@test 'C14: JSON is compared by what it says; another value, or another unit, is a mismatch and the log names the part' {
	counting json/same
	local type='Content-Type: application/json'
	post json/same -H "$(keyed j1)" -H "$type" -H 'X-Unit: eur' -d '{"amount": 1.10, "to": ["a", "b"]}'
	post json/same -H "$(keyed j1)" -H "$type" -H 'X-Unit: eur' -d '{"to":["\u0061","b"],"amount":1.1}'
	same 'the same in other words' true "$(answer_header Idempotent-Replayed)"
	post json/same -H "$(keyed j1)" -H "$type" -H 'X-Unit: eur' -d '{"to":["b","a"],"amount":1.1}'
	code_is 422 mismatch
	differs body
	post json/same -H "$(keyed j1)" -H "$type" -H 'X-Unit: usd' -d '{"to":["a","b"],"amount":1.1}'
	code_is 422 mismatch
	differs header:x-unit
	post json/same -H "$(keyed j2)" -H "$type" -d '{"n":9007199254740993}'
	post json/same -H "$(keyed j2)" -H "$type" -d '{"n":9007199254740992}'
	code_is 422 mismatch
	same 'runs' 2 "$(runs same)"
}

@test 'forms are compared by their values, multipart without its boundary' {
	counting form/fields
	local type='Content-Type: application/x-www-form-urlencoded' part='Content-Disposition: form-data; name=a'
	post form/fields -H "$(keyed f1)" -H "$type" -d 'a=%61+b&c=1&c=2'
	post form/fields -H "$(keyed f1)" -H "$type" -d 'c=1&a=a%20b&c=2'
	same 'the same in other words' true "$(answer_header Idempotent-Replayed)"
	post form/fields -H "$(keyed f1)" -H "$type" -d 'c=2&a=a%20b&c=1'
	code_is 422 mismatch
	differs body
	counting multipart/parts
	type='Content-Type: multipart/form-data; boundary='
	post multipart/parts -H "$(keyed m1)" -H "${type}XX" -d "--XX"$'\r\n'"$part"$'\r\n\r\n1\r\n--XX--\r\n'
	same 'first' 200 "$ANSWER"
	post multipart/parts -H "$(keyed m1)" -H "${type}YY" -d "--YY"$'\r\n'"$part"$'\r\n\r\n1\r\n--YY--\r\n'
	same 'another boundary' true "$(answer_header Idempotent-Replayed)"
	post multipart/parts -H "$(keyed m1)" -H "${type}YY" -d "--YY"$'\r\n'"$part"$'\r\n\r\n2\r\n--YY--\r\n'
	code_is 422 mismatch
	same 'runs' '1 1' "$(runs fields) $(runs parts)"
}

@test 'a record is compared by what its own scheme names, also after the route names something else' {
	counting form/scheme
	post form/scheme -H "$(keyed scheme)" -H 'Content-Type: text/plain' -d x
	sed -i '/name = "form"/s/parts = \[ "body" \]/parts = [ "body", "content-type" ]/' "$WEB/etc/conf.d/test.conf"
	kill -HUP "$(wrap_pid)"
	wait_until 10 types_count
	post form/scheme -H "$(keyed scheme)" -H 'Content-Type: text/html' -d x
	same 'the old record' "200 true" "$ANSWER $(answer_header Idempotent-Replayed)"
	post form/scheme -H "$(keyed scheme)" -H 'Content-Type: text/plain' -d y
	code_is 422 mismatch
}

# Have the parts of the route "form" changed? Two requests of a new key that differ in their type tell.
types_count() {
	local key=$EPOCHREALTIME
	counting form/probe
	post form/probe -H "$(keyed "probe-$key")" -H 'Content-Type: text/plain' -d x
	post form/probe -H "$(keyed "probe-$key")" -H 'Content-Type: text/html' -d x
	[[ $ANSWER == 422 ]]
}

@test 'tenant.missing = refuse: who is nobody gets 401, and no secret stands in database, log or list' {
	counting closed/secret
	ask "$FRONT" POST '/cgi-bin/closed/secret?k-1' -d x
	code_is 401 tenant_missing
	ask "$FRONT" POST '/cgi-bin/closed/secret?k-1' -H 'ApiKey: very-secret' -d x
	same 'with a name' '200 run 1' "$ANSWER $(answer_body)"
	same 'a variable is the key' complete "$(state_of k-1)"
	ask "$FRONT" POST '/cgi-bin/closed/secret?k-1' -H 'ApiKey: very-secret' -d y
	code_is 422 mismatch
	sql <<<'SELECT * FROM oncewrap.once_record' | holds_no very-secret
	holds_no very-secret <"$WEB/log/oncewrap.log"
	"$builddir/once-list" --config "$WEB/etc/oncewrap.conf" --full -o csv --limit=0 >"$WEB/list"
	grep -q k-1 "$WEB/list"
	holds_no very-secret <"$WEB/list"
}

@test 'scope = method+path: a key means something else on each path and with each method' {
	counting closed/one
	counting closed/two
	local path method
	for path in one two; do
		for method in POST PUT; do
			ask "$FRONT" "$method" "/cgi-bin/closed/$path?k-2" -H 'ApiKey: a' -d "$path"
			same "$method $path" '200 ' "$ANSWER $(answer_header Idempotent-Replayed)"
		done
		ask "$FRONT" POST "/cgi-bin/closed/$path?k-2" -H 'ApiKey: a' -d "$path"
		same "again $path" '200 true' "$ANSWER $(answer_header Idempotent-Replayed)"
	done
	same 'runs' '2 2' "$(runs one) $(runs two)"
}

@test 'a reload with a broken preset keeps what was in force, and says where it is broken' {
	counting preset/still
	cp "$WEB/presets/ietf.conf" "$WEB/ietf.conf"
	printf 'kepe = "full";\n' >>"$WEB/presets/ietf.conf"
	kill -HUP "$(wrap_pid)"
	wait_until 10 told ".message // \"\" | contains(\"presets/ietf.conf:$(wc -l <"$WEB/presets/ietf.conf"): kepe: unknown setting\")"
	post preset/still -H "$(keyed still)" -d x
	post preset/still -H "$(keyed still)" -d x
	same 'still guarded' '200 true' "$ANSWER $(answer_header Idempotent-Replayed)"
	sed 's/mismatch = 422/mismatch = 418/' "$WEB/ietf.conf" >"$WEB/presets/ietf.conf"
	kill -HUP "$(wrap_pid)"
	wait_until 10 mismatches_with_418
}

mismatches_with_418() {
	post preset/still -H "$(keyed still)" -d y
	[[ $ANSWER == 418 ]]
}

@test 'require_json: what is no JSON is refused before the claim and leaves no record' {
	counting json/strict
	for body in '{' '{"a":1,}' "{'a':1}" '[1 2]' 'x=1'; do
		post json/strict -H "$(keyed strict)" -H 'Content-Type: application/json' -d "$body"
		code_is 400 bad_body
	done
	perl -e 'print "[" x 100000, "]" x 100000' >"$WEB/bomb"
	post json/strict -H "$(keyed strict)" -H 'Content-Type: application/json' --data-binary "@$WEB/bomb"
	code_is 400 bad_body
	same 'runs' 0 "$(runs strict)"
	same 'records' '' "$(state_of strict)"
	post json/strict -H "$(keyed strict)" -H 'Content-Type: application/json' -d '{"a":1}'
	same 'then' 200 "$ANSWER"
}

@test 'C31: exit_not_done frees the key where nothing was read and nothing said; else the crash policy holds' {
	# shellcheck disable=SC2016 # for the handler
	counting not-done/busy '[ "$n" -gt 1 ] || exit 75; printf "Content-Type: text/plain\n\ndone\n"'
	post not-done/busy -H "$(keyed busy)" -d x
	same 'first' 502 "$ANSWER"
	post not-done/busy -H "$(keyed busy)" -d x
	same 'again' 200 "$ANSWER"
	counting not-done/read 'cat >/dev/null; exit 75'
	post not-done/read -H "$(keyed read)" -d x
	same 'input was read' unknown "$(state_of read)"
	counting not-done/other 'exit 1'
	post not-done/other -H "$(keyed other)" -d x
	same 'another status' unknown "$(state_of other)"
}

@test 'Once-Outcome: the handler says what becomes of its key, and no client sees it' {
	local outcome
	for outcome in store release unknown; do
		counting "guarded/says-$outcome" "printf 'Status: 429\nOnce-Outcome: $outcome\n\nhm\n'"
		post "guarded/says-$outcome" -H "$(keyed "says-$outcome")" -d x
		same 'status' 429 "$ANSWER"
		same 'stripped' '' "$(answer_header Once-Outcome)"
	done
	same 'store' complete "$(state_of says-store)"
	same 'release' '' "$(state_of says-release)"
	same 'unknown' unknown "$(state_of says-unknown)"
	counting guarded/says-nonsense "printf 'Status: 200\nOnce-Outcome: perhaps\n\nhm\n'"
	post guarded/says-nonsense -H "$(keyed says-nonsense)" -d x
	same 'not understood, told, and ignored' complete "$(state_of says-nonsense)"
	told '(.script // "" | endswith("/says-nonsense")) and (.message // "" | contains("Once-Outcome is ignored"))'
}

@test 'Once-Retention: the handler says how long its answer is kept, within bounds' {
	local seconds
	for seconds in 1 3600 99999999999; do
		counting "guarded/kept-$seconds" "printf 'Status: 200\nOnce-Retention: $seconds\n\nhm\n'"
		post "guarded/kept-$seconds" -H "$(keyed "kept-$seconds")" -d x
		same 'status' 200 "$ANSWER"
	done
	same 'an hour' 3600 "$(kept_for kept-3600)"
	[[ $(kept_for kept-1) -gt 60 && $(kept_for kept-1) -lt 3600 ]]
	same 'ten years' 315360000 "$(kept_for kept-99999999999)"
}

kept_for() {
	sql <<<"SELECT TIMESTAMPDIFF(SECOND, created_at, expires_at) FROM oncewrap.once_record WHERE key_text='$1'"
}

@test 'keep = reference: the handler is asked for its answer again by the reference; nothing is stored but that' {
	# shellcheck disable=SC2016 # for the handler
	counting reference/order '
		if [ "${ONCE_REPLAY:-0}" = 1 ]; then
			[ ! -e "$0.broken" ] || exit 1
			printf "Status: 201\nContent-Type: text/plain\n\norder %s\n" "$ONCE_REFERENCE"
		else
			printf "Status: 201\nOnce-Reference: 4711\nContent-Type: text/plain\n\norder 4711\n"
		fi'
	post reference/order -H "$(keyed ref)" -d x
	same 'first' '201 order 4711' "$ANSWER $(answer_body)"
	same 'marker' '' "$(answer_header Idempotent-Replayed)"
	same 'stored' '4711 0' "$(sql <<<"SELECT CONCAT(reference, ' ', COALESCE(OCTET_LENGTH(body), 0))
		FROM oncewrap.once_record WHERE key_text='ref'")"
	post reference/order -H "$(keyed ref)" -d x
	same 'rebuilt' '201 order 4711' "$ANSWER $(answer_body)"
	same 'marker' true "$(answer_header Idempotent-Replayed)"
	same 'how it was asked' '1 4711' "$(tail -n 1 "$WEB/run/ran.order")"
	post reference/order -H "$(keyed ref)" -d y
	code_is 422 mismatch
	touch "$WEB/cgi-bin/reference/order.broken"
	post reference/order -H "$(keyed ref)" -d x
	code_is 503 rebuild_failed
	same 'the record stays' complete "$(state_of ref)"
	rm "$WEB/cgi-bin/reference/order.broken"
	post reference/order -H "$(keyed ref)" -d x
	same 'rebuilt again' '201 order 4711' "$ANSWER $(answer_body)"
}

@test 'keep = marker without rebuild: a retry is told, and never run' {
	counting marker/once
	post marker/once -H "$(keyed mark)" -d x
	same 'first' 'run 1' "$(answer_body)"
	post marker/once -H "$(keyed mark)" -d x
	code_is 409 not_kept
	same 'runs' 1 "$(runs once)"
}

@test 'C29: oversize = reference: an answer over the limit is asked for again' {
	counting oversize/large 'printf "Once-Reference: big\nContent-Type: text/plain\n\n"; head -c 9000000 /dev/zero'
	post oversize/large -H "$(keyed big)" -d x
	same 'first' '200 9000000' "$ANSWER $(wc -c <"$WEB/answer.body")"
	post oversize/large -H "$(keyed big)" -d x
	same 'again' '200 9000000' "$ANSWER $(wc -c <"$WEB/answer.body")"
	same 'how it was asked' '1 big' "$(tail -n 1 "$WEB/run/ran.large")"
}

@test 'replay: a fixed status for a stored 2xx alone, several markers, false on the first answer, the time of the first' {
	counting replay/made "printf 'Status: 201\nX-Replayed: forged\nContent-Type: text/plain\n\nmade\n'"
	post replay/made -H "$(keyed made)" -d x
	same 'first' '201 false false' "$ANSWER $(answer_header X-Replayed) $(answer_header X-Cache)"
	post replay/made -H "$(keyed made)" -d x
	same 'replay' '200 yes hit' "$ANSWER $(answer_header X-Replayed) $(answer_header X-Cache)"
	same 'body' made "$(answer_body)"
	[[ $(answer_header X-First-Seen) =~ ^20[0-9][0-9]-[0-9-]+T[0-9:.]+Z$ ]]
	counting replay/wrong "printf 'Status: 404\nContent-Type: text/plain\n\nnone\n'"
	post replay/wrong -H "$(keyed wrong)" -d x
	post replay/wrong -H "$(keyed wrong)" -d x
	same 'an error stays what it was' '404 yes' "$ANSWER $(answer_header X-Replayed)"
}

@test 'C24: times.tombstone: a key past its retention is told, not run; past the tombstone it is new' {
	counting tomb/late
	post tomb/late -H "$(keyed late)" -d x
	sql <<<"UPDATE oncewrap.once_record SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 59 MINUTE WHERE key_text='late'"
	post tomb/late -H "$(keyed late)" -d x
	code_is 410 expired
	sql <<<"UPDATE oncewrap.once_record SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 61 MINUTE WHERE key_text='late'"
	post tomb/late -H "$(keyed late)" -d x
	same 'anew' '200 run 2' "$ANSWER $(answer_body)"
}

@test 'natural_key: a new key for an operation that was done is told when and where, and not run' {
	# shellcheck disable=SC2016 # for the handler
	counting natural/pay 'printf "Status: 201\nLocation: /orders/%s\nContent-Type: text/plain\n\nmade\n" "$n"'
	local body='{"order":"A-1","amount":10}' type='Content-Type: application/json'
	post natural/pay -H "$(keyed nat-1)" -H "$type" -d "$body"
	same 'first' 201 "$ANSWER"
	post natural/pay -H "$(keyed nat-2)" -H "$type" -d '{"amount":10.0,"order":"A-1"}'
	code_is 409 duplicate
	same 'where' /orders/1 "$(answer_header Location)"
	same 'the second key is free' '' "$(state_of nat-2)"
	post natural/pay -H "$(keyed nat-1)" -H "$type" -d "$body"
	same 'the first key replays' '201 true' "$ANSWER $(answer_header Idempotent-Replayed)"
	post natural/pay -H "$(keyed nat-3)" -H "$type" -d '{"order":"A-1","amount":11}'
	same 'another amount is another operation' 201 "$ANSWER"
	post natural/pay -H "$(keyed nat-4)" -H "$type" -d '{"order":"A-1"}'
	same 'what lacks a value has no natural key' 201 "$ANSWER"
	same 'runs' 3 "$(runs pay)"
}

@test 'natural_key: it outlives the retention of the key that did it' {
	counting natural/again "printf 'Status: 201\n\n'"
	local body='{"order":"C-1","amount":1}'
	post natural/again -H "$(keyed again)" -d "$body"
	sql <<<"UPDATE oncewrap.once_record SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE key_text='again'"
	post natural/again -H "$(keyed again)" -d "$body"
	code_is 409 duplicate
	same 'runs' 1 "$(runs again)"
}

@test 'natural_key: an answer that says no does not close it' {
	local status
	for status in 422 500; do
		# shellcheck disable=SC2016 # for the handler
		counting "natural/no$status" '[ "$n" -gt 1 ] || { printf "Status: '$status'\n\n"; exit; }; printf "Status: 201\n\n"'
		post "natural/no$status" -H "$(keyed "no$status-1")" -d "{\"order\":\"N-$status\",\"amount\":1}"
		same 'first' "$status" "$ANSWER"
		post "natural/no$status" -H "$(keyed "no$status-1")" -d "{\"order\":\"N-$status\",\"amount\":1}"
		same 'its own retry replays' "$status true" "$ANSWER $(answer_header Idempotent-Replayed)"
		post "natural/no$status" -H "$(keyed "no$status-2")" -d "{\"order\":\"N-$status\",\"amount\":1}"
		same 'a new key' 201 "$ANSWER"
	done
}

@test 'natural_key: a run that was released gives it back' {
	# shellcheck disable=SC2016 # for the handler
	counting natural/flaky '[ "$n" -gt 1 ] || exit 1; printf "Status: 201\n\n"'
	local body='{"order":"B-1","amount":1}'
	post natural/flaky -H "$(keyed flaky-1)" -d "$body"
	same 'first' 502 "$ANSWER"
	post natural/flaky -H "$(keyed flaky-2)" -d "$body"
	same 'with a new key' 201 "$ANSWER"
}

@test 'natural_key: of two new keys that race, one runs' {
	counting natural/race "printf 'Status: 201\n\n'"
	local round
	for round in {1..20}; do
		for key in one two; do
			curl -s -o /dev/null -w '%{http_code}\n' -H "$(keyed "race-$round-$key")" \
				-d "{\"order\":\"R-$round\",\"amount\":1}" \
				"http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/natural/race" >"$WEB/run/race.$key" 3>&- &
		done
		wait
		same "round $round" '201 409' "$(sort "$WEB/run/race.one" "$WEB/run/race.two" | xargs)"
	done
	same 'runs' 20 "$(runs race)"
}

@test 'mode = observe: everything runs, the log tells what would have happened, enforcing later starts clean' {
	counting observed/all
	post observed/all -d x
	same 'without a key' 'run 1' "$(answer_body)"
	post observed/all -H "$(keyed seen)" -d x
	post observed/all -H "$(keyed seen)" -d x
	same 'again' 'run 3' "$(answer_body)"
	same 'marker' '' "$(answer_header Idempotent-Replayed)"
	post observed/all -H "$(keyed seen)" -d y
	same 'another request' 'run 4' "$(answer_body)"
	local verdict
	for verdict in key_missing first replayed mismatch; do
		told ".event == \"observed\" and .route == \"observed\" and .verdict == \"$verdict\""
	done
	same 'nothing is kept but the fingerprint and the status' '0 200' "$(sql <<<"SELECT CONCAT(
		COALESCE(OCTET_LENGTH(headers), 0) + COALESCE(OCTET_LENGTH(body), 0), ' ', status)
		FROM oncewrap.once_record WHERE key_text='seen'")"
	sed -i 's/mode = "observe"/mode = "enforce"/' "$WEB/etc/conf.d/test.conf"
	kill -HUP "$(wrap_pid)"
	wait_until 10 enforced
	post observed/all -H "$(keyed seen)" -d z
	same 'enforced: a new key' '200 ' "$ANSWER $(answer_header Idempotent-Replayed)"
	post observed/all -H "$(keyed seen)" -d z
	same 'enforced: a replay' true "$(answer_header Idempotent-Replayed)"
}

enforced() {
	post observed/all -d x
	[[ $ANSWER == 400 ]]
}

@test 'errors: every refusal in the words of the route, escaped' {
	counting worded/any
	post worded/any -d x
	same 'type' application/json "$(answer_header Content-Type)"
	same 'status' 400 "$ANSWER"
	same 'code' key_missing "$(answer_body | jq -r .error.code)"
	same 'again' false "$(answer_body | jq -r .error.again)"
	post worded/any -H 'Idempotency-Key: "bad\x"' -d x
	same 'code' key_invalid "$(answer_body | jq -r .error.code)"
	post worded/any -H "$(keyed words)" -d x
	post worded/any -H "$(keyed words)" -d y
	same 'status' 422 "$ANSWER"
	same 'its own template' https://example.org/retry "$(answer_body | jq -r .see)"
}

# The last one, as it restarts the pool.
@test 'C29: an answer without end is cut at max_output in bounded memory, and its retry is told and not run' {
	local worker
	sed -i 's/max_answer = "8M";/max_answer = "8M"; max_output = "200M";/' "$WEB/etc/oncewrap.conf"
	wrap_stop
	wrap_start
	counting guarded/endless 'printf "Content-Type: text/plain\n\n"; exec cat /dev/zero'
	post guarded/endless -H "$(keyed endless)" -d x
	code_is 502 handler_failed
	for worker in $(pgrep -P "$(wrap_pid)"); do
		# kB; with the body in memory it would be above 200000
		[[ $(awk '/^VmHWM/ { print $2 }' "/proc/$worker/status") -lt 80000 ]]
	done
	post guarded/endless -H "$(keyed endless)" -d x
	code_is 409 not_kept
	same 'runs' 1 "$(runs endless)"
	wait_until 10 no_endless
}

no_endless() {
	[[ -z $(pgrep -f "$WEB/cgi-bin/guarded/endless") ]]
}
