/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/goswitch.h"

#include <string.h>

enum { DISTANCE_MAX = 1 << 14, WORD = 8 };

/*
 * A pattern of code: bytes, and ANY for each byte of a distance. The places of distances are those of
 * the instructions, so they are known where a pattern is used.
 */
enum { ANY = -1 };

static bool matches(const unsigned char *p, const int16_t *pattern, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pattern[i] != ANY && p[i] != pattern[i])
			return false;
	return true;
}

/* Where the pattern is in p[from..n); n: nowhere. */
static size_t find(const unsigned char *p, size_t from, size_t n, const int16_t *pattern, size_t len)
{
	for (size_t at = from; at + len <= n; at++)
		if (matches(p + at, pattern, len))
			return at;
	return n;
}

#define LENGTH(pattern) (sizeof(pattern) / sizeof((pattern)[0]))
#define FIND(p, from, n, pattern) find(p, from, n, pattern, LENGTH(pattern))

static int32_t number_at(const unsigned char *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool is_distance(int32_t v)
{
	return v > 0 && v < DISTANCE_MAX && !(v % WORD);
}

/* The end of runtime.systemstack: it calls, and goes back to the goroutine's stack. */
static const int16_t systemstack[] = {
	0xff, 0xd7,                                     /* call *%rdi */
	0x64, 0x48, 0x8b, 0x04, 0x25, ANY, ANY, ANY, ANY, /* mov %fs:G,%rax */
	0x48, 0x8b, 0x58, ANY,                          /* mov M(%rax),%rbx */
	0x48, 0x8b, 0x83, ANY, ANY, ANY, ANY,           /* mov CURG(%rbx),%rax */
	0x64, 0x48, 0x89, 0x04, 0x25, ANY, ANY, ANY, ANY, /* mov %rax,%fs:G */
	0x48, 0x8b, 0x60, ANY,                          /* mov SP(%rax),%rsp */
};

/* The same in a position-independent program. */
static const int16_t systemstack_pie[] = {
	0xff, 0xd7,                               /* call *%rdi */
	0x48, 0xc7, 0xc1, ANY, ANY, ANY, ANY,     /* mov $G,%rcx */
	0x64, 0x48, 0x8b, 0x01,                   /* mov %fs:(%rcx),%rax */
	0x48, 0x8b, 0x58, ANY,                    /* mov M(%rax),%rbx */
	0x48, 0x8b, 0x83, ANY, ANY, ANY, ANY,     /* mov CURG(%rbx),%rax */
	0x64, 0x48, 0x89, 0x01,                   /* mov %rax,%fs:(%rcx) */
	0x48, 0x8b, 0x60, ANY,                    /* mov SP(%rax),%rsp */
};

/* A form of this code, and where its distances are. */
static const struct form {
	const int16_t *code;
	uint8_t n, g, m, curg, g_again, sp;
} forms[] = {
	{ systemstack, LENGTH(systemstack), 7, 14, 18, 27, 34 },
	{ systemstack_pie, LENGTH(systemstack_pie), 5, 16, 20, 5, 31 },
};

/* The form that is in p[0..n), and where it begins. NULL: none. */
static const struct form *find_form(const unsigned char *p, size_t n, size_t *at)
{
	for (const struct form *f = forms; f < forms + LENGTH(forms); f++) {
		*at = find(p, 0, n, f->code, f->n);
		if (*at < n)
			return f;
	}
	return NULL;
}

void goswitch_learn(struct goswitch *s, const unsigned char *p, size_t n)
{
	size_t at;
	const struct form *f = find_form(p, n, &at);
	int32_t g, m, curg, sp;

	*s = (struct goswitch){ 0 };
	if (!f)
		return;
	p += at;
	g = number_at(p + f->g);
	m = p[f->m];
	curg = number_at(p + f->curg);
	sp = p[f->sp];
	if (g != number_at(p + f->g_again) || !is_distance(-g) || !is_distance(m) ||
	    !is_distance(curg) || !is_distance(sp) || m > INT8_MAX || sp > INT8_MAX)
		return;
	*s = (struct goswitch){ .g = g, .m = m, .curg = curg, .sp = sp };
}

static struct er_unwind_rule rule_of(const struct goswitch *s, enum er_go_switch kind)
{
	return (struct er_unwind_rule){ .cfa = ER_CFA_GO, .reg = kind, .cfa_off = s->g,
					.bp_off = s->m | s->curg << 16, .cfa_add = s->sp };
}

static bool find_systemstack(const struct goswitch *s, const unsigned char *p, size_t n,
			     struct goswitch_part *ret)
{
	size_t at;
	const struct form *f = find_form(p, n, &at);

	if (!f)
		return false;
	*ret = (struct goswitch_part){ .from = at, .to = at + f->n, .rule = rule_of(s, ER_GO_CALLED) };
	return true;
}

/* runtime.asmcgocall calls a C function. Before that, it changes to the thread's stack. */
static bool find_asmcgocall(const struct goswitch *s, const unsigned char *p, size_t n,
			    struct goswitch_part *ret)
{
	const int16_t change[] = { 0x48, 0x8b, 0x66, s->sp }; /* mov SP(%rsi),%rsp */
	static const int16_t call[] = { 0xff, 0xd0 };         /* call *%rax */
	size_t at = FIND(p, 0, n, change), end = FIND(p, at, n, call);

	*ret = (struct goswitch_part){ .from = at, .to = end + LENGTH(call),
				       .rule = rule_of(s, ER_GO_CALLED) };
	return end < n;
}

/* runtime.morestack calls runtime.newstack, at once after it has changed to the thread's stack. */
static bool find_morestack(const struct goswitch *s, const unsigned char *p, size_t n,
			   struct goswitch_part *ret)
{
	const int16_t change[] = { 0x48, 0x8b, 0x63, s->sp };    /* mov SP(%rbx),%rsp */
	static const int16_t call[] = { 0xe8, ANY, ANY, ANY, ANY }; /* call newstack */
	size_t at = FIND(p, 0, n, change), end = at;

	if (at == n)
		return false;
	end += LENGTH(change);
	if (end + 4 <= n && p[end] == 0x48 && p[end + 1] == 0x8b && p[end + 2] == 0x6b)
		end += 4; /* mov BP(%rbx),%rbp */
	if (end + LENGTH(call) > n || !matches(p + end, call, LENGTH(call)))
		return false;
	*ret = (struct goswitch_part){ .from = at, .to = end + LENGTH(call),
				       .rule = rule_of(s, ER_GO_GREW) };
	return true;
}

/*
 * The functions that read a clock call the vdso on the thread's stack. They have kept their CFA in m
 * for Go's own profiler.
 */
static bool find_clock(const struct goswitch *s, const unsigned char *p, size_t n,
		       struct goswitch_part *ret)
{
	static const int16_t keep[] = {
		0x48, 0x8b, 0x4a, 0xf8,                /* mov -8(%rdx),%rcx */
		0x48, 0x89, 0x8b, ANY, ANY, ANY, ANY,  /* mov %rcx,VDSOPC(%rbx) */
		0x48, 0x89, 0x93, ANY, ANY, ANY, ANY,  /* mov %rdx,VDSOSP(%rbx) */
	};
	static const int16_t back[] = { 0x4c, 0x89, 0xe4 }; /* mov %r12,%rsp */
	size_t at = FIND(p, 0, n, keep), end = FIND(p, at, n, back);
	int32_t sp;

	if (end == n)
		return false;
	sp = number_at(p + at + LENGTH(keep) - sizeof(sp));
	*ret = (struct goswitch_part){ .from = at + LENGTH(keep), .to = end + LENGTH(back), .returns = true,
				       .rule = rule_of(s, ER_GO_CLOCK) };
	ret->rule.cfa_add = sp;
	return is_distance(sp);
}

/* The names of functions that Go's own assembly calls may have this suffix. */
static bool is_named(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return !strncmp(name, wanted, n) && (!name[n] || !strcmp(name + n, ".abi0"));
}

bool goswitch_find(const struct goswitch *s, const char *name, const unsigned char *p, size_t n,
		   struct goswitch_part *ret)
{
	if (!s->g)
		return false;
	if (is_named(name, "runtime.systemstack"))
		return find_systemstack(s, p, n, ret);
	if (is_named(name, "runtime.morestack"))
		return find_morestack(s, p, n, ret);
	if (is_named(name, "runtime.asmcgocall"))
		return find_asmcgocall(s, p, n, ret);
	if (is_named(name, "runtime.nanotime1") || is_named(name, "runtime.walltime") ||
	    is_named(name, "time.now"))
		return find_clock(s, p, n, ret);
	return false;
}
