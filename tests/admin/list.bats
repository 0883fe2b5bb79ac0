#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-list: what it shows of the records, in each format, whatever bytes are in them.

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
}

# fields NAME...: of each JSON line of $HERE/out, as Python writes them, one line each.
fields() {
	python3 - "$HERE/out" "$@" <<-'PY'
		import json, sys
		for line in open(sys.argv[1], newline="\n"):
		    record = json.loads(line)
		    print(*(repr(record[name]) for name in sys.argv[2:]))
	PY
}

# Keys that would harm a terminal, a line, a spreadsheet or a parser: how SQL writes them, how a table shows them, how
# CSV does, and what JSON gives.
hostile_keys() {
	cat <<-'KEYS'
		x'1b5b33316d726564'	\x1b[31mred	\x1b[31mred	'\x1b[31mred'
		x'610a62'	a\x0ab	a\x0ab	'a\nb'
		x'610d0a62'	a\x0d\x0ab	a\x0d\x0ab	'a\r\nb'
		x'6109'	a\x09	a\x09	'a\t'
		x'007f'	\x00\x7f	\x00\x7f	'\x00\x7f'
		x'c29b3331'	\xc2\x9b31	\xc2\x9b31	'\x9b31'
		x'e280ae6162'	\xe2\x80\xaeab	\xe2\x80\xaeab	'\u202eab'
		x'61e2808b62'	a\xe2\x80\x8bb	a\xe2\x80\x8bb	'a\u200bb'
		x'fffe80'	\xff\xfe\x80	\xff\xfe\x80	{'hex': 'fffe80'}
		x'c3'	\xc3	\xc3	{'hex': 'c3'}
		x'c0af'	\xc0\xaf	\xc0\xaf	{'hex': 'c0af'}
		x'eda080'	\xed\xa0\x80	\xed\xa0\x80	{'hex': 'eda080'}
		'\\x1b'	\\x1b	\\x1b	'\\x1b'
		'a,b"c'	a,b"c	a,b"c	'a,b"c'
		'=1+1'	=1+1	\x3d1+1	'=1+1'
		'@a'	@a	\x40a	'@a'
		'-a'	-a	\x2da	'-a'
		'+a'	+a	\x2ba	'+a'
		x'c3a9f09f9880'	é😀	é😀	'é😀'
	KEYS
}

# hostile COLUMN: that column of them.
hostile() {
	hostile_keys | cut -f "$1"
}

# A record of each, listed in their order.
hostile_records() {
	local written seconds=90000
	while IFS= read -r written; do
		record "key_text=$written" "tenant=$written" "expires_at='2040-01-01' + INTERVAL $((seconds--)) SECOND"
	done < <(hostile 1)
}

@test 'an empty list is a header and no failure, and in JSON and ids nothing at all' {
	ends 0 list
	same table 'ID STATE ROUTE TENANT KEY ATTEMPT AGE EXPIRES STATUS SIZE' "$(<"$HERE/out")"
	ends 0 list --no-header
	same 'no header' '' "$(<"$HERE/out")"
	ends 0 list -o csv --columns=id,key
	same csv $'id,key\r' "$(<"$HERE/out")"
	ends 0 list -j
	same json 0 "$(stat -c %s "$HERE/out")"
	ends 0 list -o id
	same id 0 "$(stat -c %s "$HERE/out")"
	same 'standard error' '' "$(<"$HERE/err")"
}

@test 'a table shows a record in units that people read' {
	record "id=x'$(printf '0123456789abcdef%.0s' {1..4})'" attempt=2 "body=REPEAT('x', 1500)" \
		'created_at=UTC_TIMESTAMP(6) - INTERVAL 4590 MINUTE' \
		'expires_at=UTC_TIMESTAMP(6) + INTERVAL 90 SECOND + INTERVAL 30 MINUTE'
	ends 0 list --no-header
	read -r -a cells <"$HERE/out"
	same cells '0123456789ab complete orders acme key 2 3d04h' "${cells[*]:0:7}"
	[[ ${cells[7]} =~ ^31m(29|2.)s$ ]]
	same 'status and size' '201 1.4K' "${cells[*]:8}"
}

@test 'what does not apply is a dash: an unknown record goes by no clock, one in flight has no answer' {
	record "state='unknown'" "key_text='a'" status=NULL body=NULL headers=NULL
	record "state='in_flight'" "key_text='b'" status=NULL body=NULL headers=NULL settled_at=NULL \
		'expires_at=UTC_TIMESTAMP(6) - INTERVAL 90 MINUTE - INTERVAL 30 SECOND'
	ends 0 list --no-header --columns=key,state,expires,status,size,settled_at,kept
	same unknown 'a unknown - - 0' "$(sed -n 's/  */ /g;s/ 20..-.*//;/^a/p' "$HERE/out")"
	same 'in flight' 'b in_flight -1h30m - 0 - -' "$(sed -n 's/  */ /g;/^b/p' "$HERE/out")"
}

@test 'hostile keys are harmless in a table and in wide' {
	export LC_ALL=C.UTF-8
	hostile_records
	for format in table wide; do
		for column in key tenant; do
			ends 0 list -o $format --no-header --columns=$column
			same "$format, $column" "$(hostile 2)" "$(sed 's/ *$//' "$HERE/out")"
		done
	done
}

@test 'where the terminal knows ASCII only, a table is ASCII only' {
	record "key_text=x'c3a9'" "tenant=REPEAT('x', 3)"
	record "key_text=REPEAT(x'c3a9', 300)" "expires_at=UTC_TIMESTAMP(6)"
	LC_ALL=C ends 0 list --no-header --columns=key
	same 'short and long key' "$(printf '\\xc3\\xa9'; printf '\n'; printf '\\xc3\\xa9%.0s' {1..48})..." \
		"$(sed 's/ *$//' "$HERE/out")"
}

@test 'hostile keys are harmless in CSV, which a strict parser reads' {
	hostile_records
	ends 0 list -o csv --columns=state,key,tenant
	same csv "$(hostile 3 | sed 's/.*/complete|&|&/')" "$(python3 - "$HERE/out" <<-'PY'
		import csv, sys
		rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True))
		assert rows[0] == ["state", "key", "tenant"], rows
		for row in rows[1:]:
		    print("|".join(row))
	PY
	)"
	same 'lines with control bytes' 0 "$(LC_ALL=C grep -c "$(printf '[^ -~\r\x80-\xff]')" "$HERE/out" || :)"
}

