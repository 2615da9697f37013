/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/counters/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "user/counters/counter_names.h"
#include "user/counters/pmu.h"

#define LIST_HINT "-h alone lists the counters"

/* A definition split into its parts, which point into one copy of it. */
struct definition {
	const char *text;   /* as it was written, for messages */
	char *name;
	char *attributes;   /* after the first '~'; NULL: none */
	const char *unit;   /* UNIT/EVENT/: the unit; `name` is then the event */
	int reg;            /* -1 none */
	bool precise;
};

uint64_t counter_prime(uint64_t n)
{
	for (n = n < 2 ? 2 : n;; n++) {
		uint64_t d = 2;

		while (d * d <= n && n % d)
			d++;
		if (d * d > n)
			return n;
	}
}

/* Decimal or hexadecimal, nothing else: no sign, no octal. */
static bool number(const char *s, uint64_t *ret)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const char *digits = hex ? s + 2 : s;
	char *end;

	if (!*digits || strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
		return false;
	errno = 0;
	*ret = strtoull(digits, &end, hex ? 16 : 10);
	return !errno;
}

/* --- intervals --- */

/* The factor of a word, as a fraction. False: the word is not one for an interval. */
static bool interval_word(const char *s, unsigned *times, unsigned *per)
{
	static const struct {
		const char *word;
		unsigned times, per;
	} words[] = {
		{ "", 1, 1 },	   { "on", 1, 1 },   { "hi", 1, 10 },  { "high", 1, 10 },
		{ "h", 1, 10 },	   { "lo", 10, 1 },  { "low", 10, 1 }, { "l", 10, 1 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, s))
			continue;
		*times = words[i].times;
		*per = words[i].per;
		return true;
	}
	return false;
}

/* True if the text after a definition is its interval, valid or not. */
static bool is_interval(const char *s)
{
	unsigned times, per;

	return interval_word(s, &times, &per) || (*s >= '0' && *s <= '9') || *s == '-';
}

static int set_interval(struct counter *c, const char *s, uint64_t usual, uint64_t least,
			struct diag *d)
{
	unsigned times, per;
	uint64_t n;

	if (interval_word(s, &times, &per)) {
		n = times == per ? usual : counter_prime(usual * times / per);
		c->event.interval = n < least ? least : n;
		return 0;
	}
	if (!number(s, &n) || !n || n > COUNTER_MAX_INTERVAL)
		return diag_error(d, "-h %s,%s: not an interval: write on, hi, lo, or a whole number of "
				     "events from 1 to %d", c->name, s, COUNTER_MAX_INTERVAL);
	if (n < least)
		return diag_error(d, "-h %s,%s: the interval is too small, the CPU would do little else: "
				     "write %llu or more", c->name, s, (unsigned long long)least);
	c->event.interval = n;
	return 0;
}

/* --- definitions --- */

static int take_register(struct definition *def, char *slash, struct diag *d)
{
	uint64_t reg;

	*slash = 0;
	if (!number(slash + 1, &reg) || reg > 1000)
		return diag_error(d, "-h '%s': not the number of a register behind the /: leave it out",
				  def->text);
	def->reg = reg;
	return 0;
}

/* UNIT/EVENT/ at the beginning: the text after it. NULL: there is none. */
static char *take_unit(struct definition *def)
{
	char *first = strchr(def->name, '/'), *second = first ? strchr(first + 1, '/') : NULL;
	char *tilde = strchr(def->name, '~');

	if (!second || (tilde && tilde < first))
		return NULL;
	*first = *second = 0;
	def->unit = def->name;
	def->name = first + 1;
	return second + 1;
}

static int take_apart(char *copy, struct definition *def, struct diag *d)
{
	char *rest, *slash;

	def->reg = -1;
	def->precise = *copy == '+';
	def->name = copy + def->precise;
	rest = take_unit(def);
	rest = rest ? rest : def->name;
	slash = strchr(rest, '/');
	if (slash && take_register(def, slash, d) < 0)
		return -1;
	def->attributes = strchr(rest, '~');
	if (def->attributes)
		*def->attributes++ = 0;
	if (def->unit && *rest)
		return diag_error(d, "-h '%s': write attributes behind UNIT/EVENT/ as ~name=value", def->text);
	if (!*def->name || *def->name == '-')
		return diag_error(d, "-h '%s': the name of a counter is missing: " LIST_HINT, def->text);
	return 0;
}

