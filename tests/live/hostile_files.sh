#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files that a recorder with capabilities must not copy. An ordinary user runs er_kernel with
# more capabilities than the README grants, and tries to make it copy a file of root:
# in a private mount a program has the inode number of the secret, and once it is mapped its
# name, or the name of its directory, becomes a link to the secret.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"

command -v setcap >/dev/null && command -v setpriv >/dev/null ||
	skip_all "setcap or setpriv is not installed"
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
chmod 755 "$tmp"
install -m 755 "$er_kernel" capable
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep capable \
	2>/dev/null || skip_all "this file system keeps no file capabilities"
$nobody unshare -Urm true 2>/dev/null || skip_all "an ordinary user can make no namespaces here"
# The name is this test's alone: another checkout may run its tests at the same time.
prog=prog$$
mkdir -m 777 home

# The secrets are on a tmpfs, where the attacker's files get the same inode numbers one after the
# other.
on_exit=clean_up
clean_up()
{
	exec 8>&- 9>&-
	[ -z "${attacker:-}" ] || kill "$attacker" 2>/dev/null
	[ -z "${load:-}" ] || kill "$load" 2>/dev/null
	umount secrets 2>/dev/null
	rm -rf "$shared"
}
mkdir secrets && mount -t tmpfs secrets secrets && chmod 700 secrets
shared=$(mktemp -d /tmp/er-shared.XXXXXX) && chmod 777 "$shared"
touch secrets/{1,2,3,4}
echo "s3cr3t" >secrets/text && chmod 600 secrets/text
sed s/gamma_/s3cr3t/g "$syn/spin" >secrets/elf && chmod 700 secrets/elf
install -m 700 secrets/elf secrets/$prog

# attack HOW INODE TARGET: a program with this inode number in a private mount. It waits until
# its name is replaced by a link to TARGET, and burns CPU time while it is recorded.
cat >attack <<END
#!/bin/bash
mount -t tmpfs er-attack $shared || exit 1
mkdir $shared/d
while f=$shared/d/f.\$((n += 1)); cp "$syn/spin" \$f; [ "\$(stat -c %i \$f)" -lt "\$2" ]; do :; done
[ "\$(stat -c %i \$f)" = "\$2" ] || exit 1
mv \$f $shared/d/$prog
$shared/d/$prog -w 1.5 alpha:2 >/dev/null &
while [ "\$(readlink /proc/\$!/exe)" != $shared/d/$prog ]; do :; done
case \$1 in
name) rm $shared/d/$prog && ln -s "\$3" $shared/d/$prog ;;
directory) mv $shared/d $shared/was && ln -s "\${3%/*}" $shared/d ;;
esac
echo ready >&8
wait
END
chmod 755 attack
mkfifo -m 666 fifo && exec 8<>fifo

# Whether the experiment contains a line of the secret.
leaked() { grep -rlF "s3cr3t" "$1" 2>/dev/null | wc -l; }

# run CASE ARCHIVING HOW SECRET: record while the attack runs.
run()
{
	local exp=home/$1.er secret=secrets/$4 target=$tmp/secrets/$4
	$nobody unshare -Urm ./attack "$3" "$(stat -c %i "$secret")" "$target" &
	attacker=$!
	read -r -t 20 -u 8 _ || { not_ok "$1: the attack can be made"; return; }
	$nobody ./capable -o "$exp" -p high -F "=$prog" -A "$2" -t 3 >out 2>err
	check_that "$1: is recorded" "$? == 0" "$(cat err)"
	wait "$attacker"
	attacker=
	check_that "$1: nothing of the secret is in the experiment" "$(leaked "$exp") == 0" \
		"$(ls -l "$exp/archives")"
}

run "text-copy" copy name text
run "elf-copy" copy name elf
run "elf-symbols" on name elf

# In the recorder's own mount namespace the name leads to the secret, too.
ln -s "$tmp/secrets" "$shared/d"
run "own-namespace" copy name "$prog"
rm "$shared/d"

