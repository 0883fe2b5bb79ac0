#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-list: which records it chooses, in which order, and how it counts them.

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

# keys ARGUMENT...: the keys of that list, on one line.
keys() {
	list --no-header --columns=key "$@" 2>"$HERE/err" | sed 's/ *$//' | xargs
}

# lists KEYS ARGUMENT...
lists() {
	local expected=$1
	shift
	same "keys of $*" "$expected" "$(keys "$@")"
}

ago() {
	echo "UTC_TIMESTAMP(6) - INTERVAL $1"
}

# A record in flight whose first lease is past, and another whose is not.
in_flight() {
	record "state='in_flight'" status=NULL settled_at=NULL body=NULL headers=NULL "$@"
}

@test '--tenant chooses, newest first; the anonymous one is the empty name' {
	record "key_text='old'" "created_at=$(ago '3 HOUR')" "expires_at=UTC_TIMESTAMP(6) + INTERVAL 9 DAY"
	record "key_text='new'" "created_at=$(ago '1 HOUR')"
	record "key_text='middle'" "created_at=$(ago '2 HOUR')" "state='unknown'"
	record "key_text='other'" "tenant='acme2'"
	record "key_text='nobody'" "tenant=''"
	lists 'new middle old' --tenant=acme
	lists other --tenant=acme2
	lists nobody --tenant=
	lists '' --tenant=ACME
	lists '' --tenant="' OR 1"
	lists middle --tenant=acme --state=unknown
	lists 'old middle new' --tenant=acme --sort=expiry
	lists old --tenant=acme --older=150m
	lists 'middle' --tenant=acme --older=90m --younger=150m
}

@test '--key-prefix chooses by the beginning of the key, byte for byte, in the order of the keys' {
	local hours=0
	for key in order-10 order-2 order-1 'order_' Order-3 orders '100%' 100; do
		hours=$((hours + 1))
		record "key_text='$key'" "created_at=$(ago "$hours HOUR")"
	done
	record "key_text=x'ff'" "tenant='bytes'"
	record "key_text=x'ffff'" "tenant='bytes'"
	record "key_text=x'feff'" "tenant='bytes'"
	lists 'order-1 order-10 order-2' --key-prefix=order-
	lists 'order-1 order-10' --key-prefix=order-1
	lists 'order-1 order-10 order-2 order_ orders' --key-prefix=order
	lists 'order_' --key-prefix=order_
	lists '100 100%' --key-prefix=100
	lists '100%' --key-prefix=100%
	lists 'order-10 order-2 order-1' --key-prefix=order- --sort=age
	lists '' --key-prefix="o' OR 'a'='a"
	same 'no byte above' 2 "$(list -o id --key-prefix=$'\xff' | wc -l)"
	same 'the byte below' 1 "$(list -o id --key-prefix=$'\xfe\xff' | wc -l)"
	ends 64 list --key-prefix=
	told 'every key begins with nothing'
}

@test '--older and --younger choose by age, newest first' {
	for minutes in 1 10 100 1000; do
		record "key_text='$minutes'" "created_at=$(ago "$minutes MINUTE")" "tenant='t$minutes'"
	done
	lists '100 1000' --older=50m
	lists '1 10' --younger=50m
	lists '10 100' --older=5m --younger=2h
	lists '1000' --older=50m --tenant=t1000
	lists '100' --older=50m --limit=1
	lists '' --older=365d
	for span in 1 -1m 0s 1y '' 99999999d; do
		ends 64 list --older="$span"
		told 'is no time span, as 90s, 15m, 6h or 7d'
	done
	ends 64 list --older=2h --younger=1h
	told 'nothing is both older and younger'
}

