#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What the manual pages say of the admin programs is what these do, and every page is sound mdoc.

load setting.sh

# Every program that has a page, so that a new one is held to the same.
admin_programs=("$srcdir"/docs/man/once-*.8)
admin_programs=("${admin_programs[@]##*/}")
admin_programs=("${admin_programs[@]%.8}")
programs=(oncewrap "${admin_programs[@]}")

# What every program takes that talks to the database and lists something (docs/man of each tells what it means there).
shared='-c --config=file
-v --verbose
-q --quiet
--timeout=sec
--help
--version'

@test 'each program that is built has a manual page' {
	same programs "$(cd "$builddir" && find . -maxdepth 1 -name 'once*' -type f -perm /1 -printf '%f\n' | sort)" \
		"$(printf '%s\n' "${programs[@]}" | sort)"
}

# help_options PROGRAM: its options as --help spells them, "-c --config=FILE", in small letters.
help_options() {
	"$builddir/$1" --help | sed -nE 's/^ {2}(-(.), |    )(--[^ ]+).*/\2 \3/p' | sed -E 's/^(.) /-\1 /; s/^ //' |
		tr '[:upper:]' '[:lower:]' | sort
}

# page_options PROGRAM: the same, of the list in the manual page.
page_options() {
	sed -nE 's/^\.It Fl (.*)/\1/p' "$srcdir/docs/man/$1.8" | sed -E '
		s/ Ns = Ns Ar /=/g
		s/ Ns = Ns Cm .*//
		s/^(.)( Ar [a-z]+)? , Fl (.*)/-\1 -\3/
		s/^-([^ ]+)$/--\1/
		s/^(-.) -([^ ]+)$/\1 -\2/
		s/^(-.) -/\1 --/; s/---/--/' | sort
}

@test 'each option of --help stands in the manual page, with its argument, and the other way round' {
	for program in "${programs[@]}"; do
		same "options of $program" "$(help_options "$program")" "$(page_options "$program")"
		# Four of once-status, which has the fewest: the comparison is of something.
		[[ $(help_options "$program" | wc -l) -ge 4 ]]
	done
}

@test 'the completion knows the options of --help, which take an argument, and which a file' {
	for program in "${programs[@]}"; do
		same "options of $program" \
			"$("$builddir/$program" --help | sed -nE 's/^ {2}(-(.), |    )(--[^ =]+)(=([^ ]*))?.*/-\2 \3 \5/p' |
				awk '{ print $1, $2, ($3 == "" ? "none" : $3 == "FILE" ? "file" : "argument") }' | sort)" \
			"$("$builddir/$program" --completion-table | awk -F '\t' '$1 == "option" {
				print $2, $3, ($4 == "none" || $4 == "file" ? $4 : "argument") }' | sort)"
		[[ $("$builddir/$program" --completion-table | wc -l) -ge 4 ]]
	done
}

@test 'each program takes the options that all share' {
	for program in "${admin_programs[@]}"; do
		while read -r option; do
			# What a web server asks has nobody to tell more or less to, and bounds of its own.
			[[ ! $program =~ ^once-(metrics|status)$ || ! $option =~ ^(-[qv]|--timeout) ]] || continue
			help_options "$program" | grep -qxe "$option" || {
				echo "$program: no $option"
				return 1
			}
		done <<<"$shared"
	done
	for program in once-expire once-list once-migrate once-release once-resolve once-show; do
		for option in '-o --output=format' '-j --json' '--columns=name,...' --no-header --utc --local-time '--color=when'; do
			help_options "$program" | grep -qxe "$option" || {
				echo "$program: no $option"
				return 1
			}
		done
	done
	for program in once-expire once-release once-resolve; do
		for option in '-n --dry-run' '-y --yes' --no-input; do
			help_options "$program" | grep -qxe "$option" || {
				echo "$program: no $option"
				return 1
			}
		done
	done
}

@test 'each option of the manual page stands in its synopsis' {
	for program in "${programs[@]}"; do
		while read -r option; do
			sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$srcdir/docs/man/$program.8" |
				grep -qE -- "Fl -?${option#-}( |$)" || {
				echo "$program: $option is not in the synopsis"
				return 1
			}
		done < <(page_options "$program" | sed -E 's/^(-.) .*/\1/; s/^-(-[^=]+).*/\1/' | grep -vx -- '-full')
	done
}

# page_terms PROGRAM SECTION: the .It Cm of one subsection.
page_terms() {
	sed -n "/^\.Ss $2\$/,/^\.S[sh] /s/^\.It Cm //p" "$srcdir/docs/man/$1.8"
}

@test 'the columns and states of the manual page are those of the program, in its order' {
	setting_begin
	tables
	same 'columns of once-list' "$(list -o csv | head -n 1 | tr -d '\r' | tr , '\n')" "$(page_terms once-list COLUMNS)"
	same 'columns of once-migrate' "$(migrate status -o csv | head -n 1 | tr -d '\r' | tr , '\n')" \
		"$(page_terms once-migrate COLUMNS)"
	record
	same 'columns of once-show' "$(list -o id | show -o csv - | head -n 1 | tr -d '\r' | tr , '\n')" \
		"$(page_terms once-show COLUMNS)"
	same 'columns of once-expire' "$("$builddir/once-expire" --config "$CONFIG" -n -o csv | head -n 1 | tr -d '\r' | tr , '\n')" \
		"$(page_terms once-expire COLUMNS)"
	same 'columns of verify' "$(migrate verify -o csv | head -n 1 | tr -d '\r' | tr , '\n')" \
		"$(page_terms once-migrate 'COLUMNS OF VERIFY')"
	ends 64 "$builddir/once-doctor" --only=nothing
	same 'checks of once-doctor' "$(sed -n 's/.*is none of //p' "$HERE/err" | sed 's/, /\n/g')" "$(page_terms once-doctor CHECKS)"
	for state in $(page_terms once-list STATES); do
		ends 0 list --state="$state"
	done
	ends 64 list --state=none
	same states "$(sed -n 's/.*is none of //p' "$HERE/err")" "$(page_terms once-list STATES | paste -sd, | sed 's/,/, /g')"
	setting_end
}

