/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the code that a Java VM (HotSpot) has generated, from copies of parts of the process's
 * memory. libjvm.so exports tables of its own structures (gHotSpotVMStructs) for debuggers. They say
 * where the code cache is, and so which method or stub contains an address.
 *
 * The parser is asked about addresses. It answers with names, or with the parts of memory that it
 * wants to see first, and is then asked again. Everything is hostile.
 */
#ifndef USER_JIT_HOTSPOT_H
#define USER_JIT_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct er_hotspot;
struct jit_batch;

enum {
	HOTSPOT_PCS = 512,     /* addresses of a question */
	HOTSPOT_ROUNDS = 60,   /* an honest VM needs 25 at first, and then 10 */
	HOTSPOT_KNOWN = 1 << 14, /* slots for methods that are known */
};

/* The members of HotSpot's structures that are needed, and sizes of types. */
enum hotspot_member {
	ARRAY_LENGTH, ARRAY_DATA, HEAP_MEMORY, HEAP_SEGMAP, HEAP_LOG2, SPACE_LOW, SPACE_HIGH, SPACE_END,
	BLOCK_LENGTH, BLOCK_USED, BLOB_NAME, CODE_BEGIN, CODE_END, CODE_OFFSET, DATA_OFFSET, OLD_METHOD,
	NMETHOD_METHOD, METHOD_CONST, CONST_POOL, CONST_NAME, CONST_SIGNATURE, POOL_HOLDER, KLASS_NAME,
	FRAME_SIZE, FRAME_COMPLETE, SYMBOL_LENGTH, SYMBOL_BODY, CONST_WORDS, CONST_FLAGS, CONST_FLAGS_NEW,
	CONST_CODE, POOL_SOURCE, SIZE_OF_BLOCK, SIZE_OF_POOL, SIZE_OF_CONST, OLD_SCOPES_DATA, OLD_METADATA,
	OLD_DEPENDENCIES, SCOPES_PCS, SCOPES_DATA, FIXED_DATA, FIXED_SIZE, OTHER_DATA, OTHER_SIZE,
	RELOCATION_SIZE, PC_OFFSET, PC_SCOPE, SIZE_OF_PC, HOTSPOT_MEMBERS
};

/* Where everything is in this VM. It does not change. Zeroed: not known yet. */
struct hotspot_layout {
	uint32_t known;
	uint32_t major;                     /* the version of Java; 0: not known */
	uint64_t heaps;                     /* address of CodeCache::_heaps */
	uint16_t offset[HOTSPOT_MEMBERS];   /* HOTSPOT_ABSENT: this version does not have it */
};

#define HOTSPOT_ABSENT UINT16_MAX

/* The beginning of the file. Units of memory (struct memory_unit) follow. */
struct hotspot_question {
	uint64_t library; /* where libjvm.so is mapped */
	uint32_t npcs, pad;
	struct hotspot_layout layout; /* as an earlier answer has it */
	uint64_t pcs[HOTSPOT_PCS];
	bool scopes[HOTSPOT_PCS];      /* of each address: also say which methods its code comes from */
	uint64_t known[HOTSPOT_KNOWN]; /* ids of methods; as hotspot_slot says, 0: free */
};

/* Where an id is among those that are known, or the free slot for it. NULL: there is no room. */
static inline const uint64_t *hotspot_slot(const uint64_t *known, uint64_t id)
{
	for (size_t i = 0; i < HOTSPOT_KNOWN; i++) {
		const uint64_t *slot = &known[(id + i) % HOTSPOT_KNOWN];

		if (!*slot || *slot == id)
			return slot;
	}
	return NULL;
}

/*
 * Answer the question in a file of n bytes. The batch gets entries of the kinds JIT_FUNCTION and
 * JIT_INTERPRETER, JIT_WANTED for each unit that is missing, and JIT_LAYOUT once with the layout. It
 * gets a JIT_VM if the frames of this VM's code can be walked. It gets a JIT_SCOPES for each compiled method
 * whose scopes were asked for, and before it a JIT_METHOD for each of its methods that is not known.
 * Returns 0; -ENOTSUP: the library is no HotSpot, or of a version that is not understood; -EBADMSG: the file is none.
 */
int hotspot_parse(const void *file, size_t n, struct jit_batch *to);

/* The layout in the name of an entry JIT_LAYOUT. False: it has another length. */
bool hotspot_layout_take(const char *name, size_t n, struct hotspot_layout *ret);
/* The same for an entry JIT_VM. */
bool hotspot_vm_take(const char *name, size_t n, struct er_hotspot *ret);

#endif
