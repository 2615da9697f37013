/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a Java VM with changes anywhere: an input has groups of four bytes, an address (three)
 * and what is put there. Its first byte chooses the version.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fixtures/unwind/hotspot_vm.h"
#include "tests/fuzz/report.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	report_quietly();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t pcs[] = { HVM_STUB + HVM_HEADER, HVM_METHOD + HVM_HEADER,
					HVM_INTERPRETER + HVM_HEADER, HVM_CODE + 300 * HVM_SEGMENT };
	static uint8_t memory[HVM_BYTES];
	static struct hvm_answer a;
	struct hvm vm;

	if (!size)
		return 0;
	hvm_make(&vm, memory, *data % 2 ? HVM_25 : HVM_17);
	hvm_scopes(&vm, *data % 2 ? HVM_25 : HVM_17);
	for (size_t i = 1; i + 4 <= size; i += 4)
		memory[(data[i] | data[i + 1] << 8 | data[i + 2] << 16) % HVM_BYTES] = data[i + 3];
	memset(&a.layout, 0, sizeof(a.layout));
	a.scopes = true;
	hvm_ask(&vm, pcs, sizeof(pcs) / sizeof(pcs[0]), &a);
	for (size_t i = 0; i < a.b.n; i++) {
		const struct jit_entry *e = &a.entries[i];

		if (e->kind <= JIT_INTERPRETER && !jit_entry_is_sound(e, a.b.nnames))
			abort();
	}
	return 0;
}
