# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# What the fault tests share: lighttpd in front of a pool with short times, and handlers that say what they do. Each
# policy has a folder of its own in cgi-bin: rerun (the defaults), unknown, keep, free, wait and run.

# shellcheck source=tests/lib/web.sh
. "${BASH_SOURCE[0]%/*}/../lib/web.sh"

FRONT=lighttpd-socket
: "${LEASE:=4}" # seconds

fault_configuration() {
	cat <<-CONF
		listen = "$WEB/run/oncewrap.sock";
		user = "$(web_account)";
		socket_group = "$(id -gn "$(web_account)")";
		workers = 4;
		stop_timeout = "3s";
		store: {
			socket = "$MARIADB_SOCKET";
			option_file = "$WEB/etc/mariadb.cnf";
			connect_timeout = "400ms";
			read_timeout = "800ms";
			settle_timeout = "${SETTLE_TIMEOUT:-3s}";
		};
		handlers: {
			roots = [ "$WEB/cgi-bin" ];
			environment = [ "PATH", "SHOP_CNF" ];
			timeout = "${HANDLER_TIMEOUT:-15s}";
			kill_grace = "300ms";
			exit_grace = "300ms";
		};
		spool: { directory = "$WEB/spool"; };
		run_directory = "$WEB/run";
		defaults: { times: { lease = "${LEASE}s"; retention = "1h"; }; };
		routes = (
			{ name = "rerun"; path = "/cgi-bin/rerun/*"; },
			{ name = "unknown"; path = "/cgi-bin/unknown/*"; settle: { on_lapse = "unknown";
				on_crash = "unknown"; on_timeout = "unknown"; on_exit_nonzero = "unknown"; }; },
			{ name = "keep"; path = "/cgi-bin/keep/*"; settle: { on_crash = "store";
				on_timeout = "store"; }; },
			{ name = "free"; path = "/cgi-bin/free/*"; settle: { on_timeout = "release";
				on_exit_nonzero = "release"; }; },
			{ name = "wait"; path = "/cgi-bin/wait/*"; in_flight = "wait"; wait: { timeout = "20s"; }; },
			{ name = "run"; path = "/cgi-bin/run/*"; store_down = "run"; }
		);
	CONF
}

# fault_begin: all of it, started.
fault_begin() {
	local policy
	web_begin
	store_begin
	for policy in rerun unknown keep free wait run; do
		mkdir "$WEB/cgi-bin/$policy"
		cp "$builddir/cgi-bin/orders" "$WEB/cgi-bin/$policy/"
	done
	fault_configuration >"$WEB/etc/oncewrap.conf"
	store_migrate
	wrap_start
	web_start "$FRONT"
}

fault_end() {
	pool_end
}

# everywhere NAME: a handler of standard input under every policy.
everywhere() {
	local policy
	handler "$1"
	for policy in rerun unknown keep free wait run; do
		cp "$WEB/cgi-bin/$1" "$WEB/cgi-bin/$policy/$1"
	done
}

# A handler that tells when it has begun ($WEB/run/begun.KEY: its process id), works until $WEB/run/go is there, and
# writes a line to $WEB/run/ran.KEY when it is done. It has a child of its own, which only a signal to the whole group reaches.
slow_handler() {
	everywhere slow <<-SH
		#!/bin/sh
		sleep 300 >/dev/null 2>&1 &
		echo \$\$ >"$WEB/run/begun.\$HTTP_IDEMPOTENCY_KEY"
		until [ -e "$WEB/run/go" ]; do sleep 0.05; done
		kill \$!
		echo done >>"$WEB/run/ran.\$HTTP_IDEMPOTENCY_KEY"
		printf 'Status: 201\nContent-Type: text/plain\n\nrun %s\n' "\$ONCE_ATTEMPT"
	SH
}

# order POLICY KEY [CURL-OPTION...]: the C example handler asked for one order of item KEY.
order() {
	local policy=$1 key=$2
	shift 2
	ask "$FRONT" POST "/cgi-bin/$policy/orders" -H "Idempotency-Key: $key" -d "item=$key&quantity=1" "$@"
}

# begin_ask POLICY NAME KEY: an `ask` that goes on; the process is $asking. Its status comes to $WEB/status.KEY, its
# body to $WEB/body.KEY.
begin_ask() {
	curl --silent --max-time 60 --output "$WEB/body.$3" --write-out '%{http_code}' -d x \
		-H "Idempotency-Key: $3" "http://127.0.0.1:$(web_port "$FRONT")/cgi-bin/$1/$2" \
		>"$WEB/status.$3" 3>&- &
	asking=$!
}

# begun KEY: the slow handler has begun; in_hand KEY: its process id.
begun() {
	[[ -s $WEB/run/begun.$1 ]]
}

in_hand() {
	cat "$WEB/run/begun.$1"
}

# state_of KEY: the record's state; nothing when there is none.
state_of() {
	sql <<<"SELECT state FROM oncewrap.once_record WHERE key_text='$1'"
}

is_state() {
	[[ $(state_of "$1") == "$2" ]]
}

# lapsed KEY: the lease of that record is over, renewals included.
lapsed() {
	[[ $(sql <<<"SELECT COUNT(*) FROM oncewrap.once_record r LEFT JOIN oncewrap.once_lease l USING (token)
		WHERE key_text='$1' AND r.lease_until <= UTC_TIMESTAMP(6)
		AND COALESCE(l.lease_until, r.lease_until) <= UTC_TIMESTAMP(6)") == 1 ]]
}

# plan POINT ACTION: what the next process that comes to POINT does to itself (src/base/fault.h).
plan() {
	echo "$1 $2" >"$WEB/run/fault"
	if [[ $(id -u) == 0 ]]; then
		chown "$(web_account)" "$WEB/run/fault"
	fi
}

# It was done.
plan_done() {
	[[ ! -e $WEB/run/fault ]]
}

# logged TEXT: a line of oncewrap's log has it.
logged() {
	grep -qF -- "$1" "$WEB/log/oncewrap.log"
}
