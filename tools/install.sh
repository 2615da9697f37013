#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make install runs install.sh OUTPUT DESTDIR PREFIX. make uninstall adds "remove", which
# removes the files that an installation would write.
#
# `gprofng collect kernel` runs gp-collect-kernel (binutils before 2.44) or
# gprofng-collect-kernel from gprofng's own directory. Links with both names go beside our
# programs. Unless a package is being built (DESTDIR), they also go beside a gprofng that is
# installed elsewhere. A file of another owner is never replaced.
set -eu

usage() { echo "usage: install.sh OUTPUT DESTDIR PREFIX [remove]" >&2; exit 2; }
case $#${4:-} in 3 | 4remove) ;; *) usage ;; esac
out=$1 destdir=$2 prefix=$3 remove=${4:-}
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$destdir$prefix/bin
man=$destdir$prefix/share/man
links="gp-collect-kernel gprofng-collect-kernel"

# link DIRECTORY TARGET: create both links, unless another program's file has the name.
link()
{
	for name in $links; do
		if [ -L "$1/$name" ] && [ "$(basename "$(readlink "$1/$name")")" = er_kernel ]; then
			rm -f "$1/$name"
		elif [ "$remove" ]; then
			continue
		elif [ -e "$1/$name" ] || [ -L "$1/$name" ]; then
			echo "install: '$1/$name' is not ours: left alone" >&2
			continue
		fi
		[ "$remove" ] || ln -s "$2" "$1/$name"
	done
}

# put MODE DIRECTORY FILE…: install the files, or remove them.
put()
{
	local mode=$1 dir=$2 file
	shift 2
	[ "$remove" ] || install -d "$dir"
	for file; do
		if [ "$remove" ]; then rm -f "$dir/${file##*/}"
		else install -m "$mode" "$file" "$dir/"; fi
	done
}

for source in "$here"/tools/er_*.c; do
	put 755 "$bin" "$out/bin/$(basename "$source" .c)"
done
put 755 "$bin" "$out/bin/er_kernel" "$out/bin/collect"
put 644 "$destdir$prefix/lib/er_kernel" "$out/bin/er_heap.so" "$out/bin/er_clock.so" "$out/bin/er_locks.so"
put 644 "$destdir$prefix/lib" "$out/lib/libcollectorAPI.so" "$out/lib/libcollectorAPI.a"
# In a directory of its own: gprofng may have a header with this name.
put 644 "$destdir$prefix/include/er_kernel" "$here"/user/api/collectorAPI.h "$here"/user/api/libcollector.h \
	"$here"/user/api/er_span.h
put 644 "$man/man1" "$here"/docs/man/*.1
put 644 "$man/man3" "$here"/docs/man/*.3
put 644 "$man/man5" "$here"/docs/man/*.5
# The service is not enabled.
units=$destdir$prefix/lib/systemd/system
if [ "$remove" ]; then
	rm -f "$units/er_kernel.service"
else
	install -d "$units"
	sed "s|@bin@|$prefix/bin|" "$here/tools/er_kernel.service.in" >"$units/er_kernel.service"
	chmod 644 "$units/er_kernel.service"
fi
link "$bin" er_kernel

[ -z "$destdir" ] && gprofng=$(command -v gprofng) || exit 0
theirs=$(dirname "$(readlink -f "$gprofng")")
[ "$theirs" != "$(readlink -f "$bin")" ] || exit 0
if [ -w "$theirs" ]; then
	# A link to another installation's er_kernel stays when this one is removed.
	[ -z "$remove" ] ||
		[ "$(readlink "$theirs/gp-collect-kernel")" = "$(readlink -f "$bin")/er_kernel" ] || exit 0
	link "$theirs" "$(readlink -f "$bin")/er_kernel"
	[ "$remove" ] || echo "linked into $theirs, so that 'gprofng collect kernel' finds er_kernel"
else
	[ "$remove" ] || echo "install: '$theirs' is not writable: 'gprofng collect kernel' will not find er_kernel" >&2
fi
