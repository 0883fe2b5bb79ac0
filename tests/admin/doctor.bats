#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-doctor: faults are planted one by one; each is found, what it prints is typed as it stands, and nothing is left.

load setting.sh
load doctor_setting.sh

setup_file() {
	doctor_begin
}

@test 'a sound installation: every check says ok, and the exit status is 0' {
	sound
	ends 0 doctor --quiet
	same 'with --quiet' '' "$(<"$HERE/out")"
	ends 0 doctor -o nagios
	[[ $(<"$HERE/out") =~ ^'ONCEWRAP OK - '[0-9]+' checks | failures=0 warnings=0 skipped=0'$ ]]
}

@test 'option file: readable or writable by everybody, a symbolic link, no longer there' {
	chmod 644 "$HERE/accounts.cnf"
	finds fail option_file 'mode 644 lets others read it'
	cure 'chmod u=rw,g=r,o= '
	sound
	chmod 622 "$HERE/accounts.cnf"
	finds fail option_file 'mode 622 lets others write it'
	cure 'chmod u=rw,g=r,o= '
	sound
	mv "$HERE/accounts.cnf" "$HERE/elsewhere.cnf"
	ln -s elsewhere.cnf "$HERE/accounts.cnf"
	finds fail option_file 'is a symbolic link'
	cure 'cp --remove-destination '
	sound
	mv "$HERE/accounts.cnf" "$HERE/elsewhere.cnf"
	finds fail option_file 'No such file'
	same 'start of the cure' 'install -m 0640 -o root -g ' "$(head -c 27 "$HERE/cure")"
	EDITOR="cp $HERE/elsewhere.cnf" cure 'install -m 0640'
	sound
}

@test 'option file: without the group that is to be read' {
	printf '[oncewrap-admin]\nuser = oncewrap-admin\npassword = secret\n' >"$HERE/other.cnf"
	chmod 600 "$HERE/other.cnf"
	sed -i 's,accounts.cnf,other.cnf,' "$CONFIG"
	finds fail option_file 'has no group [oncewrap]'
	EDITOR="cp $HERE/accounts.cnf" cure '${EDITOR:-vi} '
	sound
}

@test 'configuration: a mistake is told with its line, and the rest is skipped' {
	sed -i 's/^run_directory/run_dircetory/' "$CONFIG"
	ends 2 doctor
	grep -q "^fail  configuration .*oncewrap.conf:[0-9]*: run_dircetory: unknown setting; did you mean" "$HERE/out"
	grep -q '^skip  connection ' "$HERE/out"
	finds fail configuration run_dircetory
	# An editor that is told where.
	printf '#!/bin/sh\nsed -i "${1#+}s/dircetory/directory/" "$2"\n' >"$HERE/bin/ed-line"
	chmod 755 "$HERE/bin/ed-line"
	EDITOR=ed-line cure '${EDITOR:-vi} +'
	sound
	rm "$CONFIG"
	finds fail configuration 'No such file'
}

@test 'configuration: everybody may write it, or a file of conf.d' {
	chmod 646 "$CONFIG"
	finds fail config_file 'everybody on this host may write it'
	cure "chmod o-w $CONFIG"
	sound
	mkdir "$HERE/conf.d"
	echo 'routes = ();' >"$HERE/conf.d/more.conf"
	chmod 666 "$HERE/conf.d/more.conf"
	finds fail config_file 'more.conf'
	cure "chmod o-w $HERE/conf.d/more.conf"
	sound
	chmod 777 "$HERE/conf.d"
	finds fail config_file conf.d
	cure "chmod o-w $HERE/conf.d"
	sound
}

@test 'account and group: not there' {
	configured '' 'user = "nobody-of-that-name";' 'socket_group = "no-such-group";'
	finds fail account 'there is no account "nobody-of-that-name"'
	same cure 'useradd --system nobody-of-that-name' "$(<"$HERE/cure")"
	found fail account 'there is no group "no-such-group"'
	same cure 'groupadd --system no-such-group' "$(<"$HERE/cure")"
}

