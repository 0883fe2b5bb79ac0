#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-resolve: what it makes of records whose outcome is not known, what it says the next retry will get, and that the
# audit trail has it.

load setting.sh

setup_file() {
	setting_begin
	tables
	cat >>"$CONFIG" <<-CONF
		limits: { max_answer = "4K"; max_header_bytes = "256"; };
		routes = (
			{ name = "orders"; path = "/orders*"; times: { retention = "2h"; }; },
			{ name = "short"; path = "/short*"; preset = "$srcdir/presets/payments.conf"; },
			{ name = "again"; path = "/again*"; rebuild = true; keep = "marker"; }
		);
	CONF
}

teardown_file() {
	setting_end
}

setup() {
	no_records
	sql <<<'DELETE FROM once_audit; DELETE FROM once_natural_key'
}

# Not by a terminal of whoever runs the tests.
resolve() {
	setsid -w "$builddir/once-resolve" --config "$CONFIG" "$@"
}

unknown() {
	record "id=x'$ID'" "token=x'$TOKEN'" "state='unknown'" 'status=NULL' 'headers=NULL' 'body=NULL' \
		"lease_until='2001-01-01'" "expires_at='2001-01-02'" "created_at='2001-01-01'" "$@"
}

ID=ab00000000000000000000000000000000000000000000000000000000000000
TOKEN=01010101010101010101010101010101

# count CONDITION: records that fulfil it.
count() {
	sql <<<"SELECT COUNT(*) FROM once_record WHERE $1"
}

entries() {
	sql <<<'SELECT COUNT(*) FROM once_audit'
}

# printed NAME...: these fields of what `resolve -j` printed, a line for each record.
printed() {
	python3 - "$HERE/out" "$@" <<-'PY'
		import json, sys
		for line in open(sys.argv[1]):
		    row = json.loads(line)
		    print("|".join("-" if row[name] is None else str(row[name]) for name in sys.argv[2:]))
	PY
}

@test 'applied, without an answer: kept for a fresh retention, and the next retry is told so' {
	unknown
	ends 0 resolve --applied --reason='the bank has it' -j ab000000
	same row 'resolved|unknown|complete|is told that it was done, without an answer, status 409|-' \
		"$(printed result before after next why)"
	same record 1 "$(count "state = 'complete' AND flags & 1 AND status = 200 AND headers = '' AND body = '' AND
		ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at) - 7200) < 60")"
	same trail "$(printf 'ab\t%s\t%s\tonce-resolve\tthe bank has it\tunknown\tcomplete' "$(id -un)" "$(hostname)")" \
		"$(sql <<<'SELECT LOWER(LEFT(HEX(record_id), 2)), who, host, program, reason, state_before, state_after FROM once_audit')"
	same 'its token is another' 0 "$(count "token = x'$TOKEN'")"
}

@test 'applied, with an answer: it is stored byte for byte, with its headers in order' {
	unknown
	printf 'a\0b\xff\n' >"$HERE/body"
	ends 0 resolve --applied --reason=found --status=201 --header='Location: /orders/7' --header='X-A:1' --header='X-A: 2' \
		--header='Content-Type: application/octet-stream' --body-file="$HERE/body" -j "$ID"
	same next 'gets the answer given here, status 201' "$(printed next)"
	same record 1 "$(count "state = 'complete' AND flags = 0 AND status = 201 AND body = x'610062ff0a' AND headers =
		'Status: 201\r\nLocation: /orders/7\r\nX-A: 1\r\nX-A: 2\r\nContent-Type: application/octet-stream\r\n'")"
}

@test 'what the next retry gets goes by the configured route, as does the retention' {
	while IFS='|' read -r route arguments next seconds; do
		no_records
		unknown "route='$route'"
		# shellcheck disable=SC2086
		ends 0 resolve --applied --reason=found $arguments -j "$ID"
		same "next on $route" "$next" "$(printed next)"
		same "retention on $route" 1 "$(count "ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at) - $seconds) < 60")"
	done <<-'CASES'
		orders|--status=204|gets the answer given here, status 204|7200
		short|--status=201|gets the answer given here, status 200|86400
		short|--status=422|gets the answer given here, status 422|86400
		again||gets its answer made again by the handler (ONCE_REPLAY=1)|86400
		nowhere||is told that it was done, without an answer|86400
	CASES
}

