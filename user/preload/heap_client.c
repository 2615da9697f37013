/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/preload/heap_client.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "user/preload/own_call.h"

enum {
	SENT = 1 << 14,           /* ids of stacks that were sent; a power of two */
	ANSWER_MS = 5000,
	WAIT_NS = 100000,         /* between two looks at a full ring */
	WAIT_AT_MOST_NS = 2000000000, /* while the recorder reads nothing */
	MARGIN = HEAP_SLOTS / 8,  /* what threads may take at the same time, of clock samples */
	ASK_NS = 20000000,        /* between two calls of a recorder that attaches, if the first found none */
	PID_CHARS = 12,
};

enum progress { UNTRIED, TRYING, CONNECTED, GIVEN_UP };

/* In memory that a forked child finds empty. */
struct connection {
	uint32_t progress; /* enum progress */
	uint32_t generation; /* of `sent` */
	struct heap_ring *ring;
	uint64_t process;
	uint64_t nfiles; /* heap_walk_files() when the recorder was last told of new code */
	uint64_t asked_ns; /* when a recorder that attaches was last called in vain; 0: never */
	uint64_t sent[SENT];
};

static struct connection *connection;
static struct sockaddr_un address;
static socklen_t address_size;
static struct heap_hello hello;

static const volatile unsigned short *attached; /* NULL: no recorder can attach */
static long attached_pid; /* to which one did: its children find it by this number. 0: none did */

#define load(p) __atomic_load_n(&(p), __ATOMIC_RELAXED)
#define store(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELAXED)

static bool read_environment(const char *variable)
{
	const char *value = getenv(variable), *blank = value ? strchr(value, ' ') : NULL;
	size_t n = blank ? blank - value : 0;

	if (!n || n >= sizeof(address.sun_path) || strlen(blank + 1) != HEAP_TOKEN)
		return false;
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path + 1, value, n);
	address_size = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	hello.version = HEAP_VERSION;
	memcpy(hello.token, blank + 1, HEAP_TOKEN);
	return true;
}

static void connect_now(struct connection *c);

