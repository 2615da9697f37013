/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/javaname.h"

#include <stdbool.h>
#include <string.h>

/* What is written behind `room` is lost. */
struct out {
	char *to;
	size_t n, room;
};

static void put(struct out *o, const char *s, size_t n)
{
	size_t left = o->room - 1 - o->n;

	n = n < left ? n : left;
	memcpy(o->to + o->n, s, n);
	o->n += n;
}

static void put_text(struct out *o, const char *s)
{
	put(o, s, strlen(s));
}

/* "java/lang/String" */
static void put_class(struct out *o, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(o, s[i] == '/' ? "." : s + i, 1);
}

/* The name of a hidden class ends in "+ADDRESS", which Java shows with a slash. */
static void put_holder(struct out *o, struct java_symbol class)
{
	const char *plus = memrchr(class.text, '+', class.n);
	size_t n = plus ? (size_t)(plus - class.text) : class.n;

	put_class(o, class.text, n);
	if (plus) {
		put(o, "/", 1);
		put_class(o, plus + 1, class.n - n - 1);
	}
}

static const char *primitive(char c)
{
	static const char *const names[] = { ['B'] = "byte", ['C'] = "char", ['D'] = "double",
					     ['F'] = "float", ['I'] = "int", ['J'] = "long",
					     ['S'] = "short", ['V'] = "void", ['Z'] = "boolean" };

	return c >= 'B' && c <= 'Z' ? names[(int)c] : NULL;
}

/* Writes one type, such as "[Ljava/lang/String;", unless `o` is NULL. Returns its end; NULL: it is none. */
static const char *put_type(struct out *o, const char *p, const char *end)
{
	const char *base = p, *stop;

	while (base < end && *base == '[')
		base++;
	if (base == end)
		return NULL;
	stop = *base == 'L' ? memchr(base, ';', end - base) : base;
	if (!stop || (*base != 'L' && !primitive(*base)))
		return NULL;
	if (o && *base == 'L')
		put_class(o, base + 1, stop - base - 1);
	else if (o)
		put_text(o, primitive(*base));
	for (; o && p < base; p++)
		put(o, "[]", 2);
	return stop + 1;
}

/* The end of the parameters, which begin behind "("; NULL: malformed. `o` may be NULL. */
static const char *put_parameters(struct out *o, const char *p, const char *end)
{
	for (const char *first = p; p && p < end; p = put_type(o, p, end)) {
		if (*p == ')')
			return p;
		if (o && p > first)
			put(o, ", ", 2);
	}
	return NULL;
}

/* The return type; NULL: the signature is malformed. */
static const char *return_type(struct java_symbol sig)
{
	const char *end = sig.text + sig.n, *p;

	if (!sig.n || *sig.text != '(')
		return NULL;
	p = put_parameters(NULL, sig.text + 1, end);
	return p && put_type(NULL, p + 1, end) == end ? p + 1 : NULL;
}

size_t javaname_method(struct java_symbol class, struct java_symbol method, struct java_symbol signature,
		       char *to, size_t room)
{
	struct out o = { .to = to, .room = room };
	const char *type = return_type(signature), *end = signature.text + signature.n;

	if (type) {
		put_type(&o, type, end);
		put(&o, " ", 1);
	}
	put_holder(&o, class);
	put(&o, ".", 1);
	put(&o, method.text, method.n);
	if (type) {
		put(&o, "(", 1);
		put_parameters(&o, signature.text + 1, end);
		put(&o, ")", 1);
	}
	to[o.n] = 0;
	return o.n;
}

size_t javaname_source(struct java_symbol class, struct java_symbol file, char *to, size_t room)
{
	const char *slash = file.n ? memrchr(class.text, '/', class.n) : NULL;
	struct out o = { .to = to, .room = room };

	if (slash)
		put(&o, class.text, slash + 1 - class.text);
	put(&o, file.text, file.n);
	to[o.n] = 0;
	return strlen(to);
}