@test 'directories: spool, roots and run directory that are not there, and a spool for everybody' {
	rmdir "$HERE/spool"
	finds fail spool "$HERE/spool: No such file"
	cure 'install -d '
	sound
	chmod 777 "$HERE/spool"
	finds warn spool 'everybody on this host may write'
	cure 'chmod o-w '
	sound
	mv "$HERE/cgi" "$HERE/cgi.away"
	finds fail roots "$HERE/cgi: No such file"
	cure 'install -d '
	sound
	rmdir "$HERE/cgi"
	mv "$HERE/cgi.away" "$HERE/cgi"
	chmod 777 "$HERE/cgi"
	finds warn roots 'everybody on this host may write it'
	cure 'chmod o-w '
	sound
}

@test 'with the eyes of the service: what root may read or write, www-data may not' {
	[[ $(id -u) == 0 ]] || skip 'only root can look with the eyes of another'
	configured '' 'user = "www-data";'
	ends 2 doctor --only=spool,option_file,run_directory,handlers
	finds fail option_file 'Permission denied'
	cure 'chgrp www-data '
	finds fail spool 'www-data cannot write to'
	cure 'install -d -o www-data -g www-data -m 0750 '
	finds warn run_directory 'www-data cannot write to'
	cure 'install -d -o www-data '
	chmod 700 "$HERE/cgi/good"
	finds warn handlers 'www-data may not run it'
	cure 'chmod a+rx '
	chmod 600 "$CONFIG"
	finds warn config_file 'a reload reads it as www-data'
	cure 'chmod a+r '
	sound
	chown root "$HERE/spool" "$HERE/run"
	chgrp root "$HERE/accounts.cnf"
}

@test 'handlers: not executable, ends of lines, interpreter, mark, writers, dangling link' {
	chmod 644 "$HERE/cgi/good"
	finds warn handlers "may not run it"
	cure 'chmod a+rx '
	sound
	handler windows $'#!/bin/sh\r' $'echo\r'
	finds warn handlers 'lines end as on Windows'
	cure 'sed -i '
	sound
	handler elsewhere '#!/opt/none/bin/sh' 'echo'
	finds warn handlers 'its interpreter /opt/none/bin/sh: No such file'
	cure 'sed -i '
	sound
	handler marked $'\xef\xbb\xbf#!/bin/sh' 'echo'
	finds warn handlers 'UTF-8 BOM'
	cure 'sed -i '
	sound
	chmod 757 "$HERE/cgi/good"
	finds warn handlers 'everybody on this host may write it'
	cure 'chmod o-w '
	sound
	ln -s nowhere "$HERE/cgi/link"
	finds warn handlers 'a link to what is not there'
	cure 'rm '
	sound
	# Data beside handlers, and what is hidden, are nobody's fault.
	echo data >"$HERE/cgi/data.txt"
	mkdir "$HERE/cgi/.git"
	printf '#!/bin/sh\n' >"$HERE/cgi/.git/hook"
	sound
}

@test 'handlers: hostile names harm neither the terminal nor the shell that the cure is typed at' {
	local name
	for name in $'a b\'c"$(touch here)' $'\e[31mred' $'two\nlines' '-rf'; do
		handler "$name" '#!/bin/sh'
		chmod 644 "$HERE/cgi/$name"
		ends 1 doctor --only=handlers
		same 'control bytes' '' "$(tr -d '\n' <"$HERE/out" | tr -cd '[:cntrl:]')"
		finds warn handlers 'may not run it'
		cure 'chmod a+rx '
		[[ -x $HERE/cgi/$name ]]
		[[ ! -e here ]]
	done
	sound
}

@test 'server: read-only, a small packet, few connections, durability, the format of the binary log' {
	while IFS='|' read -r level check variable bad good text; do
		sql <<<"SET GLOBAL $variable = $bad"
		finds "$level" "$check" "$text" || {
			sql <<<"SET GLOBAL $variable = $good"
			return 1
		}
		cure "$(client) -e 'SET GLOBAL $variable"
		sound
		sql <<<"SET GLOBAL $variable = $good"
	done <<-'CASES'
		fail|read_only|read_only|ON|OFF|nothing can be claimed
		warn|packet|max_allowed_packet|1048576|16777216|max_allowed_packet of 1M is too small for an answer of 8M
		warn|connections|max_connections|12|300|max_connections of 12 is too low for 8 workers
		warn|durability|innodb_flush_log_at_trx_commit|2|1|after a power failure
		fail|binlog|binlog_format|STATEMENT|MIXED|every write is refused
	CASES
}

