# SPDX-License-Identifier: ISC
# Where in MariaDB the processor time of one request goes: `perf script -F ip,sym` of the server as input, one paragraph
# a sample; `requests` and `period` (µs of one sample) as variables. A sample counts where the first of these is found in
# its stack. The symbols are those that the server's program exports, so that no debug symbols are needed.

BEGIN {
	RS = ""
	n = split("write and flush of the log|network: send, recv, poll|commit but for that|INSERT|UPDATE|" \
		"the statement round these|other threads: purge, page cleaner", places, "|")
}

!/do_command/ { samples[7]++; next }
/fdatasync|pwrite/ { samples[1]++; next }
/__send|__libc_recv|__poll|vio_/ { samples[2]++; next }
/trans_commit_stmt/ { samples[3]++; next }
/mysql_insert/ { samples[4]++; next }
/mysql_update/ { samples[5]++; next }
{ samples[6]++ }

END {
	for (i = 1; i <= n; i++)
		printf "%8.1f µs %5.1f%%  %s\n", samples[i] * period / requests, samples[i] * 100 / NR, places[i]
	printf "%8.1f µs %5.1f%%  in all\n", NR * period / requests, 100
}