static int no_event(const struct definition *def, enum pmu_status status, struct diag *d)
{
	if (status == PMU_NO_UNIT)
		return diag_error(d, "-h '%s': there is no unit '%s': " LIST_HINT, def->text, def->unit);
	if (status == PMU_BAD)
		return diag_error(d, "-h '%s': the event needs values, or its description is not understood: "
				     "write the CPU's raw number for it", def->text);
	return diag_error(d, "-h '%s': no such counter: " LIST_HINT, def->text);
}

/* Fill in the event. The other fields of the row keep their defaults. */
static int find(const struct definition *def, const char *units, struct capture_counter *ev,
		struct counter_name *row, struct diag *d)
{
	enum pmu_status status;

	*row = (struct counter_name){ .interval = COUNTER_RAW_INTERVAL, .least = 1 };
	if (!def->unit && number(def->name, &ev->config)) {
		ev->type = PERF_TYPE_RAW;
		row->least = 100;
		return 0;
	}
	if (!def->unit && counter_name_find(def->name, row)) {
		ev->type = row->type;
		ev->config = row->config;
		ev->no_user = row->kernel_only;
		return 0;
	}
	status = pmu_event(units, def->unit, def->name, ev);
	return status ? no_event(def, status, d) : 0;
}

/* --- attributes --- */

static int set_mode(const struct definition *def, struct capture_counter *ev, bool user,
		    uint64_t value, struct diag *d)
{
	if (value > 1)
		return diag_error(d, "-h '%s': attribute %s is 0 or 1", def->text,
				  user ? "user" : "system");
	if (user)
		ev->no_user = !value;
	else
		ev->no_kernel = !value;
	return 0;
}

static int set_attribute(const struct definition *def, const char *units, const char *name,
			 uint64_t value, struct capture_counter *ev, struct diag *d)
{
	enum pmu_status status = PMU_NO_TERM;

	if (!strcmp(name, "user") || !strcmp(name, "system"))
		return set_mode(def, ev, !strcmp(name, "user"), value, d);
	if (ev->type == PERF_TYPE_RAW || ev->type >= PERF_TYPE_MAX)
		status = pmu_term(units, def->unit, name, value, ev);
	if (status == PMU_BAD)
		return diag_error(d, "-h '%s': the value is too large for attribute %s", def->text, name);
	if (status)
		return diag_error(d, "-h '%s': the counter has no attribute '%s': all have user and "
				     "system, raw ones also those in the unit's format in sysfs", def->text, name);
	return 0;
}

/* Attributes that are not modes are appended to `kept`: they make it a different counter. */
static int take_attributes(struct definition *def, const char *units, struct capture_counter *ev,
			   struct buf *kept, struct diag *d)
{
	char *rest = def->attributes, *name;

	while ((name = strsep(&rest, "~"))) {
		char *text = strchr(name, '=');
		uint64_t value;

		if (!text || text == name || !number(text + 1, &value))
			return diag_error(d, "-h '%s': not an attribute: write ~name=value, the value in "
					     "decimal or hexadecimal", def->text);
		*text = 0;
		if (set_attribute(def, units, name, value, ev, d) < 0)
			return -1;
		if (strcmp(name, "user") && strcmp(name, "system"))
			buf_printf(kept, "~%s=0x%llx", name, (unsigned long long)value);
	}
	if (ev->no_user && ev->no_kernel)
		return diag_error(d, "-h '%s': neither mode is counted: leave user=0 or system=0 out",
				  def->text);
	return 0;
}

/* --- putting it together --- */

/* Names are used in metric lists, where these characters have a meaning. */
static char *metric_name(const char *prefix, const char *name)
{
	char *ret = xasprintf("%s%s", prefix, name);

	for (char *s = ret; (s = strpbrk(s, ".:%+! \t\""));)
		*s++ = '_';
	return ret;
}

static void name_metrics(struct counter *c, const struct counter_name *row, const char *kernel)
{
	for (int mode = 0; mode < COUNTER_MODES; mode++) {
		struct counter_metric *m = &c->metrics[mode];
		bool marked = mode == COUNTER_KERNEL && !row->kernel_only;

		if (mode == COUNTER_USER ? c->event.no_user : c->event.no_kernel)
			continue;
		m->name = metric_name(marked ? "K_" : "", c->name);
		m->int_name = xasprintf("%s%s", kernel, row->kernel_only ? "" :
					marked ? "~user=0" : "~system=0");
		m->label = row->label ? xasprintf("%s%s", marked ? "Kernel " : "", row->label) :
			   xasprintf("%s%s %s", marked ? "Kernel " : "", c->name,
				     row->unit == COUNTER_CYCLES ? "Cycles" : "Events");
	}
}

