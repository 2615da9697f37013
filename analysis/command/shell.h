/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs commands: the open session with the settings that commands change,
 * where output goes, and where commands come from. Each command's messages are
 * kept until its output is written and then go to standard error, after it.
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
#include "analysis/views/view.h"

struct command;

struct input;

/*
 * A line without its newline, to be freed; NULL at the end. May set in->dropped:
 * the person gave up the command that this line would have belonged to.
 */
typedef char *(*line_reader)(struct input *in, const char *prompt);

/* Where commands are read from. */
struct input {
	line_reader read;
	struct shell *shell; /* of a person: whose experiments names are completed from */
	FILE *file;       /* for a reader of files */
	const char *name; /* for messages; NULL: a person, who sees the line */
	unsigned line;
	bool dropped;
	struct buf text;  /* the logical line */
	struct words words;
};

/* Commands whose arguments together are the filter (cmd_select.c). */
enum filter_part { FILTER_EXPRESSION, FILTER_PID, FILTER_COMM, FILTER_FROM, FILTER_TO, FILTER_PARTS };

struct shell {
	const char *program;  /* before each message */
	line_reader keyboard; /* reads a terminal; NULL: standard input is read plainly */
	struct diag diag;
	struct session *session;
	struct metric_set metric_set;
	struct view_state view;
	bool opened;          /* the three above are set up */
	VEC(char *) paths;    /* of what is open, as it was named */
	func_vec call_chain;    /* functions that called each other, for csingle and its like */
	struct printer printer;
	FILE *file;           /* of outfile, appendfile; NULL: printer.file is not ours */
	char *file_name;
	struct rc *rc;        /* what .er.rc files say; NULL: not read yet */
	bool in_rc;           /* one of them is read, or a line carried out */
	const struct command *asking; /* the running command, given no argument; NULL: others */
	struct input *input;  /* that the running command came from; NULL: the command line */
	unsigned depth;       /* of scripts in scripts */
	unsigned nfailed;     /* commands */
	size_t ntroubles;     /* messages of the experiments that the user was told of */
	const char *viewmode; /* NULL: user */
	char *filter_parts[FILTER_PARTS]; /* arguments; NULL: none. They end with what is open. */
	bool inlines; /* inlined calls have frames, but not under viewmode machine */
	bool keep_going;      /* a batch goes on after a command that failed */
	bool ended;           /* a command of a batch failed: no further one is run */
	bool rest_noted;      /* the user was told that further commands are not run */
	VEC(const struct command *) failed_filters; /* no report runs until these succeed */
	bool quit;            /* leave the input being read */
	bool gone;            /* nobody reads the output any more: stop without a word */
	bool typed;           /* commands are typed on a terminal: Ctrl-C ends one, not all */
	bool interrupted;     /* it ended all */
	unsigned running;     /* of commands in commands */
};

void shell_init(struct shell *sh, const char *program, line_reader keyboard);
void shell_fini(struct shell *sh);

/*
 * Open the experiments instead of what is open; settings begin anew. What cannot
 * be opened is reported. 0 when there is one at least, or -1, nothing changed.
 */
int shell_open(struct shell *sh, char *const *paths, size_t n);

/* Have the session show what viewmode and inlines choose. */
void shell_show_calls(const struct shell *sh, struct session *s);
/* Without any, for a tool that shows objects: of the defaults files scc, dcc and cc count. */
void shell_open_bare(struct shell *sh);
/* Write out what was printed, then say what there is to say. -1 when it cannot be written. */
int shell_messages(struct shell *sh);

/*
 * Run one command: arguments, the command, its messages. 0 or -1; after -1 sh->ended is
 * set unless the shell keeps going.
 */
int shell_run(struct shell *sh, const struct command *c, int argc, char **argv);
/* Tell the user, once, that the commands after the failed one are not run. */
void shell_note_rest(struct shell *sh);
/*
 * Run the commands of an input to its end, to `quit`, or to a command that fails (a person at
 * a terminal types on); takes over its buffers.
 */
void shell_read(struct shell *sh, struct input *in);
/*
 * The words of the next command of an input in in->words: lines joined by a
 * backslash or by an open quote. False at the end.
 */
bool shell_next_words(struct shell *sh, struct input *in);
/* Print what was reported as warnings: of defaults nothing is an error. */
void shell_warnings(struct shell *sh);
/* Commands from standard input: with prompt and editing on a terminal. */
void shell_keyboard(struct shell *sh);
/* The reader of in->file. */
char *read_file_line(struct input *in, const char *prompt);

/* Print what a view made, if it did (rc 0), free it and hand on rc. */
int shell_print(struct shell *sh, struct table *t, int rc);
/* "COMMAND: text", what is set now, when the running command was given no argument. */
void shell_reply(struct shell *sh, const char *text);
/* The same under the name of the command that sets it. */
void shell_reply_as(struct shell *sh, const char *setting, const char *text);

/*
 * All of er_print: options, experiments, commands. The exit status; 128 + SIGINT when
 * sh->interrupted.
 */
int shell_main(struct shell *sh, int argc, char **argv);

#endif
