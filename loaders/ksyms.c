/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/ksyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/er_ksym.h"
#include "bpf/ksyms.skel.h"

/*
 * For the kernel a function extends to the next symbol, even if that is in another module.
 * Larger sizes are not believed.
 */
static const uint64_t SIZE_MAX_BELIEVED = 256 * 1024;

struct ksyms {
	struct ksyms_bpf *skel;
	struct er_ksym *rows; /* the program's map */
};

_Static_assert((int)KSYMS_MAX <= (int)ER_KSYMS, "as many as the program takes");

int ksyms_open(struct diag *d, struct ksyms **ret)
{
	struct ksyms *k = xcalloc(1, sizeof(*k));
	void *rows;

	k->skel = ksyms_bpf__open_and_load();
	if (!k->skel) {
		int err = errno;

		free(k);
		return diag_errno(d, err, "kernel symbols: the BPF program that asks for them cannot be "
				  "loaded: run as root, or with the capabilities cap_bpf and "
				  "cap_perfmon");
	}
	rows = mmap(NULL, sizeof(*k->rows) * ER_KSYMS, PROT_READ | PROT_WRITE, MAP_SHARED,
		    bpf_map__fd(k->skel->maps.er_ksyms), 0);
	if (rows == MAP_FAILED) {
		int err = errno;

		ksyms_close(k);
		return diag_errno(d, err, "kernel symbols: the BPF map cannot be mapped");
	}
	k->rows = rows;
	*ret = k;
	return 0;
}

void ksyms_close(struct ksyms *k)
{
	if (!k)
		return;
	if (k->rows)
		munmap(k->rows, sizeof(*k->rows) * ER_KSYMS);
	ksyms_bpf__destroy(k->skel);
	free(k);
}

static const char *module_of(char *rest, const char *name)
{
	char *open = strchr(rest, '['), *end = open ? strchr(open, ']') : NULL;

	if (end) {
		*end = '\0';
		return open + 1;
	}
	if (!strncmp(name, "bpf_prog_", strlen("bpf_prog_")) ||
	    !strncmp(name, "bpf_trampoline_", strlen("bpf_trampoline_")) ||
	    !strncmp(name, "bpf_dispatcher_", strlen("bpf_dispatcher_")))
		return "bpf";
	return "vmlinux";
}

void ksyms_parse(char *text, uint64_t addr, struct ksyms_answer *ret)
{
	char *plus = strrchr(text, '+'), *end;
	uint64_t offset;

	*ret = (struct ksyms_answer){ 0 };
	if (!plus || plus == text || strncmp(plus, "+0x", 3))
		return;
	offset = strtoull(plus + 1, &end, 16);
	if (*end != '/' || offset > addr)
		return;
	*plus = '\0';
	ret->start = addr - offset;
	ret->size = strtoull(end + 1, &end, 16);
	if (ret->size > SIZE_MAX_BELIEVED)
		ret->size = SIZE_MAX_BELIEVED;
	if (ret->size <= offset)
		ret->size = offset + 1;
	ret->name = text;
	ret->module = module_of(end, text);
}

void ksyms_ask(struct ksyms *k, const uint64_t *addrs, size_t n, struct ksyms_answer *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	for (size_t i = 0; i < n; i++) {
		k->rows[i].addr = addrs[i];
		k->rows[i].text[0] = '\0';
	}
	if (n < ER_KSYMS)
		k->rows[n].addr = 0;
	bpf_prog_test_run_opts(bpf_program__fd(k->skel->progs.er_name), &opts);
	for (size_t i = 0; i < n; i++) {
		k->rows[i].text[ER_KSYM_TEXT - 1] = '\0';
		ksyms_parse(k->rows[i].text, addrs[i], &ret[i]);
	}
}
