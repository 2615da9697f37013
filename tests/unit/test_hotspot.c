/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names from the memory of a Java VM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/fixtures/unwind/hotspot_vm.h"
#include "user/jit/javaname.h"
#include "user/jit/snapshot.h"

static uint8_t memory[HVM_BYTES];
static struct hvm_answer a;

static int start_anew(void **state)
{
	memset(&a, 0, sizeof(a));
	return 0;
}

/* Ask about an address. The function that contains it; NULL: none. */
static const struct jit_entry *ask(const struct hvm *vm, uint64_t pc)
{
	const struct jit_entry *found = NULL;

	assert_int_equal(hvm_ask(vm, &pc, 1, &a), 0);
	assert_true(a.rounds < HOTSPOT_ROUNDS);
	for (size_t i = 0; i < a.b.n; i++) {
		const struct jit_entry *e = &a.entries[i];

		if (e->kind > JIT_INTERPRETER)
			continue;
		assert_true(jit_entry_is_sound(e, a.b.nnames));
		assert_true(pc - e->start < e->size);
		assert_null(found);
		found = e;
	}
	return found;
}

static void is(const struct jit_entry *e, uint64_t block, unsigned segments, const char *name)
{
	assert_non_null(e);
	assert_int_equal(e->start, block + HVM_HEADER);
	assert_int_equal(e->size, segments * HVM_SEGMENT - HVM_HEADER - HVM_TAIL);
	assert_int_equal(e->kind, name ? JIT_FUNCTION : JIT_INTERPRETER);
	if (!name)
		return;
	assert_int_equal(e->name_len, strlen(name));
	assert_memory_equal(a.names + e->name, name, e->name_len);
}

static void check_names(enum hvm_version v)
{
	struct hvm vm;

	hvm_make(&vm, memory, v);
	is(ask(&vm, HVM_METHOD + HVM_HEADER), HVM_METHOD, HVM_METHOD_SEGMENTS, HVM_NAME);
	assert_true(a.layout.known);
	/* The last byte is 300 segments behind the first: two steps in the segment map. */
	is(ask(&vm, HVM_FREE - HVM_TAIL - 1), HVM_METHOD, HVM_METHOD_SEGMENTS, HVM_NAME);
	is(ask(&vm, HVM_STUB + HVM_HEADER + 5), HVM_STUB, 8, "new_instance Runtime1");
	is(ask(&vm, HVM_INTERPRETER + HVM_HEADER), HVM_INTERPRETER, 16, NULL);
	assert_null(ask(&vm, HVM_METHOD + HVM_HEADER - 1)); /* the header */
	assert_null(ask(&vm, HVM_FREE - HVM_TAIL));         /* data behind the code */
	assert_null(ask(&vm, HVM_FREE + HVM_HEADER));
	assert_null(ask(&vm, HVM_INTERPRETER + 16 * HVM_SEGMENT)); /* never used */
	assert_null(ask(&vm, HVM_CODE - 1));
	assert_null(ask(&vm, HVM_CODE + 400 * HVM_SEGMENT));
	assert_null(ask(&vm, ~0ULL));
	memset(&a, 0, sizeof(a));
}

/* Where the interpreter's methods have their names. A VM that does not say all of it has none. */
static void interpreted_methods(void **state)
{
	static const struct er_hotspot_method of_17 = {
		.constant = 8, .const_bytes = 48, .pool = 8, .const_words = 24, .flags = 28,
		.code_size = 32, .name = 34, .signature = 36, .pool_bytes = 72, .holder = 24,
		.source = 54, .klass_name = 24, .length = 4, .body = 6, .bias = 0 };
	static const struct er_hotspot_method of_25 = {
		.constant = 8, .const_bytes = 56, .pool = 8, .const_words = 24, .flags = 28,
		.code_size = 34, .name = 36, .signature = 38, .pool_bytes = 72, .holder = 24,
		.source = 54, .klass_name = 24, .length = 4, .body = 6, .bias = 1 };
	static const struct er_hotspot_method none;
	uint64_t row;
	struct hvm vm;

	for (enum hvm_version v = HVM_17; v <= HVM_25; v++) {
		hvm_make(&vm, memory, v);
		hvm_frame(&vm, HVM_METHOD, v, 6, 12);
		memset(&a, 0, sizeof(a));
		ask(&vm, HVM_METHOD + HVM_HEADER);
		assert_true(a.has_vm);
		assert_memory_equal(&a.vm.method, v == HVM_17 ? &of_17 : &of_25, sizeof(of_17));
	}
	memcpy(&row, hvm_at(&vm, vm.structs + 48), 8); /* the name of the version's type */
	*hvm_at(&vm, row) = 'X';
	memset(&a, 0, sizeof(a));
	ask(&vm, HVM_METHOD + HVM_HEADER);
	assert_true(a.has_vm);
	assert_memory_equal(&a.vm.method, &none, sizeof(none));
}

