/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "bpf/code.h"
#include "loaders/privilege.h"

enum { CHUNK_BYTES = ER_CHUNK_WORDS * sizeof(uint32_t) };

static size_t page_up(size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (n + page - 1) & ~(page - 1);
}

static int make_array(const char *name, size_t value_size, size_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), value_size, n, &opts);

	return fd < 0 ? -errno : fd;
}

static int make_hash(const char *name, size_t key_size, size_t value_size, size_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, name, key_size, value_size, n, &opts);

	return fd < 0 ? -errno : fd;
}

/* Map all of an array's elements. Returns 0 or -errno. */
static int map_array(int fd, size_t bytes, void *ret)
{
	void *p = fd < 0 ? NULL :
			   mmap(NULL, page_up(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0)
		return fd;
	if (p == MAP_FAILED)
		return -errno;
	*(void **)ret = p;
	return 0;
}

/* The functions of interpreted programs that BPF knows (bpf/python.h). */
static int make_codes(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "er_codes", 2 * sizeof(__u64), sizeof(__u32),
				ER_CODES_KNOWN, NULL);

	return fd < 0 ? -errno : fd;
}

static int make_chunks(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner = make_array("er_chunk", CHUNK_BYTES, 1), fd;

	if (inner < 0)
		return inner;
	opts.inner_map_fd = inner;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "er_chunks", sizeof(__u32), sizeof(__u32),
			    UNWIND_MAX_CHUNKS, &opts);
	if (fd < 0)
		fd = -errno;
	close(inner);
	return fd;
}

int unwind_maps_open(struct unwind_maps **ret)
{
	struct unwind_maps *m = xcalloc(1, sizeof(*m));
	int err;

	m->files_fd = make_array("er_files", sizeof(struct er_unwind_file), ER_MAX_FILES);
	m->ranges_fd = make_array("er_ranges", sizeof(struct er_range), ER_MAX_RANGES);
	m->chunks_fd = make_chunks();
	m->spaces_fd = make_hash("er_spaces", sizeof(struct er_space_key), sizeof(struct er_space),
				 ER_MAX_SPACES);
	m->inodes_fd = make_hash("er_inodes", sizeof(struct er_inode), sizeof(__u32), ER_MAX_FILES);
	m->codes_fd = make_codes();
	m->hotspots_fd = make_hash("er_hotspots", sizeof(struct er_space_key),
				   sizeof(struct er_hotspot), ER_MAX_HOTSPOTS);
	m->awaited_fd = make_hash("er_awaited", sizeof(__u32), sizeof(__u32), ER_MAX_HOTSPOTS);
	m->ncodes_fd = make_array("er_ncodes", sizeof(__u32), 1);
	err = map_array(m->files_fd, ER_MAX_FILES * sizeof(*m->files), &m->files);
	err = err ? err : map_array(m->ranges_fd, ER_MAX_RANGES * sizeof(*m->ranges), &m->ranges);
	err = err ? err : m->chunks_fd < 0 ? m->chunks_fd : 0;
	err = err ? err : m->spaces_fd < 0 ? m->spaces_fd : 0;
	err = err ? err : m->inodes_fd < 0 ? m->inodes_fd : 0;
	err = err ? err : m->codes_fd < 0 ? m->codes_fd : 0;
	err = err ? err : m->ncodes_fd < 0 ? m->ncodes_fd : 0;
	err = err ? err : m->hotspots_fd < 0 ? m->hotspots_fd : 0;
	err = err ? err : m->awaited_fd < 0 ? m->awaited_fd : 0;
	if (err) {
		unwind_maps_close(m);
		return err;
	}
	*ret = m;
	return 0;
}

