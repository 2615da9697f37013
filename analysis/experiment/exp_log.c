/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.xml: what was recorded, where and when, and the layout of the packets. map.xml
 * has the same grammar. It says where code was mapped, and in a sub-experiment of
 * er_kernel it also continues log.xml.
 */
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment_impl.h"

struct log_reader {
	struct experiment *e;
	const char *file; /* its name, for messages */
	enum { TEXT_NONE, TEXT_COLLECTOR, TEXT_PROCESS, TEXT_EVENT } text; /* the open element */
	/* The current <profile>, or the last one: collect writes <profpckt> after its end, too. */
	int64_t ptimer_us, threshold_us, sampled;
	int numstates;
	const char *fname;
	size_t stream; /* the stream that <field>s belong to, or NO_STREAM */
	struct exp_layout *layout; /* of the packed kind that they belong to; NULL: of no such kind */
	size_t first_stream; /* of this profile; fname is the file of all streams from here */
	VEC(struct exp_counter) counters;
};

#define NO_STREAM ((size_t)-1)

static void on_experiment(struct log_reader *r, const struct xml_element *el)
{
	if (xml_get(el, "version"))
		r->e->version = exp_attr(r->e, el, "version");
	if (r->e->version[0] && xml_get_int(el, "version", 12) < 12)
		diag_warn(&r->e->diag, "experiment version %s is too old to be read safely",
			  r->e->version);
}

static void on_collector(struct log_reader *r, const struct xml_element *el)
{
	r->text = TEXT_COLLECTOR;
}

static bool is_big_endian(const struct xml_element *el, const char *arch)
{
	return xml_get_int(el, "bigendian", !strncmp(arch, "sparc", 5) || !strncmp(arch, "sun4", 4)) ==
	       1;
}

static void on_system(struct log_reader *r, const struct xml_element *el)
{
	struct experiment *e = r->e;
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	e->hostname = exp_attr(e, el, "hostname");
	e->arch = exp_attr(e, el, "arch");
	e->os = exp_attr(e, el, "os");
	e->pagesize = xml_get_int(el, "pagesz", 0);
	e->npages = xml_get_int(el, "npages", 0);
	e->swap = is_big_endian(el, e->arch) != host_big;
}

static void on_cpu(struct log_reader *r, const struct xml_element *el)
{
	if (!r->e->ncpus++)
		r->e->mhz = xml_get_int(el, "clk", 0);
}

static void on_process(struct log_reader *r, const struct xml_element *el)
{
	struct experiment *e = r->e;

	e->pid = xml_get_int(el, "pid", e->pid);
	e->ppid = xml_get_int(el, "ppid", e->ppid);
	if (xml_get(el, "cwd"))
		e->cwd = exp_attr(e, el, "cwd");
	if (xml_get(el, "wsize"))
		e->wordsize = xml_get_int(el, "wsize", 64) == 32 ? 32 : 64;
	r->text = TEXT_PROCESS;
}

static void on_setting(struct log_reader *r, const struct xml_element *el)
{
	r->e->sample_period_s = xml_get_int(el, "sample_period", r->e->sample_period_s);
}

static void add_counter(struct log_reader *r, const struct xml_element *el)
{
	const char *metric = xml_get(el, "metric"), *kind = xml_get(el, "name");

	vec_push(&r->counters, (struct exp_counter){
		.probe = kind && !strcmp(kind, packet_desc(ER_PKT_PROBE)->profile),
		.tag = xml_get_int(el, "tag", 0),
		.name = exp_attr(r->e, el, "hwcname"),
		.int_name = exp_attr(r->e, el, "int_name"),
		.metric = metric ? arena_strdup(&r->e->arena, metric) : NULL,
		.interval = xml_get_int(el, "interval", 0),
		.timecvt = xml_get_int(el, "timecvt", 0),
		.data = xml_get_int(el, "memop", 0) > 0,
		.modstr = exp_attr(r->e, el, "modstr"),
	});
}