@test 'CSV ends its lines as RFC 4180 says, and quotes only where it must' {
	record "key_text='a,\"b\"'"
	ends 0 list -o csv --columns=key,state
	same csv $'key,state\r\n"a,""b""",complete\r' "$(<"$HERE/out")"
}

@test 'hostile keys are harmless in JSON, and come back whole or as hex' {
	hostile_records
	ends 0 list -j
	same json "$(hostile 4 | sed 's/.*/& &/')" "$(fields key tenant)"
	same lines "$(hostile 1 | wc -l)" "$(wc -l <"$HERE/out")"
	same 'lines that are not ASCII' 0 "$(LC_ALL=C grep -c '[^ -~]' "$HERE/out" || :)"
}

@test 'JSON gives numbers as numbers, what is not known as null, and every field always' {
	record "id=x'$(printf 'ab%.0s' {1..32})'"
	ends 0 list -j
	same fields "'$(printf 'ab%.0s' {1..32})' 'complete' 1 201 17 4711 True False None None" \
		"$(fields id state attempt status size pid kept key_truncated lease_until_epoch stale)"
	no_records
	record "state='in_flight'" status=NULL settled_at=NULL 'flags=0'
	ends 0 list --output=json
	same fields "None None None None" "$(fields status settled_at settled_at_epoch kept)"
	no_records
	record flags=1
	ends 0 list -j
	same 'not kept' False "$(fields kept)"
}

