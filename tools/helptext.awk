# SPDX-License-Identifier: GPL-2.0-or-later
#
# Extracts the manual page's text on each command, for `er_print -help command`. Reads mdoc and
# writes rows of C: { "name", "text", "example" }. The text is that of the command's own .It Ic. The
# example is the page's first example that uses the command.

function words(line,  n, rest, w) {
	n = 0
	rest = line
	while (match(rest, /"[^"]*"|[^ ]+/)) {
		w = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		gsub(/^"|"$/, "", w)
		word[++n] = w
	}
	return n
}

function plain(s) {
	gsub(/\\\(dq/, "\"", s)
	gsub(/\\\(ga/, "`", s)
	gsub(/\\\(aq/, "'", s)
	gsub(/\\&/, "", s)
	gsub(/\\-/, "-", s)
	gsub(/\\e/, "\\", s)
	return s
}

# Convert one line of a paragraph: remove its macros, keep their punctuation.
function convert(line,  n, i, w, out, glue, close_with, dash) {
	if (line !~ /^\./)
		return plain(line)
	n = words(substr(line, 2))
	glue = 1
	for (i = 1; i <= n; i++) {
		w = word[i]
		if (w == "Ns") { glue = 1; continue }
		if (w == "Xr") { out = out (glue ? "" : " ") word[i + 1] "(" word[i + 2] ")"; i += 2; glue = 0; continue }
		if (w ~ /^(Pq|Op|Oo|Qq|Dq)$/) {
			out = out (glue ? "" : " ") (w == "Pq" ? "(" : w ~ /^O/ ? "[" : "\"")
			glue = 1
			if (w != "Oo")
				close_with = (w == "Pq" ? ")" : w == "Op" ? "]" : "\"") close_with
			continue
		}
		if (w == "Oc") { out = out "]"; continue }
		if (w == "Fl") { dash = "-"; continue }
		if (w ~ /^(Ic|Ar|Li|Cm|Ev|Pa|Em|Sx|Sy|Nm|No|It|Va)$/) {
			if (w == "Nm" && (i == n || word[i + 1] ~ /^[.,:;)]$/))
				w = "er_print"
			else
				continue
		}
		if (w ~ /^[.,:;)]$/ && i > 1) {
			if (i == n && close_with != "") { out = out close_with; close_with = "" }
			out = out w
			continue
		}
		out = out (glue ? "" : " ") dash plain(w)
		dash = ""
		glue = 0
	}
	return out close_with
}

function quoted(s,  i, c, out) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		out = out (c == "\n" ? "\\n" : c == "\"" || c == "\\" ? "\\" c : c)
	}
	return "\"" out "\""
}

# Fill lines to 76 columns, indented by two.
function filled(s,  n, i, paragraphs, np, p, out, line, part) {
	np = split(s, paragraphs, "\n")
	for (p = 1; p <= np; p++) {
		n = split(paragraphs[p], part, /[ \t]+/)
		line = ""
		for (i = 1; i <= n; i++) {
			if (part[i] == "")
				continue
			if (line != "" && length(line) + length(part[i]) > 75) {
				out = out "  " line "\n"
				line = ""
			}
			line = line (line == "" ? "" : " ") part[i]
		}
		if (line != "")
			out = out "  " line "\n"
	}
	return out
}

function finish(  i) {
	for (i = 1; i <= nnames; i++)
		text[names[i]] = body
	if (nnames && body != "")
		nnames = 0
	if (body != "")
		body = ""
}

/^\.Sh EXAMPLES/ { examples = 1 }
/^\.Sh/ && !/EXAMPLES/ { examples = 0 }
goes_on { goes_on = /\\e$/; sub(/^[ \t]+/, ""); sub(/\\e$/, ""); example[nexamples] = example[nexamples] plain($0); next }
examples && /^\$ er_print/ { goes_on = /\\e$/; sub(/\\e$/, ""); example[++nexamples] = plain($0) }
/^\.It Ic / {
	finish()
	names[++nnames] = $3
	order[++norder] = $3
	next
}
/^\.(El|Ss|Sh)/ { finish(); nnames = 0; next }
/^\.(Bl|Bd|Ed)/ { next }
/^\.Pp/ { body = body (nnames && body != "" ? "\n" : ""); next }
nnames { body = body (body == "" || body ~ /\n$/ ? "" : " ") convert($0) }
END {
	for (i = 1; i <= norder; i++) {
		use = ""
		for (k = 1; k <= nexamples && use == ""; k++)
			if (index(example[k] " ", " -" order[i] " "))
				use = example[k]
		printf "\t{ \"%s\", %s, %s },\n", order[i], quoted(filled(text[order[i]])), use == "" ? "NULL" : quoted(use)
	}
}
