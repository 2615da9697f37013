/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/plt.h"

#include <string.h>

#include "analysis/base/map.h"

enum {
	ENTRIES_MAX = 1 << 20,
	NAME_MAX_LEN = 1024, /* every entry copies its name */
};

/* Dynamic symbols by the address of the slot that holds their address. */
struct slots {
	unsigned machine;
	struct map symbol;
	Elf_Data *syms, *strings;
};

static bool is_slot(unsigned machine, unsigned type)
{
	if (machine == EM_AARCH64)
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static void add_relocations(struct slots *s, Elf_Scn *scn)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	GElf_Rela r;

	for (size_t i = 0; d && i < d->d_size / sizeof(Elf64_Rela); i++) {
		if (i >= ENTRIES_MAX || !gelf_getrela(d, i, &r))
			return;
		if (is_slot(s->machine, GELF_R_TYPE(r.r_info)))
			*map_put(&s->symbol, r.r_offset, NULL) = GELF_R_SYM(r.r_info);
	}
}

static bool find_slots(Elf *elf, struct slots *s)
{
	size_t dynsym = 0; /* no relocations are linked to section 0 but those without symbols */
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; !dynsym && (scn = elf_nextscn(elf, scn));) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM)
			continue;
		dynsym = elf_ndxscn(scn);
		s->syms = elf_getdata(scn, NULL);
		scn = elf_getscn(elf, sh.sh_link);
		s->strings = scn ? elf_getdata(scn, NULL) : NULL;
		break;
	}
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA && sh.sh_link == dynsym)
			add_relocations(s, scn);
	return s->syms && s->strings && s->strings->d_buf && s->symbol.len;
}

static const char *slot_name(const struct slots *s, uint64_t slot, size_t *len)
{
	const uint64_t *index = map_get(&s->symbol, slot);
	const char *name;
	GElf_Sym sym;
	size_t room;

	if (!index || !*index || !gelf_getsym(s->syms, *index, &sym) ||
	    sym.st_name >= s->strings->d_size)
		return NULL;
	name = (const char *)s->strings->d_buf + sym.st_name;
	room = s->strings->d_size - sym.st_name;
	*len = strnlen(name, room);
	return *len && *len <= NAME_MAX_LEN && *len < room ? name : NULL;
}

/* The slot that an entry jumps through, 0 if it does not: [endbr64] [bnd] jmp *displacement(%rip).
 */
static uint64_t entry_slot(const unsigned char *code, size_t size, uint64_t vaddr)
{
	size_t i = 0;
	int32_t displacement;

	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		i += 4;
	i += code[i] == 0xf2;
	if (i + 6 > size || code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	memcpy(&displacement, code + i + 2, 4);
	return vaddr + i + 6 + displacement;
}

static void add_entry(const struct slots *s, uint64_t slot, uint64_t addr, uint64_t size,
		      struct arena *a, rawsyms *ret)
{
	size_t len;
	const char *name = slot ? slot_name(s, slot, &len) : NULL;
	char *own;

	if (!name)
		return;
	own = arena_alloc(a, len + sizeof("@plt"));
	memcpy(own, name, len);
	memcpy(own + len, "@plt", sizeof("@plt"));
	vec_push(ret, (struct rawsym){ .addr = addr, .size = size, .name = own });
}

static void add_entries(const struct slots *s, const Elf_Data *d, const GElf_Shdr *sh,
			struct arena *a, rawsyms *ret)
{
	const unsigned char *code = d->d_buf;
	size_t step = sh->sh_entsize;

	for (size_t at = 0; at + step <= d->d_size && at / step < ENTRIES_MAX; at += step)
		add_entry(s, entry_slot(code + at, step, sh->sh_addr + at), sh->sh_addr + at, step,
			  a, ret);
}

/* --- AArch64: [bti c] adrp x16, page; ldr x17, [x16, #offset]; add; br x17 [nop] --- */

enum { ARM_BTI_C = 0xd503245f, ARM_ENTRY = 16 };

/* The slot that the two instructions load from, 0 if they are others. */
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
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		Elf_Scn *scn = elf_section(elf, sections[i]);
		Elf_Data *d = scn && gelf_getshdr(scn, &sh) && sh.sh_type == SHT_PROGBITS &&
					      sh.sh_size <= 16 * ENTRIES_MAX
				      ? elf_getdata(scn, NULL)
				      : NULL;

		if (d && d->d_buf && slots.machine == EM_AARCH64)
			add_arm_entries(&slots, d, &sh, a, ret);
		else if (d && d->d_buf && (sh.sh_entsize == 8 || sh.sh_entsize == 16))
			add_entries(&slots, d, &sh, a, ret);
	}
out:
	map_free(&slots.symbol);
}
