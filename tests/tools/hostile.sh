#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Any file of an experiment may be damaged or replaced. Every command still ends by itself,
# with the data that can be read. No control character reaches the terminal. `header` or a
# message reports the damage. Nothing outside the experiment is touched.
# Time limit: 600 s
. "$(dirname "$0")/../lib/tools.sh"

# Every command, without arguments. Commands that need one say so.
er_print -help | awk '/^  [a-z]/ { sub(/,$/, "", $1); print $1 }' |
	grep -vxE 'quit|help|script|outfile|appendfile' >"$tmp/commands"
check_that "the list of commands to try is not empty" "$(wc -l <"$tmp/commands") > 30"
# Three parts of them. The header says what is wrong, so each has it.
for part in 0 1 2; do { echo header; sed -n "$((part + 1))~3p" "$tmp/commands" | grep -vx header; } >"$tmp/commands.$part"; done

# all_views EXPERIMENT [PART]: status 0 if er_print ended by itself, in time, with printable output; for a part of the
# commands. Otherwise $said has the reason. A process takes longer here than what it does: what bash can do, it does.
all_views()
{
	timeout 60 er_print -keep-going -script "$tmp/commands${2:+.$2}" "$1" >"$tmp/out" 2>"$tmp/err" </dev/null
	local status=$?
	[ $status -le 1 ] || { said="status $status: $(tail -n 3 "$tmp/err")"; return 1; }
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$tmp/out" "$tmp/err" && return
	said=$(LC_ALL=C grep -anP '[\x00-\x08\x0b-\x1f\x7f]' "$tmp/out" "$tmp/err" | cat -v | head -n 3)
	return 1
}

shown_well() { all_views "$@" || { echo "$said"; return 1; }; }

# exported EXPERIMENT FORMAT…: the same for er_archive and er_export, as text and in these formats. Those of other
# programs are not text.
formats=(folded pprof perfetto speedscope firefox)
exported()
{
	local of=$1 format
	shift
	: >"$tmp/text"
	timeout 60 er_export "$of" >>"$tmp/text" 2>&1 </dev/null
	[ $? -le 1 ] || return 1
	for format; do
		case $format in
		folded) timeout 60 er_export --to folded --root process -o - "$of" >>"$tmp/text" 2>&1 </dev/null ;;
		*) timeout 60 er_export --to $format -o - "$of" >/dev/null 2>>"$tmp/text" </dev/null ;;
		esac
		[ $? -le 1 ] || return 1
	done
	timeout 60 er_archive -F -q "$of" >>"$tmp/text" 2>&1 </dev/null
	[ $? -le 1 ] && ! grep -q '[[:cntrl:]]' "$tmp/text"
}

# Ways to damage or replace the file $1.
missing() { rm "$1"; }
empty() { : >"$1"; }
half() { truncate -s $(($(stat -c %s "$1") / 2)) "$1"; }
cut_end() { truncate -s -3 "$1"; }
one_more() { printf x >>"$1"; }
fifo() { rm "$1" && mkfifo "$1"; }
directory() { rm "$1" && mkdir "$1"; }
device() { rm "$1" && ln -s /dev/zero "$1"; }
dangling() { rm "$1" && ln -s nowhere "$1"; }
elsewhere() { rm "$1" && ln -s "$PWD/outside" "$1"; }
circle() { rm "$1" && ln -s "${1##*/}" "$1"; }
unreadable() { chmod 0 "$1"; }
sparse() { truncate -s 1T "$1"; }
ones() { head -c "$(stat -c %s "$1")" /dev/zero | tr '\0' '\377' >"$1.new" && mv "$1.new" "$1"; }
noise() { head -c "$(stat -c %s "$1")" /proc/self/exe >"$1.new" && mv "$1.new" "$1"; }
twice() { cat "$1" "$1" >"$1.new" && mv "$1.new" "$1"; }
escapes() { sed -E 's/(name|comm|hostname|text|label)="[^"]*"/\1="%1B%]0;owned%07%%9b%31m"/g' "$1" >"$1.new" && mv "$1.new" "$1"; }
raw_escapes() { printf '\033]0;owned\007\033[2J\n' | cat - "$1" >"$1.new" && mv "$1.new" "$1"; }
huge() { sed -E 's/"(0x)?[0-9A-Fa-f]+"/"0xfffffffffffffff8"/g' "$1" >"$1.new" && mv "$1.new" "$1"; }
negative() { sed -E 's/"[0-9]+(\.[0-9]+)?"/"-9223372036854775808"/g' "$1" >"$1.new" && mv "$1.new" "$1"; }
upwards() { sed -E 's/name="[^"]*"/name="..\/..\/..\/..\/outside"/g; s/fname="[^"]*"/fname="..\/..\/outside"/' "$1" >"$1.new" && mv "$1.new" "$1"; }
entities() { sed -E 's/="([^"]*)"/="\&lol;\&#x1b;\&amp;amp;\1"/g' "$1" >"$1.new" && mv "$1.new" "$1"; }