@test 'accounts: locked, password run out, few connections of its own' {
	sql <<<'ALTER USER oncewrap@localhost ACCOUNT LOCK'
	finds fail connection 'account is locked'
	cure "$(client) -e "
	sound
	sql <<<'ALTER USER oncewrap@localhost PASSWORD EXPIRE'
	finds fail connection 'the wrapper: '
	cure "$(client) -e "
	sound
	sql <<<'ALTER USER oncewrap@localhost WITH MAX_USER_CONNECTIONS 3'
	finds warn connections 'max_user_connections'
	cure "$(client) -e "
	sound
	sql <<<'ALTER USER oncewrap@localhost WITH MAX_USER_CONNECTIONS 0'
}

@test 'accounts: a wrong password is the option file'\''s, and whose it is is told' {
	sed 's/secret/wrong/' "$HERE/accounts.cnf" >"$HERE/other.cnf"
	chmod 600 "$HERE/other.cnf"
	sed -i 's,accounts.cnf,other.cnf,' "$CONFIG"
	finds fail connection 'the once-* programs: '
	found fail connection 'the wrapper: '
	EDITOR="cp $HERE/accounts.cnf" cure '${EDITOR:-vi} '
	sound
}

@test 'rights: missing ones are named, for the wrapper and for the programs' {
	sql <<<"REVOKE INSERT ON once_lease FROM oncewrap@localhost; REVOKE INSERT ON once_audit FROM 'oncewrap-admin'@localhost"
	finds fail grants 'the account of [oncewrap] may not: INSERT on once_lease'
	found fail grants 'the account of [oncewrap-admin] may not: INSERT on once_audit'
	cure "once-migrate --config=$CONFIG grants | "
	sound
}

@test 'rights: too many, on the database or the whole server, are taken away and the needed ones stay' {
	sql <<<'GRANT ALL ON oncewrap.* TO oncewrap@localhost WITH GRANT OPTION'
	finds warn grants 'may do more than it must'
	cure 'once-migrate '
	sound
	sql <<<"GRANT FILE, SELECT ON *.* TO oncewrap@localhost; REVOKE SELECT ON once_record FROM oncewrap@localhost"
	finds warn grants 'FILE, SELECT on *.*'
	cure 'once-migrate '
	sound
	same 'what is left' 0 "$(sql <<<'SHOW GRANTS FOR oncewrap@localhost' | grep -c 'FILE\|DROP\|GRANT OPTION')"
}

@test 'no database of that name, no tables: two cures lead to a sound one' {
	mariadb_sql -e 'DROP DATABASE oncewrap'
	mariadb_sql -e "REVOKE ALL, GRANT OPTION FROM oncewrap@localhost; GRANT ALL ON oncewrap.* TO oncewrap@localhost"
	finds fail connection "Unknown database"
	cure "$(client) -e 'CREATE DATABASE "
	finds fail schema '0001-records.sql) is pending'
	cure "once-migrate --config=$CONFIG up"
	finds warn grants 'may do more'
	cure 'once-migrate '
	sql <<<"UPDATE once_maintenance SET finished_at = UTC_TIMESTAMP(6), succeeded_at = UTC_TIMESTAMP(6)"
	sound
}

@test 'schema: one behind, cut short, of another text, newer' {
	sql <<<'DELETE FROM once_schema'
	finds fail schema 'is pending'
	cure "once-migrate --config=$CONFIG up"
	sound
	sql <<<'UPDATE once_schema SET dirty = TRUE'
	finds fail schema 'was begun and not ended'
	cure "once-migrate --config=$CONFIG mark 1"
	sound
	sql <<<"UPDATE once_schema SET checksum = REPEAT('x', 32)"
	finds warn schema 'from another text'
	cure "once-migrate --config=$CONFIG mark 1"
	sound
	sql <<<"INSERT INTO once_schema VALUES (9999, '9999-future.sql', REPEAT('x', 32), FALSE, UTC_TIMESTAMP(6), 'bob')"
	finds fail schema 'the schema is newer'
	sql <<<'DELETE FROM once_schema WHERE version = 9999'
}

