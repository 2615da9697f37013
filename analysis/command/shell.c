/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/shell.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/interrupt.h"
#include "analysis/command/command.h"
#include "analysis/files/archiver.h"
#include "analysis/metrics/twice.h"
#include "analysis/command/pager.h"
#include "analysis/command/rc.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

void shell_init(struct shell *sh, const char *program, line_reader keyboard)
{
	*sh = (struct shell){ .program = program, .keyboard = keyboard };
	printer_init(&sh->printer, stdout, &sh->diag);
}

/* Close the experiments and free the settings that depend on them. */
static void close_all(struct shell *sh)
{
	if (sh->opened) {
		view_state_fini(&sh->view);
		metric_set_free(&sh->metric_set);
	}
	session_free(sh->session);
	vec_free(&sh->call_chain);
	for (int i = 0; i < FILTER_PARTS; i++) {
		free(sh->filter_parts[i]);
		sh->filter_parts[i] = NULL;
	}
	vec_for_each(p, &sh->paths)
		free(*p);
	vec_free(&sh->paths);
	sh->session = NULL;
	sh->opened = false;
}

void shell_fini(struct shell *sh)
{
	close_all(sh);
	printer_fini(&sh->printer);
	if (sh->file)
		fclose(sh->file);
	free(sh->file_name);
	diag_free(&sh->diag);
	vec_free(&sh->failed_filters);
	rc_free(sh->rc);
}

/* Print the command's messages after its output: "er_print: script:3: text". */
static void messages(struct shell *sh)
{
	static const char *const words[] = { "", "warning: ", "" };
	struct buf b = { 0 };

	for (size_t i = 0; i < sh->diag.nmsgs; i++) {
		const struct diag_msg *m = &sh->diag.msgs[i];

		buf_printf(&b, "%s: ", sh->program);
		if (sh->input && sh->input->name) {
			buf_put_printable(&b, sh->input->name);
			buf_printf(&b, ":%u: ", sh->input->line);
		}
		buf_puts(&b, words[m->level]);
		buf_put_printable(&b, m->text);
		buf_puts(&b, "\n");
	}
	if (sh->diag.dropped)
		buf_printf(&b, "%s: %zu more messages\n", sh->program, sh->diag.dropped);
	if (b.len)
		fputs(b.data, stderr);
	buf_free(&b);
	diag_free(&sh->diag);
	sh->diag = (struct diag){ 0 };
}

void shell_warnings(struct shell *sh)
{
	for (size_t i = 0; i < sh->diag.nmsgs; i++) {
		if (sh->diag.msgs[i].level == DIAG_ERROR)
			sh->diag.msgs[i].level = DIAG_WARNING;
	}
	messages(sh);
}

/*
 * Flush the output. A reader that closed it is no error. Another failure, such as a full disk, is
 * an error and is reported once.
 */
static int flush_output(struct shell *sh)
{
	FILE *f = sh->printer.file;

	if (!fflush(f) && !ferror(f))
		return 0;
	if (errno == EPIPE && !sh->file) {
		sh->gone = true;
		return 0;
	}
	if (sh->file)
		diag_errno(&sh->diag, errno, "outfile '%s': cannot write", sh->file_name);
	else
		diag_errno(&sh->diag, errno, "cannot write the output");
	sh->gone = !sh->file;
	if (sh->file)
		fclose(sh->file);
	sh->file = NULL;
	printer_set_file(&sh->printer, stdout, false);
	return -1;
}

int shell_print(struct shell *sh, struct table *t, int rc)
{
	if (!rc && !interrupt_pending() && !(sh->typed && pager_print(&sh->printer, t)))
		printer_print(&sh->printer, t);
	table_free(t);
	return rc;
}

void shell_reply_as(struct shell *sh, const char *setting, const char *text)
{
	char *line;

	if (!sh->asking)
		return;
	line = xasprintf("%s: %s", setting, text);
	printer_say(&sh->printer, line);
	free(line);
}

