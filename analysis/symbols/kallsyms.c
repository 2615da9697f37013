/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms has no sizes. A function normally ends at the next symbol. That is right
 * within a run of functions, but wrong before a gap: after a module's last function
 * comes whatever the next allocation holds. Three rules bound it:
 *
 * - Symbols that are not functions (data, and the linker script's marks around text
 *   sections) end a function, but get no name of their own.
 * - If the next symbol is not text of the same owner, or is too far away, a function
 *   ends with the page it starts in: text shares no page with data or another owner.
 * - BPF programs are in 2 MB regions that hold nothing else, so the last one in a region
 *   may be as long as BPF programs get.
 */
#include "analysis/symbols/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/ksymline.h"
#include "analysis/base/vec.h"
#include "analysis/symbols/aliases.h"
#include "analysis/symbols/textblocks.h"

#define KB 1024ULL
#define MB (1024 * KB)

enum {
	TEXT_SIZE_MAX = 256 * 1024 * 1024, /* 50 times that of a big kernel */
	EXACT_MAX = 10, /* length of the longest mark that is a whole name */
};

static const uint64_t PAGE = 4 * KB;	   /* the smallest page size: cuts early, never late */
static const uint64_t FUNC_MAX = 256 * KB; /* a longer distance is a gap */
static const uint64_t BPF_MAX = 64 * KB;
static const uint64_t BPF_REGION = 2 * MB;

enum rank { GLOBAL_TEXT, LOCAL_TEXT, MARK, NO_TEXT };

struct entry {
	uint64_t addr, size; /* size 0: not given */
	const char *name, *module;
	enum rank rank;
};

/* A name of an address whose function is kept under another one. */
struct other {
	uint64_t addr;
	const char *name;
};

struct kallsyms {
	struct textblocks *text; /* the file; names point into it */
	VEC(struct ksym) syms;
	VEC(struct other) others; /* by address */
};


static const char vmlinux[] = "vmlinux";

/* Labels that the linker script puts around text sections; they are not functions. */
static bool is_mark(const char *name)
{
	static const char *const exact[] = { "_text",	   "_stext",	 "_etext",
					     "_sinittext", "_einittext", "__pi__text" };
	static const char *const tails[] = { "_text_start", "_text_end", "_thunk_start",
					     "_thunk_end" };
	size_t len = strlen(name);

	if (name[0] != '_')
		return false;
	for (size_t i = 0; len <= EXACT_MAX && i < sizeof(exact) / sizeof(*exact); i++)
		if (!strcmp(name, exact[i]))
			return true;
	if (name[1] != '_' || (name[len - 1] != 't' && name[len - 1] != 'd'))
		return false; /* true for nearly all names, some ten thousand */
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		size_t n = strlen(tails[i]);

		if (len > n && !strcmp(name + len - n, tails[i]))
			return true;
	}
	return false;
}

static enum rank rank_of(char type, const char *name)
{
	if (type != 't' && type != 'T' && type != 'w' && type != 'W')
		return NO_TEXT;
	/* ARM's mapping symbols and assembler labels are not functions. */
	if (name[0] == '$' || (name[0] == '.' && name[1] == 'L'))
		return NO_TEXT;
	if (is_mark(name))
		return MARK;
	return type == 't' ? LOCAL_TEXT : GLOBAL_TEXT;
}

/* Parse the line in [line, end). The text is modified: names are NUL-terminated in place. */
static bool parse_line(char *line, const char *end, struct entry *e)
{
	struct ksym_line l;

	if (!ksym_line_parse(line, end, &l))
		return false;
	line[l.name + l.name_len - line] = '\0';
	*e = (struct entry){ .addr = l.addr, .size = l.size, .name = l.name, .module = vmlinux };
	if (l.module) {
		line[l.module + l.module_len - line] = '\0';
		e->module = l.module;
	}
	e->rank = rank_of(l.type, l.name);
	return true;
}

static int entry_cmp(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Which of two symbols at one address to keep. */
static const struct entry *better(const struct entry *a, const struct entry *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank ? a : b;
	return alias_cmp(a->name, b->name) <= 0 ? a : b;
}

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return v / to * to + to;
}

static bool same_owner(const struct entry *a, const struct entry *b)
{
	return a->module == b->module || !strcmp(a->module, b->module);
}

/* The size of a function; `next` is the following symbol, NULL for the last. */
static uint64_t extent(const struct entry *e, const struct entry *next)
{
	uint64_t room = next ? next->addr - e->addr : UINT64_MAX - e->addr;
	bool same = next && next->rank != NO_TEXT && same_owner(e, next);
	uint64_t limit;

	if (e->size)
		return e->size < room ? e->size : room;
	if (same && room <= FUNC_MAX)
		return room;
	limit = round_up(e->addr, PAGE) - e->addr;
	if (!strcmp(e->module, "bpf")) {
		limit = round_up(e->addr, BPF_REGION) - e->addr;
		limit = limit < BPF_MAX ? limit : BPF_MAX;
	}
	return limit < room ? limit : room;
}

typedef VEC(struct entry) entries;

static void parse_text(char *text, entries *ret, size_t *nbad)
{
	struct entry e;

	for (char *line = text, *end, *next; *line; line = next) {
		end = strchrnul(line, '\n');
		next = *end ? end + 1 : end; /* parsing overwrites the newline with a NUL */
		if (parse_line(line, end, &e))
			vec_push(ret, e);
		else
			++*nbad;
	}
}

