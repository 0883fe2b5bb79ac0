#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# One pass over the main paths under valgrind: nothing lost, nothing read wrongly, no descriptor left open.

load ../lib/web.sh

setup_file() {
	WRAP_RUNNER=(valgrind --leak-check=full --show-leak-kinds=definite,indirect,possible
		--errors-for-leak-kinds=definite,indirect,possible --track-fds=yes
		--log-file="$WEB/log/valgrind.%p")
	web_begin
	WRAP_RUNNER=("${WRAP_RUNNER[@]/\/log\/valgrind/$WEB\/log\/valgrind}")
	pool_begin lighttpd-socket
}

teardown_file() {
	pool_end
}
