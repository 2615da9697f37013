# SPDX-License-Identifier: GPL-2.0-or-later
#
# Queries on experiments, independent of our own code:
#	perl query.pl 'COLUMN… from TABLE [where CONDITION] [by COLUMN…]' EXPERIMENT…
# prints a line for each row, tab separated. A column is an expression, with blanks only in
# parentheses, or an aggregate: count(), sum(E), min(E), max(E), distinct(E). With an
# aggregate there is a line for each combination of values of the other columns and of the
# "by" columns, which are not printed. Expressions are Perl's; names are column names:
#
#	query 'sum(NTICK) from packets where MSTATE eq SLEEP && THRID == 17' x.er
#	query 'CPUID distinct(SEQ) from packets where ON_CPU' x.er
#
# TABLE packets: the clock packets, including those of waits, of the experiments and all
# their sub-experiments. Columns are the fields that each log.xml describes; a field that a
# packet lacks is 0. MSTATE and REASON are words. Each flag of WFLAGS is a column (REST,
# TRACED, …). ON_CPU says whether MSTATE is a state on a CPU.
#
# TABLE calls: the packets of I/O calls, likewise.
#
# TABLE spans: the packets of spans, likewise; each flag of SPANFLAGS is a column (RETURNED, …).
#
# Any other TABLE: the elements of that name in log.xml, recorder.xml, threads.xml(.gz) and spans.xml.
# Columns are attributes; one that an element lacks is 0. Words need quotes here:
#
#	query 'tstamp from event where kind eq "exit"' x.er
#
# Status: 0, or 2 if the query is wrong. A missing experiment has no rows.
use strict;
use warnings;

# In the order of their numbers on disk; tests/unit/test_packet.c compares them with
# packet.h.
my @state = qw(USER SYSTEM TRAP TFAULT DFAULT KFAULT USER_LOCK SLEEP WAIT_CPU STOPPED
	LINUX_CPU KERNEL_CPU);
my @reason = qw(NONE DISK NETWORK PIPE POLL TIMER CHILD USER_LOCK KERNEL_LOCK FILE_LOCK
	RECLAIM FAULT WRITEBACK THROTTLED PREEMPTED WOKEN STOPPED TRACED FROZEN SIGNAL TTY
	EVENT IPC IO_URING KERNEL_SYNC NO_WORK EXIT OTHER STOLEN STOLEN_IRQ RUNTIME_IDLE);
my @flag = qw(TRACED OPEN_START OPEN_END IO WAKER_IRQ REST STACK_EARLY WAKER_TIMER);

my @spanflag = qw(RETURNED THREAD_END EXEC LEFT OPEN_START OPEN_END SPLIT SAMPLED OVER);

my %field = map { $_ => 1 } qw(LWPID THRID CPUID TSTAMP FRINFO MSTATE NTICK SEQ REASON SYSCALL
	WFLAGS WLEN WAKER WAKERPID WAKERSTACK GOID HOLDER HOLDERPID WOBJ SPAN SPANDEPTH SPANID SPANPARENT SPANDUR SPANRUN
	SPANUSER SPANSYSTEM SPANTFAULT SPANDFAULT SPANKFAULT SPANLOCK SPANSLEEP SPANWAITCPU SPANSTOP
	SPANSTOLEN SPANWAITS SPANMINFLT SPANMAJFLT SPANFLAGS SPANTEXT SPANA1 SPANA2 SPANA3 SPANA4
	IOTYPE IOFD IONBYTE IORQST IOOFD);
my %word = map { $_ => 1 } @state, @reason;
my %operator = map { $_ => 1 } qw(eq ne lt le gt ge cmp and or not x int abs);
my %unpack = (INT32 => 'l', UINT32 => 'L', INT64 => 'q', UINT64 => 'Q');
my %bytes = (l => 4, L => 4, q => 8, Q => 8);

sub wrong
{
	my $why = shift;

	$why =~ s/\s+/ /g;
	print STDERR "query: $why\n";
	exit 2;
}

