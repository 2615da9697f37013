#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compare folded stacks, from standard input, with the known chain of calls:
#	chain.pl 'main;case;deep*3;~;burn'
# The chain goes from the root to the leaf. Each word is a regular expression for a
# function's name; WORD*N is N calls, WORD*n one or more; ~ is one to four frames of libraries. Before the
# chain a complete stack has one to three frames that start the program or thread.
# Stacks without the chain's last function are ignored, and so are the functions that it calls.
#
# Prints the seconds in whole stacks, in stacks that are cut (marked at their root), and in wrong
# stacks. Then prints some of the wrong stacks.
use strict;
use warnings;

my @chain = map { /^(.+)\*(\d+)$/ ? ($1) x $2 : $_ } split /;/, $ARGV[0];
my $leaf = $chain[-1] =~ s/\*n$//r;
my %us = (whole => 0, cut => 0, wrong => 0);
my @wrong;

# Classifies a stack, leaf first: whole, cut or wrong.
sub kind {
	my ($marked, @frames) = @_;
	my @want = reverse @chain;

	while (defined(my $word = shift @want)) {
		my $skipped = 0;

		return $marked ? 'cut' : 'wrong' unless @frames;
		if ($word ne '~') {
			my $more = $word =~ s/\*n$//;

			return 'wrong' unless (shift @frames) =~ /^$word$/;
			shift @frames while $more && @frames && $frames[0] =~ /^$word$/;
			next;
		}
		while (@frames && $frames[0] !~ /^$want[0]$/) {
			return 'wrong' if ++$skipped > 4;
			shift @frames;
		}
	}
	return @frames <= 3 ? 'cut' : 'wrong' if $marked;
	return @frames >= 1 && @frames <= 3 ? 'whole' : 'wrong';
}

while (<STDIN>) {
	my ($stack, $us) = /^(.*) (\d+)$/ or next;
	my @frames = reverse split /;/, $stack;
	my ($first) = grep { $frames[$_] =~ /^$leaf$/ } 0 .. $#frames;
	my $marked = $frames[-1] =~ /^<(Stack-unwind-failed|Truncated-stack)>$/;

	next unless defined $first;
	pop @frames if $marked;
	my $kind = kind($marked, @frames[$first .. $#frames]);
	$us{$kind} += $us;
	push @wrong, "$us us: " . substr($stack, 0, 300) if $kind eq 'wrong';
}
printf "%.6f %.6f %.6f\n", map { $_ / 1e6 } @us{qw(whole cut wrong)};
print "$_\n" for @wrong[0 .. ($#wrong > 9 ? 9 : $#wrong)];