@test 'times are the same moment as RFC 3339 and as epoch, in UTC and in local time' {
	record "created_at='2026-03-01 23:59:59.123456'" "settled_at='2040-01-02 03:04:05'"
	ends 0 list -j
	same utc "'2026-03-01T23:59:59.123Z' 1772409599 '2040-01-02T03:04:05.000Z' 2209086245" \
		"$(fields created_at created_at_epoch settled_at settled_at_epoch)"
	TZ=UTC-5:30 ends 0 list -j --local-time
	same local "'2026-03-02T05:29:59.123+05:30' 1772409599" "$(fields created_at created_at_epoch)"
	TZ=UTC+3 ends 0 list --no-header --local-time --columns=created_at
	same 'west of Greenwich' 2026-03-01T20:59:59-03:00 "$(<"$HERE/out")"
	TZ=UTC+3 ends 0 list --no-header --local-time --utc --columns=created_at
	same 'the later option counts' 2026-03-01T23:59:59Z "$(<"$HERE/out")"
	ends 0 list -o csv --no-header --columns=created_at,age
	[[ $(<"$HERE/out") =~ ^2026-03-01T23:59:59.123Z,[0-9]+.$ ]]
}

@test 'a lease is shown with its renewals, and not once it is closed' {
	record "state='in_flight'" "token=x'00112233445566778899aabbccddeeff'" "lease_until='2026-03-01 10:00:00'"
	ends 0 list --no-header --columns=lease_until
	same 'first lease' 2026-03-01T10:00:00Z "$(<"$HERE/out")"
	sql <<<"INSERT INTO once_lease VALUES (x'00112233445566778899aabbccddeeff', '2026-03-01 11:00:00')"
	ends 0 list --no-header --columns=lease_until
	same renewed 2026-03-01T11:00:00Z "$(<"$HERE/out")"
	sql <<<"UPDATE once_lease SET lease_until = '1970-01-01'"
	ends 0 list --no-header --columns=lease_until
	same closed - "$(<"$HERE/out")"
}

@test 'a long key is cut after 48 characters, never within one, unless --full' {
	local forty_eight
	export LC_ALL=C.UTF-8
	forty_eight=$(printf 'é%.0s' {1..48})
	record "key_text='${forty_eight}é'" "expires_at=UTC_TIMESTAMP(6) + INTERVAL 2 DAY"
	record "key_text='$forty_eight'"
	ends 0 list --no-header --columns=key
	same table "$forty_eight…"$'\n'"$forty_eight" "$(sed 's/ *$//' "$HERE/out")"
	ends 0 list -o csv --no-header --columns=key
	same csv "$forty_eight…"$'\r\n'"$forty_eight"$'\r' "$(<"$HERE/out")"
	ends 0 list -j
	same json "'$forty_eight' True"$'\n'"'$forty_eight' False" "$(fields key key_truncated)"
	for format in table csv; do
		ends 0 list -o $format --no-header --full --columns=key
		same "$format --full" "${forty_eight}é"$'\n'"$forty_eight" "$(sed 's/[ \r]*$//' "$HERE/out")"
	done
	ends 0 list -j --full
	same 'json --full' "'${forty_eight}é' False" "$(fields key key_truncated | head -n 1)"
}

@test 'ids are whole for programs and with --full, and twelve digits in a table' {
	local id
	id=$(printf 'c0ffee99%.0s' {1..8})
	record "id=x'$id'"
	ends 0 list --output id
	same id "$id" "$(<"$HERE/out")"
	ends 0 list --no-header --columns=id --full
	same full "$id" "$(<"$HERE/out")"
	ends 0 list --no-header --columns=id
	same table "${id:0:12}" "$(<"$HERE/out")"
	ends 0 list -o csv --no-header --columns=id
	same csv "$id"$'\r' "$(<"$HERE/out")"
}

