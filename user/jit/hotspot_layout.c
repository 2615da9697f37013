/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/hotspot_layout.h"

#include <elf.h>
#include <string.h>

#include "user/jit/hotspot.h"
#include "user/jit/snapshot.h"

enum {
	SEGMENTS_MAX = 32,
	DYNAMIC_MAX = 128,
	CHAIN_MAX = 64,          /* symbols with the same hash */
	ENTRIES_MAX = 4096,      /* of a table; Java 17 has 788 and 768, Java 25 has 585 and 335 */
	TABLE_BYTES = 48 << 10,  /* expected of a table */
	TEXT_MAX = 64,           /* bytes of a name that matters */
	OFFSET_MAX = 4096,       /* of a member */
};

/* An entry of gHotSpotVMStructs and of gHotSpotVMTypes. */
struct vm_struct {
	uint64_t type, field, type_of_field;
	int32_t is_static;
	uint32_t pad;
	uint64_t offset, address;
};

struct vm_type {
	uint64_t name, super;
	int32_t is_oop, is_integer, is_unsigned;
	uint32_t pad;
	uint64_t size;
};

static const struct member {
	const char *type, *field; /* field NULL: the size of the type */
	bool optional;
} members[HOTSPOT_MEMBERS] = {
	[ARRAY_LENGTH] = { "GrowableArrayBase", "_len" },
	[ARRAY_DATA] = { "GrowableArray<int>", "_data" },
	[HEAP_MEMORY] = { "CodeHeap", "_memory" },
	[HEAP_SEGMAP] = { "CodeHeap", "_segmap" },
	[HEAP_LOG2] = { "CodeHeap", "_log2_segment_size" },
	[SPACE_LOW] = { "VirtualSpace", "_low" },
	[SPACE_HIGH] = { "VirtualSpace", "_high" },
	[SPACE_END] = { "VirtualSpace", "_high_boundary", true }, /* these three are for frames only */
	[FRAME_SIZE] = { "CodeBlob", "_frame_size", true },
	[FRAME_COMPLETE] = { "CodeBlob", "_frame_complete_offset", true },
	[BLOCK_LENGTH] = { "HeapBlock::Header", "_length" },
	[BLOCK_USED] = { "HeapBlock::Header", "_used" },
	[BLOB_NAME] = { "CodeBlob", "_name" },
	[CODE_BEGIN] = { "CodeBlob", "_code_begin", true },   /* up to Java 22 */
	[CODE_END] = { "CodeBlob", "_code_end", true },
	[CODE_OFFSET] = { "CodeBlob", "_code_offset", true }, /* since then */
	[DATA_OFFSET] = { "CodeBlob", "_data_offset", true },
	[OLD_METHOD] = { "CompiledMethod", "_method", true }, /* up to Java 22 */
	[NMETHOD_METHOD] = { "nmethod", "_method", true },
	[METHOD_CONST] = { "Method", "_constMethod" },
	[CONST_POOL] = { "ConstMethod", "_constants" },
	[CONST_NAME] = { "ConstMethod", "_name_index" },
	[CONST_SIGNATURE] = { "ConstMethod", "_signature_index" },
	[POOL_HOLDER] = { "ConstantPool", "_pool_holder" },
	[KLASS_NAME] = { "Klass", "_name" },
	[SYMBOL_LENGTH] = { "Symbol", "_length" },
	[SYMBOL_BODY] = { "Symbol", "_body" },
	[CONST_WORDS] = { "ConstMethod", "_constMethod_size", true }, /* the rest is for interpreted methods */
	[CONST_FLAGS] = { "ConstMethod", "_flags", true },            /* up to Java 20 */
	[CONST_FLAGS_NEW] = { "ConstMethod", "_flags._flags", true }, /* since then */
	[CONST_CODE] = { "ConstMethod", "_code_size", true },
	[POOL_SOURCE] = { "ConstantPool", "_source_file_name_index", true },
	[SIZE_OF_CONST] = { "ConstMethod", NULL, true },
	[OLD_SCOPES_DATA] = { "CompiledMethod", "_scopes_data_begin", true }, /* inlined methods: up to Java 22 */
	[OLD_METADATA] = { "nmethod", "_metadata_offset", true },
	[OLD_DEPENDENCIES] = { "nmethod", "_dependencies_offset", true },
	[SCOPES_PCS] = { "nmethod", "_scopes_pcs_offset", true },
	[SCOPES_DATA] = { "nmethod", "_scopes_data_offset", true }, /* from Java 25 on */
	[FIXED_DATA] = { "nmethod", "_immutable_data", true },
	[FIXED_SIZE] = { "nmethod", "_immutable_data_size", true },
	[OTHER_DATA] = { "CodeBlob", "_mutable_data", true },
	[OTHER_SIZE] = { "CodeBlob", "_mutable_data_size", true },
	[RELOCATION_SIZE] = { "CodeBlob", "_relocation_size", true },
	[PC_OFFSET] = { "PcDesc", "_pc_offset", true },
	[PC_SCOPE] = { "PcDesc", "_scope_decode_offset", true },
	[SIZE_OF_PC] = { "PcDesc", NULL, true },
	[SIZE_OF_BLOCK] = { "HeapBlock", NULL },
	[SIZE_OF_POOL] = { "ConstantPool", NULL },
};

