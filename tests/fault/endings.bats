#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Every way in which a handler can end, or not end: what the client gets, what becomes of the key, and what is left.

load setting.sh

HANDLER_TIMEOUT=2s

setup_file() {
	fault_begin
	# Ends as the key says, first word of it; leaves a line for each run.
	everywhere end <<-SH
		#!/bin/bash
		echo run >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		echo \$\$ >"$WEB/run/begun.\$HTTP_IDEMPOTENCY_KEY"
		case \$HTTP_IDEMPOTENCY_KEY in
		exit0-*) printf 'Content-Type: text/plain\n\nwell done\n' ;;
		exit7-*) printf 'Status: 201\nContent-Type: text/plain\n\nseven\n'; exit 7 ;;
		signal-*) printf 'Content-Type: text/plain\nContent-Length: 1000\n\n7 bytes'; kill -KILL \$\$ ;;
		noheader-*) echo 'just some text' ;;
		emptyline-*) printf '\nContent-Type: text/plain\n\nafter an empty line' ;;
		halfheader-*) printf 'Status: 200\nContent-Ty' ;;
		truncated-*) printf 'Content-Type: text/plain\nContent-Length: 1000\n\ntoo short' ;;
		silent-*) exit 3 ;;
		hang-*)
			printf 'Content-Type: text/plain\n\n'
			(trap '' TERM; sleep 300) &
			trap '' TERM
			wait
			;;
		esac
	SH
	everywhere gone <<-'SH'
		#!/nonexistent/interpreter
	SH
}

teardown_file() {
	fault_end
}

# Nothing may be left in flight by what has ended, nor a row in once_lease.
teardown() {
	web_tell
	same 'in flight' 0 "$(sql <<<"SELECT COUNT(*) FROM oncewrap.once_record WHERE state='in_flight'")"
	same 'in once_lease' 0 "$(sql <<<'SELECT COUNT(*) FROM oncewrap.once_lease')"
}

# end POLICY KEY: ask for it.
end() {
	ask "$FRONT" POST "/cgi-bin/$1/end" -H "Idempotency-Key: $2" -d x
}

# ends POLICY KEY STATUS STATE RETRY-STATUS RUNS: the first answer, the record after it, the retry, runs in all.
ends() {
	end "$1" "$2"
	same "$2: first" "$3 $4" "$ANSWER $(state_of "$2")"
	end "$1" "$2"
	same "$2: retry" "$5 $6" "$ANSWER $(runs "$2")"
}

@test 'C11: exit 0 with an answer is kept' {
	ends rerun exit0-rerun 200 complete 200 1
	same replay 'true well done' "$(answer_header Idempotent-Replayed) $(answer_body)"
}

@test 'C11, C43: exit 7 with a whole answer goes by its status, or as the policy says' {
	ends rerun exit7-rerun 201 complete 201 1
	same replay 'true seven' "$(answer_header Idempotent-Replayed) $(answer_body)"
	ends unknown exit7-unknown 201 unknown 409 1
	ends free exit7-free 201 '' 201 2
}

@test 'C11, C43: killed after 7 of 1000 bytes is 502, never stored as final' {
	ends rerun signal-rerun 502 '' 502 2
	ends unknown signal-unknown 502 unknown 409 1
	ends keep signal-keep 502 complete 502 1
	same replay true "$(answer_header Idempotent-Replayed)"
	[[ $(answer_body) != *'7 bytes'* ]]
}

@test 'C11, C45: no header block, an empty line first, half a header: 502 and a log line with the first bytes' {
	for what in noheader emptyline halfheader; do
		ends rerun $what-rerun 502 '' 502 2
		same type application/problem+json "$(answer_header Content-Type)"
		ends unknown $what-unknown 502 unknown 409 1
		ends keep $what-keep 502 complete 502 1
	done
	logged 'just some text'
	logged '\nContent-Type: text/plain'
	logged 'Content-Ty"'
}

@test 'C11: less body than its Content-Length is 502' {
	ends rerun truncated-rerun 502 '' 502 2
	ends unknown truncated-unknown 502 unknown 409 1
}

@test 'C11, C44: no output at all is 502, never an empty 200' {
	ends rerun silent-rerun 502 '' 502 2
	ends unknown silent-unknown 502 unknown 409 1
}

@test 'C11, C31: a program that cannot be executed frees its key under every policy' {
	for policy in rerun unknown keep free; do
		ask "$FRONT" POST "/cgi-bin/$policy/gone" -H "Idempotency-Key: gone-$policy" -d x
		[[ $ANSWER == 50? ]]
		same 'record' '' "$(state_of "gone-$policy")"
	done
}

