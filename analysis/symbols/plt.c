/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/plt.h"

#include <string.h>

#include "analysis/base/map.h"

enum {
	ENTRIES_MAX = 1 << 20,
	NAME_MAX_LEN = 1024, /* every entry copies its name */
};

/* The functions called through slots that hold their addresses. */
struct slots {
	unsigned machine;
	struct map symbol;   /* slot to index of a dynamic symbol */
	struct map resolver; /* slot to the address of its resolver function (IFUNC) */
	struct map chosen;   /* resolver address to its name, const char *; NULL: unknown */
	Elf_Data *syms, *strings;
};

static bool is_slot(unsigned machine, unsigned type)
{
	if (machine == EM_AARCH64)
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static bool is_chosen(unsigned machine, unsigned type)
{
	return type == (machine == EM_AARCH64 ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE);
}

/*
 * How many relocations of the section only add the address where the file is loaded. They are its
 * first ones, and there may be a million of them.
 */
static size_t relative_count(Elf *elf, uint64_t section)
{
	Elf_Scn *scn = elf_section(elf, ".dynamic");
	Elf_Data *d = scn ? elf_getdata(scn, NULL) : NULL;
	uint64_t table = 0, count = 0;
	GElf_Dyn dyn;

	for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_RELA)
			table = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_RELACOUNT)
			count = dyn.d_un.d_val;
	}
	return table == section ? count : 0;
}

static void add_relocations(struct slots *s, Elf *elf, const GElf_Shdr *sh, bool dynamic)
{
	size_t n = sh->sh_size / sizeof(Elf64_Rela), first = relative_count(elf, sh->sh_addr);
	Elf_Data *d;
	GElf_Rela r;

	if (first >= n)
		return;
	n -= first;
	d = elf_getdata_rawchunk(elf, sh->sh_offset + first * sizeof(Elf64_Rela), n * sizeof(Elf64_Rela), ELF_T_RELA);
	for (size_t i = 0; d && i < n; i++) {
		unsigned type;

		if (i >= ENTRIES_MAX || !gelf_getrela(d, i, &r))
			return;
		type = GELF_R_TYPE(r.r_info);
		if (dynamic && is_slot(s->machine, type))
			*map_put(&s->symbol, r.r_offset, NULL) = GELF_R_SYM(r.r_info);
		if (is_chosen(s->machine, type)) {
			*map_put(&s->resolver, r.r_offset, NULL) = r.r_addend;
			*map_put(&s->chosen, r.r_addend, NULL) = 0;
		}
	}
}

static size_t find_dynsym(Elf *elf, struct slots *s)
{
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		size_t index = elf_ndxscn(scn);

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM)
			continue;
		s->syms = elf_getdata(scn, NULL);
		scn = elf_getscn(elf, sh.sh_link);
		s->strings = scn ? elf_getdata(scn, NULL) : NULL;
		return s->syms && s->strings && s->strings->d_buf ? index : 0;
	}
	return 0;
}

/*
 * Read the slots; false if there are none. A static program has no dynamic symbols, but
 * may have IFUNCs.
 */
static bool find_slots(Elf *elf, struct slots *s)
{
	size_t dynsym = find_dynsym(elf, s);
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA && sh.sh_flags & SHF_ALLOC)
			add_relocations(s, elf, &sh, dynsym && sh.sh_link == dynsym);
	return s->symbol.len || s->resolver.len;
}

/*
 * Name the resolvers. A resolver has the name of the function it selects. Of several
 * names the alphabetically last is used.
 */
static void name_chosen(struct slots *s, const rawsyms *syms)
{
	for (size_t i = 0; s->chosen.len && i < syms->len; i++) {
		const struct rawsym *sym = &syms->data[i];
		uint64_t *known = map_get(&s->chosen, sym->addr);
		const char *name = known ? (const char *)(uintptr_t)*known : NULL;

		if (known && sym->flags & RAW_GLOBAL && (!name || strcmp(sym->name, name) > 0))
			*known = (uintptr_t)sym->name;
	}
}

static const char *chosen_name(const struct slots *s, uint64_t slot)
{
	const uint64_t *resolver = map_get(&s->resolver, slot);
	const uint64_t *name = resolver ? map_get(&s->chosen, *resolver) : NULL;

	return name ? (const char *)(uintptr_t)*name : NULL;
}

static const char *slot_name(const struct slots *s, uint64_t slot, size_t *len)
{
	const uint64_t *index = map_get(&s->symbol, slot);
	const char *name = index ? NULL : chosen_name(s, slot);
	GElf_Sym sym;
	size_t room;

	if (name) {
		*len = strnlen(name, NAME_MAX_LEN + 1);
		return *len <= NAME_MAX_LEN ? name : NULL;
	}
	if (!index || !*index || !gelf_getsym(s->syms, *index, &sym) ||
	    sym.st_name >= s->strings->d_size)
		return NULL;
	name = (const char *)s->strings->d_buf + sym.st_name;
	room = s->strings->d_size - sym.st_name;
	*len = strnlen(name, room);
	return *len && *len <= NAME_MAX_LEN && *len < room ? name : NULL;
}

static const char endbr64[] = "\xf3\x0f\x1e\xfa";

/*
 * The slot that an entry jumps through; 0: no such jump. Matches [endbr64] [bnd] jmp
 * *displacement(%rip).
 */
