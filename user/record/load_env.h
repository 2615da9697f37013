/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment of a load whose runtimes shall name their generated code (er_kernel --jit). The
 * variables are those that Node and Java read. What the user has set in them stays, and
 * comes last, so that it wins.
 */
#ifndef USER_RECORD_LOAD_ENV_H
#define USER_RECORD_LOAD_ENV_H

/* Change this process's environment. Returns 0 or -errno. Call it in the child, before the exec. */
int load_env_jit(void);

#endif