@test '--stale is what is in flight, past its first lease, and held by no renewal' {
	in_flight "key_text='live'" 'lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE'
	in_flight "key_text='lapsed'" "lease_until=$(ago '1 SECOND')"
	in_flight "key_text='renewed'" "lease_until=$(ago '1 SECOND')" "token=x'aa'"
	in_flight "key_text='ended'" "lease_until=$(ago '1 SECOND')" "token=x'bb'"
	in_flight "key_text='closed'" "lease_until=$(ago '1 SECOND')" "token=x'cc'"
	record "key_text='done'" "lease_until=$(ago '1 SECOND')"
	record "key_text='unknown'" "lease_until=$(ago '1 SECOND')" "state='unknown'"
	sql <<-SQL
		INSERT INTO once_lease (token, lease_until) VALUES
			(CAST(x'aa' AS BINARY(16)), UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE),
			(CAST(x'bb' AS BINARY(16)), UTC_TIMESTAMP(6) - INTERVAL 1 SECOND), (CAST(x'cc' AS BINARY(16)), '1970-01-01')
	SQL
	same stale 'closed ended lapsed' "$(keys --stale | xargs -n 1 | sort | xargs)"
	same 'with its state' 'closed ended lapsed' "$(keys --stale --state=in_flight,complete | xargs -n 1 | sort | xargs)"
	lists '' --stale --route=none
	same count 3 "$(list --stale --count)"
	same column 'closed true,ended true,lapsed true,live false,renewed false' \
		"$(list -o csv --no-header --columns=key,stale --state=in_flight | tr ',\r' ' ' | sed 's/ *$//' | sort | paste -sd,)"
	ends 64 list --stale --state=complete,unknown
	told 'which --state leaves out'
}

@test '--expired is what the purge takes: nothing unknown, released or still worked on' {
	for state in complete unknown released expired; do
		record "key_text='$state'" "state='$state'" "expires_at=$(ago '1 SECOND')"
		record "key_text='kept $state'" "state='$state'"
	done
	in_flight "key_text='stale'" "lease_until=$(ago '1 SECOND')" "expires_at=$(ago '1 SECOND')"
	in_flight "key_text='live'" 'lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE' "expires_at=$(ago '1 SECOND')"
	same expired 'complete expired stale' "$(keys --expired | xargs -n 1 | sort | xargs)"
	lists complete --expired --state=complete,unknown
	same count 3 "$(list --expired --count)"
	ends 64 list --expired --state=unknown,released
	told 'what is unknown or released never expires'
}

@test '--sort orders by age, size or expiry, whatever is chosen' {
	record "key_text='a'" "created_at=$(ago '3 HOUR')" "body=REPEAT('x', 5)" "expires_at='2040-01-02'"
	record "key_text='b'" "created_at=$(ago '1 HOUR')" "body=REPEAT('x', 70000)" "expires_at='2040-01-01'"
	record "key_text='c'" "created_at=$(ago '2 HOUR')" "body=REPEAT('x', 50)" "expires_at='2040-01-03'" "state='unknown'"
	for selection in '' --limit=0 --older=1m --key-prefix= --tenant=acme --state=complete,unknown; do
		[[ $selection != --key-prefix= ]] || continue
		lists 'b c a' --sort=age $selection
		lists 'b c a' --sort=size $selection
		lists 'c a b' --sort=expiry $selection
	done
	lists 'b c' --largest=2
	lists 'b a' --largest=2 --state=complete
	lists 'c' --sort=expiry --limit=1
	ends 64 list --sort=name
	told '"name" is none of age, size, expiry'
	ends 64 list --largest=0
	ends 64 list --largest=3 --sort=age
	told '--largest is an order and a limit'
	ends 64 list --largest=3 --limit=3
}

@test 'records of equal rank each come once, page after page, in every order' {
	local id part
	records 250
	sql <<<"UPDATE once_record SET created_at = '2026-01-01', expires_at = '2040-01-01', body = 'x'"
	sql <<<"UPDATE once_record SET key_text = 'equal' WHERE key_text % 2 = 0"
	for order in '' --sort=age --sort=size --sort=expiry --tenant=acme '--tenant=acme --sort=size' --key-prefix=e; do
		part='' id=''
		while :; do
			# shellcheck disable=SC2086
			ends 0 list -o id --limit=40 $order ${id:+--after=$id}
			[[ -s $HERE/out ]] || break
			id=$(tail -n 1 "$HERE/out")
			part+=$(<"$HERE/out")$'\n'
		done
		# shellcheck disable=SC2086
		same "pages of '$order'" "$(list -o id --limit=0 ${order:---sort=expiry})" "${part%$'\n'}"
	done
}

