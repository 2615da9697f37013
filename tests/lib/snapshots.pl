#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# snapshots.pl EXPERIMENT: checks that what snapshots.xml.gz has of each thread adds up to its times in
# threads.xml.gz, to the nanosecond, in each state, and for folded threads in their sum. Prints
# "threads N", "snapshots N", "records N", "bytes N" (of the file), "wrong N", and the first wrong lines.
use strict;
use warnings;

my ($dir) = @ARGV;
my %attr = (r => 'run', u => 'user', y => 'system', z => 'stolen', t => 'tfault', d => 'dfault',
	k => 'kfault', l => 'lock', s => 'sleep', w => 'wait', p => 'stop');
my (%sum, %want, %folded, @wrong);
my ($snapshots, $records, $threads) = (0, 0, 0);

sub lines_of
{
	open my $file, '-|', 'zcat', "$dir/$_[0].gz" or die "$dir/$_[0].gz: $!\n";
	my @lines = <$file>;
	return @lines;
}

for (lines_of('snapshots.xml')) {
	my ($list) = /threads="([^"]*)"/ or die "no list: $_";
	$snapshots++ if /^<snapshot /;
	for my $member (split / /, $list) {
		my ($pid, $tid, $times) = $member =~ /^(?:(\d+)\/)?(\d+)(?:\+\d+)?,[a-z]?((?:[a-z]-?\d+)*)$/
			or die "wrong record: $member\n";
		$records++;
		$sum{($pid // $tid) . "/$tid"}{$1} += $2 while $times =~ /([a-z])(-?\d+)/g;
	}
}
for (lines_of('threads.xml')) {
	my %t = /(\w+)="([^"]*)"/g;
	if (/^<threads /) {
		for (split / /, $t{members}) {
			my ($pid, $tid) = /^(?:(\d+)\/)?(\d+):/ or die "wrong member: $_\n";
			$folded{($pid // $tid) . "/$tid"} = 1;
		}
		$want{folded}{$_} += $t{$attr{$_}} // 0 for keys %attr;
		$threads += $t{count};
	} else {
		$want{"$t{pid}/$t{tid}"}{$_} += $t{$attr{$_}} // 0 for keys %attr;
		$threads++;
	}
}
# A TID may have come again: then its time is part of the folded threads' and of a line's.
for my $id (keys %folded) {
	$want{folded}{$_} += $want{$id}{$_} // 0 for keys %attr;
	delete $want{$id};
	$sum{folded}{$_} += $sum{$id}{$_} // 0 for keys %attr;
	delete $sum{$id};
}
for my $id (keys %want) {
	for (sort keys %attr) {
		my ($want, $got) = ($want{$id}{$_} // 0, $sum{$id}{$_} // 0);
		push @wrong, "$id: $attr{$_} $got instead of $want\n" if $want != $got;
	}
}
exists $want{$_} or push @wrong, "$_: has no line in threads.xml\n" for keys %sum;
printf "threads %d\nsnapshots %d\nrecords %d\nbytes %d\nwrong %d\n", $threads, $snapshots, $records,
	-s "$dir/snapshots.xml.gz", scalar @wrong;
print splice @wrong, 0, 10;