void shell_reply(struct shell *sh, const char *text)
{
	if (sh->asking)
		shell_reply_as(sh, sh->asking->name, text);
}

/* Whether a filter failed; a report would then show data that the filter should have removed. */
static bool lacks_filter(const struct shell *sh, const struct command *c)
{
	return sh->failed_filters.len && c->section != SECTION_EXPERIMENTS &&
	       c->section != SECTION_OUTPUT && c->section != SECTION_MISC;
}

static int perform(struct shell *sh, const struct command *c, int argc, char **argv)
{
	struct table t = { 0 };

	if (c->rc_only)
		return diag_error(&sh->diag,
				  "%s: is allowed only in .er.rc files, where it sets a "
				  "default",
				  c->name);
	if (command_check_args(c, argc - 1, &sh->diag))
		return -1;
	if (lacks_filter(sh, c))
		return diag_error(&sh->diag, "%s: not run, because '%s' failed before it", c->name,
				  sh->failed_filters.data[0]->name);
	if (c->run)
		return c->run(sh, argc, argv);
	if (c->type)
		return shell_print(sh, &t,
				   view_index(&sh->view, objtype_find(&sh->view.types, c->type), &t,
					      &sh->diag));
	return shell_print(sh, &t, c->view(&sh->view, &t, &sh->diag));
}

/*
 * Tell the user once that the experiments have problems, and again when more were found. `header`
 * shows the details.
 */
static void note_troubles(struct shell *sh)
{
	size_t nmessages = 0, n = 0, nrecordings = 0;
	const struct experiment *e = NULL, *last = NULL;

	vec_for_each(pp, &sh->session->experiments) {
		size_t has = (*pp)->diag.nerrors + (*pp)->diag.nwarnings;

		nmessages += has;
		n += has > 0;
		/* Those of the processes of a recording are beside each other. */
		if (has && experiment_founder(*pp) != last) {
			last = experiment_founder(*pp);
			nrecordings++;
		}
		if (has && !e)
			e = *pp;
	}
	if (nmessages <= sh->ntroubles)
		return;
	sh->ntroubles = nmessages;
	if (n > 1)
		e = experiment_founder(e);
	if (nrecordings == 1)
		diag_note(&sh->diag, "experiment '%s' has warnings (%zu); see header %u", e->path,
			  nmessages, e->id);
	else
		diag_note(&sh->diag, "%zu experiments have warnings (%zu), experiment '%s' is the "
			  "first; see header", nrecordings, nmessages, e->path);
}

/*
 * The user interrupted the command, so its results are incomplete. A person at a terminal goes on
 * typing; a script ends.
 */
static void give_up(struct shell *sh)
{
	if (sh->opened)
		view_state_changed(&sh->view);
	diag_note(&sh->diag, "interrupted");
	sh->interrupted = sh->gone = !sh->typed;
}

static void count_failure(struct shell *sh)
{
	sh->nfailed++;
	sh->ended = !sh->keep_going;
}

/*
 * Note a filter or selection that failed. Under -keep-going no report runs until each of them has
 * succeeded.
 */
static void note_filter(struct shell *sh, const struct command *c, bool failed)
{
	size_t n = 0;

	if (!c->filters || sh->typed)
		return;
	vec_for_each(f, &sh->failed_filters) {
		if (*f != c)
			sh->failed_filters.data[n++] = *f;
	}
	sh->failed_filters.len = n;
	if (failed)
		vec_push(&sh->failed_filters, c);
}

void shell_note_rest(struct shell *sh)
{
	if (!sh->rest_noted)
		diag_note(&sh->diag, "the commands after it are not run; -keep-going runs them");
	sh->rest_noted = true;
	messages(sh);
}