@test 'each exit status that a program is tested for stands in its manual page' {
	while read -r program statuses; do
		for status in $statuses; do
			sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/p' "$srcdir/docs/man/$program.8" | grep -qx "\.It $status" || {
				echo "$program: $status"
				return 1
			}
		done
	done <<-'STATUSES'
		oncewrap 0 64
		once-doctor 0 1 2 3 64 70 73
		once-expire 0 64 69 70 73 75 77 78 130
		once-list 0 1 64 69 70 73 75 77 78
		once-metrics 0 64 69 70 73 75 77 78
		once-migrate 0 1 64 69 70 73 75 77 78
		once-release 0 1 64 65 69 70 73 75 77 78 130
		once-resolve 0 1 64 65 69 70 73 75 77 78 130
		once-show 0 1 64 65 69 70 73 75 77 78
	STATUSES
}

@test 'the names that complete an option are those that the program takes and the manual page tells' {
	local name count=0
	HERE=$BATS_TEST_TMPDIR
	while read -r program option names; do
		count=$((count + 1))
		ends 64 "$builddir/$program" "$option=nonsense"
		same "$option of $program" "${names// /, }" \
			"$(sed -nE 's/ or /, /; s/.*( is none of |: the format is )//p' "$HERE/err" | tr -d '\n')"
		for name in $names; do
			ends 0 "$builddir/$program" "$option=$name" --help
			grep -qE "^\.(It )?Cm ([a-z_, ]+ )?$name( |\$)|^\.It Fl .* Cm $name( |\$)| Cm $name( |\$)" "$srcdir/docs/man/$program.8" || {
				echo "$program: $name of $option is not in the manual page"
				return 1
			}
		done
	done < <(for program in "${admin_programs[@]}"; do
		"$builddir/$program" --completion-table | awk -F '\t' -v program="$program" '
			($4 == "one" || $4 == "several") && $3 != "--columns" {
				printf "%s %s", program, $3
				for (i = 5; i <= NF; i++)
					printf " %s", $i
				print ""
			}'
	done)
	# --output and --color of six, --output and --only of once-doctor, --state and --sort, --scope
	[[ $count -ge 17 ]]
	ends 64 "$builddir/once-migrate" nonsense
	same verbs "$("$builddir/once-migrate" --completion-table | sed -n 's/^operand\tone\t//p' | sed 's/\t/, /g')" \
		"$(sed -n 's/.* is none of: //p' "$HERE/err")"
}

# offered PROGRAM: what completes --columns.
offered() {
	"$builddir/$1" --completion-table | sed -n 's/^option\t-\t--columns\tseveral\t//p' | tr '\t' '\n' | sort -u
}

@test 'the names that complete --columns are those of the manual page' {
	for program in once-expire once-list once-migrate once-release once-resolve once-show; do
		same "columns of $program" "$(offered $program)" \
			"$({
				page_terms $program COLUMNS
				page_terms $program 'COLUMNS OF VERIFY'
				# those of once-list --summary
				sed -n '/^\.It Fl -summary/,/^\.It Fl -t/s/^\.Li \([^ ]*\).*/\1/p' "$srcdir/docs/man/$program.8"
			} | sort -u)"
	done
}

@test '--version names program and package; --help ends with 0 and says nothing on standard error' {
	HERE=$BATS_TEST_TMPDIR
	for program in "${admin_programs[@]}"; do
		ends 0 "$builddir/$program" --version
		[[ $(<"$HERE/out") =~ ^$program\ \(oncewrap\ [0-9.]+\)$ ]]
		ends 0 "$builddir/$program" --help
		same 'standard error' '' "$(<"$HERE/err")"
	done
	ends 0 "$builddir/oncewrap" --version
	[[ $(<"$HERE/out") =~ ^oncewrap\ [0-9.]+$ ]]
}

@test '--help fits a terminal of 80 columns' {
	for program in "${programs[@]}"; do
		# but for the default of --config, which is where it was configured to be
		same "what is too wide of $program" '' "$("$builddir/$program" --help | awk '!/--config/ && length > 80')"
	done
}

@test 'mandoc has nothing to say of any manual page' {
	local page findings
	for page in "$srcdir"/docs/man/*.[1-9]; do
		# Whether other pages are installed on this host is not the page's fault.
		findings=$(mandoc -T lint "$page" 2>&1 | grep -v 'referenced manual not found\|lacks .* entry, run makewhatis') || :
		same "$page" '' "$findings"
	done
	[[ -n $page ]]
}

@test 'a page of ours that another one refers to is there' {
	local name section
	while read -r name section; do
		[[ -e $srcdir/docs/man/$name.$section ]] || {
			echo "no docs/man/$name.$section"
			return 1
		}
	done < <(sed -nE 's/^\.Xr ((once|oncewrap)[^ ]*) ([0-9]).*/\1 \3/p' "$srcdir"/docs/man/*.[1-9] | sort -u)
}

@test 'each check of once-doctor has its place in the runbook' {
	local check
	for check in $(page_terms once-doctor CHECKS); do
		grep -qE "^### (.*, )?$check(,|$)" "$srcdir/docs/runbook.md" || {
			echo "no $check"
			return 1
		}
	done
	[[ -n $check ]]
}
