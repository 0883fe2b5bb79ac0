# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# Web servers and oncewrap for a test (or the demo): everything in one temporary directory, on free loopback ports,
# from the very files of docs/deploy. Sourced by bash. $srcdir and $builddir say where sources and programs are.
#
# The directory, $WEB, stands for the root of an installed system:
#   /usr/sbin/X  $WEB/sbin/X     /usr/lib/cgi-bin  $WEB/cgi-bin     /etc/oncewrap  $WEB/etc
#   /run/oncewrap  $WEB/run      /usr/lib/oncewrap/handlers  $WEB/oncewrap/handlers      logs  $WEB/log

# shellcheck source=tests/lib/wait.sh
. "${BASH_SOURCE[0]%/*}/wait.sh"
# shellcheck source=tests/lib/mariadb.sh
. "${BASH_SOURCE[0]%/*}/mariadb.sh"

: "${srcdir:=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)}" "${builddir:=$PWD}"

# The ways of docs/deploy, each a front that web_start knows.
WEB_POOL_FRONTS='lighttpd-socket apache-proxypass apache-sethandler nginx'
WEB_OWN_FRONTS='lighttpd-spawn apache-fcgid'
WEB_CGI_FRONTS='lighttpd-cgi apache-cgi'

# The account that everything runs as where it must not be root: that of the files in docs/deploy.
web_account() {
	if [[ $(id -u) == 0 ]]; then echo www-data; else id -un; fi
}

# web_begin [DIRECTORY]: make $WEB and put the programs there, where the web servers' account can reach them.
web_begin() {
	WEB=${1:-$(mktemp -d "${TMPDIR:-/tmp}/oncewrap-web.XXXXXX")}
	export WEB
	chmod 755 "$WEB"
	mkdir -p "$WEB"/{sbin,cgi-bin,oncewrap/handlers,etc/conf.d,run,spool,log,htdocs,server}
	install -m 755 "$builddir/oncewrap" "$WEB/sbin/oncewrap"
	if [[ $(id -u) == 0 ]]; then
		chown "$(web_account)": "$WEB"/{run,spool,log}
	fi
}

