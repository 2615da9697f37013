/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that choose where output goes and how it looks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/command/command.h"
#include "analysis/command/exporting.h"
#include "analysis/command/shell.h"
#include "analysis/export/export.h"
#include "analysis/views/view_state.h"

/* Whether the file already has text; appending then continues an HTML page. */
static bool is_begun(FILE *f)
{
	struct stat st;

	return !fstat(fileno(f), &st) && S_ISREG(st.st_mode) && st.st_size > 0;
}

static void use_file(struct shell *sh, FILE *f, FILE *owned, const char *name)
{
	if (sh->file)
		fclose(sh->file);
	free(sh->file_name);
	printer_set_file(&sh->printer, f, is_begun(f));
	sh->file = owned;
	sh->file_name = name ? xstrdup(name) : NULL;
}

/* Open a new output file. The old one is written out first, because both may be the same file. */
static int open_output(struct shell *sh, const char *command, const char *name, const char *mode)
{
	FILE *f;

	fflush(sh->printer.file);
	if (!strcmp(name, "-") || !strcmp(name, "--")) {
		use_file(sh, name[1] ? stderr : stdout, NULL, NULL);
		return 0;
	}
	f = fopen(name, mode);
	if (!f) {
		diag_errno(&sh->diag, errno, "%s '%s': cannot open: output is not redirected",
			   command, name);
		return -1;
	}
	use_file(sh, f, f, name);
	return 0;
}

static int cmd_outfile(struct shell *sh, int argc, char **argv)
{
	return open_output(sh, "outfile", argv[1], "we");
}

static int cmd_appendfile(struct shell *sh, int argc, char **argv)
{
	return open_output(sh, "appendfile", argv[1], "ae");
}

static int cmd_page(struct shell *sh, int argc, char **argv)
{
	return exporting_write(sh, &page_exporter, argv[1]);
}

static int cmd_limit(struct shell *sh, int argc, char **argv)
{
	char text[32];

	if (argc > 1) {
		const char *s = argv[1];
		unsigned long n;

		errno = 0;
		n = strtoul(s, NULL, 10);
		if (!*s || s[strspn(s, "0123456789")] || errno)
			return diag_error(&sh->diag,
					  "limit '%s': not a number of entries; 0 prints "
					  "all",
					  s);
		sh->view.limit = n;
		sh->view.limit_given = true;
	}
	snprintf(text, sizeof(text), "%zu", sh->view.limit);
	shell_reply(sh, sh->view.limit ? text : "0 (no limit)");
	return 0;
}

static const char *const name_forms[] = {
	[NAME_SHORT] = "short", [NAME_LONG] = "long", [NAME_MANGLED] = "mangled",
};

/* The format names of Sun's er_print and of gprofng. */
static const struct {
	const char *word;
	bool object;
} name_suffixes[] = {
	{ "soname", true }, { "nosoname", false },
	{ "shared_object_name", true }, { "no_shared_object_name", false },
};

static int parse_name(struct shell *sh, const char *text)
{
	size_t n = strcspn(text, ":");
	bool object = text[n] ? false : sh->view.name_object, known = !text[n];
	int form = -1;

	for (int i = NAME_SHORT; i <= NAME_MANGLED; i++) {
		if (strlen(name_forms[i]) == n && !strncmp(text, name_forms[i], n))
			form = i;
	}
	for (size_t i = 0; i < sizeof(name_suffixes) / sizeof(name_suffixes[0]); i++) {
		if (!text[n] || strcmp(text + n + 1, name_suffixes[i].word))
			continue;
		object = name_suffixes[i].object;
		known = true;
	}
	if (form < 0 || !known)
		return diag_error(&sh->diag, "name '%s': unknown form: write long, short or "
				  "mangled, each with or without :soname or :nosoname", text);
	sh->view.name = form;
	sh->view.name_object = object;
	return 0;
}

