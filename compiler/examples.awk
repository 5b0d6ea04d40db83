# examples.awk - of golden diagnostics, the first of each code as C: { "E0203", "error[E0203]: ..." },
#
# A diagnostic ends at an empty line. Where a spec lies among the tests is left out of its name.
function quoted(s) {
	gsub(/\\/, "&&", s)
	gsub(/["?]/, "\\\\&", s) # ?: no trigraphs
	gsub(/\t/, "\\\\t", s)
	return s
}

function finish() {
	if (code != "") {
		printf "\t\t{ \"%s\",\n%s\t\t},\n", code, text
		done[code] = 1
	}
	code = ""
	text = ""
}

FNR == 1 || $0 == "" { finish() }

/^(error|warning|note)\[[EWN][0-9]+\]: / {
	finish()
	split($0, part, /[][]/)
	if (!(part[2] in done))
		code = part[2]
}

code != "" && $0 != "" {
	sub(/tests\/golden\/[a-z]+\//, "")
	text = text "\t\t\t\"" quoted($0) "\\n\"\n"
}

END { finish() }
