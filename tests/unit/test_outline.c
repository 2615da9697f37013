/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts that were split off functions: which function each belongs to, its name, and its callers.
 */
#include "analysis/model/outline.h"
#include "analysis/model/source.h"
#include "analysis/views/view_state.h"
#include "tests/unit/session_fixture.h"

static void names_of_parts_say_what_they_were_split_off(void **state)
{
	static const struct {
		const char *symbol, *parent;
	} names[] = {
		{ "main.cold", "main" },
		{ "main.cold.17", "main" },
		{ "f.part.0", "f" },
		{ "f.part.0.isra.0", "f" },
		{ "f.constprop.0.part.0", "f.constprop.0" },
		{ "f.part.0.cold", "f.part.0" },
		{ "_ZN1a1bEv.cold", "_ZN1a1bEv" },
		{ "f.cold.part.1", "f.cold" },
		{ "f.cold.lto_priv.0", "f" },
		{ "main", "" },
		{ "f.colder", "" },
		{ "f.parts", "" },
		{ "f.isra.0", "" },
		{ ".cold", "" },
		{ "cold", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(outlined_from(names[i].symbol), strlen(names[i].parent));
}

/*
 * Functions of 16 bytes each from LINKED on, in two compile units. "foo" has the alias "foo2",
 * which lists show.
 */
enum { LINKED = 0x2000, OFFSET = 0x1000, EACH = 16 };

#define RAN 0x7f0000001000ULL

enum which { FOO, FOO_COLD, FOO_PART, FOO_PART_COLD, BAR, INIT, INIT_COLD, LONE_PART, COLDER,
	     INIT2, INIT2_COLD };

static const char library[] =
	"printf '%%s\\n' '.macro f n' '.type \\n, @function' '\\n:' '.rept 16' 'nop' '.endr' '.size \\n, 16'"
	" '.endm' '.globl foo, foo2, foo.colder' 'f foo' 'f foo.cold' 'f foo.part.0' 'f foo.part.0.cold'"
	" 'f bar' 'f init' 'f init.cold' 'f lone.part.3' 'f foo.colder' '.set foo2, foo' "
	"'.type foo2, @function' >a.s && "
	"(sed -n 1,8p a.s; printf '%%s\\n' 'f init' 'f init.cold') >b.s && "
	"gcc %s -shared -nostdlib -Wl,-z,noseparate-code,-Ttext=0x2000,--build-id=none -o lib.so "
	"a.s b.s && touch -d @1600000000 lib.so";

static void open_library(struct opened *o, const char *flags, void (*record)(struct opened *o))
{
	__cleanup(freep) char *make = xasprintf(library, flags), *line = NULL, *path = NULL;

	fixture_new(o);
	line = xasprintf("cd '%s' && %s", o->dir, make);
	path = xasprintf("%s/lib.so", o->dir);
	assert_int_equal(system(line), 0);
	exp_builder_segment(o->builder, path, RAN, 0x1000, OFFSET);
	record(o);
	fixture_open(o);
}

/* A stack of functions, the root first; -1 ends it. */
static void met(struct opened *o, uint32_t ticks, const int *stack)
{
	struct buf b = { 0 };

	for (; *stack >= 0; stack++)
		buf_printf(&b, "%s0x%llx", b.len ? ">" : "", RAN + *stack * EACH + 4);
	exp_builder_profile(o->builder, 1, b.data, MS_USER, ticks);
	buf_free(&b);
}

#define MET(o, ticks, ...) met(o, ticks, (const int[]){ __VA_ARGS__, -1 })

/* Found by address, because several functions may have the same name. */
static struct func *func_at(struct opened *o, enum which which)
{
	view_tally(&o->view);
	vec_for_each(f, &o->session->funcs) {
		if ((*f)->addr == LINKED + which * EACH && (*f)->obj->symtab)
			return *f;
	}
	fail();
	return NULL;
}

static int64_t inclusive(struct opened *o, enum which which)
{
	return tally_incl(view_tally(&o->view), func_at(o, which)->id)[metric_id(o, "user")] /
	       BUILDER_TICK_NS;
}

static void parts_of_one_name(struct opened *o)
{
	MET(o, 1, BAR, FOO_COLD);
	MET(o, 2, BAR, FOO, FOO_PART);       /* by its own function */
	MET(o, 4, BAR, FOO_PART);            /* called by a function that foo was inlined into */
	MET(o, 8, BAR, FOO_PART_COLD);       /* a part of a part */
	MET(o, 16, BAR, FOO, FOO_COLD);      /* foo called itself; cold code is never called */
	MET(o, 32, BAR, LONE_PART, COLDER);  /* no such function */
}

static void parts_are_called_by_their_function(void **state)
{
	struct opened o;

	open_library(&o, "", parts_of_one_name);
	assert_int_equal(inclusive(&o, FOO), 31);
	assert_int_equal(inclusive(&o, FOO_PART), 14);
	assert_int_equal(inclusive(&o, BAR), 63);
	assert_ptr_equal(func_parent(o.session, func_at(&o, FOO_PART_COLD)), func_at(&o, FOO_PART));
	assert_null(func_parent(o.session, func_at(&o, LONE_PART)));
	assert_null(func_parent(o.session, func_at(&o, COLDER)));
	assert_null(func_parent(o.session, func_at(&o, FOO)));
	assert_string_equal(func_outline_name(o.session, func_at(&o, FOO_COLD), true),
			    "foo -- outline code [foo.cold]");
	assert_string_equal(func_outline_name(o.session, func_at(&o, LONE_PART), false),
			    "lone -- outline code [lone.part.3]");
	assert_null(func_outline_name(o.session, func_at(&o, COLDER), false));
	assert_int_equal(attributed(&o, true, "foo.part.0", "foo2", "user"), 14);
	assert_int_equal(attributed(&o, true, "foo2", "foo2", "user"), 16);
	assert_int_equal(attributed(&o, true, "foo2", "bar", "user"), 15);
	fixture_free(&o);
}

static void stacks_can_be_shown_as_recorded(void **state)
{
	struct opened o;

	open_library(&o, "", parts_of_one_name);
	assert_int_equal(inclusive(&o, FOO), 31);
	session_show_outlined(o.session, false);
	view_state_changed(&o.view);
	assert_int_equal(inclusive(&o, FOO), 18);
	assert_string_equal(func_name(&o.view, func_at(&o, FOO_COLD)), "foo.cold");
	session_show_outlined(o.session, true);
	view_state_changed(&o.view);
	assert_int_equal(inclusive(&o, FOO), 31);
	fixture_free(&o);
}

static void parts_of_two_of_a_name(struct opened *o)
{
	MET(o, 1, BAR, INIT_COLD);
	MET(o, 2, BAR, INIT2_COLD);
	MET(o, 4, INIT);
	MET(o, 8, INIT2);
}

static void of_several_functions_of_a_name_the_unit_decides(void **state)
{
	struct opened o;

	open_library(&o, "-g", parts_of_two_of_a_name);
	assert_int_equal(inclusive(&o, INIT), 5);
	assert_int_equal(inclusive(&o, INIT2), 10);
	assert_string_equal(func_outline_name(o.session, func_at(&o, INIT2_COLD), true),
			    "init -- outline code from line 10 [init.cold]");
	assert_true(func_is_part_of(o.session, func_at(&o, INIT_COLD), func_at(&o, INIT)));
	assert_false(func_is_part_of(o.session, func_at(&o, INIT_COLD), func_at(&o, INIT2)));
	fixture_free(&o);
}

static void without_units_nothing_is_guessed(void **state)
{
	struct opened o;

	open_library(&o, "", parts_of_two_of_a_name);
	assert_int_equal(inclusive(&o, INIT), 4);
	assert_int_equal(inclusive(&o, INIT2), 8);
	assert_null(func_parent(o.session, func_at(&o, INIT_COLD)));
	fixture_free(&o);
}

static void the_kernel_s_are_left_alone(void **state)
{
	struct opened o;

	fixture_new(&o);
	exp_builder_profile(o.builder, 1, "k:entry>k:foo", MS_SYSTEM, 1);
	exp_builder_profile(o.builder, 1, "k:entry>k:foo.cold", MS_SYSTEM, 2);
	fixture_open(&o);
	assert_int_equal(incl(&o, "vmlinux`foo", "system"), 1);
	assert_string_equal(func_name(&o.view, the_func(&o, "vmlinux`foo.cold")), "vmlinux`foo.cold");
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_parts_say_what_they_were_split_off),
		cmocka_unit_test(parts_are_called_by_their_function),
		cmocka_unit_test(stacks_can_be_shown_as_recorded),
		cmocka_unit_test(of_several_functions_of_a_name_the_unit_decides),
		cmocka_unit_test(without_units_nothing_is_guessed),
		cmocka_unit_test(the_kernel_s_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