if (@ARGV && $ARGV[0] eq '--names') {
	print "$_\n" for (map { "MSTATE $_" } @state), (map { "REASON $_" } @reason),
		(map { "WFLAGS $_" } @flag), map { "SPANFLAGS $_" } @spanflag;
	exit;
}

my ($columns, $table, $condition, $by) =
	($ARGV[0] // '') =~ /^\s*(.+?)\s+from\s+(\w+)(?:\s+where\s+(.+?))?(?:\s+by\s+(.+))?$/s
	or wrong("a question is: COLUMN… from TABLE [where CONDITION] [by COLUMN…]");
shift;
my $kinds = { packets => qr/8|6[4-7]|8[0-9]|9[0-3]/, spans => qr/70/, calls => qr/19/ }->{$table};
my $packets = defined $kinds;
my ($flags, @flags) = $table eq 'spans' ? ('SPANFLAGS', @spanflag) : ('WFLAGS', @flag);

# An expression with each name replaced by the function's result.
sub translate
{
	my ($text, $name) = @_;

	# TRACED is both a reason and a flag. After eq and ne it is a word.
	$text =~ s/\b(eq|ne)\s+([A-Z_]+)\b/$1 '$2'/g if $packets;
	while ($packets && $text =~ /\b(?:eq|ne) '(\w+)'/g) {
		wrong("'$1': no state and no reason") unless $word{$1};
	}
	$text =~ s{("[^"]*"|'[^']*')|(\d[\w.]*)|([A-Za-z_]\w*)}{
		defined $1 ? $1 : defined $2 ? $2 : $operator{$3} ? $3 : $name->($3)
	}ge;
	return $text;
}

my %used;

sub packet_name
{
	my $name = shift;

	if ($name eq 'ON_CPU') {
		$used{MSTATE} = 1;
		return '($MSTATE < 3 || $MSTATE > 9)';
	}
	for my $i (0 .. $#flags) {
		next if $flags[$i] ne $name;
		$used{$flags} = 1;
		return "(\$$flags >> $i & 1)";
	}
	if ($field{$name}) {
		$used{$name} = 1;
		return $name eq 'MSTATE' ? '($state[$MSTATE] // $MSTATE)'
			: $name eq 'REASON' ? '($reason[$REASON] // $REASON)' : "\$$name";
	}
	return "'$name'" if $word{$name};
	wrong("'$name': packets have no such column, nor is it the name of a value");
}

sub element_name { return "(\$at->{'$_[0]'} // 0)"; }

my $name = $packets ? \&packet_name : \&element_name;

my $where = translate($condition // 1, $name);

# Split at blanks outside parentheses.
sub columns_of
{
	my (@column, $depth);

	for (split /(\s+)/, $_[0]) {
		if ($depth) { $column[-1] .= $_ } elsif (/\S/) { push @column, $_ }
		$depth = @column ? ($column[-1] =~ tr/(//) - ($column[-1] =~ tr/)//) : 0;
	}
	return @column;
}

my (@keys, @sums, @order);
for (columns_of($columns)) {
	if (/^(count|sum|min|max|distinct)\((.*)\)$/) {
		push @order, ['sum', scalar @sums];
		push @sums, [$1, $2 eq '' ? 1 : translate($2, $name)];
	} else {
		push @order, ['key', scalar @keys];
		push @keys, translate($_, $name);
	}
}

push @keys, translate($_, $name) for columns_of($by // '');

# The code that handles a row: print it, or add it to its group.
my %group;
my $row = '';
if (!@sums) {
	$row = 'print join("\t", ' . join(', ', @keys) . '), "\n";';
} else {
	$row = 'my $g = $group{join "\t", ' . (join(', ', @keys) || "''") . '} //= [];';
	for my $i (0 .. $#sums) {
		my ($how, $of) = @{$sums[$i]};

		$row .= {
			count => "\$g->[$i]++;",
			sum => "\$g->[$i] += $of;",
			min => "{ my \$v = $of; \$g->[$i] = \$v if !defined \$g->[$i] || \$v < \$g->[$i]; }",
			max => "{ my \$v = $of; \$g->[$i] = \$v if !defined \$g->[$i] || \$v > \$g->[$i]; }",
			distinct => "\$g->[$i] //= {}; \$g->[$i]{$of} = 1;",
		}->{$how};
	}
}

# The fields of each kind of packet that the table has, and the file that has the packets.
sub described
{
	my $dir = shift;
	my (%kind, $kind, $file, $last);

	open my $f, '<', "$dir/log.xml" or return; # the recorder was killed before it wrote the log
	while (<$f>) {
		$last = "$dir/$1" if /<profdata fname="(\w[\w.]*)"/;
		($kind, $file) = ($1, $last) if /<profpckt kind="($kinds)"/;
		undef $kind if m{</profpckt>};
		$kind{$kind}{$1} = [$2, $unpack{$3}]
			if defined $kind && /<field name="(\w+)".* offset="(\d+)" type="(\w+)"/;
	}
	return ($file, \%kind);
}

# A function that handles a packet of this kind and size.
sub compiled
{
	my ($at, $size) = @_;
	my ($template, @read, $code) = ('');

	for (sort keys %used) {
		my ($offset, $type) = @{$at->{$_} // [0, 'l']};

		if ($offset && $offset + $bytes{$type} <= $size) {
			push @read, "\$$_";
			$template .= "\@$offset $type ";
		} else {
			$code .= "my \$$_ = 0;";
		}
	}
	$code = 'sub { ' . ($code // '') . (@read ? 'my (' . join(', ', @read) .
		") = unpack '$template', \$_[0];" : '') . "return unless $where; $row }";
	return eval $code || wrong("'$columns where $condition': $@");
}

sub ask_packets
{
	my ($file, $described) = described($_[0]);
	my %take;

	return unless $file && -s $file;
	open my $f, '<:raw', $file or wrong("'$file': $!");
	my $all = do { local $/; <$f> };
	my ($n, $kind);
	for (my $i = 0; $i + 4 <= length $all; $i += $n) {
		($n, $kind) = unpack 'SS', substr $all, $i, 4;
		last unless $n; # zeros follow the packets
		next unless $kind =~ /^(?:$kinds)$/; # stacks may be there, too
		($take{"$kind $n"} //= compiled($described->{$kind} // {}, $n))->(substr $all, $i, $n);
	}
}

sub parts
{
	my $dir = shift;

	opendir my $d, $dir or return;
	return map { "$dir/$_" } sort grep { /^_.*\.er$/ } readdir $d;
}

my $take_element;

sub ask_elements
{
	my $dir = shift;

	$take_element //= eval "sub { my \$at = shift; return unless $where; $row }" ||
		wrong("'$columns where $condition': $@");
	for my $file (grep { -e } map { "$dir/$_" } qw(log.xml recorder.xml threads.xml threads.xml.gz spans.xml)) {
		my ($mode, @what) = $file =~ /\.gz$/ ? ('-|', 'zcat', $file) : ('<', $file);
		open my $f, $mode, @what or next;
		while (<$f>) {
			$take_element->({ /([\w-]+)="([^"]*)"/g }) if /^\s*<$table[ \/>]/;
		}
	}
}

no warnings; # such as words used as numbers
if ($packets) {
	ask_packets($_) for map { ($_, parts($_)) } @ARGV;
	compiled({}, 0);
} else {
	ask_elements($_) for @ARGV;
}
if (@sums) {
	$group{''} //= [] unless @keys;
	for my $key (sort { $a <=> $b || $a cmp $b } keys %group) {
		my @key = split /\t/, $key, -1;
		my @sum = map { $_ // 0 } @{$group{$key}}[0 .. $#sums];

		@sum = map { ref $_ ? scalar keys %$_ : $_ } @sum;
		print join("\t", map { $_->[0] eq 'key' ? $key[$_->[1]] : $sum[$_->[1]] } @order), "\n";
	}
}