@test 'not applied: the key is free, or its checkpoint waits for the next attempt' {
	unknown
	ends 0 resolve --not-applied --reason='the bank knows nothing' -j "$ID"
	same row 'resolved|unknown|-|runs the handler anew' "$(printed result before after next)"
	same records 0 "$(count TRUE)"
	unknown "checkpoint='half'" attempt=4
	ends 0 resolve --not-applied --reason='the bank knows nothing' -j "$ID"
	same row 'resolved|unknown|released|runs the handler from its checkpoint, as attempt 5' \
		"$(printed result before after next)"
	same states "$(printf 'unknown\tNULL\nunknown\treleased')" \
		"$(sql <<<'SELECT state_before, state_after FROM once_audit ORDER BY entry')"
}

@test 'a lease that is over is resolved as well, whatever its route; one that runs is not' {
	unknown "state='in_flight'" flags=2
	ends 0 resolve --applied --reason=found -j "$ID"
	same row 'resolved|in_flight|complete' "$(printed result before after)"
	no_records
	unknown "state='in_flight'" "lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"
	for what in --applied --not-applied; do
		ends 1 resolve $what --reason=found -j "$ID"
		same result skipped "$(printed result)"
		printed why | grep -q '^its owner lives: web1, process 4711, '
	done
	same untouched 1 "$(count "state = 'in_flight'")"
	same leases 0 "$(sql <<<'SELECT COUNT(*) FROM once_lease')"
	same entries 1 "$(entries)"
}

@test 'what is known already is left' {
	for state in complete released expired; do
		no_records
		record "id=x'$ID'" "state='$state'"
		for what in --applied --not-applied; do
			ends 1 resolve $what --reason=found -j "$ID"
			same "row of $state" "skipped|$state|$state" "$(printed result before after)"
		done
		same "$state" 1 "$(count "state = '$state' AND body = 'made'")"
	done
	same entries 0 "$(entries)"
}

@test 'the natural key of the record goes with it' {
	unknown
	sql <<<"INSERT INTO once_natural_key VALUES (x'$(printf '0a%.0s' {1..32})', x'$ID', x'$TOKEN', '2100-01-01', NULL, NULL)"
	ends 0 resolve --applied --reason=found --status=201 --header=Location:/orders/7 "$ID"
	same settled "$(printf '1\t/orders/7\t1')" "$(sql <<<"SELECT settled_at IS NOT NULL, location,
		token = (SELECT token FROM once_record) FROM once_natural_key")"
	no_records
	unknown
	sql <<<"UPDATE once_natural_key SET token = x'$TOKEN', settled_at = NULL"
	ends 0 resolve --not-applied --reason=found "$ID"
	same freed 0 "$(sql <<<'SELECT COUNT(*) FROM once_natural_key')"
}

@test "an answer that says that nothing was done frees the natural key, as a handler's own does" {
	while IFS='|' read -r status left; do
		no_records
		unknown
		sql <<<"REPLACE INTO once_natural_key VALUES (x'$(printf '0a%.0s' {1..32})', x'$ID', x'$TOKEN', '2100-01-01', NULL, NULL)"
		ends 0 resolve --applied --reason=found --status="$status" "$ID"
		same "natural keys after $status" "$left" "$(sql <<<'SELECT COUNT(*) FROM once_natural_key')"
	done <<-'CASES'
		303|1
		399|1
		400|0
		422|0
		503|0
	CASES
}

@test '--dry-run tells all of it and changes nothing' {
	unknown
	ends 0 resolve -n --applied --reason=found -j "$ID"
	same row 'would resolve|unknown|complete' "$(printed result before after)"
	ends 0 resolve -n --not-applied --reason=found -j "$ID"
	same row 'would resolve|unknown|-' "$(printed result before after)"
	same untouched 1 "$(count "state = 'unknown'")"
	same entries 0 "$(entries)"
}

@test 'several records ask first, and one of several that is not there is told' {
	unknown
	record "id=x'cd${ID:2}'" "state='unknown'"
	ends 64 resolve --not-applied --reason=found "$ID" "cd${ID:2}"
	told 'say --yes'
	same untouched 2 "$(count "state = 'unknown'")"
	ends 1 resolve --not-applied --reason=found --yes "$ID" "ef${ID:2}" "cd${ID:2}"
	told "ef${ID:2}: there is no such record"
	same records 0 "$(count TRUE)"
	ends 1 resolve --not-applied --reason=found "$ID"
	same 'standard output' '' "$(<"$HERE/out")"
}