/*
 * Parse lines while the kernel is still generating the list, which takes most of the
 * time. 0 or -1.
 */
static int parse_all(struct kallsyms *k, const char *name, entries *ret, size_t *nbad,
		     struct diag *d)
{
	int err;

	vec_reserve(ret, 128 * 1024);
	for (char *text; (text = textblocks_next(k->text));)
		parse_text(text, ret, nbad);
	err = textblocks_error(k->text);
	if (err == EFBIG)
		return diag_error(d, "%s: too large for a symbol list", name);
	return err ? diag_errno(d, err, "%s: cannot read", name) : 0;
}

/*
 * The kernel lists its own symbols by address. Those of modules and BPF programs, a few
 * thousand at most, follow unsorted: sort these and merge them in.
 */
static void sort(entries *all)
{
	entries tail = { 0 };
	size_t n = 1, m, at;

	while (n < all->len && all->data[n - 1].addr <= all->data[n].addr)
		n++;
	if (n >= all->len)
		return;
	m = all->len - n;
	vec_reserve(&tail, m);
	memcpy(tail.data, all->data + n, m * sizeof(*tail.data));
	tail.len = m;
	vec_sort(&tail, entry_cmp);
	for (at = all->len; m; at--) {
		if (n && all->data[n - 1].addr > tail.data[m - 1].addr)
			all->data[at - 1] = all->data[--n];
		else
			all->data[at - 1] = tail.data[--m];
	}
	vec_free(&tail);
}

/* The symbol to keep of those at the address of *at; moves *at to the next address. */
static const struct entry *take(const struct entry **at, const struct entry *end)
{
	const struct entry *best = *at;

	if (best == end)
		return NULL;
	while (++*at < end && (*at)->addr == best->addr)
		best = better(best, *at);
	return best;
}

static void keep_others(struct kallsyms *k, const struct entry *from, const struct entry *end,
			const struct entry *best)
{
	for (const struct entry *e = from; e < end; e++) {
		if (e != best && e->rank <= LOCAL_TEXT)
			vec_push(&k->others, (struct other){ e->addr, e->name });
	}
}

static void build(struct kallsyms *k, const entries *all)
{
	const struct entry *at = all->data, *end = at + all->len, *next, *from = at;

	vec_reserve(&k->syms, all->len);
	for (const struct entry *e = take(&at, end); e; e = next) {
		keep_others(k, from, at, e);
		from = at;
		next = take(&at, end);
		if (e->rank > LOCAL_TEXT || !e->addr)
			continue;
		vec_push(&k->syms, (struct ksym){ .addr = e->addr, .size = extent(e, next),
						  .name = e->name, .module = e->module });
	}
}

static bool all_hidden(const entries *all)
{
	for (size_t i = 0; i < all->len; i++)
		if (all->data[i].addr)
			return false;
	return all->len > 0;
}

struct kallsyms *kallsyms_read(int fd, const char *name, struct diag *d)
{
	struct kallsyms *k = xcalloc(1, sizeof(*k));
	entries all = { 0 };
	size_t nbad = 0;

	k->text = textblocks_open(fd, TEXT_SIZE_MAX);
	if (parse_all(k, name, &all, &nbad, d) < 0)
		goto fail;
	if (all_hidden(&all)) {
		diag_error(d,
			   "%s: the kernel hides its addresses: run as root or with CAP_SYSLOG, "
			   "or set kernel.kptr_restrict to 0",
			   name);
		goto fail;
	}
	sort(&all);
	build(k, &all);
	if (!k->syms.len) {
		diag_error(d, "%s: has no function symbols", name);
		goto fail;
	}
	if (nbad)
		diag_warn(d, "%s: %zu lines are not symbols and were skipped", name, nbad);
	vec_free(&all);
	return k;
fail:
	vec_free(&all);
	kallsyms_free(k);
	return NULL;
}

struct kallsyms *kallsyms_load(const char *path, struct diag *d)
{
	__cleanup(closep) int fd = -1;
	struct stat st;

	if (!path)
		path = "/proc/kallsyms";
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0) {
		diag_errno(d, errno, "%s: cannot open", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		diag_error(d, "%s: not a regular file", path);
		return NULL;
	}
	return kallsyms_read(fd, path, d);
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	vec_free(&k->syms);
	vec_free(&k->others);
	textblocks_free(k->text);
	free(k);
}

const struct ksym *kallsyms_find(const struct kallsyms *k, uint64_t addr)
{
	size_t n = vec_upto(&k->syms, addr, addr);

	if (!n || addr - k->syms.data[n - 1].addr >= k->syms.data[n - 1].size)
		return NULL;
	return &k->syms.data[n - 1];
}

char *kallsyms_aliases(const struct kallsyms *k, uint64_t addr, const char *name)
{
	const struct ksym *kept = kallsyms_find(k, addr);
	size_t end = vec_upto(&k->others, addr, addr), at = end;
	struct buf b = { 0 };
	bool known;

	if (!kept || kept->addr != addr)
		return NULL;
	known = !strcmp(kept->name, name);
	if (!known)
		buf_puts(&b, kept->name);
	while (at && k->others.data[at - 1].addr == addr)
		at--;
	for (; at < end; at++) {
		const char *other = k->others.data[at].name;

		if (!strcmp(other, name))
			known = true;
		else if (!alias_listed(b.data, other))
			buf_printf(&b, "%s%s", b.len ? " " : "", other);
	}
	buf_add(&b, "", 1);
	if (known)
		return b.data;
	buf_free(&b);
	return NULL;
}