# web_stop_all: everything that was started here.
web_stop_all() {
	local front
	[[ -n ${WEB:-} ]] || return 0
	for front in "$WEB"/server/*.pid; do
		[[ -e $front ]] && web_stop "$(basename "$front" .pid)"
	done
	wrap_stop
}

# deploy_fill FILE: a file of docs/deploy with the places of an installed system replaced by ours.
deploy_fill() {
	local places=(
		-e "s,/usr/sbin/,$WEB/sbin/,g" -e "s,/usr/lib\\b,$WEB,g" -e "s,/etc/oncewrap/,$WEB/etc/,g"
		-e "s,/run/oncewrap/,$WEB/run/,g" -e "s,/var/lib/oncewrap/spool,$WEB/spool,g"
		-e "s,/run/mysqld/mysqld.sock,${MARIADB_SOCKET:-/run/mysqld/mysqld.sock},g"
	)
	[[ $(id -u) == 0 ]] || places+=(-e '/^(user|socket_group) = /d')
	sed -E "${places[@]}" "$srcdir/docs/deploy/$1"
}

web_free_port() {
	local port
	while port=$((20000 + RANDOM % 12000)); port_open "$port"; do :; done
	echo "$port"
}

# web_start FRONT: start that web server; its port is then $(web_port FRONT). A test may have put a file of its own in
# the place of the one of docs/deploy: $WEB/etc/FRONT.conf.
web_start() {
	local front=$1 port pid try
	[[ -e $WEB/etc/$front.conf ]] || deploy_fill "$front.conf" >"$WEB/etc/$front.conf"
	# Another process may take the port between the look and the bind; then the server ends, and we try the next.
	for try in 1 2 3 4 5; do
		port=$(web_free_port)
		"web_main_${front%%-*}" "$front" "$port" >"$WEB/server/$front.conf"
		"web_run_${front%%-*}" "$front" >>"$WEB/log/$front.out" 2>&1 3>&- 4>&- &
		pid=$!
		echo "$pid" >"$WEB/server/$front.pid"
		echo "$port" >"$WEB/server/$front.port"
		wait_until 15 web_answers_or_ended "$front" && ! process_gone "$pid" && return 0
		web_stop "$front"
	done
	cat "$WEB/log/$front".* >&2
	return 1
}

web_answers_or_ended() {
	port_open "$(web_port "$1")" || process_gone "$(<"$WEB/server/$1.pid")"
}

web_port() {
	cat "$WEB/server/$1.port"
}

web_stop() {
	[[ -e $WEB/server/$1.pid ]] || return 0
	stop_process "$(<"$WEB/server/$1.pid")"
	rm -f "$WEB/server/$1".{pid,port}
}

# The smallest main configuration of each server, round the file of docs/deploy.

web_main_lighttpd() {
	cat <<-CONF
		server.document-root = "$WEB/htdocs"
		server.bind = "127.0.0.1"
		server.port = $2
		server.errorlog = "$WEB/log/$1.log"
		include "$WEB/etc/$1.conf"
	CONF
	if [[ $(id -u) == 0 ]]; then
		printf 'server.username = "www-data"\nserver.groupname = "www-data"\n'
	fi
}

web_run_lighttpd() {
	exec env -i PATH="$PATH" lighttpd -D -f "$WEB/server/$1.conf"
}

web_main_apache() {
	local module modules='mpm_event authz_core alias env'
	case $1 in
	*-proxypass | *-sethandler) modules+=' proxy proxy_fcgi' ;;
	*-fcgid) modules+=' fcgid' ;;
	*-cgi) modules+=' cgid' ;;
	*-metrics | *-status) modules+=' cgid authz_host' ;;
	esac
	mkdir -p "$WEB/run/$1"
	for module in $modules; do
		echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"
	done
	cat <<-CONF
		ServerRoot "$WEB"
		ServerName localhost
		Listen 127.0.0.1:$2
		PidFile "$WEB/run/$1/pid"
		DefaultRuntimeDir "$WEB/run/$1"
		ErrorLog "$WEB/log/$1.log"
		LogLevel warn
		DocumentRoot "$WEB/htdocs"
		ServerLimit 16
		MaxRequestWorkers 400
		<IfModule cgid_module>
			ScriptSock "$WEB/run/$1/cgid"
		</IfModule>
		<IfModule fcgid_module>
			FcgidIPCDir "$WEB/run/$1/fcgid"
			FcgidProcessTableFile "$WEB/run/$1/table"
		</IfModule>
	CONF
	if [[ $(id -u) == 0 ]]; then
		printf 'User www-data\nGroup www-data\n'
	fi
	echo "Include \"$WEB/etc/$1.conf\""
}

web_run_apache() {
	exec env -i PATH="$PATH" apache2 -DFOREGROUND -f "$WEB/server/$1.conf"
}

web_main_nginx() {
	local kind
	if [[ $(id -u) == 0 ]]; then
		echo 'user www-data;'
	fi
	cat <<-CONF
		daemon off;
		worker_processes 1;
		pid "$WEB/run/$1.pid";
		error_log "$WEB/log/$1.log";
		events { worker_connections 1024; }
		http {
			access_log off;
	CONF
	for kind in client_body fastcgi proxy scgi uwsgi; do
		echo "${kind}_temp_path \"$WEB/run/nginx-$kind\";"
	done
	cat <<-CONF
			server {
				listen 127.0.0.1:$2;
				include "$WEB/etc/$1.conf";
			}
		}
	CONF
}

web_run_nginx() {
	exec env -i PATH="$PATH" nginx -e "$WEB/log/$1.log" -p "$WEB" -c "$WEB/server/$1.conf"
}

# What oncewrap is started by (valgrind, faketime), with its arguments.
WRAP_RUNNER=()

# wrap_start [FILE]: the pool, with that configuration ($WEB/etc/oncewrap.conf), its log in $WEB/log/oncewrap.log.
wrap_start() {
	env -i PATH=/usr/local/bin:/usr/bin:/bin SHOP_CNF="$WEB/etc/shop.cnf" \
		ONCEWRAP_FAULT_FILE="$WEB/run/fault" "${WRAP_RUNNER[@]}" \
		"$WEB/sbin/oncewrap" --config "${1:-$WEB/etc/oncewrap.conf}" \
		</dev/null >>"$WEB/log/oncewrap.log" 2>&1 3>&- 4>&- &
	echo $! >"$WEB/run/oncewrap.pid"
	wait_until 15 wrap_ready_or_ended && ! process_gone "$(wrap_pid)" && return 0
	cat "$WEB/log/oncewrap.log" >&2
	return 1
}

wrap_ready_or_ended() {
	socket_open "$WEB/run/oncewrap.sock" || process_gone "$(wrap_pid)"
}

wrap_pid() {
	cat "$WEB/run/oncewrap.pid"
}

# wrap_stop [SIGNAL]
wrap_stop() {
	[[ -e $WEB/run/oncewrap.pid ]] || return 0
	stop_process "$(wrap_pid)" "${1:-TERM}"
	rm -f "$WEB/run/oncewrap.pid"
}

# handler NAME: an executable CGI program of standard input, in cgi-bin.
handler() {
	cat >"$WEB/cgi-bin/$1"
	chmod 755 "$WEB/cgi-bin/$1"
}

# counting PATH [COMMAND]: a handler that leaves a line in $WEB/run/ran.NAME (NAME is PATH's last part) and then runs
# COMMAND, which prints the answer and has the number of the run as $n; without it the answer tells that number.
counting() {
	local name=${1##*/}
	mkdir -p "$WEB/cgi-bin/${1%/*}"
	handler "$1" <<-SH
		#!/bin/sh
		echo "\${ONCE_REPLAY:-} \${ONCE_REFERENCE:-}" >>"$WEB/run/ran.$name"
		n=\$(wc -l <"$WEB/run/ran.$name")
		${2:-printf 'Content-Type: text/plain\n\nrun %s\n' "\$n"}
	SH
}

