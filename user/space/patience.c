/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/patience.h"

enum {
	LEAST_NS = 100000000, /* not worth asking a stranger for less */
	FREE_NS = 100000,    /* of each wait: the usual answer, and a busy CPU */
	MAX_KEYS = 1 << 16,
};

void patience_free(struct patience *p)
{
	map_free(&p->refused);
	map_free(&p->trusted);
	map_free(&p->users);
	*p = (struct patience){ 0 };
}

static void refill(struct patience *p, uint64_t now_ns)
{
	if (!p->at_ns)
		p->left_ns = PATIENCE_NS;
	else if (now_ns > p->at_ns)
		p->left_ns += (now_ns - p->at_ns) / PATIENCE_SHARE;
	if (p->left_ns > PATIENCE_NS)
		p->left_ns = PATIENCE_NS;
	p->at_ns = now_ns;
}

int64_t patience_limit(struct patience *p, uint64_t now_ns, bool trusted)
{
	refill(p, now_ns);
	if (p->left_ns >= LEAST_NS)
		return p->left_ns / 2;
	return trusted && p->left_ns > -PATIENCE_NS ? PATIENCE_SHORT_NS : 0;
}

void patience_spend(struct patience *p, int64_t ns)
{
	if (ns > FREE_NS)
		p->left_ns -= ns;
}

/* Of more than MAX_KEYS, the others are judged anew each time. */
static void remember(struct map *m, uint64_t key)
{
	if (m->len < MAX_KEYS)
		map_put(m, key, NULL);
}

void patience_refuse(struct patience *p, uint64_t key)
{
	remember(&p->refused, key);
}

bool patience_refuses(const struct patience *p, uint64_t key)
{
	return map_get(&p->refused, key);
}

void patience_blame_user(struct patience *p, uid_t user)
{
	if (user && (p->users.len < MAX_KEYS || map_get(&p->users, user)))
		++*map_put(&p->users, user, NULL);
}

bool patience_refuses_user(const struct patience *p, uid_t user)
{
	const uint64_t *n = map_get(&p->users, user);

	return n && *n >= PATIENCE_USER;
}

void patience_trust(struct patience *p, uint64_t key)
{
	remember(&p->trusted, key);
}

bool patience_trusts(const struct patience *p, uint64_t key)
{
	return map_get(&p->trusted, key);
}