static void metric_free(struct counter_metric *m)
{
	free(m->name);
	free(m->int_name);
	free(m->label);
	*m = (struct counter_metric){ 0 };
}

static void counter_free(struct counter *c)
{
	free(c->name);
	for (int mode = 0; mode < COUNTER_MODES; mode++)
		metric_free(&c->metrics[mode]);
}

/* Check for conflicts with the counters already in the list. */
static int check_others(const counter_list *l, const struct counter *c, const char *text,
			struct diag *d)
{
	if (l->len == ER_MAX_COUNTERS)
		return diag_error(d, "-h '%s': more than %d counters: leave some out", text,
				  ER_MAX_COUNTERS);
	vec_for_each(o, l) {
		if (c->reg >= 0 && c->reg == o->reg)
			return diag_error(d, "-h '%s': register %d is taken by %s: name another, or none",
					  text, c->reg, o->name);
		for (int mode = 0; mode < COUNTER_MODES; mode++) {
			if (c->metrics[mode].name && o->metrics[mode].name &&
			    !strcmp(c->metrics[mode].name, o->metrics[mode].name))
				return diag_error(d, "-h '%s': this counter is given twice: leave one out",
						  text);
		}
	}
	if (c->reg >= 0)
		diag_warn(d, "-h '%s': which register counts is the kernel's choice: /%d is ignored", text,
			  c->reg);
	return 0;
}

/* Of the kernel's own events only faults are about an address. Which of a CPU's are, its unit decides. */
static int check_data(const struct capture_counter *ev, const char *text, struct diag *d)
{
	switch (ev->type == PERF_TYPE_SOFTWARE ? ev->config : PERF_COUNT_SW_PAGE_FAULTS) {
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
	case PERF_COUNT_SW_ALIGNMENT_FAULTS:
	case PERF_COUNT_SW_EMULATION_FAULTS:
		return 0;
	}
	return diag_error(d, "-h '%s': this event has no address of data: leave out the +", text);
}

/* Parse the definition in `copy`, which is modified, and its interval. */
static int parse_one(char *copy, const char *interval, const char *units, struct diag *d,
		     counter_list *l)
{
	__cleanup(freep) char *text = xstrdup(copy);
	struct definition def = { .text = text };
	struct counter c = { .reg = -1 };
	struct counter_name row;
	struct buf kept = { 0 };
	int err = take_apart(copy, &def, d);

	err = err ? err : find(&def, units, &c.event, &row, d);
	err = err ? err : take_attributes(&def, units, &c.event, &kept, d);
	if (!err) {
		__cleanup(freep) char *kernel = xasprintf("%s%s%s%s", def.unit ? def.unit : "",
							  def.unit ? "/" : "",
							  row.kernel ? row.kernel : def.name,
							  kept.len ? kept.data : "");

		c.name = xasprintf("%s%s", def.name, kept.len ? kept.data : "");
		c.event.name = c.name;
		c.event.precise = def.precise && c.event.type != PERF_TYPE_SOFTWARE;
		c.event.data = def.precise;
		c.reg = def.reg;
		c.unit = row.unit;
		name_metrics(&c, &row, kernel);
		err = def.precise ? check_data(&c.event, text, d) : 0;
		err = err ? err : set_interval(&c, interval, row.interval, row.least, d);
		err = err ? err : check_others(l, &c, text, d);
	}
	buf_free(&kept);
	if (err)
		counter_free(&c);
	else
		vec_push(l, c);
	return err;
}

int counters_parse(const char *spec, const char *units, struct diag *d, counter_list *l)
{
	__cleanup(freep) char *copy = xstrdup(spec);
	char *rest = copy, *word, *next;

	while ((word = strsep(&rest, ","))) {
		const char *interval = "";

		next = rest ? xstrndup(rest, strcspn(rest, ",")) : NULL;
		if (next && is_interval(next)) {
			interval = next;
			strsep(&rest, ",");
		}
		if (parse_one(word, interval, units, d, l) < 0) {
			free(next);
			return -1;
		}
		free(next);
	}
	return 0;
}

void counters_user_only(counter_list *l)
{
	vec_for_each(c, l) {
		c->event.no_kernel = true;
		metric_free(&c->metrics[COUNTER_KERNEL]);
	}
}

void counters_free(counter_list *l)
{
	vec_for_each(c, l)
		counter_free(c);
	vec_free(l);
}
