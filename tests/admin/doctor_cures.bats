#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-doctor: cures that could do harm, or that would cure nothing, are not printed; the ones that are, work.

load setting.sh
load doctor_setting.sh

setup_file() {
	doctor_begin
}

lapsed() {
	record "state='in_flight'" status=NULL headers=NULL body=NULL settled_at=NULL \
		"lease_until=UTC_TIMESTAMP(6) - INTERVAL 2 HOUR" "$@"
}

@test 'stale: what may be released is told by the record and not by its route as it is configured now' {
	lapsed "id=REPEAT('a',32)" flags=2
	lapsed "id=REPEAT('b',32)" "route='payments'"
	finds warn stale 'route orders: 1 in flight under a lease that is over'
	found warn stale 'and what its handler did is not known'
	cure "once-show --config=$CONFIG 6161616161616161"
	grep -q once-resolve "$HERE/typed"
	finds warn stale 'route payments: 1 in flight under a lease that is over'
	cure "once-release --config=$CONFIG --reason='its worker died' 6262626262626262"
	same left 1 "$(sql <<<'SELECT COUNT(*) FROM once_record')"
}

@test 'stale: of however many routes, none is released that must not be' {
	local number
	for number in {1..70}; do
		echo "('r$number', $number, 0)"
	done >"$HERE/rows"
	echo "('last', 71, 2)" >>"$HERE/rows"
	sql <<-SQL
		CREATE TEMPORARY TABLE rows_wanted (route VARBINARY(255), seq INT, flags INT);
		INSERT INTO rows_wanted VALUES $(paste -sd, "$HERE/rows");
		INSERT INTO once_record (id, tenant, route, key_text, state, token, attempt, fingerprint, fingerprint_scheme,
			part_digests, lease_until, created_at, expires_at, owner_host, owner_boot, owner_pidns, owner_pid, owner_start, flags)
		SELECT UNHEX(SHA2(seq, 256)), 'acme', route, seq, 'in_flight', UNHEX(MD5(seq)), 1, UNHEX(SHA2(seq, 256)), 'raw', '',
			UTC_TIMESTAMP(6) - INTERVAL 100 - seq MINUTE, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY, 'web1', 'boot', 1, 1,
			1, flags FROM rows_wanted
	SQL
	ends 1 doctor --only=stale -j
	same 'a finding for each' 71 "$(wc -l <"$HERE/out")"
	found warn stale 'route last: 1 in flight'
	cure "once-show --config=$CONFIG $(printf 71 | sha256sum | cut -c 1-16)"
	same 'named by no other' 1 "$(grep -c "$(printf 71 | sha256sum | cut -c 1-16)" "$HERE/out")"
}

@test 'stale: several are released without a question, which nobody may be there to answer' {
	lapsed
	lapsed
	finds warn stale 'route orders: 2 in flight'
	cure "once-release --config=$CONFIG --reason='its worker died' --yes "
	sound
}

@test 'read-only: a replica is not made to take writes; the store is to name another server' {
	sql <<<"SET GLOBAL gtid_slave_pos = '0-2-1'; SET GLOBAL read_only = ON"
	finds fail read_only 'this server is a replica: store.host must name its primary'
	sql <<<"SET GLOBAL read_only = OFF; SET GLOBAL gtid_slave_pos = ''"
	same cure "\${EDITOR:-vi} $CONFIG" "$(<"$HERE/cure")"
	sound
}

@test 'purge: without its row none can run; one that fails each time is late however often it ends' {
	sql <<<'DELETE FROM once_maintenance'
	finds fail purge 'once_maintenance has no row of the purge'
	cure "$(client) oncewrap -e 'INSERT INTO once_maintenance"
	sql <<<'UPDATE once_maintenance SET succeeded_at = UTC_TIMESTAMP(6)'
	sound
	sql <<<"UPDATE once_maintenance SET finished_at = UTC_TIMESTAMP(6), succeeded_at = UTC_TIMESTAMP(6) - INTERVAL 3 DAY"
	finds warn purge 'the last purge that did its work ended 3d0h ago'
	cure "once-expire --config=$CONFIG"
	sound
}