static void test_names(void **state)
{
	check_names(HVM_17);
	check_names(HVM_25);
}

static void test_several_at_once(void **state)
{
	const uint64_t pcs[] = { HVM_STUB + HVM_HEADER, 1, HVM_METHOD + HVM_HEADER, HVM_METHOD + HVM_HEADER + 1 };
	unsigned found = 0;
	size_t first;
	struct hvm vm;

	hvm_make(&vm, memory, HVM_17);
	assert_int_equal(hvm_ask(&vm, pcs, 4, &a), 0);
	for (size_t i = 0; i < a.b.n; i++)
		found += a.entries[i].kind == JIT_FUNCTION;
	assert_int_equal(found, 2); /* two of the addresses are in one function */
	/* What is known of the VM need not be looked up again. */
	first = a.units;
	assert_int_equal(hvm_ask(&vm, pcs, 4, &a), 0);
	assert_true(a.units < first);
}

/* The VM has just been loaded: there is no code cache yet. */
static void test_early(void **state)
{
	struct hvm vm;

	hvm_make(&vm, memory, HVM_17);
	assert_non_null(ask(&vm, HVM_STUB + HVM_HEADER));
	hvm_put(&vm, a.layout.heaps, 0, 8);
	assert_null(ask(&vm, HVM_STUB + HVM_HEADER));
}

/* --- scopes --- */

static const struct jit_entry *note_of(enum jit_kind kind, unsigned n)
{
	for (size_t i = 0; i < a.b.n; i++) {
		if (a.entries[i].kind == kind && !n--)
			return &a.entries[i];
	}
	return NULL;
}

static void ask_scopes(const struct hvm *vm)
{
	a.scopes = true;
	ask(vm, HVM_METHOD + HVM_HEADER);
	a.scopes = false;
}

/* A method's name, its source, and three lines. */
static void is_described(const struct jit_entry *e, const char *name, const char *source)
{
	static const uint8_t lines[] = { 3, 0, 10, 20, 1, 20, 1 };
	const char *data = a.names + e->name;

	assert_string_equal(data, name);
	data += strlen(name) + 1;
	assert_string_equal(data, source);
	data += strlen(source) + 1;
	assert_int_equal(e->name_len, data - (a.names + e->name) + sizeof(lines));
	assert_memory_equal(data, lines, sizeof(lines));
}

static void check_scopes(enum hvm_version v)
{
	/* Behind the two ids: scopes with the outer one, method and bytecode; places with their scope. */
	static const uint8_t rest[] = { 3, 0, 0, 5, 1, 1, 21, 0, 0, 0,
					4, 0, 1, 41, 2, 61, 3, 59, 0 };
	const struct jit_entry *outer, *inner, *scopes;
	const char *data;
	struct hvm vm;

	memset(&a, 0, sizeof(a));
	hvm_make(&vm, memory, v);
	hvm_scopes(&vm, v);
	ask_scopes(&vm);
	outer = note_of(JIT_METHOD, 0);
	inner = note_of(JIT_METHOD, 1);
	scopes = note_of(JIT_SCOPES, 0);
	assert_true(outer && inner && scopes);
	is_described(outer, HVM_NAME, "a/b/C.java");
	is_described(inner, HVM_INNER, "a/b/D.java");
	assert_int_equal(scopes->start, HVM_METHOD + HVM_HEADER);
	data = a.names + scopes->name;
	assert_int_equal(data[0], 2);
	assert_memory_equal(data + 1, &outer->start, 8);
	assert_memory_equal(data + 9, &inner->start, 8);
	assert_int_equal(scopes->name_len, 17 + sizeof(rest));
	assert_memory_equal(data + 17, rest, sizeof(rest));
}

