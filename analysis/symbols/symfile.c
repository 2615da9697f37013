/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections keep their numbers, so references by number stay valid; new tables are
 * appended. The layout is ours: program headers, then the sections with content, one
 * after the other.
 */
#include "analysis/symbols/symfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "analysis/symbols/datasyms.h"
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/framestarts.h"
#include "analysis/symbols/symtab.h"

enum { NOTE_SIZE_MAX = 64 * 1024 };

struct code_section {
	uint64_t addr, size;
	size_t index;
};

struct symfile {
	Elf *in, *out;
	GElf_Ehdr ehdr;
	size_t nsections;
	uint64_t at; /* offset of the next content */
	struct buf names, strings, unnamed;
	VEC(GElf_Sym) syms;
	size_t nlocal;
	VEC(struct code_section) code;
};

static bool write_headers(struct symfile *f)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (!gelf_getehdr(f->in, &f->ehdr) || elf_getshdrnum(f->in, &f->nsections) < 0 ||
	    elf_getphdrnum(f->in, &n) < 0 || !gelf_newehdr(f->out, gelf_getclass(f->in)))
		return false;
	f->ehdr.e_phoff = n ? gelf_fsize(f->in, ELF_T_EHDR, 1, EV_CURRENT) : 0;
	f->ehdr.e_shoff = 0;
	f->ehdr.e_shnum = 0;
	f->ehdr.e_shstrndx = 0;
	if (!gelf_update_ehdr(f->out, &f->ehdr) || (n && !gelf_newphdr(f->out, n)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!gelf_getphdr(f->in, i, &ph) || !gelf_update_phdr(f->out, i, &ph))
			return false;
	f->at = gelf_fsize(f->in, ELF_T_EHDR, 1, EV_CURRENT) +
		gelf_fsize(f->in, ELF_T_PHDR, n, EV_CURRENT);
	return true;
}

/* Give a section content at the next suitable offset. */
static bool put_content(struct symfile *f, Elf_Scn *s, GElf_Shdr *sh, const void *p, size_t size,
			Elf_Type type)
{
	Elf_Data *d = elf_newdata(s);

	if (!d)
		return false;
	d->d_buf = (void *)p;
	d->d_size = size;
	d->d_type = type;
	d->d_version = EV_CURRENT;
	f->at = (f->at + 7) & ~7ULL;
	sh->sh_offset = f->at;
	sh->sh_size = size;
	if (sh->sh_addralign & (sh->sh_addralign - 1) || sh->sh_addralign > 8 || !sh->sh_addralign)
		sh->sh_addralign = 1; /* hostile value: libelf would refuse it */
	d->d_align = sh->sh_addralign;
	f->at += size;
	return gelf_update_shdr(s, sh);
}

/*
 * Whether a section keeps its content: what readers need besides .symtab, such as names
 * of dynamic symbols and notes (the build id).
 */
static bool keeps_content(Elf *in, size_t index, const GElf_Shdr *sh)
{
	GElf_Shdr user;

	if (sh->sh_type == SHT_DYNSYM ||
	    (sh->sh_type == SHT_NOTE && sh->sh_flags & SHF_ALLOC && sh->sh_size <= NOTE_SIZE_MAX))
		return true;
	if (sh->sh_type != SHT_STRTAB)
		return false;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(in, s));)
		if (gelf_getshdr(s, &user) && user.sh_type == SHT_DYNSYM && user.sh_link == index)
			return true;
	return false;
}

static bool copy_section(struct symfile *f, size_t index)
{
	Elf_Scn *from = elf_getscn(f->in, index), *to = elf_newscn(f->out);
	GElf_Shdr sh;
	Elf_Data *d;

	if (!from || !to || !gelf_getshdr(from, &sh))
		return false;
	if (keeps_content(f->in, index, &sh)) {
		d = elf_rawdata(from, NULL);
		return d && put_content(f, to, &sh, d->d_buf, d->d_size, ELF_T_BYTE);
	}
	if (sh.sh_flags & SHF_ALLOC)
		sh.sh_type = SHT_NOBITS;
	else
		sh = (GElf_Shdr){ .sh_type = SHT_NULL };
	sh.sh_offset = f->at;
	return gelf_update_shdr(to, &sh);
}

static size_t add_string(struct buf *b, const char *s, size_t len)
{
	size_t at = b->len;

	buf_add(b, s, len);
	buf_add(b, "", 1);
	return at;
}

/* List the code sections once: there may be a hundred thousand symbols to look up. */
static void find_code(struct symfile *f)
{
	GElf_Shdr sh;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(f->in, s));)
		if (gelf_getshdr(s, &sh) && sh.sh_flags & SHF_EXECINSTR)
			vec_push(&f->code, (struct code_section){ .addr = sh.sh_addr,
								  .size = sh.sh_size,
								  .index = elf_ndxscn(s) });
}

