/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/xml.h"

/* The parser's events on one line: "<name a=b>", "text", "</name>". */
static void say_start(void *ctx, const struct xml_element *e)
{
	buf_printf(ctx, "<%s", e->name);
	for (size_t i = 0; i < e->nattrs; i++)
		buf_printf(ctx, " %s=%s", e->attrs[i].name, e->attrs[i].value);
	buf_puts(ctx, ">");
}

static void say_text(void *ctx, const char *text)
{
	buf_puts(ctx, text);
}

static void say_end(void *ctx, const char *name)
{
	buf_printf(ctx, "</%s>", name);
}

static const struct xml_handler sayer = { say_start, say_text, say_end };

static int parse(const char *s, size_t n, struct buf *out, size_t *line)
{
	buf_puts(out, "");
	return xml_parse(s, n, &sayer, out, line);
}

static void assert_says(const char *xml, const char *expect)
{
	struct buf out = { 0 };

	assert_int_equal(parse(xml, strlen(xml), &out, NULL), 0);
	assert_string_equal(out.data, expect);
	buf_free(&out);
}

static void elements_attributes_and_text(void **state)
{
	assert_says("", "");
	assert_says(" \n\n", "");
	assert_says("<a x=\"1\" y='2'/>", "<a x=1 y=2></a>");
	assert_says("<a\n x = \"1\"\n>\n <b/> t e x t\n</a>", "<a x=1><b></b>t e x t</a>");
	assert_says("<?xml version=\"1.0\"?>\n<!-- <no/> -->\n<!DOCTYPE x>\n<a/>", "<a></a>");
	assert_says("<process>./cpu 500000</process>", "<process>./cpu 500000</process>");
	assert_says("<a x=\"\"/>", "<a x=></a>");
}

static void escapes_are_decoded(void **state)
{
	assert_says("<a x=\"&lt;&gt;&amp;&quot;&apos;\"/>", "<a x=<>&\"'></a>");
	assert_says("<a x=\"%41%%c3%%a4%\"/>", "<a x=A\xc3\xa4></a>");
	assert_says("<a x=\"50% 5%2 %zz% %4\"/>", "<a x=50% 5%2 %zz% %4></a>");
	assert_says("<a x=\"a%00%b\"/>", "<a x=ab></a>");
	assert_says("<a>&unknown; &amp;lt;</a>", "<a>&unknown; &lt;</a>");
}

static void text_in_no_element_is_told(void **state)
{
	static const char junk[] = "<a/>\nstray</b>\n<c/>";
	struct buf out = { 0 };
	size_t line;

	assert_int_equal(parse(junk, sizeof(junk) - 1, &out, &line), 1);
	assert_int_equal(line, 2);
	assert_string_equal(out.data, "<a></a></b><c></c>");
	buf_free(&out);
}

static void padding_is_passed_over(void **state)
{
	static const char padded[] = "<a/>\n\0\0\0\0\n<b/>\0\0\n";
	struct buf out = { 0 };

	assert_int_equal(parse(padded, sizeof(padded) - 1, &out, NULL), 0);
	assert_string_equal(out.data, "<a></a><b></b>");
	buf_free(&out);
}

static void what_cannot_be_read_names_its_line(void **state)
{
	static const char *const broken[] = {
		"<a/>\n<b/>\n<",	    "<a/>\n<b/>\n<c",	   "<a/>\n<b/>\n<c x",
		"<a/>\n<b/>\n<c x=",	    "<a/>\n<b/>\n<c x=1/>", "<a/>\n<b/>\n<c x=\"1",
		"<a/>\n<b/>\n<c x=\"1\"",   "<a/>\n<b/>\n</",	   "<a/>\n<b/>\n</c",
		"<a/>\n<b/>\n<c / >",	    "<a/>\n<b/>\n<!--",	   "<a/>\n<b/>\n<?",
		"<a/>\n<b/>\n< c/>",
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct buf out = { 0 };
		size_t line = 0;

		assert_int_equal(parse(broken[i], strlen(broken[i]), &out, &line), -1);
		assert_int_equal(line, 3);
		assert_string_equal(out.data, "<a></a><b></b>");
		buf_free(&out);
	}
}