static void test_scopes(void **state)
{
	check_scopes(HVM_17);
	check_scopes(HVM_25);
}

/* A method that is known is not described again. */
static void test_known_methods(void **state)
{
	struct hvm vm;
	uint64_t id;

	hvm_make(&vm, memory, HVM_17);
	hvm_scopes(&vm, HVM_17);
	ask_scopes(&vm);
	id = note_of(JIT_METHOD, 1)->start;
	a.known[id % HOTSPOT_KNOWN] = id + HOTSPOT_KNOWN; /* the slot is taken */
	a.known[(id + 1) % HOTSPOT_KNOWN] = id;
	ask_scopes(&vm);
	assert_non_null(note_of(JIT_METHOD, 0));
	assert_null(note_of(JIT_METHOD, 1));
	assert_non_null(note_of(JIT_SCOPES, 0));
	/* Another method in the same memory is another method. */
	hvm_put(&vm, vm.inner + 8, vm.inner + 8, 8);
	ask_scopes(&vm);
	assert_null(note_of(JIT_SCOPES, 0));
}

/* Code without scopes says so once; nothing is said that was not asked for. */
static void test_no_scopes(void **state)
{
	const uint64_t pcs[] = { HVM_STUB + HVM_HEADER, HVM_STUB + HVM_HEADER + 8 };
	struct hvm vm;

	hvm_make(&vm, memory, HVM_25);
	hvm_scopes(&vm, HVM_25);
	a.scopes = true;
	assert_int_equal(hvm_ask(&vm, pcs, 2, &a), 0);
	assert_int_equal(note_of(JIT_SCOPES, 0)->name_len, 0);
	assert_null(note_of(JIT_SCOPES, 1));
	a.scopes = false;
	ask(&vm, HVM_METHOD + HVM_HEADER);
	assert_null(note_of(JIT_SCOPES, 0));
}

/* What contradicts itself: where, and what is put there. Of places and scopes the distance is given. */
static const struct contradiction {
	enum { IN_PLACES, IN_SCOPES, IN_METHODS } in;
	unsigned at;
	uint64_t value;
	unsigned width;
} contradictions[] = {
	{ IN_PLACES, 0, 0, 4 },                  /* the list has no beginning, */
	{ IN_PLACES, 5 * HVM_PLACE, HVM_REST + 1, 4 }, /* no end, */
	{ IN_PLACES, 5 * HVM_PLACE + 4, HVM_REST_SCOPE, 4 },
	{ IN_PLACES, 2 * HVM_PLACE, HVM_PART, 4 },     /* no order */
	{ IN_PLACES, 2 * HVM_PLACE + 4, 15, 4 }, /* a scope at the end of them */
	{ IN_PLACES, 2 * HVM_PLACE + 4, 1 << 20, 4 },
	{ IN_SCOPES, HVM_INNER_SCOPE, HVM_INNER_SCOPE, 1 }, /* its own outer one, */
	{ IN_SCOPES, HVM_INNER_SCOPE, HVM_REST_SCOPE, 1 },  /* or a later one */
	{ IN_SCOPES, HVM_INNER_SCOPE + 1, 0, 1 },           /* no method */
	{ IN_SCOPES, HVM_INNER_SCOPE + 1, 3, 1 },
	{ IN_SCOPES, HVM_INNER_SCOPE + 2, HVM_BYTECODES + 1, 1 },
	{ IN_SCOPES, HVM_OUTER_SCOPE + 1, 2, 1 },           /* the outermost method is another one */
	{ IN_METHODS, 8, 0, 8 },
	{ IN_METHODS, 8, HVM_BASE + HVM_BYTES, 8 },
};

