/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach OBJECT: loads a BPF object and attaches all its programs until a signal.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_program *program;

	if (!object || bpf_object__load(object))
		return 2;
	bpf_object__for_each_program(program, object)
		if (!bpf_program__attach(program))
			return 2;
	pause();
	return 0;
}
