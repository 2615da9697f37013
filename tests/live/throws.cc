// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions that exceptions pass through, or that end in odd ways: each is called 300 times.
#include <cstdio>
#include <string>

#define FUNCTION extern "C" __attribute__((noinline))
static volatile int sink, caught, passed;

FUNCTION int leaf(int n) { sink = n; return n + 1; }
/* It throws for each third n, through a frame with a destructor. */
FUNCTION int thrower(int n) {
	std::string s(n % 7 + 20, 'x');
	if (n % 3 == 0) throw n;
	return leaf(n) + s.size();
}
/* An exception passes through it. */
FUNCTION int middle(int n) { std::string s(30, 'y'); return thrower(n) + s.size(); }
/* It catches, and returns itself; in two ways. */
FUNCTION int catcher(int n) {
	try { return middle(n); } catch (int) { caught = caught + 1; return -1; }
}
/* Its last call is a jump. */
FUNCTION int tail(int n) { if (n & 1) sink = n; return leaf(n); }
/* A jump by a table. */
FUNCTION int choose(int n) {
	switch (n % 8) {
	case 0: return leaf(1);
	case 1: sink = 2; break;
	case 2: sink = sink + 5; break;
	case 3: return n;
	case 4: sink = sink * 7; break;
	case 5: return leaf(n) * 3;
	case 6: sink = sink - 9; break;
	case 7: sink = 1; return 0;
	}
	return sink;
}

int main()
{
	for (int i = 0; i < 300; i++) {
		passed = passed + (catcher(i) >= 0);
		tail(i);
		choose(i);
	}
	printf("caught\t%d\npassed\t%d\n", caught, passed);
	return caught + passed != 300;
}