static void test_contradictions(void **state)
{
	struct hvm vm;

	for (size_t i = 0; i < sizeof(contradictions) / sizeof(contradictions[0]); i++) {
		const struct contradiction *c = &contradictions[i];
		uint64_t at[] = { hvm_places(HVM_17), HVM_SCOPES, hvm_metadata(HVM_17) };

		hvm_make(&vm, memory, HVM_17);
		hvm_scopes(&vm, HVM_17);
		hvm_put(&vm, at[c->in] + c->at, c->value, c->width);
		memset(&a, 0, sizeof(a));
		ask_scopes(&vm);
		if (note_of(JIT_SCOPES, 0))
			fail_msg("contradiction %zu was not noticed", i);
		is(ask(&vm, HVM_METHOD + HVM_HEADER), HVM_METHOD, HVM_METHOD_SEGMENTS, HVM_NAME);
	}
}

/* --- what is not understood --- */

static void is_not_understood(const struct hvm *vm)
{
	const uint64_t pc = HVM_METHOD + HVM_HEADER;

	assert_int_equal(hvm_ask(vm, &pc, 1, &a), -ENOTSUP);
	assert_int_equal(a.b.n, 0);
	assert_false(a.layout.known);
}

/* Any member that is missing: a version that was not foreseen. */
static void test_missing_member(void **state)
{
	unsigned understood = 0;
	struct hvm vm;

	for (unsigned row = 0; row < 40; row++) {
		const uint64_t pc = HVM_STUB + HVM_HEADER;

		hvm_make(&vm, memory, HVM_25);
		hvm_put(&vm, vm.structs + row * 48 + 8, vm.structs + 10000, 8);
		memset(&a, 0, sizeof(a));
		understood += !hvm_ask(&vm, &pc, 1, &a);
	}
	assert_int_equal(understood, 18); /* the row that no one needs, and those for frames, lines and scopes */
	memset(&a, 0, sizeof(a));
	hvm_make(&vm, memory, HVM_25);
	hvm_put(&vm, vm.types, 0, 8);
	is_not_understood(&vm);
}

static void test_other_tables(void **state)
{
	struct hvm vm;

	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.stride, 56, 8);
	is_not_understood(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, HVM_BASE, 0, 1); /* no ELF file */
	is_not_understood(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.structs + 3 * 48 + 32, 1 << 20, 8); /* an offset */
	is_not_understood(&vm);
}

/* --- hostile memory --- */

static void is_unknown(const struct hvm *vm)
{
	memset(&a, 0, sizeof(a));
	assert_null(ask(vm, HVM_METHOD + HVM_HEADER));
}

static void test_hostile_numbers(void **state)
{
	struct hvm vm;

	hvm_make(&vm, memory, HVM_17);
	memset(hvm_at(&vm, vm.segmap), 1, 512); /* the block begins before the heap */
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, HVM_METHOD, ~0ULL, 8); /* its length */
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, HVM_METHOD + 8, 0, 1); /* it is not in use */
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, HVM_METHOD, 2, 8); /* its code ends behind it */
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.blob + 32, HVM_STUB, 8); /* its code begins before it */
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.heap + 256, 64, 4); /* log2 of a segment */
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.heap + 8 + 24, ~0ULL, 8); /* the heap's end: its map ends sooner */
	assert_null(ask(&vm, HVM_BASE + (64ULL << 30)));
}

static void test_hostile_names(void **state)
{
	const struct jit_entry *e;
	struct hvm vm;

	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.method_name + 4, 0xffff, 2);
	e = ask(&vm, HVM_METHOD + HVM_HEADER);
	assert_int_equal(e->name_len, strlen("int[] a.b.C.run")); /* it ends at a NUL */
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.method_name + 4, 0, 2);
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.blob + 96, HVM_BASE + HVM_BYTES - 1, 8); /* the blob's name: unreadable behind */
	is_unknown(&vm);
	hvm_make(&vm, memory, HVM_17);
	hvm_put(&vm, vm.blob + 112, 0xffffffff81000000ULL, 8); /* the method */
	is_unknown(&vm);
}