static int cmd_name(struct shell *sh, int argc, char **argv)
{
	char text[32];

	if (argc > 1 && parse_name(sh, argv[1]))
		return -1;
	snprintf(text, sizeof(text), "%s:%s", name_forms[sh->view.name],
		 sh->view.name_object ? "soname" : "nosoname");
	shell_reply(sh, text);
	return 0;
}

/*
 * User leaves out the interpreter's own functions in stacks of Python programs, and kernel functions
 * in stacks of waits. Expert shows all of them. Machine shows machine code only, also the separate
 * functions into which compilers moved code. gprofng's modes are for Java and OpenMP, which no
 * supported recorder records.
 */
static int cmd_viewmode(struct shell *sh, int argc, char **argv)
{
	static const char *const modes[] = { "user", "expert", "machine" };

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i]))
			continue;
		sh->viewmode = modes[i];
		shell_show_calls(sh, sh->session);
		sh->view.all_frames = i > 0;
		view_state_changed(&sh->view);
		shell_reply(sh, modes[i]);
		return 0;
	}
	if (argc > 1)
		return diag_error(&sh->diag, "viewmode '%s': write user, expert or machine",
				  argv[1]);
	shell_reply(sh, sh->viewmode ? sh->viewmode : modes[0]);
	return 0;
}

/*
 * Off by default, because it needs the DWARF of all objects in stacks and gprofng has no such
 * frames.
 */
static int cmd_inlines(struct shell *sh, int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "on") && strcmp(argv[1], "off"))
		return diag_error(&sh->diag, "inlines '%s': write on or off", argv[1]);
	if (argc > 1) {
		sh->inlines = !strcmp(argv[1], "on");
		shell_show_calls(sh, sh->session);
		view_state_changed(&sh->view);
	}
	shell_reply(sh, sh->inlines ? "on" : "off");
	return 0;
}

/* Prints no reply when it sets the mode, because programs read delimited output. */
static int cmd_printmode(struct shell *sh, int argc, char **argv)
{
	struct buf b = { 0 };

	if (argc > 1)
		return printer_set_mode(&sh->printer, argv[1]);
	printer_put_mode(&sh->printer, &b);
	shell_reply(sh, b.data);
	buf_free(&b);
	return 0;
}

static const char *const inlines_words[] = { "on", "off", NULL };

static const struct command rows[] = {
	{ SECTION_OUTPUT, "outfile", ARGS_FILE, .run = cmd_outfile,
	  .help = "write to this file; - stdout, -- stderr" },
	{ SECTION_OUTPUT, "appendfile", ARGS_FILE, .run = cmd_appendfile,
	  .help = "write to the end of this file" },
	{ SECTION_OUTPUT, "page", ARGS_FILE, .run = cmd_page,
	  .help = "write everything as a page for a web browser" },
	{ SECTION_OUTPUT, "limit", .args = "[n]", .max = 1, .option_args = 1,
	  .whole_line = true, .run = cmd_limit,
	  .help = "print the first n entries; 0 prints all" },
	{ SECTION_OUTPUT, "name", .args = "[long|short|mangled[:soname|:nosoname]]", .max = 1,
	  .option_args = 1, .run = cmd_name, .rc = RC_FIRST,
	  .help = "choose how functions are named" },
	{ SECTION_OUTPUT, "viewmode", .args = "[user|expert|machine]", .max = 1, .option_args = 1,
	  .run = cmd_viewmode, .rc = RC_FIRST,
	  .help = "choose how much detail is shown" },
	{ SECTION_OUTPUT, "inlines", .args = "[on|off]", .max = 1, .option_args = 1,
	  .words = inlines_words, .run = cmd_inlines, .rc = RC_FIRST,
	  .help = "choose whether inlined calls have frames in stacks" },
	{ SECTION_OUTPUT, "printmode", .args = "[text|html|csv|json|delimiter]", .max = 1,
	  .option_args = 1, .run = cmd_printmode, .rc = RC_FIRST,
	  .help = "print tables as text, as a page, or for programs" },
};

const struct command_rows output_commands = COMMAND_ROWS(rows);
