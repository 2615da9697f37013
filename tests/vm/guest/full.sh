#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A full disk ends the recording with one message, and the data on it can be read.
. /bin/guest.sh

# full DIRECTORY NAME: record to a directory that has little space left.
full()
{
	er_kernel -d "$1" -o f.er -p 0.2 -F on -t 60 >out 2>err
	status=$?
	says "full $2: it ends by itself with status 1" "$status == 1" "status $status"
	says "full $2: one sentence" "$(wc -l <err) == 1 && $(grep -c 'No space' err) == 1" "$(cat err)"
	er_print -functions "$1/f.er" >functions 2>err
	says "full $2: the data on the disk can be read" "$? == 0 && $(grep -c '<Total>' functions) == 1" "$(cat err)"
	rm -rf "$1/f.er"
}

spin alpha:80 >/dev/null &
load=$!
mkdir small
mount -t tmpfs -o size=512k small small
full small tmpfs
umount small
# Fill the disk up to half a megabyte.
free=$(df -k /var/tmp | awk 'END { print $4 }')
if fallocate -l $(((free - 512) * 1024)) /var/tmp/rest; then
	full /var/tmp ext4
else
	echo "skip full ext4: it cannot be filled"
fi
rm -f /var/tmp/rest
kill $load
