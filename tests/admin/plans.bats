#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-list asks the database nothing that takes long: which index each list goes by and how many rows the server looks
# at for it, as the server's own log of the statements has it (EXPLAIN of what was run, not of what might be).

load setting.sh

RECORDS=30000

setup_file() {
	setting_begin
	tables
	many_records
}

teardown_file() {
	setting_end
}

# Half of one tenant, the rest of a hundred; one in a thousand in flight and stale, as many unknown, a tenth tombstones;
# a tenth past its retention.
many_records() {
	sql <<-SQL
		INSERT INTO once_record (id, tenant, route, key_text, state, token, attempt, fingerprint, fingerprint_scheme,
			part_digests, lease_until, created_at, settled_at, expires_at, owner_host, owner_boot, owner_pidns, owner_pid,
			owner_start, status, body)
		SELECT UNHEX(SHA2(seq, 256)), IF(seq % 2, 'acme', CONCAT('tenant', seq % 200)), ELT(1 + seq % 3, 'a', 'b', 'c'),
			MD5(seq),
			CASE WHEN seq % 1000 = 1 THEN 'in_flight' WHEN seq % 1000 = 2 THEN 'unknown' WHEN seq % 10 = 3 THEN 'expired'
				ELSE 'complete' END,
			UNHEX(MD5(seq)), 1, UNHEX(SHA2(seq, 256)), 'raw', '', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR,
			UTC_TIMESTAMP(6) - INTERVAL seq SECOND, UTC_TIMESTAMP(6),
			UTC_TIMESTAMP(6) + INTERVAL $((RECORDS * 9 / 10)) - CAST(seq AS SIGNED) SECOND, 'web1', 'boot', 1, 4711, 1, 201,
			REPEAT('b', 200)
		FROM seq_1_to_$RECORDS;
		ANALYZE TABLE once_record
	SQL
}

# logged ARGUMENT...: once-list does that; the statements it sent are in $HERE/statements, with their plans. The log is
# the server's: what it wrote is there when it is told to stop.
logged() {
	local log=$MARIADB_DIR/run/statements.$BATS_TEST_NUMBER.$((++logged_count))
	mariadb_sql -e "SET GLOBAL log_slow_verbosity = 'query_plan,explain', slow_query_log_file = '$log',
		long_query_time = 0, slow_query_log = ON"
	ends 0 list "$@" || return 1
	mariadb_sql -e 'SET GLOBAL slow_query_log = OFF'
	# Whose statements those are: this file's other sessions are the administrator's.
	awk '/^# User@Host/ { ours = /oncewrap-admin/ } ours' "$log" >"$HERE/statements"
	grep -q 'explain: .*once_record' "$HERE/statements"
}

# Rows that the server looked at, in all statements of the list.
examined() {
	sed -n 's/.*Rows_examined: //p' "$HERE/statements" | awk '{ sum += $1 } END { print sum }'
}

# The ways into once_record, each once: type and key. By its primary key one row at a time does not count.
ways() {
	awk -F '\t' '/explain:/ && $3 == "once_record" && $4 != "eq_ref" { print $6 }' "$HERE/statements" | LC_ALL=C sort -u | xargs
}

@test 'each list that an index serves looks at few rows, by the index meant for it' {
	local id
	id=$(list -o id --limit=5 2>/dev/null | tail -n 1)
	while IFS='|' read -r arguments index most; do
		# shellcheck disable=SC2086
		logged --limit=10 ${arguments/ID/$id}
		same "way of '$arguments'" "$index" "$(ways)"
		[[ $(examined) -le $most ]] || {
			echo "'$arguments': $(examined) rows looked at, more than $most"
			return 1
		}
		[[ $(grep -c ' acme \| tenant' "$HERE/out") -eq 10 ]] || {
			echo "'$arguments': not ten rows"
			return 1
		}
	done <<-'LISTS'
		|once_record_expiry|200
		--after=ID|PRIMARY once_record_expiry|200
		--state=complete|once_record_expiry|200
		--state=unknown|once_record_expiry|200
		--state=in_flight,unknown|once_record_expiry|200
		--state=unknown --older=1s|once_record_expiry|200
		--state=unknown --tenant=tenant2|once_record_expiry|200
		--stale|once_record_expiry|200
		--stale --sort=age|PRIMARY once_record_expiry|200
		--expired|once_record_expiry|300
		--expired --state=complete|once_record_expiry|200
		--sort=expiry|once_record_expiry|200
		--tenant=acme|once_record_tenant|200
		--tenant=tenant6|once_record_tenant|200
		--tenant=acme --older=1h|once_record_tenant|200
		--tenant=acme --sort=age|once_record_tenant|200
		--key-prefix=a|once_record_key|200
		--key-prefix=a --tenant=acme|once_record_key|4500
		--key-prefix=ab --sort=age|PRIMARY once_record_key|500
	LISTS
}

# Where rows are left out, those of a stretch of the index are looked at in one statement.
@test 'by route and by age alone, an index is gone through in stretches, and rows are read for those shown only' {
	for arguments in --route=none --older=365d '--route=none --state=complete'; do
		# shellcheck disable=SC2086
		logged $arguments
		same 'no rows' 1 "$(wc -l <"$HERE/out")"
		[[ $(grep -c 'once_record.*Using index$' "$HERE/statements") -ge 2 ]]
		same "'$arguments': entries without the index alone" '' \
			"$(grep 'explain:.*once_record' "$HERE/statements" | grep -v 'Using index\|eq_ref' || :)"
	done
	# What was made 1 to 30,000 seconds before this file's beginning; it is later now.
	logged --younger=1000s --limit=0 -o id
	[[ $(wc -l <"$HERE/out") -gt 300 && $(wc -l <"$HERE/out") -le 1000 ]]
	[[ $(examined) -le $((3 * RECORDS)) ]]
	logged --route=b --limit=10
	same 'ten of them' 11 "$(wc -l <"$HERE/out")"
}

@test 'counts come from an index alone, but for what is in flight' {
	for arguments in --count --summary '--count --expired' '--count --state=complete' '--count --route=a'; do
		# shellcheck disable=SC2086
		logged $arguments
		same "way of $arguments" once_record_expiry "$(ways)"
		same "$arguments: entries without the index alone" '' \
			"$(grep 'explain:.*once_record' "$HERE/statements" | grep -v 'Using index' |
				awk -F '\t' '$10 > 30' || :)"
	done
	logged --count --stale
	[[ $(examined) -le 200 ]]
	logged --count --tenant=tenant6
	same way once_record_tenant "$(ways)"
	[[ $(examined) -le 200 ]]
}

@test 'a list of all reads the table once, from end to end' {
	logged --limit=0 -o id
	same rows "$RECORDS" "$(wc -l <"$HERE/out")"
	same way PRIMARY "$(ways)"
	# for each: its entry, what that is merged and sorted as, its row, its lease
	echo "$(examined) rows looked at"
	[[ $(examined) -le $((RECORDS * 6 + 100)) ]]
}

@test 'no statement waits for another, locks a row or makes a temporary file' {
	for arguments in '' --summary --largest=5 '--sort=age --tenant=acme' --expired; do
		# shellcheck disable=SC2086
		logged $arguments
		same 'on disk' '' "$(grep 'on_disk: Yes' "$HERE/statements" || :)"
		same 'other than reading' '' "$(grep -E '^(INSERT|UPDATE|DELETE|LOCK|REPLACE)|FOR UPDATE' "$HERE/statements" || :)"
	done
}