# ask FRONT METHOD PATH [CURL-OPTION...]: one request. Its answer: $ANSWER (the status), answer_header NAME, and the
# file $WEB/answer.body.
ask() {
	local front=$1 method=$2 path=$3
	shift 3
	: >"$WEB/answer.header"
	: >"$WEB/answer.body"
	ANSWER=$(curl --silent --show-error --max-time 60 --request "$method" --header 'Expect:' \
		--dump-header "$WEB/answer.header" --output "$WEB/answer.body" --write-out '%{http_code}' \
		"$@" "http://127.0.0.1:$(web_port "$front")$path") || : # a connection that is cut: 000
}

# answer_header NAME: every value of that header, one a line.
answer_header() {
	tr -d '\r' <"$WEB/answer.header" | sed -n "s/^$1: *//Ip"
}

answer_body() {
	cat "$WEB/answer.body"
}

# same WHAT EXPECTED FOUND: equal, or a message that says what is not, and at which $FRONT.
same() {
	[[ $2 == "$3" ]] || {
		printf '%s: expected "%s", found "%s"\n' "${FRONT:+$FRONT: }$1" "$2" "$3" >&2
		return 1
	}
}

# holds_no PATTERN: standard input has it nowhere.
holds_no() {
	! grep -- "$1" >&2 || return 1
}

# sql [OPTION...]: statements on standard input, as the administrator of that MariaDB.
sql() {
	mariadb_sql "$@"
}

