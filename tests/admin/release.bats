#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-release: which keys it frees and which it leaves, what it says of each, and that the audit trail has it.

load setting.sh

setup_file() {
	setting_begin
	tables
}

teardown_file() {
	setting_end
}

setup() {
	no_records
	sql <<<'DELETE FROM once_audit; DELETE FROM once_natural_key'
}

teardown() {
	mariadb_thaw
	mariadb_running || mariadb_restart
}

# Not by a terminal of whoever runs the tests.
release() {
	setsid -w "$builddir/once-release" --config "$CONFIG" "$@"
}

# stale NAME=SQL-EXPRESSION...: a record in flight whose lease is over, an hour old.
stale() {
	record "state='in_flight'" "lease_until=UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE" 'settled_at=NULL' 'status=NULL' \
		"created_at=UTC_TIMESTAMP(6) - INTERVAL 1 HOUR" "$@"
}

# living NAME=SQL-EXPRESSION...: one whose owner lives.
living() {
	record "state='in_flight'" "lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 HOUR" 'settled_at=NULL' 'status=NULL' "$@"
}

# ident N: 64 hex digits that begin with N and are different for each.
ident() {
	printf '%s%.*s' "$1" $((64 - ${#1})) "$(printf '0%.0s' {1..64})"
}

# count CONDITION: records that fulfil it.
count() {
	sql <<<"SELECT COUNT(*) FROM once_record WHERE $1"
}

entries() {
	sql <<<'SELECT COUNT(*) FROM once_audit'
}

# printed NAME...: these fields of what `ends 0 release -j` printed, a line for each record.
printed() {
	python3 - "$HERE/out" "$@" <<-'PY'
		import json, sys
		for line in open(sys.argv[1]):
		    row = json.loads(line)
		    print("|".join("-" if row[name] is None else str(row[name]) for name in sys.argv[2:]))
	PY
}

@test 'a stale record is freed without a question, and one line says so' {
	stale "id=x'$(ident aa11)'"
	ends 0 release "$(ident aa11)"
	same records 0 "$(count TRUE)"
	same line "$(printf 'ID RESULT BEFORE AFTER NEXT WHY\naa1100000000 released in_flight - runs the handler anew -')" \
		"$(tr -s ' ' <"$HERE/out" | sed 's/ $//')"
	same 'standard error' '' "$(<"$HERE/err")"
}

@test 'the audit trail has who, host, program, reason, and the states before and after' {
	stale "id=x'$(ident aa11)'"
	stale "id=x'$(ident aa12)'" "checkpoint='half'"
	ends 0 env SUDO_USER=alice setsid -w "$builddir/once-release" --config "$CONFIG" --yes --reason="it's \"done\"; \\" \
		"$(ident aa11)" "$(ident aa12)"
	same trail "$(printf 'aa11\t%s (sudo: alice)\t%s\tonce-release\tit'\''s "done"; \\\\\tin_flight\tNULL\naa12\t%s (sudo: alice)\t%s\tonce-release\tit'\''s "done"; \\\\\tin_flight\treleased' \
		"$(id -un)" "$(hostname)" "$(id -un)" "$(hostname)")" \
		"$(sql <<<'SELECT LEFT(HEX(record_id), 4), who, host, program, reason, state_before, state_after FROM once_audit ORDER BY entry' |
			sed 's/^AA/aa/')"
}

@test 'each state that must not be freed is left, with its reason, and the exit status tells' {
	while IFS='|' read -r state columns why; do
		no_records
		# shellcheck disable=SC2086
		record "id=x'$(ident ab)'" "state='$state'" $columns
		ends 1 release -j "$(ident ab)"
		same "result for $state" skipped "$(printed result)"
		same "why for $state" "$why" "$(printed why)"
		same "before and after of $state" "$state|$state" "$(printed before after)"
		same "$state" 1 "$(count "state = '$state'")"
	done <<-'CASES'
		complete||it has been answered, and a retry gets that answer
		complete|expires_at='2001-01-01'|it has expired: the next request starts anew
		released||it is free already
		expired||it has expired, and a retry is told so
		unknown||whether its handler has acted is not known: find out, then once-resolve --applied or --not-applied
		in_flight|flags=2 lease_until='2001-01-01'|whether its handler has acted is not known: find out, then once-resolve --applied or --not-applied
	CASES
	same entries 0 "$(entries)"
}

@test 'an owner that lives is left, by its own lease and by a renewal, and shown' {
	living "id=x'$(ident ab01)'"
	stale "id=x'$(ident ab02)'" "token=x'$(printf '02%.0s' {1..16})'"
	sql <<<"INSERT INTO once_lease VALUES (x'$(printf '02%.0s' {1..16})', UTC_TIMESTAMP(6) + INTERVAL 30 SECOND)"
	ends 1 release -j --yes "$(ident ab01)" "$(ident ab02)"
	printed why | grep -qx 'its owner lives: web1, process 4711, whose lease runs 3[56][0-9][0-9] s more'
	printed why | grep -qx 'its owner lives: web1, process 4711, whose lease runs [23][0-9] s more'
	same records 2 "$(count "state = 'in_flight'")"
	same entries 0 "$(entries)"
}

@test '--live takes it from a living owner, by the token that was shown, and from no other' {
	living "id=x'$(ident ab01)'" "token=x'$(printf '01%.0s' {1..16})'"
	ends 1 release -j --live --token="$(printf '02%.0s' {1..16})" "$(ident ab01)"
	same why 'it has another token than the one given' "$(printed why)"
	same 'still there' 1 "$(count TRUE)"
	ends 0 release -j --live --token="$(printf '01%.0s' {1..16})" --reason=hangs "$(ident ab01)"
	same result 'released|in_flight|-' "$(printed result before after)"
	same records 0 "$(count TRUE)"
	same 'its lease is closed' '1970-01-01 00:00:00.000000' "$(sql <<<'SELECT lease_until FROM once_lease')"
}

@test '--live does not make run twice what by its route must not, whether its owner lives or not' {
	local token
	token=$(printf '01%.0s' {1..16})
	living "id=x'$(ident ab01)'" "token=x'$token'" flags=2
	ends 1 release -j --live --token="$token" "$(ident ab01)"
	printed why | grep -q '^its handler must not run twice, and may have acted: end its worker, '
	sql <<<"UPDATE once_record SET lease_until = '2001-01-01'"
	ends 1 release -j --live --token="$token" "$(ident ab01)"
	printed why | grep -q '^whether its handler has acted is not known: '
	same 'still there' 1 "$(count "state = 'in_flight'")"
	same leases 0 "$(sql <<<'SELECT COUNT(*) FROM once_lease')"
}

@test 'a record with a checkpoint is kept for the next attempt, and that is told' {
	stale "id=x'$(ident ab01)'" "checkpoint='half'" attempt=2
	ends 0 release -j "$(ident ab01)"
	same row 'released|in_flight|released|runs the handler from its checkpoint, as attempt 3' \
		"$(printed result before after next)"
	same state 1 "$(count "state = 'released' AND checkpoint = 'half'")"
}

@test 'what is named and is not there is told, and the rest is done' {
	stale "id=x'$(ident aa11)'"
	ends 1 release --yes "$(ident aa11)" "$(ident bb22)"
	told "$(ident bb22): there is no such record"
	same records 0 "$(count TRUE)"
	ends 1 release "$(ident aa11)"
}

@test 'a record is found by a prefix, and an ambiguous one is told' {
	stale "id=x'$(ident abcdef0123)'"
	ends 0 release abcdef01
	same records 0 "$(count TRUE)"
	stale "id=x'$(ident abcdef0123)'"
	stale "id=x'$(ident abcdef0124)'"
	ends 1 release abcdef01
	told 'abcdef01: more than one record begins so'
	same records 2 "$(count TRUE)"
}

@test '--stale frees those whose lease is over, the longest lapsed first, and --older only the old ones among them' {
	stale "id=x'$(ident a1)'" "lease_until=UTC_TIMESTAMP(6) - INTERVAL 2 MINUTE"
	stale "id=x'$(ident a2)'" "lease_until=UTC_TIMESTAMP(6) - INTERVAL 3 MINUTE"
	stale "id=x'$(ident a3)'" "created_at=UTC_TIMESTAMP(6) - INTERVAL 3 HOUR"
	living "id=x'$(ident b1)'"
	stale "id=x'$(ident b2)'" "token=x'$(printf '02%.0s' {1..16})'"
	sql <<<"INSERT INTO once_lease VALUES (x'$(printf '02%.0s' {1..16})', UTC_TIMESTAMP(6) + INTERVAL 30 SECOND)"
	record "id=x'$(ident b3)'" "state='unknown'" "lease_until='2001-01-01'"
	ends 0 release --stale --older=2h --yes -o id
	same 'old ones' "$(ident a3)" "$(<"$HERE/out")"
	ends 0 release --stale --yes -o id
	same 'all of them' "$(printf '%s\n' "$(ident a2)" "$(ident a1)")" "$(<"$HERE/out")"
	same 'others' 3 "$(count TRUE)"
	ends 0 release --stale -j
	same 'none left: an empty list, no question' '' "$(<"$HERE/out")"
	same entries 3 "$(entries)"
}

@test '--stale takes those of a route and of a tenant, and all of what is said must hold' {
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'" "route='refunds'"
	stale "id=x'$(ident a3)'" "tenant='other'" "created_at=UTC_TIMESTAMP(6) - INTERVAL 3 HOUR"
	stale "id=x'$(ident a4)'" "tenant='other'" "route='refunds'"
	living "id=x'$(ident b1)'" "route='refunds'"
	ends 0 release --stale --route=nothing --yes -o id
	same 'of no route' '' "$(<"$HERE/out")"
	ends 0 release --stale --tenant=other --older=2h --yes -o id
	same 'old ones of that tenant' "$(ident a3)" "$(<"$HERE/out")"
	ends 0 release --stale --tenant=other --route=refunds --yes -o id
	same 'of both' "$(ident a4)" "$(<"$HERE/out")"
	asked n "$builddir/once-release" --config "$CONFIG" --stale --route=refunds
	grep -qF 'release 1 stale record? [y/N]' "$HERE/shown"
	ends 0 release --stale --route=refunds --yes -o id
	same 'of that route' "$(ident a2)" "$(<"$HERE/out")"
	same left "$(printf '%s\n' "$(ident a1)" "$(ident b1)")" "$(sql <<<'SELECT LOWER(HEX(id)) FROM once_record ORDER BY id')"
}

@test '--stale leaves, and tells, what may have been done already' {
	stale "id=x'$(ident a1)'" flags=2
	stale "id=x'$(ident a2)'"
	asked n "$builddir/once-release" --config "$CONFIG" --stale
	grep -qF 'release 1 stale record (and not 1 whose handler may have acted)? [y/N]' "$HERE/shown"
	ends 1 release --stale --yes -j
	same rows "$(printf 'a1|skipped\na2|released')" "$(printed id result | sed 's/0*|/|/' | sort)"
	same left 1 "$(count "state = 'in_flight' AND flags = 2")"
}

@test '--dry-run tells all of it and changes nothing' {
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'" "checkpoint='half'"
	living "id=x'$(ident b1)'"
	ends 1 release -n -j "$(ident a1)" "$(ident a2)" "$(ident b1)"
	same rows "$(printf 'would release|-|runs the handler anew\nwould release|released|runs the handler from its checkpoint, as attempt 2\nskipped|in_flight|-')" \
		"$(printed result after next)"
	ends 0 release --dry-run --stale
	same records 3 "$(count "state = 'in_flight'")"
	same entries 0 "$(entries)"
	same leases 0 "$(sql <<<'SELECT COUNT(*) FROM once_lease')"
}

# asked ANSWER COMMAND...: in a terminal of its own, where that is typed when it asks; what was seen is in $HERE/shown.
asked() {
	local answer=$1
	shift
	at_terminal "[y/N]|$answer\n" "$HERE/shown" "$@"
}

@test 'what was typed before the question is no answer to it' {
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'"
	# select(2) tells that it is there, and takes none of it.
	at_terminal $'before|y\\ny\\n\n[y/N]|n\\n' "$HERE/shown" sh -c \
		"echo before; python3 -c 'import select; select.select([0], [], [])'
		'$builddir/once-release' --config '$CONFIG' --stale"
	grep -q 'nothing was changed' "$HERE/shown"
	same records 2 "$(count TRUE)"
}

@test 'a filter asks in the terminal with the count first, and only y and yes go on' {
	while IFS='|' read -r answer left; do
		no_records
		stale "id=x'$(ident a1)'"
		stale "id=x'$(ident a2)'"
		asked "$answer" "$builddir/once-release" --config "$CONFIG" --stale
		grep -qF 'once-release: release 2 stale records? [y/N] ' "$HERE/shown"
		same "records after '$answer'" "$left" "$(count TRUE)"
		same "told after '$answer'" "$((left > 0))" "$(grep -c 'nothing was changed' "$HERE/shown")"
	done <<-'CASES'
		y|0
		Yes|0
		n|2
		|2
		yess|2
		yesyesyesyesyesyesyes|2
	CASES
}

@test 'several named ones ask too, ids from standard input in the terminal itself; one does not' {
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'"
	asked y bash -c "printf '%s\n' $(ident a1) $(ident a2) | '$builddir/once-release' --config '$CONFIG' -"
	grep -qF 'release 2 records? [y/N]' "$HERE/shown"
	same records 0 "$(count TRUE)"
	stale "id=x'$(ident a1)'"
	asked n "$builddir/once-release" --config "$CONFIG" "$(ident a1)"
	same 'no question' 0 "$(grep -c '?' "$HERE/shown")"
	same records 0 "$(count TRUE)"
}

@test 'without a terminal, and with --no-input in one, the missing option is named' {
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'"
	ends 64 release --stale
	told 'say --yes'
	ends 64 release "$(ident a1)" "$(ident a2)" </dev/null
	told 'say --yes'
	asked y "$builddir/once-release" --config "$CONFIG" --stale --no-input || same status 64 $?
	grep -qF 'say --yes' "$HERE/shown"
	same records 2 "$(count TRUE)"
	ends 0 release --stale --no-input --yes
}

@test 'the command line: contradictions are told' {
	local token
	token=$(printf '01%.0s' {1..16})
	while IFS='|' read -r arguments text; do
		# shellcheck disable=SC2086
		ends 64 release $arguments
		told "$text"
		same 'standard output' '' "$(<"$HERE/out")"
	done <<-CASES
		|say which: ID...
		--stale aa110000|--stale and named records: say one of them
		--stale --key=k|--stale and named records: say one of them
		--older=1h aa110000|--older has no meaning without --stale
		--stale --older=1|"1" is no span
		--stale --older=-1s|"-1s" is no span
		--stale --older=999999d|"999999d" is no span
		--live aa110000|--live needs --token
		--token=$token aa110000|--token has no meaning without --live
		--live --token=$token --stale|--live takes one named record, not --stale
		--live --token=12 aa110000|--token: "12" is not the 32 hex digits
		--live --token=$token aa110000 aa110001|--live takes one named record
		--reason= aa110000|--reason: says nothing
		--reason=$(printf 'a%.0s' {1..1025}) aa110000|1025 bytes are more than the 1024
		aa1100|"aa1100" is no id
		aa11000g|"aa11000g" is no id
		--tenant=t|say which: ID...
		-o xml aa110000|"xml" is none of
	CASES
}

@test 'a row that another session holds is told as failed, the others are done: try later' {
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'"
	hold a1
	ends 75 release --yes --timeout=2 -j "$(ident a1)" "$(ident a2)"
	let_go
	same results "$(printf 'failed\nreleased')" "$(printed result)"
	printed why | grep -q 'Lock wait timeout'
	same records 1 "$(count TRUE)"
}

@test '130: Ctrl-C ends it between two records, and what was done until then is told' {
	local pid status=0
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'"
	hold a1
	env --default-signal=INT "$builddir/once-release" --config "$CONFIG" --yes --timeout=60 -j \
		"$(ident a1)" "$(ident a2)" >"$HERE/out" 2>"$HERE/err" 3>&- &
	pid=$!
	wait_until 20 row_is_waited_for
	kill -INT "$pid"
	let_go
	wait "$pid" || status=$?
	same status 130 "$status"
	told 'interrupted: 1 of 2 records were not looked at'
	same results released "$(printed result)"
	same left "$(ident a2)" "$(sql <<<'SELECT LOWER(HEX(id)) FROM once_record')"
}

# hold N: another session has the row of `ident N`, until let_go.
hold() {
	mariadb_sql oncewrap -e "BEGIN; SELECT id FROM once_record WHERE id = x'$(ident "$1")' FOR UPDATE; SELECT SLEEP(1000)" \
		>/dev/null 2>&1 3>&- &
	wait_until 20 held
}

holder() {
	mariadb_sql -e "SELECT id FROM information_schema.processlist WHERE info = 'SELECT SLEEP(1000)'"
}

held() {
	[[ -n $(holder) ]]
}

let_go() {
	mariadb_sql -e "KILL $(holder)"
}

row_is_waited_for() {
	[[ $(mariadb_sql -e "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS
		WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'") -gt 0 ]]
}

@test 'exit statuses: no database, no right to write, no room for the output, a reader that has gone' {
	stale "id=x'$(ident a1)'"
	ends 77 "$builddir/once-release" --config "$(without_rights)" "$(ident a1)"
	told 'compare the account'
	same 'nothing changed' 1 "$(count TRUE)"
	ends 73 sh -c "'$builddir/once-release' --config '$CONFIG' $(ident a1) >/dev/full"
	same 'done all the same' 0 "$(count TRUE)"
	for number in {1..40}; do
		stale "id=x'$(ident "a$number"1)'"
	done
	ends 0 bash -c "set -o pipefail; '$builddir/once-release' --config '$CONFIG' --yes --stale -o id | head -n 1"
	same 'all of them' 0 "$(count TRUE)"
	mariadb_stop
	ends 69 release "$(ident a1)"
	same 'standard output' '' "$(<"$HERE/out")"
}

# without_rights: a configuration for an account that may only read.
without_rights() {
	sql <<<"CREATE OR REPLACE USER reader@localhost IDENTIFIED BY 'x'; GRANT SELECT ON oncewrap.* TO reader@localhost"
	printf '[oncewrap]\nuser = reader\npassword = x\n' >"$HERE/reader.cnf"
	chmod 600 "$HERE/reader.cnf"
	configuration | sed 's,accounts.cnf,reader.cnf,' >"$HERE/reader.conf"
	echo "$HERE/reader.conf"
}

@test 'a terminal and a pipe get nothing raw of a hostile route' {
	stale "id=x'$(ident a1)'" "route=x'1b5b33316d0a62'"
	ends 0 release -o wide "$(ident a1)"
	grep -qF '\x1b[31m\x0ab' "$HERE/out"
}

@test 'the examples of the manual page do what they say' {
	local line
	mkdir -p "$HERE/bin"
	for program in once-release; do
		printf '#!/bin/sh\nexec "%s" --config "%s" "$@"\n' "$builddir/$program" "$CONFIG" >"$HERE/bin/$program"
		chmod +x "$HERE/bin/$program"
	done
	stale "id=x'$(ident 5f0c2a9be1d4)'"
	stale "id=x'$(ident a1)'" "created_at=UTC_TIMESTAMP(6) - INTERVAL 2 HOUR"
	while IFS= read -r line; do
		ends 0 env PATH="$HERE/bin:$PATH" setsid -w sh -c "$line"
	done < <(sed -n 's/^\.Dl //p' "$srcdir/docs/man/once-release.8")
	same records 0 "$(count TRUE)"
	same reasons "$(printf 'power failure\nweb1 was reinstalled')" "$(sql <<<'SELECT reason FROM once_audit ORDER BY reason')"
}

@test '-q prints no line for what was done, one for what was not, and -v whom it has reached' {
	stale "id=x'$(ident a1)'"
	stale "id=x'$(ident a2)'"
	living "id=x'$(ident b1)'"
	ends 0 release -q "$(ident a1)"
	same 'nothing to tell' '' "$(cat "$HERE/out" "$HERE/err")"
	ends 1 release -q -y -v "$(ident a2)" "$(ident b1)"
	same rows 2 "$(wc -l <"$HERE/out")"
	grep -q "$(ident b1 | cut -c1-12) *skipped" "$HERE/out"
	told 'once-release: connected in 0.'
	told 'account oncewrap-admin, no TLS'
	stale "id=x'$(ident a3)'"
	ends 0 release -q -n "$(ident a3)"
	grep -q 'would release' "$HERE/out"
	same records 2 "$(count TRUE)"
}