@test '--after goes on where a list was cut, and tells of an id that is not there' {
	for day in 1 2 3 4; do
		record "key_text='$day'" "expires_at=UTC_TIMESTAMP(6) + INTERVAL $day DAY" "id=UNHEX(SHA2('$day', 256))"
	done
	ends 0 list --no-header --columns=key --limit=2
	same first '4 3' "$(xargs <"$HERE/out")"
	same told "once-list: there are more than the 2 listed; --limit=0 lists all, --after=4e07408562be goes on" \
		"$(<"$HERE/err")"
	lists '2 1' --limit=2 --after=4e07408562be
	lists '' --after="$(printf 1 | sha256sum | cut -c -64)"
	ends 1 list --after=0123456789abcdef
	same 'standard output' '' "$(<"$HERE/out")"
	ends 64 list --after=xyz
	ends 64 list --after=123
}

@test '--count prints the number alone, and in JSON and CSV with its name' {
	records 1234
	same all 1234 "$(list --count)"
	same 'of a state' 1234 "$(list --count --state=complete)"
	same 'of a route' 0 "$(list --count --route=none)"
	same 'of a key' 346 "$(list --count --key-prefix=1)"
	same json '{"records":1234}' "$(list --count -j)"
	same csv $'records\r\n1234\r' "$(list --count -o csv)"
	for option in --summary --limit=3 --sort=age --after=0123456789 --largest=1 '-o id'; do
		# shellcheck disable=SC2086
		ends 64 list --count $option
	done
	told 'counts have no ids'
}

@test '--summary counts by route and state, with what has expired and what is stale' {
	record; record
	record "expires_at=$(ago '1 SECOND')"
	record "route='b'" "state='unknown'" "expires_at=$(ago '1 SECOND')"
	record "route='b'" "state='expired'"
	in_flight "route='b'" "lease_until=$(ago '1 SECOND')"
	in_flight "route='b'" 'lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE' "expires_at=$(ago '1 SECOND')"
	ends 0 list --summary
	same summary "$(printf '%s\n' 'ROUTE STATE RECORDS EXPIRED STALE' 'b in_flight 2 1 1' 'b unknown 1 - -' \
		'b expired 1 0 -' 'orders complete 3 1 -')" "$(sed 's/  */ /g; s/ *$//' "$HERE/out")"
	ends 0 list --summary --tenant=acme -j
	same json "{'route': 'b', 'state': 'in_flight', 'records': 2, 'expired': 1, 'stale': 1}" \
		"$(head -n 1 "$HERE/out" | python3 -c 'import json, sys; print(json.load(sys.stdin))')"
	same lines 4 "$(wc -l <"$HERE/out")"
	same expired 'orders,complete,1' \
		"$(list --summary --expired -o csv --no-header --columns=route,state,records | tr -d '\r')"
	same 'by key' 'b,2 b,1 b,1 orders,3' \
		"$(list --summary --key-prefix=k -o csv --no-header --columns=route,records | tr -d '\r' | xargs)"
	same 'by age' 'orders,3' "$(list --summary --younger=1h --route=orders -o csv --no-header \
		--columns=route,records | tr -d '\r')"
	ends 64 list --summary --columns=key
	told '"key" is none of route, state, records, expired, stale'
	no_records
	ends 0 list --summary
	same empty 'ROUTE STATE RECORDS EXPIRED STALE' "$(<"$HERE/out")"
}

@test 'hostile route names are harmless in a summary' {
	record "route=x'1b5b33316d'"
	ends 0 list --summary --no-header
	grep -qF '\x1b[31m' "$HERE/out"
	same 'escape bytes' 0 "$(grep -c "$(printf '\033')" "$HERE/out" || :)"
}

@test '--exit-empty: 1 when nothing matched, 0 when something did, for lists and counts' {
	for mode in '' --count --summary --limit=0; do
		ends 1 list --exit-empty $mode
		ends 0 list $mode
	done
	record
	for mode in '' --count --summary --limit=0; do
		ends 0 list --exit-empty $mode
	done
	ends 1 list --exit-empty --stale
	ends 64 list --exit-empty --nonsense
}

