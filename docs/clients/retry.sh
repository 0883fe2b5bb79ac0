#!/bin/sh
# SPDX-License-Identifier: ISC
# Asks for one operation until its outcome is known: the client's half of an idempotency key, with curl. Why each step
# is as it is: docs/clients.md. retry.c is the same in C.
#
# BODY is the file with the request's body, and stands for the operation: its key is made before the first send and kept
# in BODY.key, so that a client that dies and comes back asks for the same operation, and not for a second one.
set -u

usage() {
	cat <<-'TEXT'
		usage: retry.sh [-n NAME] [-X METHOD] [-H FILE] [-t SECONDS] [-w SECONDS] [-b MILLISECONDS] [-k SECONDS] BODY URL
		  -n  name of the key's header (Idempotency-Key)
		  -X  method (POST)
		  -H  a file of further headers, one a line: the content type, the credentials
		  -t  how long to wait for one answer (60)
		  -w  how long to go on in all (300)
		  -b  the first pause, doubled after each attempt up to half a minute (500)
		  -k  how old a key may be when it is sent: below what the API keeps it for (82800)
		The final answer's body goes to standard output. Exit status: 0 done; 1 the API refuses, for good; 75 not known
		yet, ask again later with the same BODY; 2 nothing can be sent: wrong use, no key, or a key that is too old.
	TEXT
}

say() {
	printf 'retry: %s\n' "$*" >&2
}

stop() {
	say "$*"
	exit 2
}

# link(2) lets one of two clients that start at once win, and both go on with the winner's key.
make_key() {
	draft=$(mktemp "$key_file.XXXXXX") || return
	cat /proc/sys/kernel/random/uuid >"$draft" && sync "$draft" && ln "$draft" "$key_file" 2>/dev/null
	rm -f "$draft"
	sync "$(dirname "$key_file")"
	[ -s "$key_file" ]
}

key_age() {
	echo $(($(date +%s) - $(stat -c %Y "$key_file")))
}

# Credentials come from a file, as every account of this machine sees the arguments of a process.
send() {
	: >"$work/header"
	: >"$work/answer"
	status=$(curl --silent --show-error --request "$method" --header "$name: $key" ${headers:+--header "@$headers"} \
		--data-binary "@$body" --max-time "$timeout" --dump-header "$work/header" --output "$work/answer" \
		--write-out '%{http_code}' "$url" 2>"$work/trouble")
	failure=$?
}

# header NAME: its value, of the last answer.
header() {
	tr -d '\r' <"$work/header" | awk -v name="$1:" 'tolower($1) == tolower(name) { sub(/^[^:]*:[ \t]*/, ""); value = $0 }
		END { print value }'
}

is_replayed() {
	tr -d '\r' <"$work/header" | grep -Eqi '^(X-)?Idempotent-Replay(ed)?: *true$'
}

# What the last attempt means: done, refused, again, or stop.
judge() {
	case $failure in
	0) ;;
	# Names, connections, time-outs, answers cut short: nobody can say whether the operation was done.
	5 | 6 | 7 | 16 | 18 | 28 | 35 | 52 | 55 | 56 | 92) echo again && return ;;
	*) echo stop && return ;;
	esac
	case $status in
	2??) echo 'done' ;;
	# A replay is what the API has stored: it will not change.
	408 | 425 | 429 | 5??) if is_replayed; then echo refused; else echo again; fi ;;
	# The first request still runs. Every other 409 is final, as are mistakes.
	4??) if [ -n "$(header Retry-After)" ] && ! is_replayed; then echo again; else echo refused; fi ;;
	*) echo refused ;;
	esac
}

# The seconds that the API asks for: a number or a date.
asked_seconds() {
	value=$(header Retry-After)
	case $value in
	'') echo 0 ;;
	*[!0-9]*) date -d "$value" +%s 2>/dev/null | awk -v now="$(date +%s)" '{ print ($1 > now ? $1 - now : 0) }' ;;
	*) awk -v value="$value" 'BEGIN { print (value > 86400 ? 86400 : value + 0) }' ;;
	esac
}

# Milliseconds until the next attempt: what the API asks for, and between a half and the whole of our own pause, so that
# many clients that failed together do not come back together.
next_wait() {
	seconds=$(asked_seconds)
	random=$(od -An -N4 -tu4 /dev/urandom)
	echo $((${seconds:-0} * 1000 + pause / 2 + random % (pause / 2 + 1)))
}

describe() {
	if [ "$failure" -ne 0 ]; then
		printf 'no answer (%s)' "$(sed -n '1s/^curl: //p' "$work/trouble")"
	else
		printf '%s' "$status"
		! is_replayed || printf ', replayed'
	fi
}

is_number() {
	case $1 in '' | 0?* | *[!0-9]* | ??????????*) return 1 ;; esac
}

name=Idempotency-Key method=POST headers='' timeout=60 patience=300 pause=500 oldest=82800
while getopts n:X:H:t:w:b:k:h option; do
	case $option in
	n) name=$OPTARG ;;
	X) method=$OPTARG ;;
	H) headers=$OPTARG ;;
	t) timeout=$OPTARG ;;
	w) patience=$OPTARG ;;
	b) pause=$OPTARG ;;
	k) oldest=$OPTARG ;;
	h) usage && exit 0 ;;
	*) usage >&2 && exit 2 ;;
	esac
done
shift $((OPTIND - 1))
if [ $# -ne 2 ] || ! is_number "$timeout" || ! is_number "$patience" || ! is_number "$pause" || ! is_number "$oldest"; then
	usage >&2
	exit 2
fi
body=$1 url=$2 key_file=$1.key
[ -r "$body" ] || stop "$body: cannot be read"
[ -z "$headers" ] || [ -r "$headers" ] || stop "$headers: cannot be read"
[ -s "$key_file" ] || make_key || stop "$key_file: no key could be made"
key=$(cat "$key_file")

work=$(mktemp -d) || stop 'no room for an answer'
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

started=$(date +%s) attempt=0
while :; do
	[ "$(key_age)" -lt "$oldest" ] ||
		stop "$key_file: too old, the API may have forgotten it; look whether the operation was done"
	attempt=$((attempt + 1))
	send
	outcome=$(judge)
	case $outcome in
	again) ;;
	stop) stop "attempt $attempt: $(describe)" ;;
	*)
		say "attempt $attempt: $(describe)"
		cat "$work/answer"
		[ "$outcome" = 'done' ]
		exit
		;;
	esac
	wait=$(next_wait)
	if [ $(($(date +%s) - started + wait / 1000)) -ge "$patience" ]; then
		say "attempt $attempt: $(describe); not known yet, ask again later"
		exit 75
	fi
	say "attempt $attempt: $(describe); again in $wait ms"
	sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
	pause=$((pause * 2 < 30000 ? pause * 2 : 30000))
done