@test 'tables: what is missing or different comes back by typing what is printed' {
	while IFS='|' read -r statement text; do
		sql <<<"$statement"
		finds fail tables "$text"
		cure "$(client) oncewrap -e "
		[[ $statement != DROP* ]] || grants
		sound
	done <<-'CASES'
		ALTER TABLE once_record DROP KEY once_record_expiry|KEY `once_record_expiry` is missing
		ALTER TABLE once_record DROP KEY once_record_tenant, ADD KEY once_record_tenant (tenant)|key is "KEY `once_record_tenant` (`tenant`)"
		ALTER TABLE once_record MODIFY COLUMN route VARBINARY(100) NOT NULL|`route` varbinary(100) NOT NULL
		ALTER TABLE once_record DROP COLUMN reference|column `reference` is missing
		ALTER TABLE once_record DROP CONSTRAINT once_record_attempt|CONSTRAINT `once_record_attempt` is missing
		ALTER TABLE once_record ADD COLUMN ours INT NOT NULL|column `ours` is none of ours, and makes writes fail
		ALTER TABLE once_lease ENGINE=Aria|is "ENGINE=Aria
		DROP TABLE once_natural_key|once_natural_key: is missing
	CASES
	# What a site has added for itself harms nobody.
	sql <<<'ALTER TABLE once_record ADD KEY site (created_at)'
	sound
	sql <<<'ALTER TABLE once_record DROP KEY site, DROP COLUMN IF EXISTS ours'
}

@test 'looking leaves no table behind, and hides none' {
	local before
	before=$(sql <<<'SHOW TABLES')
	record
	ends 0 doctor --only=tables,schema,stale
	same tables "$before" "$(sql <<<'SHOW TABLES')"
	same records 1 "$(sql <<<'SELECT COUNT(*) FROM once_record')"
}

@test 'clock: the database is an hour ahead of this host' {
	sql <<<"SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP() + 3600'"
	finds warn clock "this host's clock is 59m5" || finds warn clock "this host's clock is 1h0m behind"
	grep -qx 'chronyc makestep\|timedatectl set-ntp true' "$HERE/cure"
	sql <<<"SET GLOBAL init_connect = ''"
	sound
}

@test 'stale: a lease that is over is told with its route; one renewed is not' {
	lapsed="state='in_flight' status=NULL headers=NULL body=NULL settled_at=NULL lease_until=UTC_TIMESTAMP(6)-INTERVAL'2'HOUR"
	# shellcheck disable=SC2086
	record $lapsed "token=REPEAT('t',16)"
	sql <<<"INSERT INTO once_lease VALUES (REPEAT('t', 16), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)"
	sound
	sql <<<"UPDATE once_lease SET lease_until = '1970-01-01'"
	finds warn stale 'route orders: 1 in flight under a lease that is over, the longest for 2h0m'
	cure "once-release --config=$CONFIG --reason="
	sound
	# shellcheck disable=SC2086
	record $lapsed "route='payments'" flags=2
	for _ in {1..9}; do
		# shellcheck disable=SC2086
		record $lapsed
	done
	finds warn stale 'route orders: 9 in flight'
	cure "once-list --config=$CONFIG --stale "
	ends 1 doctor --only=stale
	same 'the other route is left' 1 "$(grep -c '^warn' "$HERE/out")"
	finds warn stale 'what its handler did is not known'
	cure "once-show --config=$CONFIG "
	grep -q once-resolve "$HERE/typed"
}

@test 'unknown: told by route, and once-show says what to type next' {
	record "state='unknown'" status=NULL body=NULL headers=NULL "id=REPEAT('a',32)" \
		'created_at=UTC_TIMESTAMP(6) - INTERVAL 3 DAY'
	finds warn unknown 'route orders: 1 of unknown outcome, the oldest for 3d0h'
	cure "once-show --config=$CONFIG 6161616161616161"
	grep -q once-resolve "$HERE/typed"
	once-resolve --config "$CONFIG" --not-applied --reason='asked the bank' 6161616161616161
	sound
}