static void on_profile(struct log_reader *r, const struct xml_element *el)
{
	r->ptimer_us = xml_get_int(el, "ptimer", 0);
	r->numstates = xml_get_int(el, "numstates", 0);
	r->threshold_us = xml_get_int(el, "threshold", 0);
	r->sampled = xml_get_int(el, "sampled", 0);
	r->fname = NULL;
	r->stream = NO_STREAM;
	r->first_stream = r->e->streams.len;
	if (xml_get(el, "hwcname"))
		add_counter(r, el);
	if (xml_get(el, "version"))
		r->e->dversion = exp_attr(r->e, el, "version");
}

static void on_dversion(struct log_reader *r, const struct xml_element *el)
{
	r->e->dversion = exp_attr(r->e, el, "version");
}

static void on_profdata(struct log_reader *r, const struct xml_element *el)
{
	const char *fname = xml_get(el, "fname");

	if (!fname || !fname[0] || fname[0] == '.' || strchr(fname, '/')) {
		diag_warn(&r->e->diag, "%s: '%s' is not the name of a data file",
			  r->file, fname ? fname : "");
		return;
	}
	r->fname = arena_strdup(&r->e->arena, fname);
	for (size_t i = r->first_stream; i < r->e->streams.len; i++)
		r->e->streams.data[i].fname = r->fname;
}

static size_t find_stream(const struct experiment *e, enum er_packet kind)
{
	for (size_t i = 0; i < e->streams.len; i++) {
		if (e->streams.data[i].kind == kind)
			return i;
	}
	return NO_STREAM;
}

/* The fields that follow are those of a further kind of clock packets. */
static void add_clock_kind(struct log_reader *r, unsigned kind)
{
	struct exp_stream *s;

	r->stream = find_stream(r->e, ER_PKT_CLOCK);
	s = &r->e->streams.data[r->stream];
	s->waits |= is_wait_kind(kind);
	if (!is_packed_kind(kind))
		return;
	if (!s->layouts)
		s->layouts = arena_alloc(&r->e->arena, PACKED_KINDS * sizeof(*s->layouts));
	r->layout = &s->layouts[kind - PACKED_FIRST];
	*r->layout = (struct exp_layout){ .described = true };
}

static void on_profpckt(struct log_reader *r, const struct xml_element *el)
{
	struct experiment *e = r->e;
	int64_t kind = xml_get_int(el, "kind", 0);
	const struct packet_desc *known = packet_desc(kind);
	struct exp_stream s = { .kind = kind, .uname = exp_attr(e, el, "uname"),
				.ptimer_us = r->ptimer_us, .numstates = r->numstates,
				.threshold_us = r->threshold_us, .sampled = r->sampled << 10 };

	r->stream = NO_STREAM;
	r->layout = NULL;
	if (kind <= ER_PKT_EMPTY || kind >= ER_PKT_CLOSED) {
		diag_warn(&e->diag, "%s: %lld is not a kind of packet", r->file, (long long)kind);
		return;
	}
	if (is_clock_kind(kind) && kind != ER_PKT_CLOCK && find_stream(e, ER_PKT_CLOCK) != NO_STREAM) {
		add_clock_kind(r, kind);
		return;
	}
	if (find_stream(e, kind) != NO_STREAM) {
		diag_warn(&e->diag, "%s: packet kind %lld is described twice", r->file,
			  (long long)kind);
		return;
	}
	s.fname = r->fname ? r->fname : known ? known->fname : "";
	vec_push(&e->streams, s);
	r->stream = e->streams.len - 1;
}

/* A shown name for a field to which the log gives none. */
static const char *known_uname(enum er_packet kind, const char *name)
{
	const struct packet_desc *d = packet_desc(kind);

	for (size_t i = 0; d && i < d->nfields; i++) {
		if (!strcmp(d->fields[i].name, name) && d->fields[i].uname)
			return d->fields[i].uname;
	}
	return "";
}