/* The executable section of an address. Every function lies in one. */
static size_t section_of(const struct symfile *f, uint64_t vaddr)
{
	vec_for_each(c, &f->code)
		if (vaddr - c->addr < c->size)
			return c->index;
	return SHN_ABS;
}

static void add_symbol(struct symfile *f, const struct sym *s, const char *name, size_t len,
		       int bind)
{
	vec_push(&f->syms, (GElf_Sym){
				   .st_name = add_string(&f->strings, name, len),
				   .st_info = GELF_ST_INFO(bind, STT_FUNC),
				   .st_shndx = section_of(f, s->addr),
				   .st_value = s->addr,
				   .st_size = s->size,
			   });
}

static void add_variable(void *ctx, const GElf_Sym *s, const char *name)
{
	struct symfile *f = ctx;

	vec_push(&f->syms, (GElf_Sym){
				   .st_name = add_string(&f->strings, name, strlen(name)),
				   .st_info = GELF_ST_INFO(STB_LOCAL, STT_OBJECT),
				   .st_shndx = s->st_shndx,
				   .st_value = s->st_value,
				   .st_size = s->st_size,
			   });
}

/*
 * A symbol table has local symbols first. Aliases become local, so that the kept name
 * is still preferred.
 */
static void collect_symbols(struct symfile *f, const struct symtab *t)
{
	size_t n;
	const struct sym *syms = symtab_syms(t, &n);

	find_code(f);
	vec_push(&f->syms, (GElf_Sym){ 0 });
	add_string(&f->strings, "", 0);
	for (const struct sym *s = syms; s < syms + n; s++) {
		if (!s->global)
			add_symbol(f, s, s->name, strlen(s->name), STB_LOCAL);
		for (const char *a = s->aliases, *end; a && *a; a = *end ? end + 1 : end) {
			end = strchrnul(a, ' ');
			if (*a != '+')
				add_symbol(f, s, a, end - a, STB_LOCAL);
		}
	}
	datasyms_written(f->in, add_variable, f);
	f->nlocal = f->syms.len;
	for (const struct sym *s = syms; s < syms + n; s++)
		if (s->global)
			add_symbol(f, s, s->name, strlen(s->name), STB_GLOBAL);
}

/* The symbols in libelf's memory form for the file's class; the caller frees it. */
static void *symbols_image(struct symfile *f, size_t *size)
{
	bool wide = gelf_getclass(f->in) == ELFCLASS64;
	size_t entry = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	char *image = xcalloc(f->syms.len, entry);

	for (size_t i = 0; i < f->syms.len; i++) {
		const GElf_Sym *s = &f->syms.data[i];

		if (wide)
			((Elf64_Sym *)image)[i] = *s;
		else
			((Elf32_Sym *)image)[i] = (Elf32_Sym){
				.st_name = s->st_name,
				.st_value = s->st_value,
				.st_size = s->st_size,
				.st_info = s->st_info,
				.st_shndx = s->st_shndx,
			};
	}
	*size = f->syms.len * entry;
	return image;
}

static bool copy_names(struct symfile *f)
{
	size_t index;
	Elf_Scn *s;
	Elf_Data *d;

	if (elf_getshdrstrndx(f->in, &index) < 0 || !index)
		return add_string(&f->names, "", 0) == 0;
	s = elf_getscn(f->in, index);
	d = s ? elf_rawdata(s, NULL) : NULL;
	if (!d || !d->d_buf)
		return false;
	add_string(&f->names, d->d_buf, d->d_size);
	return true;
}

/* Add the bounds of functions without a symbol; omitted if there are none. */
static bool add_unnamed(struct symfile *f)
{
	GElf_Shdr sh = { .sh_type = SHT_PROGBITS, .sh_addralign = 1 };
	Elf_Scn *s;

	if (!f->unnamed.len)
		return true;
	s = elf_newscn(f->out);
	sh.sh_name = add_string(&f->names, FRAMESTARTS_SECTION, strlen(FRAMESTARTS_SECTION));
	return s && put_content(f, s, &sh, f->unnamed.data, f->unnamed.len, ELF_T_BYTE);
}