@test '-q leaves out the hint, -v tells what was looked at' {
	records 200
	ends 0 list -q
	same quiet '' "$(<"$HERE/err")"
	ends 0 list -v --older=1s --limit=0 -o id
	grep -q '^once-list: [0-9]* matched in [0-9.]* s; each of [0-9]* looked at$' "$HERE/err" ||
		grep -q '^once-list: [0-9]* matched in [0-9.]* s$' "$HERE/err"
	ends 0 list -v -q --count
	[[ $(sed -n 1p "$HERE/err") =~ ^once-list:\ connected\ in\ .*,\ account\ oncewrap-admin,\ no\ TLS$ ]]
	[[ $(sed -n 2p "$HERE/err") =~ ^once-list:\ 200\ matched\ in ]]
}

# on_terminal COMMAND: in a terminal of 24 lines and 100 columns; what it shows, its escapes and all, is in $HERE/out.
on_terminal() {
	script -qec "stty rows 24 cols 100; $1" /dev/null </dev/null >"$HERE/out"
}

coloured() {
	grep -c "$(printf '\033')" "$HERE/out" || :
}

@test 'colours come on a terminal only, not with NO_COLOR, and as --color says' {
	local command="TERM=xterm '$builddir/once-list' --config '$CONFIG'"
	record "state='unknown'"
	on_terminal "$command"
	same terminal 1 "$(coloured)"
	grep -q "$(printf '\033\\[31m')unknown" "$HERE/out"
	on_terminal "NO_COLOR=1 $command"
	same NO_COLOR 0 "$(coloured)"
	on_terminal "NO_COLOR=1 $command --color=always"
	same 'asked for' 1 "$(coloured)"
	on_terminal "$command --color=never"
	same never 0 "$(coloured)"
	on_terminal "TERM=dumb '$builddir/once-list' --config '$CONFIG'"
	same dumb 0 "$(coloured)"
	TERM=xterm ends 0 list
	same pipe 0 "$(coloured)"
	TERM=xterm ends 0 list --color=always
	same 'asked for in a pipe' 1 "$(coloured)"
	for format in json csv id; do
		ends 0 list --color=always -o $format
		same $format 0 "$(coloured)"
	done
	ends 64 list --color=red
	told '"red" is none of auto, always, never'
}

rounds() {
	[[ $(grep -c "$1" "$HERE/out") -ge $2 ]]
}

# watched ARGUMENT...: runs in the background, as $watched; ended by watched_end, which tells its exit status.
watched() {
	env --default-signal=INT "$builddir/once-list" --config "$CONFIG" "$@" >"$HERE/out" 2>"$HERE/err" 3>&- &
	watched=$!
}

watched_end() {
	local status=0
	kill -INT "$watched"
	wait "$watched" || status=$?
	same 'interrupted' 130 "$status"
}

@test '--watch lists again and again until interrupted, and sees what has changed' {
	record "key_text='first'"
	watched --watch=1 --no-header --columns=key
	wait_until 20 rounds first 2
	record "key_text='second'"
	wait_until 20 rounds second 2
	watched_end
	same 'escape bytes' 0 "$(coloured)"
}

@test '--watch outlives the database and tells of it' {
	record "key_text='here'"
	watched --watch=1 --count
	wait_until 20 rounds 1 1
	mariadb_stop
	wait_until 20 grep -q 'see whether the database runs' "$HERE/err"
	: >"$HERE/out"
	mariadb_restart
	wait_until 30 rounds 1 1
	watched_end
}

@test '--watch ends quietly when nobody reads any more' {
	record
	ends 0 bash -c "set -o pipefail; '$builddir/once-list' --config '$CONFIG' --watch=1 -o id | head -n 1"
	same 'standard error' '' "$(<"$HERE/err")"
	same lines 1 "$(wc -l <"$HERE/out")"
}

@test 'on a terminal each round of --watch takes the place of the one before, and fits it' {
	records 50
	on_terminal "timeout -s INT 3 '$builddir/once-list' --config '$CONFIG' --watch=1 --color=never" || :
	[[ $(grep -c "$(printf '\033\\[H\033\\[2J')once-list, every 1 s, 20" "$HERE/out") -ge 2 ]]
	[[ $(awk "/every 1 s/ { rounds++ } rounds == 1" "$HERE/out" | grep -c complete) -eq 20 ]]
}
