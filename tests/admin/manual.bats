#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# What the manual pages say of the admin programs is what these do, and every page is sound mdoc.

load setting.sh

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
	for program in once-list once-migrate; do
		same "options of $program" "$(help_options $program)" "$(page_options $program)"
		[[ $(help_options $program | wc -l) -ge 11 ]]
	done
}

@test 'each option of the manual page stands in its synopsis' {
	for program in once-list once-migrate; do
		while read -r option; do
			sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$srcdir/docs/man/$program.8" |
				grep -qE -- "Fl -?${option#-}( |$)" || {
				echo "$program: $option is not in the synopsis"
				return 1
			}
		done < <(page_options $program | sed -E 's/^(-.) .*/\1/; s/^-(-[^=]+).*/\1/' | grep -vx -- '-full')
	done
}

# page_terms PROGRAM SECTION: the .It Cm of one subsection.
page_terms() {
	sed -n "/^\.Ss $2/,/^\.S[sh] /s/^\.It Cm //p" "$srcdir/docs/man/$1.8"
}

@test 'the columns and states of the manual page are those of the program, in its order' {
	setting_begin
	tables
	same 'columns of once-list' "$(list -o csv | head -n 1 | tr -d '\r' | tr , '\n')" "$(page_terms once-list COLUMNS)"
	same 'columns of once-migrate' "$(migrate status -o csv | head -n 1 | tr -d '\r' | tr , '\n')" \
		"$(page_terms once-migrate COLUMNS)"
	for state in $(page_terms once-list STATES); do
		ends 0 list --state="$state"
	done
	ends 64 list --state=none
	same states "$(sed -n 's/.*is none of //p' "$HERE/err")" "$(page_terms once-list STATES | paste -sd, | sed 's/,/, /g')"
	setting_end
}

@test 'each exit status that a program is tested for stands in its manual page' {
	for status in 0 64 69 70 73 75 77 78; do
		for program in once-list once-migrate; do
			sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/p' "$srcdir/docs/man/$program.8" | grep -qx "\.It $status"
		done
	done
	grep -qx '\.It 1' "$srcdir/docs/man/once-migrate.8"
}

@test '--version names program and package; --help ends with 0 and says nothing on standard error' {
	HERE=$BATS_TEST_TMPDIR
	for program in once-list once-migrate; do
		ends 0 "$builddir/$program" --version
		[[ $(<"$HERE/out") =~ ^$program\ \(oncewrap\ [0-9.]+\)$ ]]
		ends 0 "$builddir/$program" --help
		same 'standard error' '' "$(<"$HERE/err")"
		# but for the default of --config, which is where it was configured to be
		[[ $(grep -v -- --config "$HERE/out" | wc -L) -le 80 ]]
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
