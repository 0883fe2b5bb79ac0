# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# The ground that the benches stand on: a MariaDB of their own, how busy the machine is, and what the reader of a
# figure has to know of both. Sourced by bash; $srcdir and $builddir say where sources and programs are.

: "${srcdir:?}" "${builddir:?}"

# shellcheck source=tests/lib/mariadb.sh
. "$srcdir/tests/lib/mariadb.sh"

die() {
	printf 'bench: %s\n' "$*" >&2
	exit 1
}

# need_built PROGRAM...: those of the build directory.
need_built() {
	local program
	for program in "$@"; do
		[[ -x $builddir/$program ]] || die "$builddir/$program is not built: make bench"
	done
}

# ground_start DIRECTORY OPTION-FILE DATABASE [SERVER-OPTION...]: MariaDB as in production but for size; what a commit
# promises is left at its default, full durability. OPTION-FILE logs in who may do anything in DATABASE.
ground_start() {
	local option_file=$2 database=$3 group file
	mariadb_start "$1" --innodb-buffer-pool-size=512M --innodb-log-file-size=1G \
		--innodb-flush-log-at-trx-commit=1 "${@:4}" || die 'MariaDB did not start'
	file=$(mariadb_account oncewrap "$database") || die 'no account in MariaDB'
	for group in oncewrap oncewrap-admin oncewrap-migrate; do
		echo "[$group]"
		sed -n '/^\[oncewrap\]/,$ { /^\[/!p }' "$file"
	done >"$option_file"
	chmod 640 "$option_file"
}

# Ticks that the machine was busy, that the host took from it, and that it was idle.
ticks() {
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $9, $5 + $6 }' /proc/stat
}

# others [SECONDS]: while everything we started is idle, what others do to the machine meanwhile, in percent of its
# processors.
others() {
	local busy idle busy_after idle_after
	read -r busy _ idle < <(ticks)
	sleep "${1:-1}"
	read -r busy_after _ idle_after < <(ticks)
	echo $(((busy_after - busy) * 100 / (busy_after - busy + idle_after - idle + 1)))
}

# await_quiet PERCENT [SECONDS]: until others use no more than that for so long; empty: no matter.
await_quiet() {
	until [[ -z $1 || $(others "${@:2}") -le $1 ]]; do :; done
}

fact() {
	printf '%s\t%s\n' "$1" "$2"
}

# describe_ground COMMAND PACKAGE...: what was called, and where.
describe_ground() {
	fact Command "$1"
	shift
	fact Date "$(date -u +%Y-%m-%d)"
	fact Kernel "$(uname -sr)"
	fact Processor "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
	fact Memory "$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
	fact System "$(. /etc/os-release && echo "$PRETTY_NAME")"
	fact oncewrap "$("$builddir/oncewrap" --version | head -n 1), $(compiler)"
	fact Packages "$(dpkg-query -W -f='${Package} ${Version}, ' "$@" | sed 's/, $//')"
	fact MariaDB "$(mariadb_sql -e "SELECT CONCAT('innodb_flush_log_at_trx_commit ',
		@@innodb_flush_log_at_trx_commit, ', buffer pool ', @@innodb_buffer_pool_size DIV 1048576, ' MiB, redo log ',
		@@innodb_log_file_size DIV 1048576, ' MiB, binary log ', IF(@@log_bin, 'on', 'off'),
		', doublewrite ', IF(@@innodb_doublewrite, 'on', 'off'))")"
}

# How the build was configured, as far as it matters for speed.
compiler() {
	sed -n 's/^CFLAGS = /CFLAGS /p' "$builddir/Makefile" | head -n 1
}
