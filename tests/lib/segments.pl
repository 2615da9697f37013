#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# segments.pl SEGMENT…: checks threads.xml of the segments of one recording, oldest first:
# each thread's parts add up to its time, and it goes on in each segment at the nanosecond at
# which it ended in the one before. Prints "lines N", "wrong N", "run NS" and, for each command
# name, "comm NAME NS". The first wrong lines are shown.
use strict;
use warnings;

my @parts = qw(run tfault dfault kfault lock sleep wait stop);
my (%end, %cpu, @wrong);
my ($lines, $run) = (0, 0);

sub start_of
{
	my ($dir) = @_;
	open my $log, '<', "$dir/log.xml" or die "$dir/log.xml: $!\n";
	while (<$log>) {
		return $1 * 1000000000 + $2 if /<event kind="run" tstamp="(\d+)\.(\d{9})"/;
	}
	die "$dir/log.xml: no start\n";
}

for my $dir (@ARGV) {
	my $start = start_of($dir);
	my %now;
	open my $threads, '<', "$dir/threads.xml" or die "$dir/threads.xml: $!\n";
	while (<$threads>) {
		my %t = /(\w+)="([^"]*)"/g;
		my $sum = 0;
		my $who = "$t{pid} $t{tid}";
		my ($from, $to) = map { $start + ($t{$_} // 0) } qw(begin end);

		$sum += $t{$_} // 0 for @parts;
		$lines++;
		$run += $t{run} // 0;
		$cpu{$t{comm}} += $t{run} // 0;
		push @wrong, "$dir: " . ($sum - ($to - $from)) . " ns: $_" if $sum != $to - $from;
		push @wrong, "$dir: begins " . ($from - $end{$who}) . " ns later: $_"
			if exists $end{$who} && !$t{born} && $from != $end{$who};
		delete $end{$who};
		$now{$who} = $to unless $t{ended};
	}
	%end = %now;
}
print "lines $lines\nwrong ", scalar(@wrong), "\nrun $run\n";
print "comm $_ $cpu{$_}\n" for sort keys %cpu;
print "# $_" for @wrong[0 .. ($#wrong < 9 ? $#wrong : 9)];