/* Any bytes may be anywhere: the parser ends, and its answers are sound. */
static void test_any_bytes(void **state)
{
	enum { TURNS = 400, CHANGES = 4 }; /* fuzzing makes more (tests/fuzz/target_hotspot.c) */
	const uint64_t pcs[] = { HVM_STUB + HVM_HEADER, HVM_METHOD + HVM_HEADER, HVM_INTERPRETER + HVM_HEADER };
	struct hvm vm;

	srandom(17);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		hvm_make(&vm, memory, turn % 2 ? HVM_17 : HVM_25);
		hvm_scopes(&vm, turn % 2 ? HVM_17 : HVM_25);
		for (unsigned i = 0; i < CHANGES; i++) {
			size_t used = random() % 2 ? vm.at : 2048;
			size_t from = random() % 4 ? 0 : HVM_SCOPES - HVM_BASE - 128;

			memory[from + random() % (from ? 256 : used)] = random() % 3 ? random() : 0xff;
		}
		memset(&a, 0, sizeof(a));
		a.scopes = true;
		hvm_ask(&vm, pcs, 3, &a);
		assert_true(a.units <= SNAPSHOT_UNITS);
		for (size_t i = 0; i < a.b.n; i++) {
			if (a.entries[i].kind <= JIT_INTERPRETER)
				assert_true(jit_entry_is_sound(&a.entries[i], a.b.nnames));
		}
	}
}

static void test_bad_file(void **state)
{
	size_t n = sizeof(struct hotspot_question) + sizeof(struct memory_unit);
	struct hotspot_question *q = calloc(1, n);
	struct jit_batch b = { .entries = a.entries, .room = 8, .names = a.names, .names_room = 100 };

	assert_int_equal(hotspot_parse(q, sizeof(*q) - 1, &b), -EBADMSG);
	assert_int_equal(hotspot_parse(q, n - 1, &b), -EBADMSG);
	q->npcs = HOTSPOT_PCS + 1;
	assert_int_equal(hotspot_parse(q, n, &b), -EBADMSG);
	free(q);
}

/* --- parts --- */

static void names(const char *class, const char *method, const char *signature, const char *want)
{
	struct java_symbol c = { class, strlen(class) }, m = { method, strlen(method) };
	struct java_symbol s = { signature, strlen(signature) };
	char name[128];

	assert_int_equal(javaname_method(c, m, s, name, sizeof(name)), strlen(want));
	assert_string_equal(name, want);
}

static void test_java_names(void **state)
{
	names("Calls", "burn", "(J)J", "long Calls.burn(long)");
	names("a/B$C", "<init>", "()V", "void a.B$C.<init>()");
	names("A", "m", "([[BLx/Y;Z)[Lx/Y;", "x.Y[] A.m(byte[][], x.Y, boolean)");
	names("A", "m", "(CDFIS)V", "void A.m(char, double, float, int, short)");
	names("A$$Lambda+0x0000", "run", "()V", "void A$$Lambda/0x0000.run()");
	names("A", "m", "(Lx/Y)V", "A.m");
	names("A", "m", "(Q)V", "A.m");
	names("A", "m", "(J", "A.m");
	names("A", "m", "([)V", "A.m");
	names("A", "m", "()VV", "A.m");
	names("A", "m", "", "A.m");
}

static void test_long_java_name(void **state)
{
	struct java_symbol s = { "abcdefgh", 8 }, sig = { "()V", 3 };
	char name[16];

	assert_int_equal(javaname_method(s, s, sig, name, sizeof(name)), 15);
	assert_string_equal(name, "void abcdefgh.a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_names, start_anew),
		cmocka_unit_test(interpreted_methods),
		cmocka_unit_test_setup(test_several_at_once, start_anew),
		cmocka_unit_test_setup(test_early, start_anew),
		cmocka_unit_test_setup(test_scopes, start_anew),
		cmocka_unit_test_setup(test_known_methods, start_anew),
		cmocka_unit_test_setup(test_no_scopes, start_anew),
		cmocka_unit_test_setup(test_contradictions, start_anew),
		cmocka_unit_test_setup(test_missing_member, start_anew),
		cmocka_unit_test_setup(test_other_tables, start_anew),
		cmocka_unit_test_setup(test_hostile_numbers, start_anew),
		cmocka_unit_test_setup(test_hostile_names, start_anew),
		cmocka_unit_test_setup(test_any_bytes, start_anew),
		cmocka_unit_test_setup(test_bad_file, start_anew),
		cmocka_unit_test(test_java_names),
		cmocka_unit_test(test_long_java_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
