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
	struct map symbol;
	Elf_Data *syms, *strings;
};

static void add_relocations(struct slots *s, Elf_Scn *scn)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	GElf_Rela r;

	for (size_t i = 0; d && i < d->d_size / sizeof(Elf64_Rela); i++) {
		if (i >= ENTRIES_MAX || !gelf_getrela(d, i, &r))
			return;
		if (GELF_R_TYPE(r.r_info) == R_X86_64_JUMP_SLOT ||
		    GELF_R_TYPE(r.r_info) == R_X86_64_GLOB_DAT)
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

static void add_entries(const struct slots *s, const Elf_Data *d, const GElf_Shdr *sh,
			struct arena *a, rawsyms *ret)
{
	const unsigned char *code = d->d_buf;
	size_t step = sh->sh_entsize, len;

	for (size_t at = 0; at + step <= d->d_size && at / step < ENTRIES_MAX; at += step) {
		uint64_t slot = entry_slot(code + at, step, sh->sh_addr + at);
		const char *name = slot ? slot_name(s, slot, &len) : NULL;
		char *own;

		if (!name)
			continue;
		own = arena_alloc(a, len + sizeof("@plt"));
		memcpy(own, name, len);
		memcpy(own + len, "@plt", sizeof("@plt"));
		vec_push(ret,
			 (struct rawsym){ .addr = sh->sh_addr + at, .size = step, .name = own });
	}
}

void plt_add(Elf *elf, struct arena *a, rawsyms *ret)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	struct slots slots = { 0 };
	GElf_Ehdr eh;
	GElf_Shdr sh;

	if (!gelf_getehdr(elf, &eh) || eh.e_machine != EM_X86_64 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return;
	if (!find_slots(elf, &slots))
		goto out;
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		Elf_Scn *scn = elf_section(elf, sections[i]);
		Elf_Data *d = scn && gelf_getshdr(scn, &sh) && sh.sh_type == SHT_PROGBITS &&
					      sh.sh_size <= 16 * ENTRIES_MAX
				      ? elf_getdata(scn, NULL)
				      : NULL;

		if (d && d->d_buf && (sh.sh_entsize == 8 || sh.sh_entsize == 16))
			add_entries(&slots, d, &sh, a, ret);
	}
out:
	map_free(&slots.symbol);
}