static uint64_t entry_slot(const unsigned char *code, size_t size, uint64_t vaddr)
{
	size_t i = 0;
	int32_t displacement;

	if (!memcmp(code, endbr64, 4))
		i += 4;
	i += code[i] == 0xf2;
	if (i + 6 > size || code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	memcpy(&displacement, code + i + 2, 4);
	return vaddr + i + 6 + displacement;
}

/* `suffix` has four characters. */
static void add_named(const struct slots *s, uint64_t slot, const char *suffix, uint64_t addr,
		      uint64_t size, struct arena *a, rawsyms *ret)
{
	size_t len;
	const char *name = slot ? slot_name(s, slot, &len) : NULL;
	char *own;

	if (!name)
		return;
	own = arena_alloc(a, len + sizeof("@plt"));
	memcpy(own, name, len);
	memcpy(own + len, suffix, sizeof("@plt"));
	vec_push(ret, (struct rawsym){ .addr = addr, .size = size, .name = own });
}

static void add_entry(const struct slots *s, uint64_t slot, uint64_t addr, uint64_t size,
		      struct arena *a, rawsyms *ret)
{
	add_named(s, slot, "@plt", addr, size, a, ret);
}

static void add_entries(const struct slots *s, const Elf_Data *d, const GElf_Shdr *sh,
			struct arena *a, rawsyms *ret)
{
	const unsigned char *code = d->d_buf;
	size_t step = sh->sh_entsize;

	/* Static programs do not give the size of entries: 16 bytes with endbr64, otherwise 8. */
	if (!step)
		step = d->d_size >= 16 && !memcmp(code, endbr64, 4) ? 16 : 8;
	for (size_t at = 0; at + step <= d->d_size && at / step < ENTRIES_MAX; at += step)
		add_entry(s, entry_slot(code + at, step, sh->sh_addr + at), sh->sh_addr + at, step,
			  a, ret);
}

/* --- AArch64: [bti c] adrp x16, page; ldr x17, [x16, #offset]; add; br x17 [nop] --- */

enum { ARM_BTI_C = 0xd503245f, ARM_ENTRY = 16 };

/* The slot that these two instructions load from; 0: they are other instructions. */
static uint64_t arm_slot(const uint32_t insn[2], uint64_t vaddr)
{
	int64_t page;

	if ((insn[0] & 0x9f00001f) != 0x90000010 || (insn[1] & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (int64_t)((uint64_t)(insn[0] >> 5 & 0x7ffff) << 45) >> 31; /* 19 bits, signed */
	page |= (uint64_t)(insn[0] >> 29 & 3) << 12;
	return (vaddr & ~0xfffULL) + page + (insn[1] >> 10 & 0xfff) * 8;
}

static void add_arm_entries(const struct slots *s, const Elf_Data *d, const GElf_Shdr *sh,
			    struct arena *a, rawsyms *ret)
{
	const unsigned char *code = d->d_buf;
	size_t from = 0;

	for (size_t at = 0; at + ARM_ENTRY <= d->d_size && at / 4 < ENTRIES_MAX; at += 4) {
		uint32_t insn[2];
		uint64_t slot;

		memcpy(insn, code + at, sizeof(insn));
		if (insn[0] == ARM_BTI_C)
			from = at;
		slot = arm_slot(insn, sh->sh_addr + at);
		if (!slot)
			continue;
		from = from + 4 == at ? from : at;
		add_entry(s, slot, sh->sh_addr + from, at + ARM_ENTRY - from, a, ret);
	}
}

static bool is_known(const GElf_Ehdr *eh)
{
	return (eh->e_machine == EM_X86_64 || eh->e_machine == EM_AARCH64) &&
	       eh->e_ident[EI_CLASS] == ELFCLASS64 && eh->e_ident[EI_DATA] == ELFDATA2LSB;
}

static void slots_free(struct slots *s)
{
	map_free(&s->symbol);
	map_free(&s->resolver);
	map_free(&s->chosen);
}

void plt_add_slots(Elf *elf, struct arena *a, rawsyms *ret)
{
	struct slots slots = { 0 };
	GElf_Ehdr eh;

	if (!gelf_getehdr(elf, &eh) || !is_known(&eh))
		return;
	slots.machine = eh.e_machine;
	find_slots(elf, &slots);
	map_for_each (slot, &slots.symbol)
		add_named(&slots, slot->key, "@got", slot->key, sizeof(uint64_t), a, ret);
	slots_free(&slots);
}

void plt_add(Elf *elf, struct arena *a, rawsyms *ret)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	struct slots slots = { 0 };
	GElf_Ehdr eh;
	GElf_Shdr sh;

	if (!gelf_getehdr(elf, &eh) || !is_known(&eh))
		return;
	slots.machine = eh.e_machine;
	if (!find_slots(elf, &slots))
		goto out;
	name_chosen(&slots, ret);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		Elf_Scn *scn = elf_section(elf, sections[i]);
		Elf_Data *d = scn && gelf_getshdr(scn, &sh) && sh.sh_type == SHT_PROGBITS &&
					      sh.sh_size <= 16 * ENTRIES_MAX
				      ? elf_getdata(scn, NULL)
				      : NULL;

		if (d && d->d_buf && slots.machine == EM_AARCH64)
			add_arm_entries(&slots, d, &sh, a, ret);
		else if (d && d->d_buf && (!sh.sh_entsize || sh.sh_entsize == 8 ||
						sh.sh_entsize == 16))
			add_entries(&slots, d, &sh, a, ret);
	}
out:
	slots_free(&slots);
}
