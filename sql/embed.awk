# SPDX-License-Identifier: ISC
# Turn the migrations named as arguments (sql/NNNN-name.sql, in order) into the C array of src/store/schema.h; or, with
# -v name=NAME -v header=FILE, the one file named into a C string.

BEGIN {
	print "/* Made from sql/ by sql/embed.awk. */"
	print "#include <config.h>\n"
	print "#include \"" (name == "" ? "store/schema.h" : header) "\"\n"
	print name == "" ? "const struct migration migrations[] = {" : "const char " name "[] ="
}

FNR == 1 && name == "" {
	if (NR > 1)
		print "\t},"
	file = FILENAME
	sub(/.*\//, "", file)
	print "\t{"
	printf "\t\t.version = %d,\n", file
	printf "\t\t.file = \"%s\",\n", file
	print "\t\t.text ="
}

{
	gsub(/\\/, "\\\\&")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	printf "\t\t\t\"%s\\n\"\n", $0
}

END {
	if (name != "") {
		print "\t\t\t;"
		exit
	}
	print "\t},\n};\n"
	print "const size_t migration_count = sizeof(migrations) / sizeof(migrations[0]);"
}