static void add_field(struct log_reader *r, const struct xml_element *el, unsigned kind, struct field_ref at)
{
	struct exp_field f = { .name = exp_attr(r->e, el, "name"), .uname = exp_attr(r->e, el, "uname"),
			       .offset = at.offset, .type = at.type };

	if (!*f.uname)
		f.uname = known_uname(kind, f.name);
	vec_push(&r->e->streams.data[r->stream].fields, f);
}

/* A field of a packed kind. If the stream lacks it, it gets it at a place where no other packet has anything. */
static void add_place(struct log_reader *r, const struct xml_element *el, struct field_ref at)
{
	const struct exp_stream *s = &r->e->streams.data[r->stream];
	struct field_ref of_stream = stream_field(s, xml_get(el, "name"));

	if (!of_stream.offset) {
		of_stream = (struct field_ref){ .offset = FIELD_BEYOND + s->fields.len, .type = at.type,
						.number = s->fields.len };
		if (of_stream.number < LAYOUT_FIELDS)
			add_field(r, el, PACKED_FIRST + (r->layout - s->layouts), of_stream);
	}
	if (of_stream.number < LAYOUT_FIELDS)
		r->layout->at[of_stream.number] = at;
}

static void on_field(struct log_reader *r, const struct xml_element *el)
{
	struct exp_stream *s;
	const char *type = xml_get(el, "type");
	int64_t offset = xml_get_int(el, "offset", 0);
	int id = type ? er_type_parse(type) : -1;

	if (r->stream == NO_STREAM)
		return;
	if (!xml_get(el, "name") || id < 0 || offset < 4 || offset > UINT16_MAX) {
		diag_warn(&r->e->diag, "%s: field '%s' has no known type or place", r->file,
			  xml_get(el, "name") ? xml_get(el, "name") : "");
		return;
	}
	s = &r->e->streams.data[r->stream];
	if (r->layout) {
		add_place(r, el, (struct field_ref){ .offset = offset, .type = id });
		return;
	}
	if (s->waits && stream_field(s, xml_get(el, "name")).offset)
		return; /* a field that several of these kinds have */
	add_field(r, el, s->waits ? ER_PKT_WAIT : s->kind, (struct field_ref){ .offset = offset, .type = id });
}

static void on_run(struct log_reader *r, const struct xml_element *el)
{
	struct experiment *e = r->e;

	/* collect writes the event twice; a damaged second one must not move the start. */
	if (e->opened)
		return;
	e->start_ns = xml_get_time(el, "tstamp", 0);
	e->start_epoch = xml_get_int(el, "time", 0);
	e->pid = xml_get_int(el, "pid", e->pid);
	e->ppid = xml_get_int(el, "ppid", e->ppid);
	e->opened = true;
}

/*
 * exec ends an experiment, unless it fails: the new program gets an experiment of its
 * own. The old one has no event exit.
 */
static void note_end(struct experiment *e, const char *kind, int64_t time_ns)
{
	if (!strcmp(kind, "exit") || !strcmp(kind, "exec_start")) {
		e->closed = true;
		e->end_ns = time_ns;
	} else if (!strcmp(kind, "exec_error")) {
		e->closed = false;
	}
}

static void note_pause(struct experiment *e, const char *kind, int64_t time_ns)
{
	struct exp_pause *last = e->pauses.len ? &e->pauses.data[e->pauses.len - 1] : NULL;
	bool paused = last && last->end_ns == INT64_MAX;

	if (!strcmp(kind, "pause") && !paused && (!last || time_ns >= last->end_ns))
		vec_push(&e->pauses, ((struct exp_pause){ time_ns, INT64_MAX }));
	else if (!strcmp(kind, "resume") && paused && time_ns >= last->begin_ns)
		last->end_ns = time_ns;
}