@test 'names of files with blanks and quotes are typed as they are printed' {
	local odd="$HERE/it's an \$odd place"
	mkdir -p "$odd"
	mv "$CONFIG" "$odd/oncewrap.conf"
	cp -p "$HERE/accounts.cnf" "$odd/accounts.cnf"
	CONFIG=$odd/oncewrap.conf
	sed -i "s,option_file = .*,option_file = \"$odd/accounts.cnf\";," "$CONFIG"
	sound
	chmod 644 "$odd/accounts.cnf"
	finds fail option_file 'mode 644 lets others read it'
	cure 'chmod u=rw,g=r,o= '
	sound
	chown nobody "$odd/accounts.cnf"
	finds fail option_file 'belongs to account'
	cure 'chown root '
	sound
	rm "$odd/accounts.cnf"
	finds fail option_file 'No such file'
	EDITOR="cp $HERE/accounts.saved" cure 'install -m 0640 '
	sound
	sql <<<'DELETE FROM once_schema'
	finds fail schema 'is pending'
	cure 'once-migrate --config='
	sound
}

@test 'connection: a server that does not run is started here, and not for another host' {
	mariadb_stop
	cat >"$HERE/start-mariadb" <<-START
		MARIADB_OWNER=$(<"$MARIADB_DIR/owner") exec sh '$srcdir/tests/lib/mariadb.sh' restart '$MARIADB_DIR'
	START
	finds fail connection 'see whether the database runs'
	cure 'systemctl start mariadb'
	sound
	# One that runs is looked for in the wrong place.
	: >"$HERE/active"
	sed "s,mariadb.sock,other.sock," "$CONFIG" >"$HERE/other.conf"
	ends 2 once-doctor --config "$HERE/other.conf" --only=connection -j
	rm "$HERE/active"
	found fail connection "Can't connect"
	same 'cure' "\${EDITOR:-vi} $HERE/other.conf" "$(<"$HERE/cure")"
	sed "s,socket = .*,host = \"192.0.2.1\"; port = 9;," "$CONFIG" >"$HERE/other.conf"
	ends 2 once-doctor --config "$HERE/other.conf" --only=connection --timeout=1 -j
	found fail connection 'the wrapper: '
	same 'no cure from here' '' "$(<"$HERE/cure")"
}

@test 'connection: by the socket alone it is the account that serves who has to be let in' {
	[[ $(id -u) == 0 ]] || skip 'only root can look with the eyes of another'
	configured '' 'user = "nobody";'
	sed -i /option_file/d "$CONFIG"
	chown nobody "$HERE/spool" "$HERE/run"
	finds fail connection "the wrapper: database: Access denied for user 'nobody'@'localhost'"
	cure "$(client) -e 'CREATE USER IF NOT EXISTS "
	finds fail connection 'the wrapper: '
	cure "once-migrate --config=$CONFIG up && once-migrate --config=$CONFIG grants"
	ends 0 doctor --only=connection
	sql <<<'DROP USER nobody@localhost'
}

@test 'rights: what changes a table of ours is too many, though it was granted on that table alone' {
	sql <<<'GRANT ALL ON oncewrap.once_record TO oncewrap@localhost WITH GRANT OPTION'
	finds warn grants 'the account of [oncewrap] may do more than it must: '
	grep -q 'DROP' "$HERE/out"
	cure 'once-migrate '
	sound
	same 'what is left' 0 "$(sql <<<'SHOW GRANTS FOR oncewrap@localhost' | grep -c 'DROP\|GRANT OPTION')"
}

@test '--no-db and --only contradict each other where nothing is left to look at' {
	ends 64 doctor --no-db --only=packet,stale
	told '--no-db leaves out all that --only asks for'
	ends 0 doctor --no-db --only=packet,spool
	same 'what is left' 1 "$(wc -l <"$HERE/out")"
}

@test 'configuration: whoever may write its directory may put another in its place' {
	mkdir "$HERE/etc"
	mv "$CONFIG" "$HERE/etc/oncewrap.conf"
	CONFIG=$HERE/etc/oncewrap.conf
	chmod 777 "$HERE/etc"
	finds fail config_file "$HERE/etc: everybody on this host may write it"
	cure "chmod o-w $HERE/etc"
	sound
	rm -r "$HERE/etc"
}

@test 'handlers: a root with more files than are looked at is no alarm, and is told' {
	(cd "$HERE/cgi" && seq 20001 | xargs touch)
	sound
	grep -q '^ok    handlers  *handlers.roots hold more than 20000 files' "$HERE/out"
}