/* Add .symtab, .strtab and .shstrtab after the original sections. */
static bool add_tables(struct symfile *f, const void *symbols, size_t size)
{
	Elf_Scn *symtab = elf_newscn(f->out), *strtab = elf_newscn(f->out),
		*shstrtab = elf_newscn(f->out);
	size_t entry = gelf_fsize(f->in, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Shdr sym = {
		.sh_name = add_string(&f->names, ".symtab", 7),
		.sh_type = SHT_SYMTAB,
		.sh_addralign = 8,
		.sh_link = strtab ? elf_ndxscn(strtab) : 0,
		.sh_info = f->nlocal,
		.sh_entsize = entry,
	};
	GElf_Shdr str = {
		.sh_name = add_string(&f->names, ".strtab", 7),
		.sh_type = SHT_STRTAB,
		.sh_addralign = 1,
	};
	GElf_Shdr names = {
		.sh_name = add_string(&f->names, ".shstrtab", 9),
		.sh_type = SHT_STRTAB,
		.sh_addralign = 1,
	};

	if (!symtab || !strtab || !shstrtab ||
	    !put_content(f, symtab, &sym, symbols, size, ELF_T_SYM) ||
	    !put_content(f, strtab, &str, f->strings.data, f->strings.len, ELF_T_BYTE) ||
	    !put_content(f, shstrtab, &names, f->names.data, f->names.len, ELF_T_BYTE))
		return false;
	f->ehdr.e_shstrndx = elf_ndxscn(shstrtab);
	f->ehdr.e_shoff = (f->at + 7) & ~7ULL;
	return gelf_update_ehdr(f->out, &f->ehdr);
}

/*
 * gprofng finds a function by its section's offset in the original file, so headers
 * must keep that offset. libelf would fill the file up to there with zeros; so the
 * offsets are patched in afterwards.
 */
static int restore_offset(struct symfile *f, int fd, size_t index, const GElf_Shdr *sh)
{
	bool wide = gelf_getclass(f->in) == ELFCLASS64;
	Elf64_Off off64 = sh->sh_offset;
	Elf32_Off off32 = sh->sh_offset;
	size_t size = wide ? sizeof(off64) : sizeof(off32);
	Elf_Data data = {
		.d_buf = wide ? (void *)&off64 : (void *)&off32,
		.d_type = ELF_T_OFF,
		.d_size = size,
		.d_version = EV_CURRENT,
	};
	off_t at = f->ehdr.e_shoff + index * gelf_fsize(f->in, ELF_T_SHDR, 1, EV_CURRENT) +
		   (wide ? offsetof(Elf64_Shdr, sh_offset) : offsetof(Elf32_Shdr, sh_offset));

	if (!gelf_xlatetof(f->in, &data, &data, f->ehdr.e_ident[EI_DATA]))
		return -EIO;
	if (pwrite(fd, data.d_buf, size, at) != (ssize_t)size)
		return errno ? -errno : -EIO;
	return 0;
}

static int restore_offsets(struct symfile *f, int fd)
{
	int err = 0;
	GElf_Shdr was, is;

	for (size_t i = 1; !err && i < f->nsections; i++)
		if (gelf_getshdr(elf_getscn(f->in, i), &was) &&
		    gelf_getshdr(elf_getscn(f->out, i), &is) && is.sh_type == SHT_NOBITS)
			err = restore_offset(f, fd, i, &was);
	return err;
}

static int write_all(struct symfile *f, int out, const char *name, struct diag *d)
{
	__cleanup(freep) void *symbols = NULL;
	size_t size;
	bool ok = write_headers(f) && copy_names(f);
	int err;

	for (size_t i = 1; ok && i < f->nsections; i++)
		ok = copy_section(f, i);
	symbols = symbols_image(f, &size);
	if (!ok || !add_unnamed(f) || !add_tables(f, symbols, size)) {
		diag_error(d, "%s: cannot make its symbol file: %s", name, elf_errmsg(-1));
		return -ENOEXEC;
	}
	errno = 0;
	if (elf_update(f->out, ELF_C_WRITE) < 0)
		err = errno ? -errno : -EIO;
	else
		err = restore_offsets(f, out);
	return err ? diag_errno(d, -err, "%s: cannot write its symbol file", name) : 0;
}

int symfile_write(int in, int out, const struct symtab_opts *o, struct diag *d)
{
	struct symtab *t = symtab_open(in, o, d);
	const struct elf_region *unnamed;
	struct symfile f = { 0 };
	size_t n;
	int err;

	if (!t)
		return -ENOEXEC;
	f.in = elf_begin(in, ELF_C_READ, NULL);
	f.out = elf_begin(out, ELF_C_WRITE, NULL);
	if (f.in && f.out) {
		elf_flagelf(f.out, ELF_C_SET, ELF_F_LAYOUT);
		collect_symbols(&f, t);
		unnamed = symtab_unnamed(t, &n);
		framestarts_pack(unnamed, n, &f.unnamed);
		err = write_all(&f, out, o->path, d);
	} else {
		err = diag_errno(d, EIO, "%s: %s", o->path, elf_errmsg(-1));
	}
	elf_end(f.out);
	elf_end(f.in);
	buf_free(&f.names);
	buf_free(&f.strings);
	buf_free(&f.unnamed);
	vec_free(&f.syms);
	vec_free(&f.code);
	symtab_free(t);
	return err;
}