static void on_event(struct log_reader *r, const struct xml_element *el)
{
	struct experiment *e = r->e;
	const char *kind = xml_get(el, "kind");
	struct exp_event ev = { .kind = exp_attr(e, el, "kind"),
				.time_ns = xml_get_time(el, "tstamp", 0),
				.id = xml_get_int(el, "id", -1),
				.label = exp_attr(e, el, "label"),
				.text = exp_attr(e, el, xml_get(el, "msg") ? "msg" : "text") };

	if (map_event(e, el))
		return;
	if (kind && !strcmp(kind, "run")) {
		on_run(r, el);
		ev.time_ns = 0; /* the stamp of this event alone is absolute */
	} else if (kind) {
		note_end(e, kind, ev.time_ns);
		note_pause(e, kind, ev.time_ns);
	}
	vec_push(&e->events, ev);
	r->text = TEXT_EVENT;
}

static void on_nothing(struct log_reader *r, const struct xml_element *el)
{
}

static const struct log_element {
	const char *name;
	void (*start)(struct log_reader *r, const struct xml_element *el);
} elements[] = {
	{ "experiment", on_experiment }, { "collector", on_collector },
	{ "system", on_system },	 { "cpu", on_cpu },
	{ "process", on_process },	 { "setting", on_setting },
	{ "profile", on_profile },	 { "profdata", on_profdata },
	{ "profpckt", on_profpckt },	 { "field", on_field },
	{ "event", on_event },		 { "dversion", on_dversion },
	{ "state", on_nothing },	 { "dataptr", on_nothing },
	{ "powerm", on_nothing },	 { "frequency", on_nothing },
	{ "dtracefatal", on_nothing },
};

static void on_start(void *ctx, const struct xml_element *el)
{
	struct log_reader *r = ctx;

	r->text = TEXT_NONE;
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		if (!strcmp(elements[i].name, el->name)) {
			elements[i].start(r, el);
			return;
		}
	}
	diag_warn(&r->e->diag, "%s: unrecognized element '%s'", r->file, el->name);
}

static void on_text(void *ctx, const char *text)
{
	struct log_reader *r = ctx;
	struct experiment *e = r->e;

	if (r->text == TEXT_NONE)
		return;
	text = arena_strdup(&e->arena, text);
	if (r->text == TEXT_COLLECTOR)
		e->collector = text;
	else if (r->text == TEXT_PROCESS)
		e->command = text;
	else
		e->events.data[e->events.len - 1].text = text;
}

static void on_end(void *ctx, const char *name)
{
	struct log_reader *r = ctx;

	r->text = TEXT_NONE;
	if (!strcmp(name, "profpckt"))
		r->stream = NO_STREAM;
}

/* Whether a counter's packets are of this kind: some of the counters may have addresses of data. */
static bool is_of(const struct exp_counter *c, enum er_packet kind, bool some_have_data)
{
	if (c->probe || kind == ER_PKT_PROBE)
		return c->probe && kind == ER_PKT_PROBE;
	return !some_have_data || c->data == (kind == ER_PKT_MHWC);
}

/*
 * Counters have packets of two kinds, with and without addresses of data, probes of one; the tag tells
 * which of them a packet is of. If the log describes one kind, it is that of all counters.
 */
static void share_counters(struct log_reader *r)
{
	bool both = find_stream(r->e, ER_PKT_HWC) != NO_STREAM && find_stream(r->e, ER_PKT_MHWC) != NO_STREAM;
	bool some = false;

	vec_for_each(c, &r->counters)
		some |= c->data && both;
	vec_for_each(s, &r->e->streams) {
		if (s->kind != ER_PKT_PROBE && s->kind != ER_PKT_HWC && s->kind != ER_PKT_MHWC)
			continue;
		vec_for_each(c, &r->counters)
			if (is_of(c, s->kind, some))
				vec_push(&s->counters, *c);
	}
}

void log_read(struct experiment *e, const char *name, const struct file *f)
{
	static const struct xml_handler handler = { on_start, on_text, on_end };
	struct log_reader r = { .e = e, .file = name, .stream = NO_STREAM };

	exp_parse(e, name, f, &handler, &r);
	share_counters(&r);
	vec_free(&r.counters);
}