/* --- the symbols --- */

struct symbols {
	uint64_t base, hash, symbols, strings; /* addresses */
};

static bool find_dynamic(struct snapshot *s, uint64_t base, uint64_t *ret)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (!snapshot_read(s, base, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64 ||
	    h.e_phentsize != sizeof(p))
		return false;
	for (unsigned i = 0; i < h.e_phnum && i < SEGMENTS_MAX; i++) {
		if (!snapshot_read(s, base + h.e_phoff + i * sizeof(p), &p, sizeof(p)))
			return false;
		if (p.p_type == PT_DYNAMIC) {
			*ret = base + p.p_vaddr;
			return true;
		}
	}
	return false;
}

/* glibc's loader adds the base to addresses in the dynamic section; others do not. */
static uint64_t based(uint64_t base, uint64_t address)
{
	return address < base ? base + address : address;
}

static bool find_tables(struct snapshot *s, uint64_t base, struct symbols *ret)
{
	uint64_t at;
	Elf64_Dyn d;

	*ret = (struct symbols){ .base = base };
	if (!find_dynamic(s, base, &at))
		return false;
	for (unsigned i = 0; i < DYNAMIC_MAX; i++, at += sizeof(d)) {
		if (!snapshot_read(s, at, &d, sizeof(d)))
			return false;
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_GNU_HASH)
			ret->hash = based(base, d.d_un.d_ptr);
		else if (d.d_tag == DT_SYMTAB)
			ret->symbols = based(base, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRTAB)
			ret->strings = based(base, d.d_un.d_ptr);
	}
	return ret->hash && ret->symbols && ret->strings;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static bool is_named(struct snapshot *s, const struct symbols *e, const Elf64_Sym *sym, const char *name)
{
	char text[TEXT_MAX];

	return snapshot_text(s, e->strings + sym->st_name, text, sizeof(text)) && !strcmp(text, name);
}

/* The value of the 8 bytes that the symbol names. */
static bool find_value(struct snapshot *s, const struct symbols *e, const char *name, uint64_t *ret)
{
	struct { uint32_t buckets, first, bloom, shift; } h;
	uint32_t hash = gnu_hash(name);
	uint64_t buckets, chain, index, found = 0;
	Elf64_Sym sym;

	if (!snapshot_read(s, e->hash, &h, sizeof(h)) || !h.buckets)
		return false;
	buckets = e->hash + sizeof(h) + 8ULL * h.bloom;
	if (!snapshot_number(s, buckets + 4ULL * (hash % h.buckets), 4, &index) || index < h.first)
		return false;
	for (unsigned i = 0; i < CHAIN_MAX && !(found & 1); i++, index++) {
		chain = buckets + 4ULL * h.buckets + 4 * (index - h.first);
		if (!snapshot_number(s, chain, 4, &found))
			return false;
		if ((found ^ hash) >> 1)
			continue;
		if (!snapshot_read(s, e->symbols + index * sizeof(sym), &sym, sizeof(sym)))
			return false;
		if (is_named(s, e, &sym, name))
			return snapshot_word(s, e->base + sym.st_value, ret);
	}
	return false;
}

