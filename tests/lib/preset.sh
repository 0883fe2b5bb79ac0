# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# What the tests of the presets share: routes that name one, and handlers that wait. Sourced after web.sh.

FRONT=lighttpd-socket

# preset_route NAME PRESET [SETTINGS]: a route for /cgi-bin/NAME/*.
preset_route() {
	printf '{ name = "%s"; path = "/cgi-bin/%s/*"; preset = "%s"; %s },\n' "$1" "$1" "$2" "${3:-}"
}

# send METHOD PATH [CURL-OPTION...]
send() {
	local method=$1 path=$2
	shift 2
	ask "$FRONT" "$method" "/cgi-bin/$path" "$@"
}

# waiting PATH: a handler that says that it runs and answers 201 once `let_go PATH` was called.
waiting() {
	# shellcheck disable=SC2016 # for the handler
	counting "$1" 'echo $PPID >"$0.worker"
		until [ -e "$0.go" ]; do sleep 0.02; done
		printf "Status: 201\nContent-Type: text/plain\n\nrun %s\n" "$n"'
	# the account that handlers run as leaves its mark there
	chmod 777 "$WEB/cgi-bin/${1%/*}"
}

let_go() {
	touch "$WEB/cgi-bin/$1.go"
}

is_running() {
	[[ -s $WEB/cgi-bin/$1.worker ]]
}

# background FILE PATH [CURL-OPTION...]: a POST in the background; FILE has its answer as "body status", and is there
# once that is whole: who looks for it may be a subshell, which cannot wait for a process of its parent.
background() {
	local file=$1 url
	url=http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/$2
	shift 2
	rm -f "$file"
	{
		curl -s --max-time 60 -w ' %{http_code}' "$@" "$url" >"$file.part" || :
		mv "$file.part" "$file"
	} 3>&- &
}

# begin PATH [CURL-OPTION...]: a POST in the background, until its handler runs; end: its answer as "status body".
begin() {
	background "$WEB/run/begun" "$@"
	wait_until 15 is_running "$1"
}

end() {
	wait_until 60 test -e "$WEB/run/begun"
	awk '{ print $NF, $0 }' RS='\0' "$WEB/run/begun" | xargs
}

# questions: how many statements the store was asked by now.
questions() {
	sql <<<"SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'" | awk '{ print $2 }'
}

asked_since() {
	[[ $(questions) -ge $(($1 + 2)) ]]
}

# join_in PATH [CURL-OPTION...]: a second POST in the background while the first one's handler runs, until the store has
# told about that; joined: its answer, once the first is over, as "body status".
join_in() {
	local before
	before=$(questions)
	background "$WEB/run/joined" "$@"
	wait_until 15 asked_since "$before"
}

joined() {
	wait_until 60 test -e "$WEB/run/joined"
	xargs <"$WEB/run/joined"
}

# seconds_kept KEY
seconds_kept() {
	sql <<<"SELECT TIMESTAMPDIFF(SECOND, created_at, expires_at) FROM oncewrap.once_record WHERE key_text='$1'"
}

# past KEY COLUMN: that time of its record lies a second back.
past() {
	sql <<<"UPDATE oncewrap.once_record SET $2 = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE key_text='$1'"
}
