# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# Waiting for conditions: what tests do in place of sleeping. Sourced by bash.

# wait_until SECONDS COMMAND...: run COMMAND again and again until it succeeds; 1, with a word on standard
# error, when it has not within SECONDS.
wait_until() {
	local seconds=$1 end
	shift
	end=$((${EPOCHREALTIME/[.,]/} + seconds * 1000000))
	until "$@"; do
		if ((${EPOCHREALTIME/[.,]/} > end)); then
			echo "not within $seconds s: $*" >&2
			return 1
		fi
		sleep 0.02
	done
}

# process_gone PID: no such process, or only what is left of it until its parent looks (a zombie).
process_gone() {
	local line
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	line=${line##*) }
	[[ $line == Z* || $line == X* ]]
}

# group_gone PGID: no living process is in that process group.
group_gone() {
	! pgrep -g "$1" -r D,R,S,T,t >/dev/null
}

# port_open PORT: somebody accepts connections on that loopback port.
port_open() {
	{ : <>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null
}

# port_free PORT: nobody does.
port_free() {
	! port_open "$1"
}

# socket_open PATH: somebody accepts connections on that Unix socket.
socket_open() {
	[[ -S $1 ]] && perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(Peer => shift)' "$1"
}

# stop_process PID [SIGNAL [SECONDS]]: signal it and wait until it has gone. An absent one is fine.
stop_process() {
	local pid=$1 signal=${2:-TERM} seconds=${3:-20}
	kill -s "$signal" "$pid" 2>/dev/null || return 0
	wait_until "$seconds" process_gone "$pid" || { kill -s KILL "$pid"; return 1; }
}