@test 'purge: none has run and nothing runs it; one was cut short; a timer that does nothing; records left over' {
	sql <<<'UPDATE once_maintenance SET finished_at = NULL, started_at = NULL, succeeded_at = NULL'
	rm "$HERE/enabled"
	finds warn purge 'no purge has ever done its work, and neither oncewrap-expire.timer nor cron starts one'
	# The service that is installed names the standard configuration, which this one is not.
	cure 'systemctl edit oncewrap-expire.service && systemctl enable --now oncewrap-expire.timer'
	sound
	sql <<<"UPDATE once_maintenance SET finished_at = UTC_TIMESTAMP(6), succeeded_at = UTC_TIMESTAMP(6) - INTERVAL 3 DAY"
	finds warn purge 'the last purge that did its work ended 3d0h ago, although something is set up to start it'
	cure "once-expire --config=$CONFIG"
	sound
	sql <<<"ALTER USER oncewrap@localhost IDENTIFIED BY 'secret' ACCOUNT UNLOCK"
	sql <<<"UPDATE once_maintenance SET started_at = UTC_TIMESTAMP(6) + INTERVAL 1 SECOND - INTERVAL 1 SECOND,
		finished_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, succeeded_at = finished_at, held_until = '1970-01-01', holder = 'bob@db1'"
	finds warn purge 'the purge that bob@db1 began'
	cure "once-expire --config=$CONFIG"
	sound
	record 'expires_at=UTC_TIMESTAMP(6) - INTERVAL 3 DAY'
	finds warn purge '1 record expired more than two days ago and still there'
	cure "once-expire --config=$CONFIG"
	sound
}

@test 'the database does not run: told once, the checks of this host are made all the same' {
	mariadb_stop
	ends 2 doctor
	same 'told' 1 "$(grep -c '^fail' "$HERE/out")"
	grep -q '^fail  connection ' "$HERE/out"
	grep -q '^ok    handlers ' "$HERE/out"
	ends 3 doctor --only=packet
	ends 0 doctor --no-db
	same 'not looked at' 0 "$(grep -c connection "$HERE/out")"
	mariadb_restart
	sound
}

@test 'a database that accepts and says nothing is given --timeout once, not by every check' {
	local began=$SECONDS
	mariadb_freeze
	ends 2 doctor --timeout=1
	mariadb_thaw
	[[ $((SECONDS - began)) -lt 15 ]]
}

@test 'nagios: the worst comes first, with figures behind a bar that no finding can forge' {
	handler 'a|b' '#!/bin/sh'
	chmod 644 "$HERE/cgi/a|b"
	rmdir "$HERE/spool"
	ends 2 doctor -o nagios
	[[ $(head -n 1 "$HERE/out") =~ ^'ONCEWRAP CRITICAL - fail spool: '[^|]*' | failures=1 warnings=1 skipped=0'$ ]]
	same 'bars' 1 "$(tr -cd '|' <"$HERE/out" | wc -c)"
}

@test 'oncewrap --check finds the same of this host, by the same words, and asks no database' {
	mariadb_stop
	ends 0 "$builddir/oncewrap" --check --config "$CONFIG"
	same 'standard error' '' "$(<"$HERE/err")"
	chmod 644 "$HERE/cgi/good" "$HERE/accounts.cnf"
	ends 78 "$builddir/oncewrap" --check --config "$CONFIG"
	told "accounts.cnf: mode 644 lets others read it; run: chmod u=rw,g=r,o= "
	told "warning: $HERE/cgi/good: "
	chmod 600 "$HERE/accounts.cnf"
	ends 0 "$builddir/oncewrap" --check --config "$CONFIG"
	told '; run: chmod a+rx '
	mariadb_restart
}

@test '-v tells how long each check took, those asked for' {
	ends 0 doctor -v --only=version,clock
	same checks "$(printf 'once-doctor: version\nonce-doctor: clock')" "$(sed 's/: 0\.[0-9]* s$//' "$HERE/err")"
}

@test 'run_directory: the file of the counters is cut short, or somebody else has it' {
	local file
	"$builddir/tests/bench/counts" "$HERE/run" 1
	file=$(echo "$HERE"/run/metrics.*)
	sound
	truncate --size=100 "$file"
	finds warn run_directory 'is no metrics file of this version; nothing is counted in it'
	cure "rm -r $HERE/run/metrics."
	sound
	[[ $(id -u) == 0 ]] || return 0
	"$builddir/tests/bench/counts" "$HERE/run" 1
	chown nobody "$file"
	finds warn run_directory 'belongs to somebody else'
	cure "rm -r $HERE/run/metrics."
	sound
}
