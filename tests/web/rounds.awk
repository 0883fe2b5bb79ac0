# SPDX-License-Identifier: ISC
# What became of many volleys of twenty: the first file has a line a volley, the item, its rows and the last row's
# number; each other is named answers.ITEM and holds what volley printed. Prints how many volleys there were, and in how many
# not exactly one ran, or an answer was neither the first one's, its replay, nor 409.
FNR == NR {
	rows[$1] = $2
	id[$1] = $3
	next
}

{
	item = FILENAME
	sub(/.*\/answers\./, "", item)
	total[item]++
	if ($1 == 201 && $3 == "Location=/orders/" id[item]) {
		if (!seen[item, $2]++)
			bodies[item]++
		if ($4 == "Idempotent-Replayed=")
			first[item]++
		else if ($4 != "Idempotent-Replayed=true")
			wrong[item]++
	} else if ($1 != 409 || $NF != "Content-Type=application/problem+json") {
		wrong[item]++
	}
}

END {
	for (item in rows) {
		volleys++
		if (rows[item] != 1 || total[item] != 20 || first[item] != 1 || bodies[item] != 1 || wrong[item]) {
			bad++
			printf "%s: rows %d, answers %d, first %d, bodies %d, wrong %d\n", item, rows[item], \
				total[item], first[item], bodies[item], wrong[item] >"/dev/stderr"
		}
	}
	print volleys + 0, bad + 0
}
