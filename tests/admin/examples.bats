#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What the section EXAMPLES of each manual page says works as it stands there: every example is run, in a shell, against
# records that fit it. The pages of once-release and once-resolve are run where these programs are tested.

load setting.sh
# shellcheck source=tests/lib/wait.sh

setup_file() {
	setting_begin
	tables
	mkdir -p "$HERE/bin" "$HERE/scratch" "$HERE/roots" "$HERE/spool"
	stubs
	cat >>"$CONFIG" <<-CONF
		listen = "$HERE/scratch/socket";
		run_directory = "$HERE/scratch";
		spool: { directory = "$HERE/spool"; };
		handlers: { roots = [ "$HERE/roots" ]; };
		routes = ( { name = "orders"; path = "/orders*"; scope = "tenant"; tenant: { sources = [ "literal:acme" ]; }; } );
	CONF
}

teardown_file() {
	setting_end
}

setup() {
	no_records
}

# stub NAME: a program that an example calls, made of the lines on standard input.
stub() {
	{
		echo '#!/bin/bash'
		cat
	} >"$HERE/bin/$1"
	chmod +x "$HERE/bin/$1"
}

# stubs: the programs, with the configuration of the test; those of others that an example would do harm with.
stubs() {
	local program
	for program in once-doctor once-expire once-list once-migrate once-show; do
		stub $program <<<"exec '$builddir/$program' --config '$CONFIG' \"\$@\""
	done
	# Its settings are a file's only where it asks for the service's.
	stub oncewrap <<<"[[ \$* == *--handler* ]] || set -- --config '$CONFIG' \"\$@\"; exec '$builddir/oncewrap' \"\$@\""
	stub mariadb <<<"exec $(command -v mariadb) --no-defaults --socket='$MARIADB_SOCKET' \"\$@\""
	# The doctor asks it, too.
	stub systemctl <<<"[[ \$1 == reload ]] || exit 1; echo \"\$*\" >>'$HERE/scratch/systemctl'"
	# What the request of the example looks like on the wire.
	stub curl <<-'STUB'
		printf '* Connected to shop.example\n> POST /orders HTTP/1.1\r\n> Host: shop.example\r\n'
		printf '> Content-Type: application/x-www-form-urlencoded\r\n> Content-Length: 9\r\n>\r\n< HTTP/1.1 422\r\n'
	STUB
}