damages="missing empty half cut_end one_more fifo directory device elsewhere dangling circle unreadable sparse ones noise twice
	escapes raw_escapes huge negative upwards entities"
[ "$(id -u)" != 0 ] || damages=$(echo $damages | sed 's/unreadable//')
printf '%s\n' '<snapshot at="0" took="9" threads="12,s 12/13,r"/>' \
	'<snapshot at="250000000" took="9" threads="12,sr50000000s200000000 12/13+5,lr250000005"/>' >"$tmp/fixtures/waits.1.er/snapshots.xml"
# Every kind of file once: the files of one experiment, and files that only other experiments have.
files="$(cd "$tmp/fixtures" && find sys.1.er -type f)
	waits.1.er/threads.xml waits.1.er/names.xml waits.1.er/snapshots.xml lives.1.er/processes.xml.gz folded.1.er/threads.xml
	waits.1.er/profile waits.1.er/_others_PID_0.1.er/profile
	trace.1.er/heaptrace trace.1.er/iotrace trace.1.er/synctrace mem.1.er/hwcounters
	spans.1.er/spans.xml spans.1.er/spanstrings.xml.gz spans.1.er/_app_PID_12.1.er/spans"
turn=0
for damage in $damages; do
	bad=
	turn=$((turn + 1)) n=$turn
	for path in $files; do
		file=${path#*/}
		n=$((n + 1))
		fresh
		put "${path%%/*}" x.er
		echo precious >outside
		$damage "x.er/$file"
		# The file may have nothing that this damage replaces.
		case $damage in
		escapes | huge | negative | upwards | entities) ! cmp -s "x.er/$file" "$tmp/fixtures/$path" || continue ;;
		esac
		# Each file meets each command and each format, with one damage or another. Few of them read snapshots.
		case $file in
		snapshots.xml) part= format=page ;;
		*) part=$((n / 5 % 3)) format=${formats[n % ${#formats[@]}]} ;;
		esac
		all_views x.er $part || bad="$bad $path: $said;"
		exported x.er $format || bad="$bad $path: er_export, er_archive;"
		entries=(*)
		[ "${entries[*]}" = "outside x.er" ] && read -r line <outside && [ "$line" = precious ] ||
			bad="$bad $path: wrote outside;"
		case $damage in
		cut_end | one_more | fifo | directory | device | elsewhere | circle | unreadable | ones | noise)
			# A text that is cut short, or has something added, may still be valid.
			case $damage:$file in cut_end:*.xml | cut_end:*.gz | cut_end:*kallmodsyms | one_more:*kallmodsyms) continue ;; esac
			case $damage:$file in one_more:notes | cut_end:notes) continue ;; esac
			[ $damage != cut_end ] || [ -s "$tmp/fixtures/$path" ] || continue
			! grep -q precious "$tmp/out" || bad="$bad $path: followed;"
			[ $damage:${file##*/} = ones:overview ] || [ $damage:${file##*/} = noise:overview ] ||
				grep -qE '\*\*\* (Warning|Error)|cannot|is not|warning' "$tmp/out" "$tmp/err" ||
				bad="$bad $path: nobody says so;"
		esac
	done
	[ -z "$bad" ] && ok "$damage" || not_ok "$damage" "$bad"
done

# Other users choose the names of descendants, too.
fresh
put sys.1.er x.er
mv x.er/_work_PID_12.1.er "x.er/_$(printf '\033[31m\nx')_PID_12.1.er"
ln -s ../.. x.er/_up.er && ln -s . x.er/_self.er && mkfifo x.er/_fifo.er && mkdir x.er/_empty.er
check "hostile names of descendants are printed safely" shown_well x.er
check "hostile names of descendants are exported safely" exported x.er "${formats[@]}"
check_that "a link is no descendant" "$(er_print -experiment_list x.er 2>/dev/null | grep -c '_up\|_self') == 0"

# Characters that are invisible or change the direction of writing: in each format, in
# exports and in messages.
hidden=$(printf '\u202e\u200b\u2066\ufeff\u00ad\U000e0041')
shows_hidden() { grep -P '[\x{ad}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{e0000}-\x{e0fff}]' "$@"; }
fresh
put sys.1.er x.er
find x.er -name '*.xml' -exec sed -i -E \
	"s/ (name|comm|hostname|text|label|cwd|lineargs)=\"([^\"])/ \1=\"\2$hidden/g" {} +
find x.er \( -name '*kallmodsyms' -o -name notes \) -exec sed -i "s/[a-z]\$/$hidden&/" {} +
mv x.er "x$hidden.er"
for mode in text html , json; do
	sed "1i printmode $mode" "$tmp/commands" >commands
	er_print -keep-going -script commands "x$hidden.er" >out 2>err </dev/null
	check_that "printmode $mode: hidden characters are escaped" \
		"$(shows_hidden out err | wc -l) == 0 && $(grep -c 'xe2.*x80.*xae' out) > 0" \
		"$(shows_hidden out err | cat -v | head -n 3; tail -n 3 err)"
done
er_export "x$hidden.er" >out 2>err
er_archive -F "x$hidden.er" >>out 2>>err
er_cp "none$hidden.er" y.er 2>>err
check_that "exports and messages: hidden characters are escaped" \
	"$(shows_hidden out err | wc -l) == 0 && $(grep -c 'xe2.*x80.*xae' out) > 0 &&
	$(grep -c 'xe2.x80.xae' err) > 0" "$(shows_hidden out err | cat -v | head -n 3)"

# Deeply nested directories.
fresh
put rec.1.er x.er
(cd x.er && for i in $(seq 200); do mkdir _d.er && cd _d.er || exit; done)
check "descendants in descendants" shown_well x.er
refuses "er_cp stops at too deep nesting" "too deep" er_cp x.er y.er

# Damaged archives.
fresh
put rec.1.er good.er
cp "$O/bin/er_export" prog && touch -d '2020-02-02' prog
cat >good.er/map.xml <<-END
<event kind="map" object="segment" tstamp="0.0" vaddr="0x10000" size="65536" foffset="+0x1000" modes="0x005" name="$PWD/prog"/>
END
er_archive -q -F good.er && archive=$(cd good.er/archives && ls) && rm prog
for damage in $damages; do
	cp -R good.er x.er
	$damage "x.er/archives/$archive"
	check "archives/: $damage" shown_well x.er
	rm -rf x.er
done

# A file that is truncated while it is read: the missing data counts as empty.
fresh
put sys.1.er x.er
for i in $(seq 12); do cat x.er/profile x.er/profile >p && mv p x.er/profile; done
cp x.er/profile whole
(for i in $(seq 100); do truncate -s 100 x.er/profile; cat whole >x.er/profile; done) &
cutter=$!
bad=
for i in 1 2 3 4 5 6; do all_views x.er || bad="$bad $said"; done
kill $cutter 2>/dev/null
wait $cutter 2>/dev/null
[ -z "$bad" ] && ok "a file that shrinks" || not_ok "a file that shrinks" "$bad"