@test '--state and --route choose, together too, and say what they do not know' {
	for state in in_flight complete unknown released expired; do
		record "state='$state'" "key_text='$state'"
	done
	record "route='it''s'" "key_text='other'"
	ends 0 list --state unknown,in_flight --columns=key --no-header
	same states 'in_flight unknown' "$(sort "$HERE/out" | xargs)"
	ends 0 list --state unknown --state expired --columns=key --no-header
	same 'given twice' 'expired unknown' "$(sort "$HERE/out" | xargs)"
	ends 0 list --route="it's" --columns=key --no-header
	same route other "$(xargs <"$HERE/out")"
	ends 0 list --route orders --state complete --columns=key --no-header
	same both complete "$(xargs <"$HERE/out")"
	ends 0 list --route ORDERS --no-header
	same 'case matters' '' "$(<"$HERE/out")"
	ends 64 list --state=complete,done
	told '"done" is none of in_flight, complete, unknown, released, expired'
}

@test 'those that expire last come first, and a cut list says so on standard error' {
	for day in 2 3 1; do
		record "key_text='$day'" "expires_at=UTC_TIMESTAMP(6) + INTERVAL $day DAY"
	done
	ends 0 list --no-header --columns=key --limit=2
	same cut '3 2' "$(xargs <"$HERE/out")"
	told 'once-list: there are more than the 2 listed; --limit=0 lists all, --after='
	same 'one line' 1 "$(wc -l <"$HERE/err")"
	ends 0 list --no-header --columns=key --limit=3
	same whole '3 2 1' "$(xargs <"$HERE/out")"
	same 'nothing to tell' '' "$(<"$HERE/err")"
	ends 0 list --state=unknown --limit=1
	same 'nothing to tell' '' "$(<"$HERE/err")"
}

@test 'a list of many pages has each record once, in every format' {
	records 3500
	ends 0 list -o id
	same 'the usual limit' 100 "$(wc -l <"$HERE/out")"
	ends 0 list -o id --limit=0
	same all 3500 "$(sort -u "$HERE/out" | wc -l)"
	same once 3500 "$(wc -l <"$HERE/out")"
	for limit in 999 1000 1001 3499 3500; do
		ends 0 list -o csv --no-header --columns=id --limit=$limit
		same "limit $limit" "$limit" "$(sort -u "$HERE/out" | wc -l)"
		same "told at $limit" "$((limit < 3500))" "$(wc -l <"$HERE/err")"
	done
	ends 0 list --limit=0
	same 'rows of the table' 3500 "$(grep -c complete "$HERE/out")"
	same 'a header for every thousand' 4 "$(grep -c '^ID ' "$HERE/out")"
	ends 0 list --limit=1000
	same 'and none more where there is no row left' 1 "$(grep -c '^ID ' "$HERE/out")"
	ends 0 list -j --limit=0
	same json 3500 "$(fields id | sort -u | wc -l)"
}

@test 'columns come as asked for, and an unknown one is refused with the names there are' {
	record
	ends 0 list --columns=status,state
	same order 'STATUS STATE' "$(head -n 1 "$HERE/out" | xargs)"
	ends 0 list -j --columns=created_at,key
	same json 'created_at created_at_epoch key key_truncated' \
		"$(python3 -c 'import json,sys; print(*json.load(open(sys.argv[1])))' "$HERE/out")"
	ends 64 list --columns=status,stat
	told '"stat" is none of id, state, route, tenant, key, attempt, age, expires, status, size, created_at'
	ends 64 list --columns=
	ends 64 list -o id --columns=key
	told '--columns has no meaning with --output=id'
}

@test 'in a terminal a table fits its width, and wide does not care' {
	record "key_text=REPEAT('k', 40)" "tenant=REPEAT('t', 40)" "route=REPEAT('r', 40)"
	script -qec "stty cols 90; '$builddir/once-list' --config '$CONFIG'" /dev/null | tr -d '\r' >"$HERE/out"
	same lines 2 "$(wc -l <"$HERE/out")"
	[[ $(wc -L <"$HERE/out") -le 90 ]]
	grep -q '^[0-9a-f]\{12\} complete ' "$HERE/out"
	script -qec "stty cols 90; '$builddir/once-list' --config '$CONFIG' -o wide" /dev/null | tr -d '\r' >"$HERE/out"
	grep -q "$(printf 'k%.0s' {1..40})" "$HERE/out"
}
