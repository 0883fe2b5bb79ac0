#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The checker of metrics, tests/lib/exposition.py: it takes what is sound, and refuses each fault, one input each.

: "${srcdir:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"

check() {
	python3 "$srcdir/tests/lib/exposition.py" "$@"
}

# refuses FAULT [--openmetrics] with the input on standard input: \n, \r and \\ in it are what they say.
refuses() {
	local fault=$1 found status=0
	shift
	found=$(printf '%b' "$(cat)" | check "$@" 2>&1) || status=$?
	[[ $status == 1 && $found == *"$fault"* ]] || {
		printf 'expected "%s", status 1; found "%s", status %s\n' "$fault" "$found" "$status" >&2
		return 1
	}
}

SOUND='# HELP a_total Things \\\\ done\\nso far.\n# TYPE a_total counter\na_total{x="1"} 5\na_total{x="q\\"b\\\\n\\n"} 0\n'
SOUND+='# HELP g How cold.\n# TYPE g gauge\ng -2.5\n'
SOUND+='# HELP h How long.\n# TYPE h histogram\n'
SOUND+='h_bucket{le="0.5"} 1\nh_bucket{le="1.0"} 1\nh_bucket{le="+Inf"} 3\nh_sum 7.25\nh_count 3\n'
OPEN='# TYPE a_seconds counter\n# UNIT a_seconds seconds\n# HELP a_seconds Time.\na_seconds_total 5\n'
OPEN+='# TYPE b info\n# HELP b A \\"b\\".\nb_info{v="1"} 1\n'
OPEN+='# TYPE h histogram\n# HELP h How long.\nh_bucket{le="1.0"} 2\nh_bucket{le="+Inf"} 2\nh_sum 1\nh_count 2\n# EOF\n'

@test 'what is sound is taken, and its values are read' {
	printf '%b' "$SOUND" | check
	printf '%b' "$OPEN" | check --openmetrics
	[[ $(printf '%b' "$SOUND" | check --values | head -n 3 | tr '\n' ' ') == 'a_total{x=1} 5 a_total{x=q"b\n'* ]]
	[[ $(printf '%b' "$SOUND" | check --values | tail -n 4) == $'h_bucket{le=1.0} 1\nh_bucket{le=+Inf} 3\nh_sum 7.25\nh_count 3' ]]
	[[ $(printf '%b' "$OPEN" | check --openmetrics --values | head -n 1) == 'a_seconds_total 5' ]]
}