@test 'C11, C39, C53: a handler past its deadline: 504, its whole group gone, the key by policy' {
	for policy in rerun unknown keep free; do
		key=hang-$policy
		end "$policy" "$key"
		same "$policy" 504 "$ANSWER"
		group_gone "$(<"$WEB/run/begun.$key")"
	done
	same records 'unknown unknown complete ' \
		"$(state_of hang-rerun) $(state_of hang-unknown) $(state_of hang-keep) $(state_of hang-free)"
	end rerun hang-rerun
	same 'unknown by default' '409 1' "$ANSWER $(runs hang-rerun)"
	end keep hang-keep
	same 'kept' '504 true 1' "$ANSWER $(answer_header Idempotent-Replayed) $(runs hang-keep)"
	end free hang-free
	same 'freed' '504  2' "$ANSWER $(answer_header Idempotent-Replayed) $(runs hang-free)"
}

@test 'C33: a handler that answers 201 and never reads its 1 MB body' {
	everywhere deaf <<-'SH'
		#!/bin/sh
		printf 'Status: 201\nContent-Type: text/plain\n\nheard nothing\n'
	SH
	head -c 1000000 /dev/zero >"$WEB/body"
	for turn in '' true; do
		ask "$FRONT" POST /cgi-bin/rerun/deaf -H 'Idempotency-Key: deaf' --data-binary "@$WEB/body"
		same answer "201 $turn heard nothing" "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
	done
	ask "$FRONT" POST /cgi-bin/deaf --data-binary "@$WEB/body"
	same 'not guarded' '201 heard nothing' "$ANSWER $(answer_body)"
}

@test 'C34: a handler that writes 300 KB before it reads its 1 MB body' {
	everywhere eager <<-'SH'
		#!/bin/sh
		printf 'Content-Type: application/octet-stream\n\n'
		head -c 300000 /dev/zero
		sha256sum
	SH
	head -c 1000000 /dev/urandom >"$WEB/body"
	for path in /cgi-bin/rerun/eager /cgi-bin/eager; do
		ask "$FRONT" POST "$path" -H 'Idempotency-Key: eager' --data-binary "@$WEB/body"
		same status 200 "$ANSWER"
		same 'bytes' $((300000 + 68)) "$(wc -c <"$WEB/answer.body")"
		same 'read after writing' "$(sha256sum <"$WEB/body")" "$(tail -c 68 "$WEB/answer.body")"
	done
}

@test 'C38: a handler that leaves a process behind is answered at its exit, and the leftover holds nothing of ours' {
	everywhere leaving <<-SH
		#!/bin/sh
		printf 'Content-Type: text/plain\n\nleft\n'
		sleep 30 &
		echo \$! >"$WEB/run/leftover"
	SH
	ask "$FRONT" POST /cgi-bin/rerun/leaving -H 'Idempotency-Key: leaving' -d x
	same answer '200 left' "$ANSWER $(answer_body)"
	leftover=$(<"$WEB/run/leftover")
	kill -0 "$leftover" # answered before its end
	same 'its descriptors' '0 1 2' "$(cd "/proc/$leftover/fd" && echo *)"
	kill "$leftover"
	ask "$FRONT" POST /cgi-bin/rerun/leaving -H 'Idempotency-Key: leaving' -d x
	same replay '200 true left' "$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
}

@test 'C42: standard error in floods is drained and capped, and standard output is unharmed' {
	everywhere loud <<-'SH'
		#!/bin/sh
		printf 'Content-Type: text/plain\n\nbefore\n'
		yes 'something is wrong' | head -c 20000000 >&2
		echo after
	SH
	size=$(wc -c <"$WEB/log/oncewrap.log")
	ask "$FRONT" POST /cgi-bin/rerun/loud -H 'Idempotency-Key: loud' -d x
	same answer $'200 before\nafter' "$ANSWER $(answer_body)"
	logged '"stderr_bytes":20000000'
	[[ $(($(wc -c <"$WEB/log/oncewrap.log") - size)) -lt 300000 ]]
}

@test 'C47: headers that end their lines with LF, CRLF and both' {
	everywhere mixed <<-'SH'
		#!/bin/sh
		printf 'Status: 202\r\nContent-Type: text/plain\nX-One: 1\r\nX-Two: 2\n\r\nbody\r\n'
	SH
	for turn in '' true; do
		ask "$FRONT" POST /cgi-bin/rerun/mixed -H 'Idempotency-Key: mixed' -d x
		same answer "202 1 2 $turn" \
			"$ANSWER $(answer_header X-One) $(answer_header X-Two) $(answer_header Idempotent-Replayed)"
		same body $'body\r' "$(answer_body)"
	done
}
