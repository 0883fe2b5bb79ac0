# SPDX-License-Identifier: ISC
# Turn the migrations named as arguments (sql/NNNN-name.sql, in order) into the C array of src/store/schema.h.

BEGIN {
	print "/* Made from sql/ by sql/embed.awk. */"
	print "#include <config.h>\n"
	print "#include \"store/schema.h\"\n"
	print "const struct migration migrations[] = {"
}

FNR == 1 {
	if (NR > 1)
		print "\t},"
	name = FILENAME
	sub(/.*\//, "", name)
	print "\t{"
	printf "\t\t.version = %d,\n", name
	printf "\t\t.file = \"%s\",\n", name
	print "\t\t.text ="
}

{
	gsub(/\\/, "\\\\&")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	printf "\t\t\t\"%s\\n\"\n", $0
}

END {
	print "\t},\n};\n"
	print "const size_t migration_count = sizeof(migrations) / sizeof(migrations[0]);"
}