# store_begin [DIRECTORY]: a MariaDB of our own with the accounts of sql/grants.sql and one for the example handlers,
# and the option files that docs/deploy names. What grants.sql says of tables has to wait for store_migrate.
store_begin() {
	local group
	mariadb_start "${1:-$WEB/mariadb}" || return 1
	store_grant --force 2>/dev/null
	sql <"$srcdir/cgi-bin/shop.sql"
	sql <<-SQL
		CREATE OR REPLACE USER shop@localhost IDENTIFIED BY 'shop';
		GRANT SELECT, INSERT ON shop.* TO shop@localhost;
	SQL
	for group in oncewrap oncewrap-admin oncewrap-migrate oncewrap-metrics; do
		printf '[%s]\nuser=%s\npassword=once\n' "$group" "$group"
	done >"$WEB/etc/mariadb.cnf"
	printf '[client]\nuser=shop\npassword=shop\nsocket=%s\n' "$MARIADB_SOCKET" >"$WEB/etc/shop.cnf"
	chmod 640 "$WEB"/etc/{mariadb,shop}.cnf
	if [[ $(id -u) == 0 ]]; then
		chgrp "$(web_account)" "$WEB"/etc/{mariadb,shop}.cnf
	fi
}

store_grant() {
	sed 's/change-me/once/' "$srcdir/sql/grants.sql" | sql "$@"
}

# store_migrate: the schema, by once-migrate and $WEB/etc/oncewrap.conf, and the rights on its tables.
store_migrate() {
	"$builddir/once-migrate" --config "$WEB/etc/oncewrap.conf" up && store_grant
}

store_end() {
	[[ -z ${MARIADB_DIR:-} ]] || mariadb_stop
}

# orders_made ITEM: how many orders of it the example handlers have written.
orders_made() {
	sql <<<"SELECT COUNT(*) FROM shop.orders WHERE item='$1'"
}

# pool_begin FRONT...: everything for a test file: the store, the example handlers, oncewrap.conf of docs/deploy, and
# those web servers. Scripts in cgi-bin/guarded are guarded by a route with the default policies; a test file adds
# routes of its own by a function test_routes that prints them.
pool_begin() {
	local front
	[[ -n ${WEB:-} ]] || web_begin
	store_begin
	cp "$builddir/cgi-bin/orders" "$srcdir"/cgi-bin/orders.{sh,pl} "$WEB/cgi-bin/"
	mkdir -p "$WEB/cgi-bin/guarded"
	cp -r "$srcdir/presets" "$WEB/presets"
	for front in oncewrap oncewrap-cgi; do
		{
			deploy_fill "$front.conf"
			printf 'run_directory = "%s"; preset_directory = "%s";\n' "$WEB/run" "$WEB/presets"
		} >"$WEB/etc/$front.conf"
	done
	cat >"$WEB/etc/conf.d/guarded.conf" <<-'CONF'
		routes = ( { name = "guarded"; path = "/cgi-bin/guarded/*"; } );
	CONF
	if declare -F test_routes >/dev/null; then
		test_routes >"$WEB/etc/conf.d/test.conf"
	fi
	store_migrate
	wrap_start
	for front; do
		web_start "$front"
	done
}

pool_end() {
	web_stop_all
	store_end
	rm -rf "$WEB"
}

# runs NAME: how many times a handler that writes a line to $WEB/run/ran.NAME has run.
runs() {
	if [[ -e $WEB/run/ran.$1 ]]; then wc -l <"$WEB/run/ran.$1"; else echo 0; fi
}

# keyed KEY: the header line that sends it.
keyed() {
	printf 'Idempotency-Key: %s' "$1"
}

# state_of KEY: the state of its record; nothing where there is none.
state_of() {
	sql <<<"SELECT state FROM oncewrap.once_record WHERE key_text='$1'"
}

# records: how many keys the store knows.
records() {
	sql <<<'SELECT COUNT(*) FROM oncewrap.once_record'
}

# After a test that failed: what oncewrap had to say. A test file with a teardown of its own calls this from there.
web_tell() {
	if [[ -z ${BATS_TEST_COMPLETED:-} && -e $WEB/log/oncewrap.log ]]; then
		echo "the end of oncewrap's log:"
		tail -n 15 "$WEB/log/oncewrap.log"
	fi
}

teardown() {
	web_tell
}