/* Memory of the recorder's own, zero at first. NULL with errno on failure. */
static void *map_memory(size_t bytes)
{
	void *p = mmap(NULL, page_up(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int unwind_maps_open_bare(struct unwind_maps **ret)
{
	struct unwind_maps *m = xcalloc(1, sizeof(*m));

	m->bare = true;
	m->files_fd = m->ranges_fd = m->chunks_fd = m->spaces_fd = m->inodes_fd = -1;
	m->codes_fd = m->ncodes_fd = m->hotspots_fd = m->awaited_fd = -1;
	m->files = map_memory(ER_MAX_FILES * sizeof(*m->files));
	m->ranges = map_memory(ER_MAX_RANGES * sizeof(*m->ranges));
	if (!m->files || !m->ranges) {
		unwind_maps_close(m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

void unwind_maps_close(struct unwind_maps *m)
{
	if (!m)
		return;
	if (m->files)
		munmap(m->files, page_up(ER_MAX_FILES * sizeof(*m->files)));
	if (m->ranges)
		munmap(m->ranges, page_up(ER_MAX_RANGES * sizeof(*m->ranges)));
	for (int i = 0; i < UNWIND_MAX_CHUNKS; i++)
		if (m->chunks[i])
			munmap(m->chunks[i], CHUNK_BYTES);
	closep(&m->files_fd);
	closep(&m->ranges_fd);
	closep(&m->chunks_fd);
	closep(&m->spaces_fd);
	closep(&m->inodes_fd);
	closep(&m->codes_fd);
	closep(&m->ncodes_fd);
	closep(&m->hotspots_fd);
	closep(&m->awaited_fd);
	free(m);
}

int unwind_maps_bind(const struct unwind_maps *m, struct bpf_object *obj)
{
	const struct {
		const char *name;
		int fd;
	} maps[] = {
		{ "er_files", m->files_fd },   { "er_ranges", m->ranges_fd },
		{ "er_chunks", m->chunks_fd }, { "er_spaces", m->spaces_fd },
		{ "er_inodes", m->inodes_fd }, { "er_codes", m->codes_fd },
		{ "er_ncodes", m->ncodes_fd }, { "er_hotspots", m->hotspots_fd },
		{ "er_awaited", m->awaited_fd },
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, maps[i].name);
		int err = map ? bpf_map__reuse_fd(map, maps[i].fd) : 0;

		if (err)
			return err;
	}
	return 0;
}

struct er_unwind_file *unwind_maps_files(const struct unwind_maps *m)
{
	return m->files;
}

struct er_range *unwind_maps_ranges(const struct unwind_maps *m)
{
	return m->ranges;
}

/* The kernel keeps the array as long as the slot refers to it. */
uint32_t *unwind_maps_chunk(struct unwind_maps *m, uint32_t slot)
{
	__cleanup(closep) int fd = -1;
	uint64_t before;

	if (m->chunks[slot])
		return m->chunks[slot];
	if (m->bare)
		return m->chunks[slot] = map_memory(CHUNK_BYTES);
	before = privilege_take(PRIVILEGE_MAPS);
	fd = make_array("er_chunk", CHUNK_BYTES, 1);
	privilege_return(before);
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	if (map_array(fd, CHUNK_BYTES, &m->chunks[slot]) ||
	    !bpf_map_update_elem(m->chunks_fd, &slot, &fd, BPF_ANY))
		return m->chunks[slot];
	munmap(m->chunks[slot], CHUNK_BYTES);
	return m->chunks[slot] = NULL;
}

int unwind_maps_space(struct unwind_maps *m, const struct er_space_key *key,
		      const struct er_space *space)
{
	int err = m->bare ? 0 :
		  space ? bpf_map_update_elem(m->spaces_fd, key, space, BPF_ANY) :
			  bpf_map_delete_elem(m->spaces_fd, key);

	return err ? -errno : 0;
}

int unwind_maps_hotspot(struct unwind_maps *m, const struct er_space_key *key,
			const struct er_hotspot *vm)
{
	int err = m->bare ? 0 :
		  vm ? bpf_map_update_elem(m->hotspots_fd, key, vm, BPF_ANY) :
		       bpf_map_delete_elem(m->hotspots_fd, key);

	return err ? -errno : 0;
}

int unwind_maps_await(struct unwind_maps *m, uint32_t pid, bool on)
{
	const uint32_t value = 0;
	int err = m->bare ? 0 :
		  on ? bpf_map_update_elem(m->awaited_fd, &pid, &value, BPF_ANY) :
		       bpf_map_delete_elem(m->awaited_fd, &pid);

	return err ? -errno : 0;
}

int unwind_maps_inode(struct unwind_maps *m, const struct er_inode *inode, uint32_t file)
{
	int err = m->bare ? 0 :
		  file ? bpf_map_update_elem(m->inodes_fd, inode, &file, BPF_ANY) :
			 bpf_map_delete_elem(m->inodes_fd, inode);

	return err ? -errno : 0;
}