int shell_run(struct shell *sh, const struct command *c, int argc, char **argv)
{
	size_t lost = file_pages_lost();
	int rc;

	if (!sh->running++)
		interrupt_arm();
	sh->asking = argc == 1 ? c : NULL;
	rc = perform(sh, c, argc, argv);
	sh->asking = NULL;
	if (file_pages_lost() > lost)
		diag_warn(&sh->diag, "a file became shorter while it was read: the missing "
			  "part is left out");
	if (sh->opened && strcmp(c->name, "header"))
		note_troubles(sh);
	if (flush_output(sh))
		rc = -1;
	if (rc)
		count_failure(sh);
	note_filter(sh, c, rc != 0);
	if (!--sh->running && interrupt_disarm())
		give_up(sh);
	messages(sh);
	return rc;
}

void shell_show_calls(const struct shell *sh, struct session *s)
{
	bool machine = sh->viewmode && !strcmp(sh->viewmode, "machine");
	bool user = !sh->viewmode || !strcmp(sh->viewmode, "user");

	session_show_interpreted(s, machine ? INTERPRETED_HIDDEN :
				    user ? INTERPRETED_ONLY : INTERPRETED_AND_MACHINE);
	session_show_outlined(s, !machine);
	session_show_inlined(s, sh->inlines && !machine);
}

/* Open what can be opened of n paths; paths that failed are dropped. */
static struct session *open_paths(struct shell *sh, char *const *paths, size_t n, bool *ok)
{
	struct session *old = sh->session, *s = session_new(&sh->diag);

	shell_show_calls(sh, s);
	sh->session = s;
	rc_run(sh, RC_OPENING);
	sh->session = old;
	for (size_t i = 0; i < n; i++) {
		ok[i] = !session_add(s, paths[i]);
		sh->nfailed += !ok[i];
	}
	messages(sh);
	return s;
}

static void set_up(struct shell *sh)
{
	sh->ntroubles = 0;
	note_troubles(sh);
	messages(sh); /* first, because messages about defaults name a file and a line */
	metric_set_init(&sh->metric_set, sh->session);
	rc_run(sh, RC_METRICS);
	view_state_init(&sh->view, sh->session, &sh->metric_set);
	sh->view.all_frames = sh->viewmode && strcmp(sh->viewmode, "user");
	sh->opened = true;
	rc_run(sh, RC_OPENED);
}

/*
 * Archive the symbols of experiments whose recorder did not finish. This comes before symbols are
 * read, because archived symbols take precedence.
 */
static void archive_all_abandoned(struct shell *sh)
{
	vec_for_each(e, &sh->session->experiments) {
		if (archive_abandoned(*e))
			diag_note(&sh->diag,
				  "experiment '%s': its recorder did not end normally: "
				  "function names are archived now",
				  (*e)->path);
	}
}

/* Count the time once that a recording of the whole system and one of a program have. */
static void count_once(struct shell *sh)
{
	const struct experiment *system, *program;

	if (!twice_find(sh->session, &system, &program))
		return;
	shell_count_once(sh);
	diag_note(&sh->diag,
		  "experiments '%s' and '%s': both have the time of the program: it is counted once, as if by "
		  "the filter 'TWICE==0'; -filters 'TWICE>=0' counts it in both",
		  system->path, program->path);
}

static void note_copies(struct shell *sh)
{
	const struct experiment *one, *other;

	if (session_has_copies(sh->session, &one, &other))
		diag_warn(&sh->diag,
			  "experiments '%s' and '%s' are the same segment of a recording: unless they are compared, "
			  "its time counts twice: name one of them",
			  one->path, other->path);
}

static void note_missing(struct shell *sh)
{
	int64_t missing = session_missing_ns(sh->session);

	if (missing)
		diag_warn(&sh->diag,
			  "%.3f sec. lie between segments that are open, so that a wait through them is shown in parts: name the "
			  "segments between, unless these are compared",
			  missing / 1e9);
}

