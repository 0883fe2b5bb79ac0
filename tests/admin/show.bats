#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-show: a record in full, however it was named and whatever bytes are in it, and what can be done about it.

load setting.sh

setup_file() {
	setting_begin
	tables
	mkdir "$HERE/run"
	cat >"$HERE/handler" <<-'SH'
		#!/bin/sh
		cat >/dev/null
		printf 'Status: 201\nContent-Type: text/plain\nLocation: /orders/7\n\nmade\n'
	SH
	chmod 755 "$HERE/handler"
	{
		configuration
		cat <<-CONF
			user = "$(id -un)";
			run_directory = "$HERE/run";
			spool: { directory = "$HERE/run"; };
			handlers: { roots = [ "$HERE" ]; };
			routes = (
				{ name = "orders"; path = "/orders*"; fingerprint: {
					parts = [ "method", "path", "query", "content-type", "header:X-Unit", "body" ]; body = "json"; }; },
				{ name = "pay"; path = "/pay*"; scope = "route"; },
				{ name = "buy"; path = "/buy*"; natural_key: { values = [ "json:/order" ]; window = "3d"; }; },
				{ name = "refund"; path = "/refund*"; scope = "route"; settle: { on_lapse = "unknown"; }; },
				{ name = "house"; path = "/house*"; scope = "route"; tenant: { sources = [ "literal:home" ]; };
					times: { tombstone = "1d"; }; }
			);
		CONF
	} >"$HERE/routes.conf"
}

teardown_file() {
	setting_end
}

setup() {
	CONFIG=$HERE/routes.conf
	no_records
	sql <<<'DELETE FROM once_audit; DELETE FROM once_natural_key'
}

teardown() {
	mariadb_thaw
	mariadb_running || mariadb_restart
}

