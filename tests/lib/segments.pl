#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# segments.pl SEGMENT…: checks threads.xml.gz of the segments of one recording, oldest first:
# each thread's parts add up to its time, and it goes on in each segment at the nanosecond at
# which it ended in the one before. The threads of an element `threads` begin and end in its segment,
# and their lengths add up, too. Prints "threads N", "folded N", "wrong N", "run NS" and, for each
# command name, "comm NAME NS". The first wrong lines are shown.
use strict;
use warnings;

my @parts = qw(run tfault dfault kfault lock sleep wait stop);
my (%end, %cpu, @wrong);
my ($threads, $folded, $run) = (0, 0, 0);

sub start_of
{
	my ($dir) = @_;
	open my $log, '<', "$dir/log.xml" or die "$dir/log.xml: $!\n";
	while (<$log>) {
		return $1 * 1000000000 + $2 if /<event kind="run" tstamp="(\d+)\.(\d{9})"/;
	}
	die "$dir/log.xml: no start\n";
}

# The number and the length of a fold's threads; their begins and ends must be those of the element.
sub members_of
{
	my ($t) = @_;
	my ($n, $lived, $first, $last) = (0, 0);

	for (split / /, $t->{members}) {
		my ($begin, $length) = /^(?:\d+\/)?\d+:(\d+)\+(\d+)$/ or return (0, 0);
		$n++;
		$lived += $length;
		$first = $begin if !defined $first || $begin < $first;
		$last = $begin + $length if !defined $last || $begin + $length > $last;
	}
	return $first == 0 && $last == $t->{end} - $t->{begin} ? ($n, $lived) : (0, 0);
}

for my $dir (@ARGV) {
	my $start = start_of($dir);
	my %now;
	open my $file, '-|', 'zcat', "$dir/threads.xml.gz" or die "$dir/threads.xml.gz: $!\n";
	while (<$file>) {
		my %t = /(\w+)="([^"]*)"/g;
		my $sum = 0;
		my ($from, $to) = map { $start + ($t{$_} // 0) } qw(begin end);

		$sum += $t{$_} // 0 for @parts;
		$run += $t{run} // 0;
		$cpu{$t{comm}} += $t{run} // 0;
		if (/^<threads /) {
			my ($n, $lived) = members_of(\%t);
			push @wrong, "$dir: $sum ns, members $n, $lived ns: $_"
				if $n != $t{count} || $lived != $sum || $lived != $t{lived};
			$threads += $t{count};
			$folded += $t{count};
			next;
		}
		my $who = "$t{pid} $t{tid}";
		$threads++;
		push @wrong, "$dir: " . ($sum - ($to - $from)) . " ns: $_" if $sum != $to - $from;
		push @wrong, "$dir: begins " . ($from - $end{$who}) . " ns later: $_"
			if exists $end{$who} && !$t{born} && $from != $end{$who};
		delete $end{$who};
		$now{$who} = $to unless $t{ended};
	}
	%end = %now;
}
print "threads $threads\nfolded $folded\nwrong ", scalar(@wrong), "\nrun $run\n";
print "comm $_ $cpu{$_}\n" for sort keys %cpu;
print "# $_" for @wrong[0 .. ($#wrong < 9 ? $#wrong : 9)];
