/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/rawsyms.h"

#include <string.h>

#include "user/probe/match.h"

enum { SYMBOLS_LOOKED_AT = 4 << 20 };

struct search {
	const char *name;            /* NULL: by patterns or `addr` */
	const char *const *patterns; /* NULL: by `addr` */
	uint64_t addr;
	struct rawsyms ret;
};

static bool any_matches(const char *const *patterns, const char *name)
{
	for (; *patterns; patterns++)
		if (match_pattern(*patterns, name))
			return true;
	return false;
}

static bool is_wanted(const struct search *s, const GElf_Sym *sym, const char *name)
{
	if (s->name)
		return name && !strcmp(s->name, name);
	if (s->patterns)
		return name && any_matches(s->patterns, name);
	return sym->st_value == s->addr;
}

static void look_at_symbol(struct search *s, const GElf_Sym *sym, const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (!is_wanted(s, sym, name))
		return;
	s->ret.found = true;
	if (sym->st_shndx == SHN_UNDEF)
		s->ret.undefined = true;
	else if (type == STT_GNU_IFUNC)
		s->ret.ifunc = true;
	else if (type == STT_OBJECT || type == STT_TLS || type == STT_COMMON)
		s->ret.data = true;
}

static void look_in_table(struct search *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), n;
	bool named = s->name || s->patterns;
	GElf_Sym sym;

	n = data && entry ? data->d_size / entry : 0;
	for (size_t i = 1; i < n && i < SYMBOLS_LOOKED_AT && gelf_getsym(data, i, &sym); i++)
		look_at_symbol(s, &sym, named ? elf_strptr(elf, sh->sh_link, sym.st_name) : NULL);
}

static struct rawsyms look(Elf *elf, struct search *s)
{
	bool had[2] = { false, false };
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		bool dynamic;

		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		dynamic = sh.sh_type == SHT_DYNSYM;
		if (!had[dynamic])
			look_in_table(s, elf, scn, &sh);
		had[dynamic] = true;
	}
	return s->ret;
}

struct rawsyms rawsyms_named(Elf *elf, const char *name)
{
	struct search s = { .name = name };

	return look(elf, &s);
}

struct rawsyms rawsyms_at(Elf *elf, uint64_t addr)
{
	struct search s = { .addr = addr };

	return look(elf, &s);
}

bool rawsyms_any(Elf *elf, const char *const *patterns)
{
	struct search s = { .patterns = patterns };

	return look(elf, &s).found;
}
