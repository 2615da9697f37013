/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in their functions the calls of the page's stacks are: for tables of lines and pcs. A node
 * of the call tree (page_tree.h) is a function; here it has a variant for each combination of
 * places by which the stacks of events go through the functions from the root to it. An event names
 * its path and the variant of the path's leaf. The most frequent variant is the first, so that most
 * numbers are 0.
 */
#ifndef EXPORT_PAGE_PLACES_H
#define EXPORT_PAGE_PLACES_H

#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct frame;
struct pack;
struct page_tree;
struct session;
struct view_state;

/* A place: a frame of the session; or a function whose load object is not shown in full. */
struct place {
	uint32_t frame; /* SHOWN_MERGED: the function as a whole */
	uint32_t func;	/* index into page_tree.funcs */
	uint32_t rank;	/* among the places of the function */
};

struct variant {
	uint32_t parent;  /* less than its own index; the root's is 0 */
	uint32_t node;	  /* in the tree */
	uint32_t place;	  /* the root's has no meaning */
	uint32_t variant; /* among those of the node */
	size_t n;	  /* events with this leaf */
};

/* A zeroed struct has no places. */
struct page_places {
	VEC(struct variant) nodes; /* the root is the first */
	VEC(struct place) all;
	VEC(uint32_t) order; /* nodes in the order of the tree's nodes, then of variants */
	struct intern edges; /* nodes without the root: an edge's id + 1 is its node */
	struct map by_place; /* place + 1 */
};

/* The variant of the stack that was added to the tree last. Missing ones are added. */
uint32_t page_places_add(struct page_places *p, const struct page_tree *t);
/* Number the variants of each node, and the places of each function. No more can be added then. */
void page_places_number(struct page_places *p, const struct page_tree *t);
/*
 * The frames of all places, in the order in which put_places writes them. That of a function as a whole
 * has no function. The caller frees them.
 */
struct frame *page_places_frames(const struct page_places *p, const struct page_tree *t,
				 struct session *s);
/* Append the sections: names of lines and pcs, places by function, variants by node. */
void put_places(struct view_state *v, const struct page_places *p, const struct page_tree *t,
		struct pack *ret);
void page_places_free(struct page_places *p);

#endif