# burn PROGRAM: run it until `cease`, however long the recorder needs to begin.
burn()
{
	"$1" alpha:100 >/dev/null &
	load=$!
}

cease()
{
	kill $load
	wait $load 2>/dev/null
	load=
}

# kept NAME EXPERIMENT: the program has an archive with its functions.
kept()
{
	check "$1" grep -qs alpha "$2"/archives/${prog}_*
}

# left_out NAME EXPERIMENT: the program was recorded and has no archive.
left_out()
{
	check_that "$1 is left out" "$(ls -d "$2"/_${prog}[_.]* 2>/dev/null | wc -l) == 1 &&
		$(ls "$2/archives" 2>/dev/null | grep -c "^${prog}_") == 0" "$(ls "$2" "$2/archives"; cat err)"
}

# Files that the user may read are archived: in the user's own mount,
own="mount -t tmpfs er-own $shared && cp \"\$syn/spin\" $shared/$prog && exec $shared/$prog alpha:1"
$nobody ./capable -o home/own.er -p high -F "=$prog" -q 0 -- unshare -Urm sh -c "$own" >out 2>err
kept "a program in a private mount of the caller's" home/own.er
# of another user's process,
cp "$syn/spin" $prog && chmod 755 $prog
burn ./$prog
$nobody ./capable -o home/foreign.er -p high -F "=$prog" -t 1.5 >out 2>err
cease
kept "a program of another user's that all may read" home/foreign.er
# but not if only their owner may read or find them.
chmod 700 $prog
burn ./$prog
$nobody ./capable -o home/closed.er -p high -F "=$prog" -t 1.5 >out 2>err
cease
left_out "a program that only its owner may read" home/closed.er
mkdir -m 700 hidden && chmod 755 $prog && mv $prog hidden/
burn ./hidden/$prog
$nobody ./capable -o home/hidden.er -p high -F "=$prog" -t 1.5 >out 2>err
cease
left_out "a file in a directory that only its owner can read" home/hidden.er

# An overlay shows other device and inode numbers for mappings than stat(2).
mkdir -p lower upper work merged && cp hidden/$prog lower/
if mount -t overlay er-overlay -o "lowerdir=lower,upperdir=secrets,workdir=work" merged 2>/dev/null ||
	mount -t overlay er-overlay -o "lowerdir=lower:upper" merged 2>/dev/null; then
	for who in root caller; do
		burn ./merged/$prog
		case $who in
		root) "$er_kernel" -o $who.er -p high -F "=$prog" -t 1.5 >out 2>err ;;
		caller) $nobody ./capable -o home/$who.er -p high -F "=$prog" -t 1.5 >out 2>err ;;
		esac
		cease
	done
	umount -l merged
	kept "a program on an overlay, by root" root.er
	kept "a program on an overlay, by an ordinary user" home/caller.er
else
	skip "a program on an overlay" "there is no overlayfs here"
fi

# A mapped file that is not ELF is not archived, not even for root.
cat >text.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR);
	volatile unsigned char *p = mmap(0, 4096, PROT_READ | PROT_EXEC | PROT_WRITE, MAP_SHARED, fd, 0);
	time_t end = time(0) + 2;

	while (time(0) < end)
		((void (*)(void))p)();
	return 0;
}
END
if gcc -o text text.c 2>/dev/null; then
	{ printf '\271\000\000\001\000\377\311\165\374\303'; echo s3cr3t; head -c 4096 /dev/zero; } >code
	"$er_kernel" -o code.er -p high -F =text -A copy -q 0 -- ./text "$tmp/code" >out 2>err
	check_that "mapped text is sampled" "$(grep -c "$tmp/code" code.er/_text*/map.xml) > 0" \
		"$(cat code.er/_text*/map.xml err)"
	check_that "a file with mapped text that is not ELF is not archived" "$(ls code.er/archives | grep -c '^code_') == 0" \
		"$(ls code.er/archives)"
else
	skip "mapped text is no archive" "there is no compiler here"
fi
