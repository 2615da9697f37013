/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What user space and ksyms.bpf.c share. */
#ifndef ER_KSYM_H
#define ER_KSYM_H

enum { ER_KSYMS = 64, ER_KSYM_TEXT = 248 };

struct er_ksym {
	__u64 addr; /* 0: the list ends here */
	char text[ER_KSYM_TEXT];
};

_Static_assert(sizeof(struct er_ksym) == 256, "ksyms contract");

#endif