@test 'each fault of the text format is refused by its name' {
	local fault input count=0
	while IFS='|' read -r fault input; do
		refuses "$fault" <<<"$input"
		count=$((count + 1))
	done <<-'CASES'
		the last line does not end with LF|# HELP g G.\n# TYPE g gauge\ng 1\c
		a CR|# HELP g G.\r\n# TYPE g gauge\r\ng 1\r\n
		an empty line|# HELP g G.\n# TYPE g gauge\n\ng 1\n
		neither HELP nor TYPE|# EOF\n# HELP g G.\n# TYPE g gauge\ng 1\n
		neither HELP nor TYPE|# HELP g_bytes G.\n# TYPE g_bytes gauge\n# UNIT g_bytes bytes\ng_bytes 1\n
		g has no HELP|# TYPE g gauge\ng 1\n
		g has no TYPE|# HELP g G.\ng 1\n
		g without a TYPE before it|g 1\n
		an empty HELP|# HELP g \n# TYPE g gauge\ng 1\n
		a second HELP of g|# HELP g G.\n# HELP g G.\n# TYPE g gauge\ng 1\n
		a second TYPE of g|# HELP g G.\n# TYPE g gauge\n# TYPE g gauge\ng 1\n
		TYPE of g behind its samples|# HELP g G.\ng 1\n# TYPE g gauge\n
		is no type|# HELP g G.\n# TYPE g gouge\ng 1\n
		is no type|# HELP g_info G.\n# TYPE g_info info\ng_info 1\n
		has no sample|# HELP g G.\n# TYPE g gauge\n
		is no name of a family|# HELP 1g G.\n# TYPE g gauge\ng 1\n
		neither a comment nor a sample|# HELP g G.\n# TYPE g gauge\n1g 1\n
		a bad escape in a HELP|# HELP g G\\t.\n# TYPE g gauge\ng 1\n
		a bad escape in a HELP|# HELP g \\"G\\".\n# TYPE g gauge\ng 1\n
		a bad escape in the label x|# HELP g G.\n# TYPE g gauge\ng{x="a\\tb"} 1\n
		not labels|# HELP g G.\n# TYPE g gauge\ng{x="a"b"} 1\n
		not labels|# HELP g G.\n# TYPE g gauge\ng{x="a",} 1\n
		not labels|# HELP g G.\n# TYPE g gauge\ng{x="a" 1\n
		not labels|# HELP g G.\n# TYPE g gauge\ng{x=a} 1\n
		braces without labels|# HELP g G.\n# TYPE g gauge\ng{} 1\n
		is no name of a label|# HELP g G.\n# TYPE g gauge\ng{x-y="a"} 1\n
		is no name of a label|# HELP g G.\n# TYPE g gauge\ng{__x="a"} 1\n
		the label x comes twice|# HELP g G.\n# TYPE g gauge\ng{x="a",x="b"} 1\n
		is no blank and a number|# HELP g G.\n# TYPE g gauge\ng 0,25\n
		is no blank and a number|# HELP g G.\n# TYPE g gauge\ng one\n
		is no blank and a number|# HELP g G.\n# TYPE g gauge\ng 1 1700000000000\n
		is no blank and a number|# HELP g G.\n# TYPE g gauge\ng 1e3\n
		is no blank and a number|# HELP g G.\n# TYPE g gauge\ng  1\n
		comes twice|# HELP g G.\n# TYPE g gauge\ng{x="a",y="b"} 1\ng{y="b",x="a"} 2\n
		comes twice|# HELP g G.\n# TYPE g gauge\ng 1\ng 1\n
		the family a is split|# HELP a A.\n# TYPE a gauge\na{x="1"} 1\n# HELP g G.\n# TYPE g gauge\ng 1\na{x="2"} 1\n
		the family a is split|# HELP a A.\n# TYPE a gauge\na 1\n# HELP g G.\n# TYPE g gauge\ng 1\n# HELP a A.\n
		is no sample of|# HELP g G.\n# TYPE g gauge\nf 1\n
		does not end with _total|# HELP a A.\n# TYPE a counter\na 1\n
		is no sample of|# HELP a A.\n# TYPE a counter\na_total 1\n
		is below 0|# HELP a_total A.\n# TYPE a_total counter\na_total -1\n
		is below 0|# HELP a_total A.\n# TYPE a_total counter\na_total NaN\n
		is named as something else|# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n
		is named as something else|# HELP a_count A.\n# TYPE a_count gauge\na_count 1\n
		is no histogram and has the label le|# HELP g G.\n# TYPE g gauge\ng{le="1.0"} 1\n
		does not end with the bucket +Inf|# HELP h H.\n# TYPE h histogram\nh_bucket{le="1.0"} 1\nh_sum 1\nh_count 1\n
		does not end with the bucket +Inf|# HELP h H.\n# TYPE h histogram\nh_sum 1\nh_count 1\n
		does not end with the bucket +Inf|# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_bucket{le="1.0"} 1\nh_sum 1\nh_count 1\n
		+Inf is not _count|# HELP h H.\n# TYPE h histogram\nh_bucket{le="1.0"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n
		the buckets of h fall|# HELP h H.\n# TYPE h histogram\nh_bucket{le="1.0"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n
		the bounds of h do not rise|# HELP h H.\n# TYPE h histogram\nh_bucket{le="2.0"} 1\nh_bucket{le="1.0"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n
		is no bound|# HELP h H.\n# TYPE h histogram\nh_bucket{le="x"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n
		not written as both formats have it|# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n
		without _sum or _count|# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_count 1\n
		without _sum or _count|# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\n
		without le|# HELP h H.\n# TYPE h histogram\nh_bucket 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n
		h_count with le|# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count{le="1.0"} 1\n
		have different bounds|# HELP h H.\n# TYPE h histogram\nh_bucket{x="1",le="1.0"} 1\nh_bucket{x="1",le="+Inf"} 1\nh_sum{x="1"} 1\nh_count{x="1"} 1\nh_bucket{x="2",le="+Inf"} 1\nh_sum{x="2"} 1\nh_count{x="2"} 1\n
		the sum is not 0|# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf"} 0\nh_sum 1\nh_count 0\n
	CASES
	[[ $count == 59 ]]
	refuses 'nothing at all' </dev/null
}

@test 'each fault of OpenMetrics is refused by its name' {
	local fault input count=0
	while IFS='|' read -r fault input; do
		refuses "$fault" --openmetrics <<<"$input"
		count=$((count + 1))
	done <<-'CASES'
		no # EOF at the end|# TYPE g gauge\n# HELP g G.\ng 1\n
		something follows # EOF|# TYPE g gauge\n# HELP g G.\ng 1\n# EOF\ng 2\n
		does not end with LF|# TYPE g gauge\n# HELP g G.\ng 1\n# EOF\c
		a_total is no sample of|# TYPE a_total counter\n# HELP a_total A.\na_total 1\n# EOF\n
		a is no sample of|# TYPE a counter\n# HELP a A.\na 1\n# EOF\n
		a_created is no sample of|# TYPE a counter\n# HELP a A.\na_total 1\na_created 1\n# EOF\n
		does not end with its unit|# TYPE g gauge\n# UNIT g seconds\n# HELP g G.\ng 1\n# EOF\n
		a quote in a HELP|# TYPE g gauge\n# HELP g a "G".\ng 1\n# EOF\n
		neither HELP nor TYPE nor UNIT|# a comment\n# TYPE g gauge\n# HELP g G.\ng 1\n# EOF\n
		the info b is not 1|# TYPE b info\n# HELP b B.\nb_info{v="1"} 2\n# EOF\n
		b is no sample of|# TYPE b info\n# HELP b B.\nb{v="1"} 1\n# EOF\n
	CASES
	[[ $count == 11 ]]
}