# request PATH KEY BODY [VARIABLE=VALUE...]: a POST answered by the wrapper itself, as a plain CGI program.
request() {
	printf %s "$3" | env -i PATH="$PATH" GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 REQUEST_METHOD=POST \
		SCRIPT_FILENAME="$HERE/handler" SCRIPT_NAME="$1" CONTENT_LENGTH=${#3} HTTP_IDEMPOTENCY_KEY="$2" "${@:4}" \
		"$builddir/oncewrap" --config "$HERE/routes.conf" --handler "$HERE/handler" >/dev/null 2>&1
}

# id_of DIGITS: an id that begins so.
id_of() {
	printf '%-64s' "$1" | tr ' ' 0
}

# value NAME: of the lines in $HERE/out.
value() {
	sed -n "s/^$1: *//p" "$HERE/out"
}

# member EXPRESSION: of the JSON object in $HERE/out, as Python writes it.
member() {
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$HERE/out" "$1"
}

# section NAME: its lines in $HERE/out.
section() {
	sed -n "/^$1:/,/^[^ ]/{/^  /s/^  //p}" "$HERE/out"
}

# hostile KEY-EXPRESSION: a record full of it, in every column that somebody else writes.
hostile() {
	record "id=x'$(id_of c0ffee99)'" "key_text=$1" "tenant=$1" "route=$1" "reference=$1" "owner_host=$1" "owner_boot=$1" \
		"checkpoint=$1" "headers=CONCAT('Status: 201\r\nX-Key: ', $1, '\r\n')" "body=$1" "fingerprint_scheme=$1"
	sql <<-SQL
		INSERT INTO once_audit (done_at, record_id, state_before, who, host, program, reason)
		VALUES (UTC_TIMESTAMP(6), x'$(id_of c0ffee99)', $1, $1, $1, $1, $1)
	SQL
}

@test 'a record is lines of names and values, without what does not apply but with --full' {
	record "id=x'$(id_of c0ffee99)'" "key_text='order-17'" "body=REPEAT('x', 1500)" "reference='inv/9'" attempt=2 flags=0 \
		"token=x'00112233445566778899aabbccddeeff'" "created_at='2026-03-01 23:59:59.5'"
	ends 0 show "$(id_of c0ffee99)"
	same id "$(id_of c0ffee99)" "$(value id)"
	same values 'complete orders acme order-17 2 201 1.4K inv/9 yes web1 4711' "$(for name in state route tenant key \
		attempt status size reference kept host pid; do value $name; done | xargs)"
	same token 00112233445566778899aabbccddeeff "$(value token)"
	same created_at 2026-03-01T23:59:59Z "$(value created_at)"
	same 'what does not apply' 0 "$(grep -c '^lease\|^checkpoint\|^stale' "$HERE/out")"
	ends 0 show --full c0ffee99
	same lease - "$(value lease)"
	same checkpoint - "$(value checkpoint)"
	TZ=UTC-1 ends 0 show --local-time c0ffee99
	same 'local time' 2026-03-02T00:59:59+01:00 "$(value created_at)"
}

@test 'records are named by id or prefix, in either case, and shown in that order, each once' {
	for digits in c0ffee991 c0ffee992 deadbeef; do
		record "id=x'$(id_of $digits)'" "key_text='$digits'"
	done
	ends 0 show -o id deadbeef C0FFEE991 "$(id_of c0ffee992)" DeadBeef "$(id_of c0ffee991)"
	same order "$(id_of deadbeef) $(id_of c0ffee991) $(id_of c0ffee992)" "$(xargs <"$HERE/out")"
	ends 0 show deadbeef c0ffee991
	same 'an empty line between two' 1 "$(grep -c '^$' "$HERE/out")"
	printf '\n  %s \r\n\tc0ffee991\n' "$(id_of deadbeef)" >"$HERE/in"
	ends 0 show -o id - c0ffee992 <"$HERE/in"
	same 'standard input' "$(id_of deadbeef) $(id_of c0ffee991) $(id_of c0ffee992)" "$(xargs <"$HERE/out")"
	ends 0 show -o csv - </dev/null
	same 'nothing named, nothing shown' '' "$(<"$HERE/out")"
}

@test 'a long list of ids is looked up whole, and in its order' {
	records 700
	list -o id --limit=0 | sort -R >"$HERE/in"
	cat "$HERE/in" "$HERE/in" | ends 0 show -o id -
	same order "$(<"$HERE/in")" "$(<"$HERE/out")"
}

@test '1: what is not there, or is ambiguous, is told by name, and the rest is shown' {
	for digits in c0ffee991 c0ffee99a4 c0ffee99a5 deadbeef; do
		record "id=x'$(id_of $digits)'"
	done
	ends 1 show -o id c0ffee99 deadbeef 00000000 "$(id_of 1)" c0ffee99a
	same shown "$(id_of deadbeef)" "$(<"$HERE/out")"
	told 'once-show: c0ffee99: more than one record begins so: c0ffee991000, c0ffee99a400, c0ffee99a500; give more digits'
	told 'once-show: 00000000: there is no such record'
	told "once-show: $(id_of 1): there is no such record"
	told 'once-show: c0ffee99a: more than one record begins so: c0ffee99a400, c0ffee99a500; give more digits'
	same 'a line each' 4 "$(wc -l <"$HERE/err")"
}

@test '64 and 65: what is no id is refused before the database is asked, and is harmless where it is told' {
	CONFIG=$HERE/none.conf
	while IFS='|' read -r argument text; do
		ends 64 show "$(printf '%b' "$argument")"
		told "$text"
	done <<-'CASES'
		c0ffee9|"c0ffee9" is no id: one has from 8 to 64 hex digits
		c0ffee9g|"c0ffee9g" is no id
		0xc0ffee99|"0xc0ffee99" is no id
		|"" is no id
		c0ffee99 |"c0ffee99 " is no id
		\033[31mc0ffee99|"\x1b[31mc0ffee99" is no id
		c0ffee\n99|"c0ffee\x0a99" is no id
		\0377\0376c0ffee99|"\xff\xfec0ffee99" is no id
		%00%|"%00%" is no id
	CASES
	ends 64 show "$(printf 'a%.0s' {1..65})"
	printf 'c0ffee99\n\nnonsense\n' >"$HERE/in"
	ends 65 show - <"$HERE/in"
	told 'once-show: standard input, line 3: "nonsense" is no id'
	printf 'c0ffee99\0\n' >"$HERE/in"
	ends 65 show - <"$HERE/in"
	told 'line 1: "c0ffee99\x00" is no id'
	head -c 100000 /dev/urandom >"$HERE/in"
	ends 65 show - <"$HERE/in"
	same 'a short line' 1 "$(($(wc -c <"$HERE/err") < 600))"
	ends 64 show
	told 'say which record'
	ends 64 show - -
	told '- is given more than once'
}

@test 'a key finds its record as the wrapper made it, with the route where that is part of the id' {
	request /orders key-of-orders-1 '{"a":1}'
	request /orders key-of-orders-1 '{"a":1}' REMOTE_USER=alice
	ends 0 show -j --key key-of-orders-1 --tenant=
	same 'no tenant' "('complete', '', 'orders')" "$(member 'r["state"], r["tenant"], r["route"]')"
	ends 0 show -j --key key-of-orders-1 --tenant=alice
	same alice "('alice', 'orders')" "$(member 'r["tenant"], r["route"]')"
	ends 1 show --key key-of-orders-1 --tenant=bob
	told '--key: there is no record of this key, tenant and route'
	request /pay key-of-several-1 x
	ends 0 show -j --key key-of-several-1 --tenant=
	same 'found among all routes' pay "$(member 'r["route"]')"
	request /refund key-of-several-1 x
	ends 1 show --key key-of-several-1 --tenant=
	told '--key: more than one route has a record of it: pay, refund; say which by --route'
	ends 0 show -j --key key-of-several-1 --tenant= --route refund
	same 'the route decides' refund "$(member 'r["route"]')"
	ends 1 show --key key-of-several-1 --tenant= --route orders
	request /house key-of-the-house x
	ends 0 show -j --key key-of-the-house --route house
	same 'a route with one tenant for all' home "$(member 'r["tenant"]')"
}

@test '64: a key that leaves open which record is meant' {
	while IFS='|' read -r arguments text; do
		# shellcheck disable=SC2086
		ends 64 show $arguments
		told "$text"
	done <<-'CASES'
		--key=k|say by --tenant whose key it is
		--key=k --tenant=a --route=none|--route: "none" is none of the configured routes: orders, pay, buy, refund, house
		--key=k --tenant=a c0ffee99|name records by id or by --key, not by both
		--tenant=a c0ffee99|--tenant says whose --key is meant; give that too
		--route=pay|--route says whose --key is meant; give that too
		--key= --tenant=a|--key: no record has an empty key
	CASES
	sed 's/scope = "route"; settle/scope = "method+path"; settle/' "$HERE/routes.conf" >"$HERE/path.conf"
	CONFIG=$HERE/path.conf
	ends 64 show --key=k --tenant=a
	told 'the keys of route refund are told apart by method and path; say by --route which other route is meant'
	ends 64 show --key=k --tenant=a --route=refund
	told 'name the id, as once-list --route=refund prints it'
	ends 1 show --key=k --tenant=a --route=pay
	configuration >"$HERE/no-routes.conf"
	CONFIG=$HERE/no-routes.conf
	ends 64 show --key=k --tenant=a
	told 'no route is configured'
}

@test 'a lease is told with its renewals, and stale is who lost it' {
	local token=00112233445566778899aabbccddeeff
	record "id=x'$(id_of c0ffee99)'" "token=x'$token'" "state='in_flight'" status=NULL settled_at=NULL \
		'lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE'
	lease() {
		ends 0 show c0ffee99
		same lease "$1" "$(value lease) $(value stale)"
	}
	lease 'first no'
	same 'until when' "$(value first_lease_until)" "$(value lease_until)"
	sql <<<"INSERT INTO once_lease VALUES (x'$token', '2040-01-01')"
	lease 'renewed no'
	same 'until when' 2040-01-01T00:00:00Z "$(value lease_until)"
	sql <<<"UPDATE once_record SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE"
	lease 'renewed no'
	sql <<<"UPDATE once_lease SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
	lease 'lapsed yes'
	sql <<<"UPDATE once_lease SET lease_until = '1970-01-01'"
	lease 'closed yes'
	same 'no time any more' '' "$(value lease_until)"
	sql <<<'DELETE FROM once_lease'
	lease 'lapsed yes'
}

# advised STATE COLUMN...: what is advised for such a record, as commands, one a line.
advised() {
	no_records
	record "id=x'$(id_of c0ffee99)'" "token=x'00112233445566778899aabbccddeeff'" "state='$1'" "${@:2}"
	ends 0 show c0ffee99
	section next | sed -n "s/^  //p" | sed "s, --config=$CONFIG,,"
}

@test 'it ends with the command that fits the state, as it is typed' {
	local live stale applied not_applied
	live='once-release --live --reason=TEXT --token=00112233445566778899aabbccddeeff c0ffee990000'
	stale='once-release --reason=TEXT c0ffee990000'
	applied='once-resolve --applied --reason=TEXT c0ffee990000'
	not_applied='once-resolve --not-applied --reason=TEXT c0ffee990000'
	same 'at work' "$live" "$(advised in_flight 'lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE')"
	same 'stale, to be run again' "$stale" "$(advised in_flight)"
	same 'stale, not to be run again' "$applied"$'\n'"$not_applied" "$(advised in_flight flags=2)"
	same 'stale, as the record has it and not as its route is configured now' "$stale" "$(advised in_flight "route='refund'")"
	same unknown "$applied"$'\n'"$not_applied" "$(advised unknown)"
	same complete 'once-show --headers --body c0ffee990000' "$(advised complete)"
	same 'not kept' '' "$(advised complete flags=1)"
	same 'past its time' '' "$(advised complete 'expires_at=UTC_TIMESTAMP(6)')"
	grep -q 'starts anew' "$HERE/out"
	same 'past its time, and told so' '' "$(advised complete 'expires_at=UTC_TIMESTAMP(6) - INTERVAL 1 HOUR' "route='house'")"
	grep -q 'told that its key has expired' "$HERE/out"
	same 'long past its time' '' "$(advised complete 'expires_at=UTC_TIMESTAMP(6) - INTERVAL 25 HOUR' "route='house'")"
	grep -q 'starts anew' "$HERE/out"
	same released '' "$(advised released "checkpoint='c'")"
	same tombstone '' "$(advised expired)"
	cp "$CONFIG" "$HERE/it's \$HOME.conf"
	CONFIG="$HERE/it's \$HOME.conf"
	ends 0 show c0ffee99
	no_records
	record "id=x'$(id_of c0ffee99)'"
	ends 0 show c0ffee99
	local command
	command=$(section next | sed -n 's/^  once-show/show_bare/p')
	show_bare() {
		"$builddir/once-show" "$@"
	}
	ends 0 eval "$command"
	same 'the configuration as it was given' made "$(section body)"
}

@test 'hostile bytes are harmless in lines, and whole or as hex in JSON' {
	local key
	while IFS='|' read -r written shown json; do
		no_records
		sql <<<'DELETE FROM once_audit'
		hostile "x'$written'"
		LC_ALL=C.UTF-8 ends 0 show --headers --history --columns=key,tenant,route,reference,host,checkpoint,scheme c0ffee99
		for key in key tenant route reference host checkpoint scheme; do
			same "$key of $written" "$shown" "$(value $key)"
		done
		# the end of a header line is one
		[[ $written == 610d0a62 ]] || same "header of $written" "X-Key: $shown" "$(section headers | tail -n 1)"
		same "bytes of $written" 0 "$(LC_ALL=C tr -d '\n' <"$HERE/out" | LC_ALL=C.UTF-8 grep -c '[[:cntrl:]]' || :)"
		same "reason of $written" "$shown" "$(section history | tail -n 1 | awk '{ print $8 }')"
		LC_ALL=C.UTF-8 ends 0 show c0ffee99
		same "everything else of $written" 0 "$(LC_ALL=C tr -d '\n' <"$HERE/out" | LC_ALL=C.UTF-8 grep -c '[[:cntrl:]]' || :)"
		ends 0 show -j --headers --body --history c0ffee99
		same "JSON of $written" "[$json]" "$(member '[r["key"]]')"
		same "body of $written" "[$json]" "$(member '[r["body"]]')"
		same "reason of $written" "[$json]" "$(member '[r["history"][0]["reason"]]')"
		same "a line of ASCII of $written" 0 "$(LC_ALL=C grep -c '[^ -~]' "$HERE/out" || :)"
	done <<-'KEYS'
		1b5b33316d726564|\x1b[31mred|'\x1b[31mred'
		610a62|a\x0ab|'a\nb'
		610d0a62|a\x0d\x0ab|'a\r\nb'
		007f|\x00\x7f|'\x00\x7f'
		c29b3331|\xc2\x9b31|'\x9b31'
		e280ae6162|\xe2\x80\xaeab|'\u202eab'
		fffe80|\xff\xfe\x80|{'hex': 'fffe80'}
		c3|\xc3|{'hex': 'c3'}
		5c783162|\\x1b|'\\x1b'
		c3a9f09f9880|é😀|'é😀'
	KEYS
}

@test 'a key is cut after 48 characters unless --full, as everywhere' {
	record "id=x'$(id_of c0ffee99)'" "key_text=REPEAT('k', 60)"
	LC_ALL=C ends 0 show c0ffee99
	same cut "$(printf 'k%.0s' {1..48})..." "$(value key)"
	ends 0 show --full c0ffee99
	same whole "$(printf 'k%.0s' {1..60})" "$(value key)"
}

@test 'stored headers and body are shown only where they are asked for' {
	record "id=x'$(id_of c0ffee99)'" "headers='Status: 201\r\nSet-Cookie: a=secret\r\nX: \r\n'" "body='one\r\ntwo\n\nfour'"
	ends 0 show c0ffee99
	same 'not asked for' 0 "$(grep -c 'secret\|two' "$HERE/out")"
	ends 0 show --headers --body c0ffee99
	same headers $'Status: 201\nSet-Cookie: a=secret\nX: ' "$(section headers)"
	same body $'one\ntwo\n\nfour' "$(section body)"
	ends 0 show -j --headers --body c0ffee99
	same json "(['Status: 201', 'Set-Cookie: a=secret', 'X: '], 'one\\r\\ntwo\\n\\nfour')" "$(member 'r["headers"], r["body"]')"
	ends 0 show -j c0ffee99
	same 'not asked for' "(False, False)" "$(member '"headers" in r, "body" in r')"
	sql <<<"UPDATE once_record SET body = '', headers = 'Status: 204\r\n'"
	ends 0 show --body c0ffee99
	same 'an empty body' empty "$(value body)"
	sql <<<"UPDATE once_record SET body = NULL, headers = NULL, flags = 1"
	ends 0 show --body --headers c0ffee99
	same 'not kept' '- -' "$(value headers) $(value body)"
	ends 0 show -j --body --headers c0ffee99
	same 'not kept' '(None, None)' "$(member 'r["headers"], r["body"]')"
}

@test '--body-only is the body byte for byte, and not for a terminal' {
	record "id=x'$(id_of c0ffee99)'" "body=x'000a0d1b5b33316dff'"
	record "id=x'$(id_of c0ffee98)'" "state='unknown'" body=NULL
	record "id=x'$(id_of c0ffee97)'" "body=REPEAT('0123456789abcdef', 65536)"
	record "id=x'$(id_of c0ffee96)'" flags=1 body=NULL
	ends 0 show --body-only c0ffee99
	same bytes 000a0d1b5b33316dff "$(od -An -v -tx1 "$HERE/out" | tr -d ' \n')"
	ends 0 show --body-only c0ffee97
	same 'a large one' "$(printf '0123456789abcdef%.0s' {1..65536} | sha256sum)" "$(sha256sum <"$HERE/out")"
	ends 1 show --body-only c0ffee98
	told 'c0ffee980000: no body is stored: the record is unknown'
	ends 1 show --body-only c0ffee96
	told 'no body is stored: the record is complete, and its answer was not kept'
	ends 64 show --body-only c0ffee98 c0ffee99
	told '--body-only: name one record, not 2'
	local status=0
	script -qec "'$builddir/once-show' --config '$CONFIG' --body-only c0ffee99" /dev/null >"$HERE/out" || status=$?
	same 'on a terminal' 64 "$status"
	grep -qF 'standard output is a terminal; redirect it, or add --force' "$HERE/out"
	same 'nothing of it' 0 "$(grep -c '31m' "$HERE/out")"
	script -qec "'$builddir/once-show' --config '$CONFIG' --body-only --force c0ffee99" /dev/null >"$HERE/out"
	grep -qF '[31m' "$HERE/out"
}

# trail ID BEFORE AFTER WHO REASON
trail() {
	sql <<-SQL
		INSERT INTO once_audit (done_at, record_id, token, state_before, state_after, who, host, program, reason)
		VALUES ('2026-03-01 10:00:00.25', x'$1', x'00112233445566778899aabbccddeeff', '$2', $3, '$4', 'db1', 'once-release', '$5')
	SQL
}

@test '--history says who did what, when and why, also of a record that has gone' {
	local id
	id=$(id_of c0ffee99)
	record "id=x'$id'"
	ends 0 show c0ffee99
	same 'no changes' 0 "$(value changes)"
	ends 0 show --history c0ffee99
	same 'no history' 'nobody has changed it' "$(value history)"
	trail "$id" unknown "'complete'" 'root@db1 (sudo: alice)' 'asked the bank'
	trail "$id" in_flight NULL bob@web2 ''
	ends 0 show --history c0ffee99
	same changes 2 "$(value changes)"
	same 'a table' 'DONE_AT PROGRAM BEFORE AFTER WHO HOST TOKEN REASON' "$(section history | head -n 1 | xargs)"
	same 'an entry' '2026-03-01T10:00:00Z once-release unknown complete root@db1 (sudo: alice) db1 001122334455 asked the bank' \
		"$(section history | sed -n 2p | xargs)"
	same 'deleted' gone "$(section history | sed -n 3p | awk '{ print $4 }')"
	ends 0 show -j --history c0ffee99
	same json "(2, '2026-03-01T10:00:00.250Z', 1772359200, 'root@db1 (sudo: alice)', 'asked the bank', 'gone')" "$(member \
		'(len(r["history"]), *(r["history"][0][n] for n in ("done_at", "done_at_epoch", "who", "reason")), r["history"][1]["after"])')"
	no_records
	ends 1 show c0ffee99
	told 'once-show: c0ffee990000: there is no such record any more; the last change was once-release by bob@web2 at 2026-03-01T10:00:00Z; --history shows all'
	ends 0 show --history c0ffee99
	same gone "$id gone 3" "$(value id) $(value state) $(section history | wc -l)"
	same 'nothing to do about it' '' "$(section next)"
	ends 0 show -j --history "$id"
	same 'gone, as JSON' "('gone', None, 2, [])" "$(member 'r["state"], r["key"], len(r["history"]), r["next"]')"
}

@test 'the natural key that a record holds is shown: until when, settled, and by --headers where it led to' {
	local natural
	request /buy key-that-buys-1 '{"order":7}' CONTENT_TYPE=application/json
	natural=$(sql <<<'SELECT LOWER(HEX(natural_id)) FROM once_natural_key')
	ends 0 show --key key-that-buys-1 --tenant=
	same 'a table' 'NATURAL_ID HOLDS WINDOW_UNTIL SETTLED_AT' "$(section 'natural keys' | head -n 1 | xargs)"
	same 'an entry' "${natural:0:12} yes" "$(section 'natural keys' | sed -n 2p | awk '{ print $1, $2 }')"
	same 'not asked for' 0 "$(grep -c /orders/7 "$HERE/out")"
	ends 0 show --headers --full --key key-that-buys-1 --tenant=
	same 'where it led to' "$natural yes /orders/7" "$(section 'natural keys' | sed -n 2p | awk '{ print $1, $2, $5 }')"
	ends 0 show -j --key key-that-buys-1 --tenant=
	same json "(1, '$natural', True, False)" \
		"$(member '[(len(r["natural_keys"]), n["natural_id"], n["holds"], "location" in n) for n in r["natural_keys"]][0]')"
	same 'three days' 259200 "$(member 'r["natural_keys"][0]["window_until_epoch"] - r["created_at_epoch"]')"
	# What is not settled stands and falls with the record's life.
	sql <<<"UPDATE once_natural_key SET settled_at = NULL"
	ends 0 show -j --key key-that-buys-1 --tenant=
	same unsettled '(True, None)' "$(member 'r["natural_keys"][0]["holds"], r["natural_keys"][0]["settled_at"]')"
	sql <<<"UPDATE once_record SET token = REPEAT('t', 16)"
	ends 0 show -j --key key-that-buys-1 --tenant=
	same 'another life' False "$(member 'r["natural_keys"][0]["holds"]')"
	sql <<<"UPDATE once_natural_key SET settled_at = UTC_TIMESTAMP(6), location = x'1b5b33316d'"
	ends 0 show --headers --key key-that-buys-1 --tenant=
	same 'hostile bytes' '\x1b[31m' "$(section 'natural keys' | sed -n 2p | awk '{ print $5 }')"
	sql <<<"UPDATE once_natural_key SET window_until = UTC_TIMESTAMP(6)"
	ends 0 show -j --key key-that-buys-1 --tenant=
	same 'its window is over' False "$(member 'r["natural_keys"][0]["holds"]')"
	# Of a record that has gone it may still stand.
	trail "$(member 'r["id"]')" complete NULL bob ''
	sql <<<"UPDATE once_natural_key SET window_until = UTC_TIMESTAMP(6) + INTERVAL 1 DAY"
	no_records
	ends 0 show -j --history "$(member 'r["id"]')"
	same gone "('gone', True)" "$(member 'r["state"], r["natural_keys"][0]["holds"]')"
	request /orders key-of-orders-2 '{"a":1}'
	ends 0 show --key key-of-orders-2 --tenant=
	same 'none, and no word about it' 0 "$(grep -c natural "$HERE/out")"
	ends 0 show -j --key key-of-orders-2 --tenant=
	same 'none' '[]' "$(member 'r["natural_keys"]')"
}

@test '--history tells truly what the changing programs have done, and by whom' {
	local changing="--config=$CONFIG --reason"
	record "id=x'$(id_of c0ffee99)'" "state='in_flight'" status=NULL settled_at=NULL
	record "id=x'$(id_of deadbeef)'" "state='unknown'" status=NULL settled_at=NULL
	# shellcheck disable=SC2086
	SUDO_USER=alice ends 0 "$builddir/once-release" $changing='nobody works on it' c0ffee99
	# shellcheck disable=SC2086
	ends 0 "$builddir/once-resolve" $changing='asked the bank' --applied --status=201 deadbeef
	ends 0 show -j --history c0ffee99
	same released "('gone', 'once-release', 'in_flight', 'gone', '$(id -un) (sudo: alice)', '$(uname -n)', 'nobody works on it')" \
		"$(member '(r["state"], *(r["history"][0][n] for n in ("program", "before", "after", "who", "host", "reason")))')"
	ends 0 show -j --history deadbeef
	same resolved "('complete', 'once-resolve', 'unknown', 'complete', '$(id -un)', 'asked the bank')" \
		"$(member '(r["state"], *(r["history"][0][n] for n in ("program", "before", "after", "who", "reason")))')"
	# A purge writes a line of its own, which is no record's and deletes none by that.
	sql <<<"UPDATE once_record SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"
	ends 0 "$builddir/once-expire" --config="$CONFIG"
	ends 0 show --history deadbeef
	same 'what was done before it went' 'once-resolve unknown complete' "$(section history | sed -n 2p | awk '{ print $2, $3, $4 }')"
	ends 0 show -j --history "$(id_of 0)"
	same purge "(1, 'once-expire', None, None)" "$(member '(len(r["history"]), *(r["history"][0][n] for n in ("program", "before", "after")))')"
}

# saved [LINE...]: a request as a file, $HERE/saved, of these head lines and the body on standard input.
saved() {
	printf '%s\n' "$@" '' >"$HERE/saved"
	cat >>"$HERE/saved"
}

explained() {
	ends 0 show -j --explain "$HERE/saved" --columns=id --key key-to-explain-1 --tenant=
	member '(r["explained"]["same"], *r["explained"]["differs"])'
}

@test '--explain holds a saved request against the record, and names the part that differs' {
	local json=(Host:\ x 'Content-Type: application/json' 'X-Unit: eur')
	request /orders key-to-explain-1 '{"a":1.0,"b":2}' PATH_INFO='/a b' QUERY_STRING='x=%41' CONTENT_TYPE=application/json \
		HTTP_X_UNIT=eur
	saved 'POST /orders/a%20b?x=%41 HTTP/1.1' "${json[@]}" <<<'{"b":2,"a":1}'
	same same '(True,)' "$(explained)"
	saved 'POST http://shop.example/orders//a%20b?x=%41#top' "${json[@]}" <<<'{ "a": 1.00, "b": 2 }'
	same 'as a proxy sends it' '(True,)' "$(explained)"
	saved 'PUT /orders/a%20b?x=%41 HTTP/1.1' "${json[@]}" <<<'{"a":1.0,"b":2}'
	same method "(False, 'method')" "$(explained)"
	saved 'POST /orders/a%20c?x=%41 HTTP/1.1' "${json[@]}" <<<'{"a":1.0,"b":2}'
	same path "(False, 'path')" "$(explained)"
	saved 'POST /orders/a%20b?x=A HTTP/1.1' "${json[@]}" <<<'{"a":1.0,"b":2}'
	same query "(False, 'query')" "$(explained)"
	saved 'POST /orders/a%20b?x=%41 HTTP/1.1' 'Content-Type: text/plain' 'X-Unit: eur' <<<'{"a":1.0,"b":2}'
	same 'content-type' "(False, 'content-type')" "$(explained)"
	saved 'POST /orders/a%20b?x=%41 HTTP/1.1' 'content-type: application/json' <<<'{"a":1.0,"b":2}'
	same header "(False, 'header:x-unit')" "$(explained)"
	saved 'POST /orders/a%20b?x=%41 HTTP/1.1' "${json[@]}" <<<'{"a":1.0,"b":3}'
	same body "(False, 'body')" "$(explained)"
	saved 'PATCH /orders HTTP/2' <<<'x'
	same all "(False, 'method', 'path', 'query', 'content-type', 'header:x-unit', 'body')" "$(explained)"
}

@test '--explain says the same for eyes, part by part' {
	request /orders key-to-explain-1 '{"a":1}' CONTENT_TYPE=application/json
	saved 'POST /orders?y HTTP/1.1' 'Content-Type: application/json' <<<'{"a":2}'
	ends 0 show --explain "$HERE/saved" --key key-to-explain-1 --tenant=
	same told 'another request, a mismatch: it differs in query, body' "$(value explained)"
	same parts 'method same path same query differs content-type same header:x-unit same body:json differs' \
		"$(section parts | awk '{ print $1, $3 }' | xargs)"
	ends 0 show --key key-to-explain-1 --tenant=
	same 'not asked for' 'method path query content-type header:x-unit body:json' "$(section parts | awk '{ print $1, $3 }' | xargs)"
	ends 0 show --explain - --key key-to-explain-1 --tenant= < <(printf 'POST /orders\nContent-Type: application/json\n\n{"a":1}')
	same 'standard input' 'the same request' "$(value explained)"
	sql <<<"UPDATE once_record SET part_digests = ''"
	ends 0 show --explain "$HERE/saved" --key key-to-explain-1 --tenant=
	same 'no digests of parts' "another request, a mismatch; the record has no digests that would tell parts" "$(value explained)"
	sql <<<"UPDATE once_record SET fingerprint_scheme = '9 method'"
	ends 0 show --explain "$HERE/saved" --key key-to-explain-1 --tenant=
	same 'a scheme of the future' "this version does not know the record's scheme" "$(value explained)"
	ends 0 show -j --explain "$HERE/saved" --key key-to-explain-1 --tenant=
	same 'a scheme of the future, as JSON' "{'same': None, 'differs': [], 'parts': None}" "$(member 'r["explained"]')"
}

@test '--explain takes what curl -v prints for the head of a request' {
	local port
	request /orders key-to-explain-1 '{"a":1}' CONTENT_TYPE=application/json HTTP_X_UNIT=eur
	python3 - "$HERE/port" <<-'PY' 3>&- &
		import http.server, os, sys
		class Answer(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        self.rfile.read(int(self.headers["Content-Length"]))
		        self.send_response(204)
		        self.end_headers()
		    def log_message(self, *arguments):
		        pass
		server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
		with open(sys.argv[1] + ".new", "w") as file:
		    file.write(str(server.server_port))
		os.rename(sys.argv[1] + ".new", sys.argv[1])
		server.handle_request()
	PY
	wait_until 20 test -s "$HERE/port"
	port=$(<"$HERE/port")
	printf %s '{"a":1}' >"$HERE/body"
	curl -sv -H 'Content-Type: application/json' -H 'X-Unit: eur' --data-binary "@$HERE/body" \
		"http://127.0.0.1:$port/orders" 2>&1 | sed -n '/^[*>]/p; /^> *\r*$/q' >"$HERE/saved"
	wait
	grep -q '^> POST /orders' "$HERE/saved"
	cat "$HERE/body" >>"$HERE/saved"
	same 'as curl tells it' '(True,)' "$(explained)"
}

@test '65: a saved request that is none is refused, told with its line' {
	record "id=x'$(id_of c0ffee99)'"
	while IFS='|' read -r text message; do
		printf '%b' "$text" >"$HERE/saved"
		ends 65 show --explain "$HERE/saved" c0ffee99
		told "once-show: --explain: $HERE/saved: $message"
		same 'standard output' '' "$(<"$HERE/out")"
	done <<-'CASES'
		|line 1: is no request line
		POST\n|line 1: is no request line
		POST /x HTTP/1.1\nnonsense\n|line 2: is no header line
		POST /x\nContent-Length: 9\n\nabc|the body has 3 bytes, but Content-Length says 9
	CASES
	ends 65 show --explain "$HERE/none" c0ffee99
	told "--explain: $HERE/none: No such file or directory"
	ends 65 show --explain "$HERE" c0ffee99
	told "--explain: $HERE: Is a directory"
}

@test '64: options that contradict each other' {
	CONFIG=$HERE/none.conf
	while IFS='|' read -r arguments text; do
		# shellcheck disable=SC2086
		ends 64 show $arguments
		told "$text"
		told "Try 'once-show --help'."
	done <<-'CASES'
		--body-only --headers c0ffee99|--body-only prints nothing else: leave out --headers
		--body-only --history c0ffee99|leave out --history
		--body-only --explain=x c0ffee99|leave out --explain
		--body-only -j c0ffee99|leave out --output
		--body-only --columns=id c0ffee99|leave out --columns
		--force c0ffee99|--force goes with --body-only
		--headers -o csv c0ffee99|--headers needs --output=lines or json
		--body -o table c0ffee99|--body needs --output
		--history -o id c0ffee99|--history needs --output
		--explain=x -o wide c0ffee99|--explain needs --output
		--explain=- -|ids and --explain cannot both be standard input
		--columns=size,none c0ffee99|--columns: "none" is none of id, state, route
		-o xml c0ffee99|--output: "xml" is none of table, wide, json, csv, id, lines
	CASES
}

@test 'the other formats have the same fields, and columns come as asked for' {
	record "id=x'$(id_of c0ffee99)'" "key_text='k,1'"
	ends 0 show --columns=state,key c0ffee99
	same lines $'state: complete\nkey:   k,1' "$(<"$HERE/out")"
	ends 0 show --columns=state --no-header c0ffee99
	same 'a value alone' complete "$(<"$HERE/out")"
	ends 0 show -o csv --columns=state,key c0ffee99
	same csv $'state,key\r\ncomplete,"k,1"\r' "$(<"$HERE/out")"
	ends 0 show -o table --columns=key,id c0ffee99
	same table $'KEY ID\nk,1 c0ffee990000' "$(<"$HERE/out")"
	ends 0 show -o csv c0ffee99
	ends 0 list -o csv
	local names
	names=$(head -n 1 "$HERE/out" | tr -d '\r')
	ends 0 show -j c0ffee99
	same 'has what once-list has' True "$(member "all(name in r for name in '$names'.split(','))")"
}

@test '69, 73, 75, 77 and a closed pipe: as the other programs' {
	record "id=x'$(id_of c0ffee99)'"
	ends 73 sh -c "'$builddir/once-show' --config '$CONFIG' c0ffee99 >/dev/full"
	told 'once-show: standard output: No space left on device'
	ends 73 sh -c "'$builddir/once-show' --config '$CONFIG' --body-only c0ffee99 >/dev/full"
	records 3000
	ends 0 bash -c "set -o pipefail; '$builddir/once-list' --config '$CONFIG' --limit=0 -o id |
		'$builddir/once-show' --config '$CONFIG' - | head -n 1"
	same 'standard error' '' "$(<"$HERE/err")"
	sql <<<"CREATE OR REPLACE USER stranger@localhost IDENTIFIED BY 'x'; GRANT SELECT ON oncewrap.once_lease TO stranger@localhost"
	printf '[oncewrap]\nuser = stranger\npassword = x\n' >"$HERE/other.cnf"
	chmod 600 "$HERE/other.cnf"
	configuration | sed 's,accounts.cnf,other.cnf,' >"$HERE/other.conf"
	CONFIG=$HERE/other.conf
	ends 77 show c0ffee99
	told 'compare the account'
	CONFIG=$HERE/routes.conf
	mariadb_freeze
	ends 69 show --timeout=1 c0ffee99
	mariadb_thaw
	mariadb_stop
	ends 69 show c0ffee99
	told 'see whether the database runs'
}

@test 'reading changes nothing' {
	request /orders key-that-stays-1 '{"a":1}'
	record "id=x'$(id_of c0ffee99)'" "state='in_flight'" status=NULL settled_at=NULL
	local before
	before=$(sql <<<'CHECKSUM TABLE once_record, once_lease, once_audit, once_natural_key')
	ends 0 show --headers --body --history c0ffee99
	ends 0 show --key key-that-stays-1 --tenant=
	same tables "$before" "$(sql <<<'CHECKSUM TABLE once_record, once_lease, once_audit, once_natural_key')"
}

@test '-q leaves out what can be done, -v tells whom it has reached' {
	record "state='unknown'"
	ends 0 show "$(list -o id)"
	grep -q '^next:' "$HERE/out"
	ends 0 show -q -v "$(list -o id)"
	same 'next' 0 "$(grep -c '^next:' "$HERE/out" || :)"
	told 'once-show: connected in 0.'
}
