#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The counters under fire: workers killed at random under load, and the file in which they count lost, cut short,
# another's, or not to be had. Requests go on, the sums stay right, and the log has one line.

load setting.sh

KILLS=20

setup_file() {
	fault_begin
	counting rerun/order "printf 'Status: 201\nContent-Type: text/plain\n\ndone\n'"
	sed -i 's/workers = 4/workers = 16/' "$WEB/etc/oncewrap.conf"
}

teardown_file() {
	fault_end
}

setup() {
	wrap_stop
	rm -rf "$WEB"/run/{metrics.*,ran.order,stop,values,before}
	: >"$WEB/log/oncewrap.log"
}

teardown() {
	touch "$WEB/run/stop"
	web_tell
}

# take: the counters of now, "series{labels} value" without quotes, in $WEB/run/values.
take() {
	"$builddir/once-metrics" --config "$WEB/etc/oncewrap.conf" --scope=local >"$WEB/run/text" &&
		sed -n '/^#/! { s/"//g; p }' "$WEB/run/text" >"$WEB/run/values"
}

# sum PATTERN: of all series that match.
sum() {
	awk -v pattern="^$1" '$1 ~ pattern { sum += $2 } END { print sum + 0 }' "$WEB/run/values"
}

# went_on BEFORE AFTER: no counter runs backwards, and none is gone.
went_on() {
	awk '
		$1 !~ /_(total|bucket|sum|count)({|$)/ { next }
		NR == FNR { before[$1] = $2; next }
		{ if ($2 < before[$1]) { print $1, before[$1], "->", $2; bad = 1 } delete before[$1] }
		END { for (series in before) { print series, "is gone"; bad = 1 } exit bad }
	' "$1" "$2"
}

# the file that the wrapper counts in
counters() {
	echo "$WEB"/run/metrics.*
}

lines() {
	grep -c '"event":"metrics"' "$WEB/log/oncewrap.log"
}

# load_begin CLIENTS: clients that ask until load_end; what they were told is in $WEB/told then.
load_begin() {
	rm -f "$WEB/run/stop"
	"$srcdir/tests/fault/load.py" "$(web_port "$FRONT")" /cgi-bin/rerun/order "$1" "$WEB/run/stop" >"$WEB/told" 3>&- &
	loading=$!
}

load_end() {
	touch "$WEB/run/stop"
	wait "$loading"
}

told() {
	sed -n "s/^$1 //p" "$WEB/told"
}

more_runs_than() {
	[[ $(runs order) -gt $1 ]]
}

# nobody is busy: what was answered has been counted.
all_idle() {
	take && [[ $(sum 'oncewrap_workers{state=idle}') == 16 ]]
}

none_busy() {
	take && [[ $(sum 'oncewrap_workers{state=idle}') -gt 0 ]] &&
		[[ $(sum 'oncewrap_workers{state=idle}') == "$(sum 'oncewrap_workers{')" ]]
}

# within WHAT COUNTED KNOWN SPAN: they differ by no more.
within() {
	(($2 - $3 <= $4 && $3 - $2 <= $4)) || {
		echo "$1: $2 counted, $3 known, may differ by $4"
		return 1
	}
}

@test 'sixteen workers killed at random: each kill costs the counters one at most, and nothing runs backwards' {
	local i victim workers known
	wrap_start
	wait_until 10 all_idle
	cp "$WEB/run/values" "$WEB/run/before"
	load_begin 4
	for ((i = 0; i < KILLS; i++)); do
		# A few requests on, so that it is at work.
		wait_until 30 more_runs_than $(($(runs order) + 3))
		mapfile -t workers < <(pgrep -P "$(wrap_pid)")
		victim=${workers[RANDOM % ${#workers[@]}]}
		kill -KILL "$victim"
		take
		went_on "$WEB/run/before" "$WEB/run/values"
		[[ $(sum 'oncewrap_workers{') -le 16 ]]
		cp "$WEB/run/values" "$WEB/run/before"
	done
	load_end
	wait_until 20 all_idle
	went_on "$WEB/run/before" "$WEB/run/values"
	cat "$WEB/told"
	known=$(($(told first) + $(told replayed) + $(told other)))
	[[ $known -gt 100 ]]
	within requests "$(sum 'oncewrap_requests_total{')" "$known" "$KILLS"
	within replays "$(sum 'oncewrap_requests_total{.*outcome=replayed}')" "$(told replayed)" "$KILLS"
	within 'runs of the handler' "$(sum 'oncewrap_handler_duration_seconds_count{')" "$(runs order)" "$KILLS"
	within durations "$(sum 'oncewrap_request_duration_seconds_count{')" "$known" "$KILLS"
	within settlements "$(sum 'oncewrap_settlements_total{')" "$(sum 'oncewrap_requests_total{.*outcome=first}')" "$KILLS"
	same 'waiters' 0 "$(sum oncewrap_waiters)"
	same 'lines of metrics' 0 "$(lines)"
}

@test 'a reload and a restart go on from where the counters were' {
	wrap_start
	order rerun counted-1
	wait_until 10 all_idle
	same 'first' 1 "$(sum 'oncewrap_requests_total{route=rerun,outcome=first}')"
	sed -i 's,{ name = "run";,{ name = "added"; path = "/added/*"; }\, &,' "$WEB/etc/oncewrap.conf"
	kill -HUP "$(wrap_pid)"
	wait_until 10 logged 'new configuration in force'
	order rerun counted-2
	take
	same 'added' 1 "$(grep -c 'oncewrap_requests_total{route=added,outcome=first}' "$WEB/run/values")"
	wrap_stop
	wrap_start
	order rerun counted-3
	wait_until 10 all_idle
	same 'first' 3 "$(sum 'oncewrap_requests_total{route=rerun,outcome=first}')"
}

# intruder COMMAND...: with that in the file's place requests are answered, one line says so, and the counters work.
intruder() {
	local file
	wrap_start
	file=$(counters)
	wrap_stop
	: >"$WEB/log/oncewrap.log"
	"$@" "$file"
	wrap_start
	order rerun "intruder-$1"
	same 'answer' 201 "$ANSWER"
	wait_until 10 all_idle
	same 'first' 1 "$(sum 'oncewrap_requests_total{.*outcome=first}')"
	same 'lines of metrics' 1 "$(lines)"
	logged 'counters begin at 0 in a new file'
}

truncated() {
	truncate --size=100000 "$1"
}

other_layout() {
	printf x | dd of="$1" bs=1 seek=8 conv=notrunc status=none
}

of_somebody_else() {
	chown root:root "$1"
}

@test 'a file that was cut short is replaced' {
	intruder truncated
}

@test 'a file of another layout under this name is replaced, and one under its own name stays' {
	echo older >"$WEB/run/metrics.00000000"
	wrap_start
	wrap_stop
	same 'the older one' older "$(<"$WEB/run/metrics.00000000")"
	rm "$WEB"/run/metrics.*
	intruder other_layout
}

@test "somebody else's file is replaced and not written to" {
	[[ $(id -u) == 0 ]] || skip 'only root can give a file away'
	intruder of_somebody_else
	same 'owner' "$(web_account)" "$(stat -c %U "$(counters)")"
}

@test 'a file that is cut short under load costs no request, and one line' {
	wrap_start
	load_begin 4
	wait_until 30 more_runs_than 30
	truncate --size=0 "$(counters)"
	wait_until 30 more_runs_than $(($(runs order) + 50))
	load_end
	cat "$WEB/told"
	same 'lost' 0 "$(told lost)"
	same 'other' 0 "$(told other)"
	# Those that have served since are seen again, the others when they do.
	wait_until 10 none_busy
	[[ $(sum 'oncewrap_requests_total{route=rerun,outcome=first}') -gt 0 ]]
	# Sixteen processes lost it, of which one has made it anew.
	same 'lines of metrics' 1 "$(lines)"
	same 'deaths' 0 "$(grep -c '"event":"worker"' "$WEB/log/oncewrap.log")"
}

@test 'without a run directory requests are answered, and one line says what is missing' {
	sed "s,run_directory = .*,run_directory = \"/proc/none/oncewrap\";," "$WEB/etc/oncewrap.conf" >"$WEB/etc/none.conf"
	wrap_start "$WEB/etc/none.conf"
	order rerun nowhere-1
	same 'first' 201 "$ANSWER"
	order rerun nowhere-1
	same 'replay' '201 true' "$ANSWER $(answer_header Idempotent-Replayed)"
	same 'lines of metrics' 1 "$(lines)"
	logged 'nothing is counted: run_directory: /proc/none/oncewrap: No such file or directory'
}
