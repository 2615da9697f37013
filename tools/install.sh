#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make install: install.sh OUTPUT DESTDIR PREFIX
#
# `gprofng collect kernel` runs gp-collect-kernel (binutils before 2.44) or
# gprofng-collect-kernel from the directory of gprofng itself. Both links go
# beside our programs; and, unless a package is being made (DESTDIR), beside a
# gprofng that lives elsewhere, too. What somebody else has put there stays.
set -eu

[ $# = 3 ] || { echo "usage: install.sh OUTPUT DESTDIR PREFIX" >&2; exit 2; }
out=$1 destdir=$2 prefix=$3
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$destdir$prefix/bin
man=$destdir$prefix/share/man
links="gp-collect-kernel gprofng-collect-kernel"

# link DIRECTORY TARGET: both names, unless a file of another owner has the name.
link()
{
	for name in $links; do
		if [ -L "$1/$name" ] && [ "$(basename "$(readlink "$1/$name")")" = er_kernel ]; then
			rm -f "$1/$name"
		elif [ -e "$1/$name" ] || [ -L "$1/$name" ]; then
			echo "install: '$1/$name' is not ours: left alone" >&2
			continue
		fi
		ln -s "$2" "$1/$name"
	done
}

install -d "$bin" "$man/man1" "$man/man5"
for program in "$out"/bin/er_*; do
	case ${program##*/} in *.*) continue ;; esac
	install -m 755 "$program" "$bin/"
done
install -m 644 "$here"/docs/man/*.1 "$man/man1/"
install -m 644 "$here"/docs/man/*.5 "$man/man5/"
link "$bin" er_kernel

[ -z "$destdir" ] && gprofng=$(command -v gprofng) || exit 0
theirs=$(dirname "$(readlink -f "$gprofng")")
[ "$theirs" != "$(readlink -f "$bin")" ] || exit 0
if [ -w "$theirs" ]; then
	link "$theirs" "$(readlink -f "$bin")/er_kernel"
	echo "linked into $theirs, so that 'gprofng collect kernel' finds er_kernel"
else
	echo "install: '$theirs' is not writable: 'gprofng collect kernel' will not find er_kernel" >&2
fi