static void too_many_attributes_are_dropped(void **state)
{
	struct buf xml = { 0 }, out = { 0 };

	buf_puts(&xml, "<a");
	for (int i = 0; i < 3 * XML_MAX_ATTRS; i++)
		buf_printf(&xml, " a%d=\"%d\"", i, i);
	buf_puts(&xml, "/><b/>");
	assert_int_equal(parse(xml.data, xml.len, &out, NULL), 0);
	assert_non_null(strstr(out.data, " a63=63></a><b></b>"));
	buf_free(&xml);
	buf_free(&out);
}

static void depth_costs_nothing(void **state)
{
	struct buf xml = { 0 };
	static const struct xml_handler deaf;

	for (int i = 0; i < 1000000; i++)
		buf_puts(&xml, "<a>");
	assert_int_equal(xml_parse(xml.data, xml.len, &deaf, NULL, NULL), 0);
	buf_free(&xml);
}

static void keep_value(void *ctx, const struct xml_element *e)
{
	*(char **)ctx = strdup(xml_get(e, "v"));
}

static void every_byte_survives_escaping(void **state)
{
	static const struct xml_handler handler = { .start = keep_value };
	struct buf b = { 0 };
	char all[256], *got = NULL;

	for (int i = 0; i < 255; i++)
		all[i] = i + 1;
	all[255] = '\0';
	buf_puts(&b, "<e");
	xml_attr(&b, "v", all);
	buf_puts(&b, "/>");
	for (size_t i = 0; i < b.len; i++)
		assert_true((unsigned char)b.data[i] < 0x7f);
	assert_int_equal(xml_parse(b.data, b.len, &handler, &got, NULL), 0);
	assert_string_equal(got, all);
	free(got);
	buf_free(&b);
}

static void a_percent_is_no_escape_of_ours(void **state)
{
	static const struct xml_handler handler = { .start = keep_value };
	struct buf b = { 0 };
	char *got = NULL;

	buf_puts(&b, "<e");
	xml_attr(&b, "v", "5%20%x %%41%");
	buf_puts(&b, "/>");
	assert_int_equal(xml_parse(b.data, b.len, &handler, &got, NULL), 0);
	assert_string_equal(got, "5%20%x %%41%");
	free(got);
	buf_free(&b);
}

static struct xml_element with(const char *value)
{
	return (struct xml_element){ .name = "e", .attrs = { { "v", value } }, .nattrs = 1 };
}

static void numbers_saturate(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} ints[] = {
		{ "42", 42 }, { "-42", -42 }, { "+0x00001000", 4096 }, { "010", 10 }, { "", -7 },
		{ "x", -7 }, { "12abc", 12 }, { "0x", -7 },
		{ "9223372036854775807", INT64_MAX }, { "9223372036854775808", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN }, { "99999999999999999999999", INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
		struct xml_element e = with(ints[i].text);

		assert_int_equal(xml_get_int(&e, "v", -7), ints[i].value);
		assert_int_equal(xml_get_int(&e, "none", -7), -7);
	}
	assert_int_equal(xml_get_hex(&(struct xml_element){ 0 }, "v", 5), 5);
	struct xml_element hex = with("0xffffffff81000000"), bare = with("ff"),
			   big = with("fffffffffffffffff");

	assert_int_equal(xml_get_hex(&hex, "v", 0), 0xffffffff81000000);
	assert_int_equal(xml_get_hex(&bare, "v", 0), 0xff);
	assert_int_equal(xml_get_hex(&big, "v", 0), UINT64_MAX);
}

static void times_are_exact_to_the_nanosecond(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} times[] = {
		{ "895.537841267", 895537841267 }, { "0.000000001", 1 }, { "1", 1000000000 },
		{ "1.5", 1500000000 }, { "-0.5", -500000000 }, { "", -1 }, { "abc", -1 },
		{ "1.0000000019", 1000000001 }, { "99999999999999999999", INT64_MAX },
		{ "18446744073.999999999", INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct xml_element e = with(times[i].text);

		assert_int_equal(xml_get_time(&e, "v", -1), times[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_attributes_and_text),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(text_in_no_element_is_told),
		cmocka_unit_test(padding_is_passed_over),
		cmocka_unit_test(what_cannot_be_read_names_its_line),
		cmocka_unit_test(too_many_attributes_are_dropped),
		cmocka_unit_test(depth_costs_nothing),
		cmocka_unit_test(every_byte_survives_escaping),
		cmocka_unit_test(a_percent_is_no_escape_of_ours),
		cmocka_unit_test(numbers_saturate),
		cmocka_unit_test(times_are_exact_to_the_nanosecond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
