#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# once-doctor against a server on TCP whose TLS is missing, expired, another's, and good: what is found, and cured.

load setting.sh
load doctor_setting.sh

setup_file() {
	local keys
	PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	export PORT
	plain=(--skip-networking=0 --bind-address=127.0.0.1 --port="$PORT")
	doctor_begin "${plain[@]}" --skip-ssl
	sql <<-'SQL'
		RENAME USER oncewrap@localhost TO oncewrap@'127.0.0.1', 'oncewrap-admin'@localhost TO 'oncewrap-admin'@'127.0.0.1';
		CREATE USER oncewrap@localhost
	SQL
	keys=$HERE/keys
	mkdir "$keys"
	authority ours
	authority others
	certificate good localhost 2
	certificate over localhost -1
	certificate elsewhere db.example 2
	printf '%s\n' --log-bin --binlog-format=MIXED "${plain[@]}" --ssl-ca="$keys/ours.pem" --ssl-cert="$keys/live.pem" \
		--ssl-key="$keys/live.key" >"$HERE/tls-options"
	cp "$HERE/db/options" "$HERE/plain-options"
	cat >"$HERE/restart-mariadb" <<-RESTART
		sh '$srcdir/tests/lib/mariadb.sh' stop '$MARIADB_DIR'
		MARIADB_OWNER=$(<"$MARIADB_DIR/owner") exec sh '$srcdir/tests/lib/mariadb.sh' restart '$MARIADB_DIR'
	RESTART
}

# authority NAME
authority() {
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -keyout "$HERE/keys/$1.key" -out "$HERE/keys/$1.pem" \
		2>/dev/null
}

# certificate NAME HOST DAYS: by our authority
certificate() {
	local file=$HERE/keys/$1
	openssl req -newkey rsa:2048 -nodes -subj "/CN=$2" -keyout "$file.key" -out "$file.csr" 2>/dev/null
	openssl x509 -req -in "$file.csr" -CA "$HERE/keys/ours.pem" -CAkey "$HERE/keys/ours.key" -CAcreateserial -days "$3" \
		-extfile <(printf 'subjectAltName=DNS:%s\n' "$2") -out "$file.pem" 2>/dev/null
	chmod 644 "$file.key"
}

# serves NAME: the server's certificate from its next start, or FLUSH SSL, on.
serves() {
	cp "$HERE/keys/$1.pem" "$HERE/keys/live.pem"
	cp "$HERE/keys/$1.key" "$HERE/keys/live.key"
	chmod 644 "$HERE/keys/live.key"
}

# with_tls: it runs with the certificate that it is to serve.
with_tls() {
	cp "$HERE/tls-options" "$HERE/db/options"
	sh "$HERE/restart-mariadb"
}

# asks_for_tls [CA]: the configuration of a store that is reached by TCP, whose certificate is looked at.
asks_for_tls() {
	configured "host = \"localhost\"; port = $PORT; tls = \"verify\"; tls_ca = \"$HERE/keys/${1:-ours}.pem\";"
	sed -i /socket/d "$CONFIG"
}

# The client of an administrator, who is let in by the socket.
client_by_socket() {
	cat >"$HERE/bin/mariadb" <<-CLIENT
		#!/bin/sh
		while [ "\${1#--host=}" != "\$1" ] || [ "\${1#--port=}" != "\$1" ]; do shift; done
		exec /usr/bin/mariadb --no-defaults --socket='$MARIADB_SOCKET' "\$@"
	CLIENT
	chmod 755 "$HERE/bin/mariadb"
}

@test 'TLS is asked for, and the server has none: found, and cured by giving it a certificate' {
	asks_for_tls
	serves good
	finds fail tls 'store.tls is "verify", and the server offers no TLS'
	found_by_all
	# An editor that does what the reason says.
	printf '#!/bin/sh\ncp "$HERE/tls-options" "$HERE/db/options"\n' >"$HERE/bin/give-certificate"
	chmod 755 "$HERE/bin/give-certificate"
	EDITOR=give-certificate cure '${EDITOR:-vi} /etc/'
	sound
	ends 0 doctor --only=tls
	grep -q '^ok    tls  *verified, TLS_' "$HERE/out"
}

# found_by_all: the connection fails for that, and what needs one is skipped.
found_by_all() {
	ends 2 doctor
	grep -q '^fail  connection ' "$HERE/out"
	grep -q '^skip  packet ' "$HERE/out"
}

@test 'a certificate that has run out, or is for another name, is replaced and loaded while the server runs' {
	local bad text
	client_by_socket
	while IFS='|' read -r bad text; do
		asks_for_tls
		serves "$bad"
		with_tls
		finds fail tls "$text"
		grep -q 'a certificate for localhost that is valid' "$HERE/out"
		serves good
		cure "mariadb --host=localhost --port=$PORT -e 'FLUSH SSL'"
		sound
	done <<-'CASES'
		over|certificate has expired
		elsewhere|server certificate failed
	CASES
	rm "$HERE/bin/mariadb"
}

@test 'a certificate of an authority that is not ours is a matter of store.tls_ca' {
	local ca
	serves good
	with_tls
	for ca in others missing; do
		asks_for_tls "$ca"
		finds fail tls 'store.tls_ca must have signed it'
		sed "s,keys/$ca.pem,keys/ours.pem," "$CONFIG" >"$HERE/mended.conf"
		EDITOR="cp $HERE/mended.conf" cure "\${EDITOR:-vi} $CONFIG"
		sound
	done
}

@test 'TLS off is no fault on this host' {
	serves good
	with_tls
	asks_for_tls
	sed -i 's/tls = "verify"; tls_ca = .*;/tls = "off";/' "$CONFIG"
	ends 0 doctor --only=tls
}