int shell_open(struct shell *sh, char *const *paths, size_t n)
{
	bool *ok = xcalloc(n, sizeof(*ok));
	struct session *s;

	if (!sh->rc)
		sh->rc = rc_read(sh);
	s = open_paths(sh, paths, n, ok);
	if (!s->experiments.len) {
		session_free(s);
		free(ok);
		messages(sh);
		return -1;
	}
	close_all(sh);
	sh->session = s;
	for (size_t i = 0; i < n; i++) {
		if (ok[i])
			vec_push(&sh->paths, xstrdup(paths[i]));
	}
	free(ok);
	archive_all_abandoned(sh);
	set_up(sh);
	count_once(sh);
	note_copies(sh);
	note_missing(sh);
	messages(sh);
	return 0;
}

void shell_open_bare(struct shell *sh)
{
	sh->rc = rc_read(sh);
	sh->session = session_new(&sh->diag);
	metric_set_init(&sh->metric_set, sh->session);
	view_state_init(&sh->view, sh->session, &sh->metric_set);
	sh->opened = true;
	rc_run_remarks(sh);
}

int shell_messages(struct shell *sh)
{
	int rc = flush_output(sh);

	messages(sh);
	return rc;
}

char *read_file_line(struct input *in, const char *prompt)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n = getline(&line, &cap, in->file);

	if (n < 0) {
		free(line);
		return NULL;
	}
	if (n && line[n - 1] == '\n')
		line[--n] = '\0';
	/* A zero byte would hide the rest of the line. Replace it, so that the message shows it. */
	for (ssize_t i = 0; i < n; i++) {
		if (!line[i])
			line[i] = '\1';
	}
	return line;
}

static bool add_line(struct input *in, const char *prompt)
{
	char *line = in->read(in, prompt);

	if (!line)
		return false;
	in->line++;
	if (in->dropped)
		buf_clear(&in->text);
	in->dropped = false;
	buf_puts(&in->text, line);
	free(line);
	return true;
}

bool shell_next_words(struct shell *sh, struct input *in)
{
	buf_clear(&in->text);
	if (!add_line(in, "(er_print) "))
		return false;
	for (;;) {
		if (line_continues(in->text.data)) {
			in->text.data[--in->text.len] = '\0';
			if (add_line(in, "> "))
				continue;
		}
		if (words_split(&in->words, in->text.data))
			return true;
		buf_puts(&in->text, "\n");
		if (!add_line(in, "\"> ")) {
			diag_error(&sh->diag, "the quote at the end is not closed");
			if (!sh->in_rc)
				count_failure(sh);
			sh->in_rc ? shell_warnings(sh) : messages(sh);
			return false;
		}
	}
}

static void run_words(struct shell *sh, struct words *w)
{
	const struct command *c;

	c = w->v.len == 1 ? command_of_type(&sh->view.types, w->v.data[0]) : NULL;
	if (c) {
		shell_run(sh, c, 2, (char *[]){ (char *)c->name, w->v.data[0] });
		return;
	}
	c = command_find(w->v.data[0], &sh->diag);
	if (c) {
		shell_run(sh, c, w->v.len, w->v.data);
		return;
	}
	count_failure(sh);
	messages(sh);
}

static bool next_command(struct shell *sh, struct input *in)
{
	while (shell_next_words(sh, in)) {
		if (in->words.v.len)
			return true;
	}
	return false;
}

void shell_read(struct shell *sh, struct input *in)
{
	struct input *outer = sh->input;

	sh->input = in;
	while (!sh->quit && !sh->gone && !sh->ended && !interrupt_pending() &&
	       next_command(sh, in)) {
		run_words(sh, &in->words);
		if (in->shell) /* a person reads the message and goes on typing */
			sh->ended = sh->rest_noted = false;
	}
	sh->quit = false;
	sh->input = outer;
	if (sh->ended && next_command(sh, in))
		shell_note_rest(sh);
	words_free(&in->words);
	buf_free(&in->text);
}

void shell_keyboard(struct shell *sh)
{
	struct input in = { .read = read_file_line, .file = stdin, .name = "standard input" };

	sh->typed = sh->keyboard && isatty(STDIN_FILENO);
	if (sh->typed)
		in = (struct input){ .read = sh->keyboard, .shell = sh };
	shell_read(sh, &in);
	sh->typed = false;
}
