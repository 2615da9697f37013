/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs commands. The shell has the open session, the settings that commands change, where output
 * goes and where commands come from. The messages of a command are kept until its output is
 * written, and then go to standard error.
 */
#ifndef COMMAND_SHELL_H
#define COMMAND_SHELL_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/base/diag.h"
#include "analysis/command/words.h"
#include "analysis/metrics/metric.h"
#include "analysis/model/session.h"
#include "analysis/print/printer.h"
#include "analysis/views/view_state.h"

struct command;

struct input;

/*
 * Reads a line without its newline, which the caller frees; NULL at the end. It may set
 * in->dropped: the user cancelled the command that the line belongs to.
 */
typedef char *(*line_reader)(struct input *in, const char *prompt);

/* Where commands are read from. */
struct input {
	line_reader read;
	struct shell *shell; /* keyboard only: its experiments give the names for completion */
	FILE *file;       /* read_file_line only */
	const char *name; /* for messages; NULL: typed by a person, who sees the line */
	unsigned line;
	bool dropped;
	struct buf text;  /* the logical line: physical lines joined */
	struct words words;
};

/* Commands whose arguments are combined into the filter (cmd_select.c). */
enum filter_part { FILTER_EXPRESSION, FILTER_PID, FILTER_COMM, FILTER_FROM, FILTER_TO, FILTER_PARTS };

struct shell {
	const char *program;  /* printed before each message */
	line_reader keyboard; /* reads a terminal; NULL: standard input is read without editing */
	struct diag diag;
	struct session *session;
	struct metric_set metric_set;
	struct view_state view;
	bool opened;          /* session, metric_set and view are set up */
	VEC(char *) paths;    /* of the open experiments, as the user named them */
	func_vec call_chain;    /* the chain that csingle, cappend and the like built */
	struct printer printer;
	/* opened by outfile or appendfile; NULL: printer.file belongs to the caller */
	FILE *file;
	char *file_name;
	struct rc *rc;        /* contents of the .er.rc files; NULL: not read yet */
	bool in_rc;           /* an .er.rc file is being read, or one of its lines executed */
	/* the running command if it was given no argument; otherwise NULL */
	const struct command *asking;
	struct input *input;  /* source of the running command; NULL: the command line */
	unsigned depth;       /* nesting of scripts */
	unsigned nfailed;     /* number of commands that failed */
	size_t ntroubles;     /* number of the experiments' messages that the user was shown */
	const char *viewmode; /* NULL: user */
	char *filter_parts[FILTER_PARTS]; /* arguments; NULL: none. Freed with the session. */
	bool inlines; /* inlined calls have frames, except under viewmode machine */
	bool keep_going;      /* a batch continues after a command that failed */
	bool ended;           /* a command of a batch failed: run no further command */
	bool rest_noted;      /* the user was told that further commands are not run */
	VEC(const struct command *) failed_filters; /* no report runs until these succeed */
	bool slower;          /* diff found that something got slower */
	bool quit;            /* stop reading this input */
	bool gone;            /* the reader of the output has closed it: stop without a message */
	/* commands are typed on a terminal: Ctrl-C ends one command, not the tool */
	bool typed;
	bool interrupted;     /* Ctrl-C ended the tool */
	unsigned running;     /* nesting of commands */
};

void shell_init(struct shell *sh, const char *program, line_reader keyboard);
void shell_fini(struct shell *sh);

/*
 * Open these experiments in place of those that are open, and reset the settings. Reports what
 * cannot be opened. Returns 0 if at least one was opened; otherwise -1, with nothing changed.
 */
int shell_open(struct shell *sh, char *const *paths, size_t n);

/*
 * Leave out of one of them what two open recordings have (analysis/metrics/twice.h), unless they are
 * compared or the given filter names TWICE. To be called when recordings were opened.
 */
void shell_count_once(struct shell *sh);
/* To be called when a comparison begins or ends: it decides which segments are one recording. */
void shell_groups_changed(struct shell *sh);
/* The filter without from and to, with the selection; the caller frees it. NULL: everything passes. */
struct filter *shell_filter_without_times(struct shell *sh);
/* The time of from or to; `otherwise` if it is not set. */
int64_t shell_time(const struct shell *sh, enum filter_part part, int64_t otherwise);
/* Apply viewmode and inlines to the session. */
void shell_show_calls(const struct shell *sh, struct session *s);
/*
 * Open without experiments, for a tool that shows objects. Of the defaults files only scc, dcc
 * and cc take effect.
 */
void shell_open_bare(struct shell *sh);
/* Flush the output, then print the messages. Returns -1 if the output cannot be written. */
int shell_messages(struct shell *sh);

/*
 * Run one command: check its arguments, run it, print its messages. Returns 0 or -1. After -1
 * sh->ended is set unless the shell keeps going.
 */
int shell_run(struct shell *sh, const struct command *c, int argc, char **argv);
/* Tell the user, once, that the commands after the failed one are not run. */
void shell_note_rest(struct shell *sh);
/*
 * Run the commands of an input until its end, `quit`, or a failed command; failures do not stop a
 * person at a terminal. Frees the input's buffers.
 */
void shell_read(struct shell *sh, struct input *in);
/*
 * Read the words of the next command into in->words. Lines are joined by a backslash or an open
 * quote. False at the end.
 */
bool shell_next_words(struct shell *sh, struct input *in);
/* Print the reported messages as warnings, because no message about defaults is an error. */
void shell_warnings(struct shell *sh);
/* Run commands from standard input. A terminal gets a prompt and line editing. */
void shell_keyboard(struct shell *sh);
/* A line_reader for in->file. */
char *read_file_line(struct input *in, const char *prompt);

/* Print the table if its view returned rc 0. Free the table and return rc. */
int shell_print(struct shell *sh, struct table *t, int rc);
/* Print the current setting as "COMMAND: text" if the running command has no argument. */
void shell_reply(struct shell *sh, const char *text);
/* The same with `setting` in place of the running command's name. */
void shell_reply_as(struct shell *sh, const char *setting, const char *text);

/*
 * The whole of er_print: options, experiments, commands. Returns the exit status: 0, 1 after a
 * failure, STATUS_SLOWER, or 128 + SIGINT if sh->interrupted is set.
 */
enum { STATUS_SLOWER = 3 };
int shell_main(struct shell *sh, int argc, char **argv);

/*
 * Another program that takes experiments and some of er_print's commands as options. It reads no
 * commands from standard input.
 */
struct front {
	const char *usage; /* a text with all lines, printed when no experiment is named */
	/* whether a command is an option of this program */
	bool (*takes)(const struct command *c);
	/*
	 * Take an option of the program's own, with its arguments. Returns its number of words, 0
	 * if it is not the program's own, or -1 after reporting.
	 */
	int (*option)(void *ctx, int argc, char **argv, struct diag *d);
	/*
	 * What the program does once all options were executed. Returns 0, or -1 after reporting; -EINVAL if the
	 * options are wrong.
	 */
	int (*finish)(struct shell *sh, void *ctx);
	void *ctx;
};

/* The whole of such a program. Returns its exit status; 2 if the command line is wrong. */
int shell_main_front(struct shell *sh, const struct front *f, int argc, char **argv);

#endif