# examples PAGE: each, with a zero byte behind it. A line of .Dl is one, and so is a block.
examples() {
	awk '
		/^\.Sh / { inside = ($0 == ".Sh EXAMPLES") }
		!inside { next }
		/^\.Ed/ { printf "%s%c", text, 0; block = 0 }
		block { gsub(/\\e/, "\\"); text = text $0 "\n" }
		/^\.Bd / { block = 1; text = "" }
		sub(/^\.Dl ([#$] )?/, "") { gsub(/\\e/, "\\"); printf "%s%c", $0, 0 }
	' "$srcdir/docs/man/$1"
}

# run_examples PAGE COUNT: each ends with 0; what the last one printed is in $HERE/out, what each did in $HERE/done.
run_examples() {
	local example count=0
	: >"$HERE/done"
	cd "$HERE/scratch"
	while IFS= read -r -d '' example; do
		count=$((count + 1))
		ends 0 env PATH="$HERE/bin:$PATH" setsid -w bash -o pipefail -c "$example"
		cat "$HERE/out" >>"$HERE/done"
	done < <(examples "$1")
	same "examples of $1" "$2" "$count"
}

# did TEXT: one of the examples printed it.
did() {
	grep -qF -- "$1" "$HERE/done" || {
		printf 'not printed: "%s", but:\n' "$1"
		cat "$HERE/done"
		return 1
	}
}

@test 'once-list' {
	record "key_text='4f1c2a-stuck'" "state='in_flight'" 'settled_at=NULL' 'lease_until=UTC_TIMESTAMP(6) + INTERVAL 1 HOUR'
	record "key_text='failed'" status=503
	run_examples once-list.8 7
	did '"failed"'
	did 4f1c2a-stuck
}

# identity TENANT KEY: the id of that record, where keys meet everywhere: design.md, section 3.
identity() {
	python3 - "$@" <<-'PYTHON'
		import hashlib, sys
		fields = [sys.argv[1], "tenant", sys.argv[2]]
		print(hashlib.sha256(b"".join(len(f).to_bytes(8, "big") + f.encode() for f in fields)).hexdigest())
	PYTHON
}

@test 'once-show' {
	local id=9f86d081884c0000000000000000000000000000000000000000000000000000
	record "id=x'$(identity acme order-17)'" "key_text='order-17'" "state='in_flight'" 'settled_at=NULL' \
		'lease_until=UTC_TIMESTAMP(6) - INTERVAL 1 HOUR'
	record "id=x'$id'" "state='unknown'" "key_text='lost'" "fingerprint_scheme='1 method path body'" \
		"part_digests=REPEAT('x', 24)"
	run_examples once-show.8 4
	did 'once-release'
	did 'nobody has changed it'
	did 'it differs in method, path, body'
	did '"lost"'
}

@test 'once-expire' {
	record "tenant='acme'" 'expires_at=UTC_TIMESTAMP(6) - INTERVAL 1 DAY'
	record "tenant='acme'" "key_text='kept'"
	record "tenant='other'"
	run_examples once-expire.8 3
	same 'left' other "$(sql <<<'SELECT GROUP_CONCAT(tenant) FROM once_record')"
}

@test 'once-migrate' {
	local ledger
	ledger=$(sql <<<'SELECT version, HEX(checksum) FROM once_schema')
	# What the second example starts is the wrapper itself.
	stub oncewrap <<<"echo started"
	run_examples once-migrate.8 3
	did started
	stubs
	same ledger "$ledger" "$(sql <<<'SELECT version, HEX(checksum) FROM once_schema')"
}

@test 'once-doctor' {
	local example
	while IFS= read -r -d '' example; do
		# Whether all is well with this host is not the example's business, but that it is looked at.
		env PATH="$HERE/bin:$PATH" bash -c "$example" >"$HERE/out" 2>"$HERE/err" || [[ $? -le 2 ]]
		same 'standard error' '' "$(<"$HERE/err")"
		case $example in
		*nagios*) grep -q '^ONCEWRAP [A-Z]* - ' "$HERE/out" ;;
		*--quiet*) ! grep '^ok ' "$HERE/out" || return 1 ;;
		*) grep -q '^ok ' "$HERE/out" ;;
		esac
	done < <(examples once-doctor.8)
	[[ -n $example || $(examples once-doctor.8 | tr -dc '\0' | wc -c) == 3 ]]
}

@test 'oncewrap' {
	local example handler account=()
	cd "$HERE/scratch"
	printf '#!/bin/sh\nprintf "Content-Type: text/plain\\n\\nhello\\n"\n' >hello.cgi
	chmod +x hello.cgi
	while IFS= read -r -d '' example; do
		case $example in
		*--check*)
			ends 0 env PATH="$HERE/bin:$PATH" bash -c "$example"
			same 'reloaded' 'reload oncewrap' "$(<systemctl)"
			;;
		*)
			# As an ordinary account, which the prompt says; root would have to name one.
			cp "$builddir/oncewrap" "$HERE/bin/oncewrap"
			[[ $(id -u) != 0 ]] || account=(setpriv --reuid nobody --regid nogroup --clear-groups)
			chmod 777 .
			"${account[@]}" env PATH="$HERE/bin:$PATH" bash -c "exec ${example//\/tmp\//$HERE/scratch/}" &
			handler=$!
			wait_until 10 test -S hello.sock
			kill "$handler"
			# The signal itself ends it where it has not come further than its socket.
			wait "$handler" || [[ $? == 143 ]]
			;;
		esac
	done < <(examples oncewrap.8)
	[[ -n $handler ]]
}