/* --- the tables --- */

static void put(struct hotspot_layout *l, enum hotspot_member m, uint64_t offset)
{
	if (offset < OFFSET_MAX)
		l->offset[m] = offset;
}

static void put_named(struct hotspot_layout *l, const char *type, const char *field, uint64_t offset)
{
	for (unsigned i = 0; i < HOTSPOT_MEMBERS; i++) {
		const struct member *m = &members[i];

		if (!strcmp(m->type, type) && !m->field == !field &&
		    (!field || !strcmp(m->field, field)))
			put(l, i, offset);
	}
}

static void put_static(struct snapshot *s, struct hotspot_layout *l, const char *type, const char *field,
		       uint64_t address)
{
	uint64_t value;

	if (!strcmp(type, "CodeCache") && !strcmp(field, "_heaps"))
		l->heaps = address;
	else if (!strcmp(type, "Abstract_VM_Version") && !strcmp(field, "_vm_major_version") &&
		 snapshot_number(s, address, 4, &value))
		l->major = value;
}

/* Reads on after something missing, so that all of it is noted. */
static void take_structs(struct snapshot *s, uint64_t table, struct hotspot_layout *l)
{
	char type[TEXT_MAX], field[TEXT_MAX];
	struct vm_struct e;

	snapshot_expect(s, table, TABLE_BYTES);
	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		bool named;

		if (!snapshot_read(s, table + i * sizeof(e), &e, sizeof(e)) || !e.type)
			return;
		named = snapshot_text(s, e.type, type, sizeof(type));
		named &= snapshot_text(s, e.field, field, sizeof(field));
		if (named && e.is_static)
			put_static(s, l, type, field, e.address);
		else if (named)
			put_named(l, type, field, e.offset);
	}
}

static void take_types(struct snapshot *s, uint64_t table, struct hotspot_layout *l)
{
	char name[TEXT_MAX];
	struct vm_type e;

	snapshot_expect(s, table, TABLE_BYTES);
	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		if (!snapshot_read(s, table + i * sizeof(e), &e, sizeof(e)) || !e.name)
			return;
		if (snapshot_text(s, e.name, name, sizeof(name)))
			put_named(l, name, NULL, e.size);
	}
}

static bool has(const struct hotspot_layout *l, enum hotspot_member m)
{
	return l->offset[m] != HOTSPOT_ABSENT;
}

static bool is_complete(const struct hotspot_layout *l)
{
	for (unsigned i = 0; i < HOTSPOT_MEMBERS; i++) {
		if (!members[i].optional && !has(l, i))
			return false;
	}
	return l->heaps && (has(l, OLD_METHOD) || has(l, NMETHOD_METHOD)) &&
	       ((has(l, CODE_BEGIN) && has(l, CODE_END)) || (has(l, CODE_OFFSET) && has(l, DATA_OFFSET)));
}

bool hotspot_layout_find(struct snapshot *s, uint64_t library, struct hotspot_layout *ret)
{
	uint64_t structs = 0, types = 0, of_structs = 0, of_types = 0;
	struct symbols e;
	bool all;

	memset(ret, 0, sizeof(*ret));
	memset(ret->offset, 0xff, sizeof(ret->offset));
	if (!find_tables(s, library, &e))
		return false;
	all = find_value(s, &e, "gHotSpotVMStructs", &structs);
	all &= find_value(s, &e, "gHotSpotVMTypes", &types);
	all &= find_value(s, &e, "gHotSpotVMStructEntryArrayStride", &of_structs);
	all &= find_value(s, &e, "gHotSpotVMTypeEntryArrayStride", &of_types);
	if (!all || of_structs != sizeof(struct vm_struct) || of_types != sizeof(struct vm_type))
		return false;
	take_structs(s, structs, ret);
	take_types(s, types, ret);
	ret->known = !s->lacking && is_complete(ret);
	return ret->known;
}