static bool map_connection(void)
{
	long at;

	heap_walk_init();
	at = raw_call(SYS_mmap, 0, sizeof(*connection), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return false;
	/* Without this a child would write as its parent. */
	if (raw_call(SYS_madvise, at, sizeof(*connection), MADV_WIPEONFORK, 0, 0, 0))
		return false;
	connection = (struct connection *)at;
	return true;
}

static bool make_connection(const char *variable)
{
	return read_environment(variable) && map_connection();
}

/*
 * Whether the program has a malloc that this library does not see. dlsym finds another one also in a program at fixed
 * addresses that takes malloc's address: a slot of its procedure linkage table, whose symbol is not defined there.
 */
static bool has_own_malloc(void)
{
	void *found = dlsym(RTLD_DEFAULT, "malloc");
	const Elf64_Sym *sym = NULL;
	Dl_info info;

	if (found == (void *)malloc)
		return false;
	return !dladdr1(found, &info, (void **)&sym, RTLD_DL_SYMENT) || !sym || sym->st_shndx != SHN_UNDEF;
}

bool heap_client_init(const char *variable)
{
	if (!make_connection(variable))
		return false;
	hello.own_malloc = has_own_malloc();
	connect_now(connection); /* there may be no event, but the recorder shall know */
	return true;
}

/* --- the handshake --- */

/* Where a recorder is, and what it is told. */
struct recorder {
	const struct sockaddr_un *at;
	socklen_t size;
	struct heap_hello *hello;
	bool attached; /* its socket's name is no secret: anybody may have taken it */
};

/* Whether root or the process's own user listens there, who may change its memory anyway. */
static bool is_trusted(int sock)
{
	struct ucred peer = { .uid = -1 };
	socklen_t n = sizeof(peer);

	return !raw_call(SYS_getsockopt, sock, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&n, 0) &&
	       (!peer.uid || peer.uid == (uid_t)raw_call(SYS_getuid, 0, 0, 0, 0, 0, 0));
}

static int receive_ring(int sock, struct heap_hello *h)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct iovec whole = { h, sizeof(*h) };
	const struct msghdr greeting = { .msg_iov = &whole, .msg_iovlen = 1 };
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct cmsghdr *c;
	int fd;

	if (own_call(h->token, SYS_sendmsg, sock, (long)&greeting, MSG_NOSIGNAL) != sizeof(*h) ||
	    raw_call(SYS_poll, (long)&p, 1, ANSWER_MS, 0, 0, 0) != 1 ||
	    own_call(h->token, SYS_recvmsg, sock, (long)&m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static struct heap_ring *map_ring(int fd)
{
	long at = raw_call(SYS_mmap, 0, HEAP_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct heap_ring *ring = (struct heap_ring *)at;

	if (at < 0 && at > -4096)
		return NULL;
	raw_call(SYS_madvise, at, HEAP_RING_BYTES, MADV_DONTFORK, 0, 0, 0);
	return ring->version == HEAP_VERSION ? ring : NULL;
}

static struct heap_ring *ask_for_ring(const struct recorder *r)
{
	const char *token = r->hello->token;
	int sock = own_call(token, SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), fd = -1;
	struct heap_ring *ring = NULL;

	if (sock < 0)
		return NULL;
	if (!own_call(token, SYS_connect, sock, (long)r->at, r->size) && (!r->attached || is_trusted(sock)))
		fd = receive_ring(sock, r->hello);
	if (fd >= 0) {
		ring = map_ring(fd);
		own_call(token, SYS_close, fd, 0, 0);
	}
	own_call(token, SYS_close, sock, 0, 0);
	return ring;
}

/* At the program's beginning, or a forked child's first event. */
static void connect_now(struct connection *c)
{
	uint32_t untried = UNTRIED;

	if (!__atomic_compare_exchange_n(&c->progress, &untried, TRYING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	c->process = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	c->ring = address_size ? ask_for_ring(&(struct recorder){ &address, address_size, &hello, false }) : NULL;
	__atomic_store_n(&c->progress, c->ring ? CONNECTED : GIVEN_UP, __ATOMIC_RELEASE);
}

/* --- a recorder that attaches --- */

/* Before a fork. A child's semaphore is a copy, but the recorder's socket has this process's number. */
static void note_attached(void)
{
	if (*attached && !attached_pid)
		attached_pid = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

void heap_client_await(const volatile unsigned short *semaphore)
{
	if (!connection && map_connection())
		connection->progress = GIVEN_UP;
	attached = semaphore;
	pthread_atfork(note_attached, NULL, NULL);
}

/* The socket's name for this process. */
static socklen_t name_attached(long pid, struct sockaddr_un *ret)
{
	static const char name[] = LOCKS_ATTACHED;
	char digits[PID_CHARS], *to = ret->sun_path + 1;
	size_t n = 0;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(to, name, sizeof(name) - 1);
	to += sizeof(name) - 1;
	for (; pid > 0 && n < sizeof(digits); pid /= 10)
		digits[n++] = '0' + pid % 10;
	while (n)
		*to++ = digits[--n];
	return to - (char *)ret;
}

static struct heap_ring *ask_attached(long pid)
{
	struct heap_hello h = { .version = HEAP_VERSION };
	struct sockaddr_un at;

	memcpy(h.token, OWN_ATTACHED, sizeof(OWN_ATTACHED) - 1);
	return pid ? ask_for_ring(&(struct recorder){ &at, name_attached(pid, &at), &h, true }) : NULL;
}

static bool is_stopped(const struct connection *c)
{
	return __atomic_load_n(&c->progress, __ATOMIC_ACQUIRE) != CONNECTED || load(c->ring->stop);
}

/*
 * A forked child has a copy of its parent's semaphore, which may never become 0 again: so there is a time between
 * two calls. Not inlined: it is rare. Returns whether there is a ring now.
 */
static __attribute__((noinline)) bool call_attached(struct connection *c)
{
	uint64_t now = heap_client_now(), asked = load(c->asked_ns);
	uint32_t before = load(c->progress);
	struct heap_ring *ring;

	if ((asked && now - asked < ASK_NS) || before == TRYING ||
	    !__atomic_compare_exchange_n(&c->progress, &before, TRYING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	c->process = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	ring = ask_attached(c->process);
	ring = ring ? ring : ask_attached(attached_pid);
	if (ring)
		c->ring = ring;
	store(c->asked_ns, ring ? 0 : now);
	__atomic_store_n(&c->progress, ring ? CONNECTED : before, __ATOMIC_RELEASE);
	return ring;
}

/* --- what there is --- */

uint64_t heap_client_profile(uint32_t parent, bool forked)
{
	struct connection *c;

	if (!connection && !make_connection(HEAP_VARIABLE))
		return 0;
	c = connection;
	hello.parent = parent;
	hello.forked = forked;
	connect_now(c);
	heap_walk_hide();
	return c->progress == CONNECTED ? c->ring->interval_ns : 0;
}

bool heap_client_is_alone(void)
{
	struct connection *c = connection;

	return c && load(c->progress) == CONNECTED && c->ring->alone;
}

bool heap_client_is_own(void)
{
	return connection && connection->process == (uint64_t)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

enum heap_mode heap_client_mode(void)
{
	struct connection *c = connection;

	if (!c)
		return HEAP_OFF;
	if (load(c->progress) == UNTRIED)
		connect_now(c);
	if (is_stopped(c) && !(attached && *attached && call_attached(c)))
		return HEAP_OFF;
	return c->ring->mode;
}

struct heap_ring *heap_client_ring(void)
{
	return connection->ring;
}

/* --- slots --- */

uint64_t heap_client_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct heap_slot *slot_of(struct heap_ring *r, uint64_t number)
{
	return (struct heap_slot *)((char *)r + HEAP_SLOTS_AT) + (number & (HEAP_SLOTS - 1));
}

/* Wait until the slots up to `end` are free. If the recorder stands still, give up for good. */
static bool await_room(struct connection *c, uint64_t end)
{
	static const struct timespec nap = { .tv_nsec = WAIT_NS };
	struct heap_ring *r = c->ring;
	uint64_t tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE), before = tail, since = 0;

	while (end - tail > HEAP_SLOTS) {
		uint64_t t = heap_client_now();

		if (!since || tail != before)
			since = t;
		before = tail;
		if (load(r->stop) || load(c->progress) != CONNECTED || t - since > WAIT_AT_MOST_NS) {
			store(c->progress, GIVEN_UP);
			return false;
		}
		raw_call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
		tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
	}
	return true;
}

/* Take n consecutive numbers whose slots are free. False: no more events will be written. */
static bool take(struct connection *c, uint32_t n, uint64_t *number)
{
	*number = __atomic_fetch_add(&c->ring->head, n, __ATOMIC_RELAXED);
	return await_room(c, *number + n);
}

static void put(struct connection *c, uint64_t number, uint32_t kind, uint32_t tid,
		const uint64_t *words, uint32_t n)
{
	struct heap_slot *s = slot_of(c->ring, number);

	s->kind = kind;
	s->tid = tid;
	memcpy(s->words, words, n * sizeof(*words));
	__atomic_store_n(&s->number, number + 1, __ATOMIC_RELEASE);
}

/* --- stacks --- */

struct stack {
	uint64_t words[HEAP_STACK_WORDS + HEAP_FRAMES + HEAP_WORDS]; /* as in its slots */
};

static uint64_t id_of(const uint64_t *pcs, size_t n, unsigned end)
{
	uint64_t h = n << 32 | end;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ pcs[i]) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

static bool send_stack(struct connection *c, uint32_t tid, const struct stack *s, uint32_t nframes)
{
	uint32_t n = heap_stack_slots(nframes);
	uint64_t number;

	if (!take(c, n, &number))
		return false;
	for (uint32_t i = 0; i < n; i++)
		put(c, number + i, i ? HEAP_SLOT_FRAMES : HEAP_SLOT_STACK, tid,
		    s->words + (size_t)i * HEAP_WORDS, HEAP_WORDS);
	return true;
}

/* Send the stack unless that has been done. Returns its id; 0: it could not be sent. */
static uint64_t keep_stack(struct connection *c, struct heap_thread *t, struct stack *s, size_t n,
			   unsigned end, uint64_t time_ns)
{
	uint32_t generation = load(c->ring->generation);
	uint64_t id = id_of(s->words + HEAP_STACK_WORDS, n, end), *sent = &c->sent[id % SENT];

	if (load(c->generation) != generation) {
		for (size_t i = 0; i < SENT; i++)
			store(c->sent[i], 0);
		store(c->generation, generation);
	}
	if (load(*sent) == id)
		return id;
	s->words[0] = id;
	s->words[1] = time_ns;
	s->words[2] = n | (uint64_t)end << 32;
	memset(s->words + HEAP_STACK_WORDS + n, 0, HEAP_WORDS * sizeof(s->words[0]));
	if (!send_stack(c, t->tid, s, n))
		return 0;
	store(*sent, id);
	return id;
}

/* Not inlined: its frame is large. Returns the stack's id; 0: no more events will be written. */
static __attribute__((noinline)) uint64_t stack_of(struct connection *c, struct heap_thread *t,
						   const struct heap_event *e, uint64_t time_ns)
{
	struct stack s;
	unsigned end;
	size_t n = heap_walk(&t->stack, e->frame, s.words + HEAP_STACK_WORDS, HEAP_FRAMES, &end);

	return keep_stack(c, t, &s, n, end, time_ns);
}

/* The thread's first event in this process. */
static bool introduce(struct connection *c, struct heap_thread *t)
{
	uint64_t words[HEAP_WORDS] = { 0 }, number;

	t->tid = raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	t->process = c->process;
	raw_call(SYS_prctl, 16 /* PR_GET_NAME */, (long)words, 0, 0, 0, 0);
	if (!take(c, 1, &number))
		return false;
	put(c, number, HEAP_SLOT_THREAD, t->tid, words, HEAP_WORDS);
	return true;
}

void heap_client_write(struct heap_thread *t, const struct heap_event *e)
{
	struct connection *c = connection;
	uint64_t time_ns = e->time_ns ? e->time_ns : heap_client_now(), number, stack = 0;

	if ((t->process == c->process || introduce(c, t)) && (stack = stack_of(c, t, e, time_ns)) &&
	    take(c, 1, &number)) {
		const uint64_t words[] = { time_ns, stack, e->size, e->address, e->old, 0 };

		put(c, number, e->kind, t->tid, words, HEAP_WORDS);
	} else {
		__atomic_fetch_add(&c->ring->lost, 1, __ATOMIC_RELAXED);
	}
}

/* --- clock samples --- */

/* Room for a sample with the deepest stack, and for those of other threads at the same time. */
static bool has_room(const struct connection *c)
{
	uint64_t tail = __atomic_load_n(&c->ring->tail, __ATOMIC_ACQUIRE);

	return load(c->ring->head) - tail < HEAP_SLOTS - MARGIN;
}

static void put_one(struct connection *c, uint32_t kind, uint32_t tid, const uint64_t words[HEAP_WORDS])
{
	uint64_t number;

	if (take(c, 1, &number))
		put(c, number, kind, tid, words, HEAP_WORDS);
}

/* A program may rename its threads at any time. */
static void introduce_again(struct connection *c, struct heap_thread *t)
{
	uint64_t words[HEAP_WORDS] = { 0 };

	if (t->process != c->process)
		t->tid = raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	raw_call(SYS_prctl, 16 /* PR_GET_NAME */, (long)words, 0, 0, 0, 0);
	if (t->process == c->process && !memcmp(words, t->name, sizeof(t->name)))
		return;
	t->process = c->process;
	memcpy(t->name, words, sizeof(t->name));
	put_one(c, HEAP_SLOT_THREAD, t->tid, words);
}

static uint64_t stack_from(struct connection *c, struct heap_thread *t, const uint64_t *regs, uint64_t time_ns)
{
	struct stack s;
	unsigned end;
	size_t n = heap_walk_from(&t->stack, regs, s.words + HEAP_STACK_WORDS, HEAP_FRAMES, &end);
	uint64_t nfiles = heap_walk_files();

	if (load(c->nfiles) != nfiles) {
		store(c->nfiles, nfiles);
		put_one(c, HEAP_SLOT_CODE, t->tid, (uint64_t[HEAP_WORDS]){ time_ns });
	}
	return keep_stack(c, t, &s, n, end, time_ns);
}

void heap_client_clock(struct heap_thread *t, const struct heap_clock *k)
{
	struct connection *c = connection;
	uint64_t time_ns = heap_client_now(), stack = 0;

	if (load(c->progress) != CONNECTED || load(c->ring->stop))
		return;
	if (!has_room(c)) {
		__atomic_fetch_add(&c->ring->lost, 1, __ATOMIC_RELAXED);
		return;
	}
	introduce_again(c, t);
	if (k->regs)
		stack = stack_from(c, t, k->regs, time_ns);
	put_one(c, HEAP_SLOT_CLOCK, t->tid,
		(uint64_t[HEAP_WORDS]){ time_ns, stack, k->user_us, k->system_us, k->cpu });
}

void heap_client_fork(void)
{
	struct connection *c = connection;

	if (load(c->progress) == CONNECTED)
		__atomic_fetch_add(&c->ring->forks, 1, __ATOMIC_RELEASE);
}

void heap_client_end(struct heap_thread *t, uint64_t user_us, uint64_t system_us)
{
	struct connection *c = connection;

	if (load(c->progress) == CONNECTED && !load(c->ring->stop))
		put_one(c, HEAP_SLOT_PROCESS, raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0),
			(uint64_t[HEAP_WORDS]){ heap_client_now(), user_us, system_us });
}