@test 'the command line: contradictions, and an answer that could not be one, are told' {
	unknown
	: >"$HERE/body"
	while IFS='|' read -r status arguments text; do
		eval "set -- $arguments"
		ends "$status" resolve "$@"
		told "$text"
		same 'standard output' '' "$(<"$HERE/out")"
	done <<-CASES
		64|$ID --reason=r|say one of: --applied, --not-applied
		64|$ID --reason=r --applied --not-applied|say one of: --applied, --not-applied
		64|$ID --applied|--reason is missing
		64|$ID --applied --reason=' '|--reason: says nothing
		64|--applied --reason=r|say which record
		64|$ID --not-applied --reason=r --status=201|have no meaning with --not-applied
		64|$ID --not-applied --reason=r --header=A:b|have no meaning with --not-applied
		64|$ID --applied --reason=r --header=A:b|need --status
		64|$ID --applied --reason=r --body-file=$HERE/body|need --status
		64|$ID --applied --reason=r --status=199|"199" is not a number from 200 to 599
		64|$ID --applied --reason=r --status=600|"600" is not a number from 200 to 599
		64|$ID --applied --reason=r --status=201 --header=A|--header:
		64|$ID --applied --reason=r --status=201 --header='A b:c'|--header:
		64|$ID --applied --reason=r --status=201 --header=\$'A: b\\nC: d'|--header: takes one line
		64|$ID --applied --reason=r --status=201 --header=\$'A: b\\001'|--header:
		64|$ID --applied --reason=r --status=201 --header=Content-Length:5|Content-Length is not for a stored answer to say
		64|$ID --applied --reason=r --status=201 --header=Status:200|Status is not for a stored answer to say
		64|$ID --applied --reason=r --status=201 --header=Connection:close|Connection is not for a stored answer to say
		64|$ID --applied --reason=r --status=201 --header=Once-Outcome:store|Once-Outcome is not for a stored answer to say
		64|$ID --applied --reason=r --status=201 --header=Once-Outcome:nonsense|Once-Outcome is not for a stored answer to say
		64|$ID --applied --reason=r --status=201 --body-file=$HERE/body|needs --header=Content-Type
		64|$ID --applied --reason=r --status=204 --header=Content-Type:a/b --body-file=$HERE/body|status 204 has no body
		64|$ID ${ID/ab/cd} --applied --reason=r --status=201|an answer is one record's, not 2's
		65|$ID --applied --reason=r --status=201 --header=A:$(printf 'b%.0s' {1..256})|limits.max_header_bytes
		65|$ID --applied --reason=r --status=201 --header=Content-Type:a/b --body-file=$HERE/nothing|$HERE/nothing: No such file
		65|$ID --applied --reason=r --status=201 --header=Content-Type:a/b --body-file=$HERE|$HERE: Is a directory
		65|$ID --applied --reason=r --status=201 --header=Content-Type:a/b --body-file=/dev/zero|limits.max_answer
	CASES
	same untouched 1 "$(count "state = 'unknown'")"
	same entries 0 "$(entries)"
}

@test 'an answer of exactly the limit is taken' {
	unknown
	head -c 4096 /dev/zero >"$HERE/body"
	ends 0 resolve --applied --reason=found --status=200 --header=Content-Type:a/b --body-file="$HERE/body" "$ID"
	same length 4096 "$(sql <<<'SELECT OCTET_LENGTH(body) FROM once_record')"
	no_records
	unknown
	echo >>"$HERE/body"
	ends 65 resolve --applied --reason=found --status=200 --header=Content-Type:a/b --body-file="$HERE/body" "$ID"
}

@test 'the examples of the manual page do what they say' {
	local line
	mkdir -p "$HERE/bin"
	for program in once-list once-resolve; do
		printf '#!/bin/sh\nexec "%s" --config "%s" "$@"\n' "$builddir/$program" "$CONFIG" >"$HERE/bin/$program"
		chmod +x "$HERE/bin/$program"
	done
	unknown "id=x'5f0c2a9be1d4${ID:12}'"
	unknown "id=x'7d1e44c0aa02${ID:12}'"
	while IFS= read -r line; do
		ends 0 env PATH="$HERE/bin:$PATH" setsid -w sh -c "$line"
	done < <(sed -n 's/^\.Dl //p' "$srcdir/docs/man/once-resolve.8")
	same records 1 "$(count "state = 'complete' AND status = 201")"
	same entries 2 "$(entries)"
}

@test '-q prints no line for what was done' {
	unknown
	ends 0 resolve -q --applied --reason=found "$ID"
	same 'nothing to tell' '' "$(cat "$HERE/out" "$HERE/err")"
	ends 1 resolve -q --applied --reason=found "$ID"
	grep -q skipped "$HERE/out"
}
