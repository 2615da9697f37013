/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the images of a family by how they came about: the n-th fork of an image appends "_f<n>" to
 * its lineage, the n-th exec appends "_x<n>". The founder's lineage is empty.
 */
#ifndef USER_LINEAGE_H
#define USER_LINEAGE_H

struct image;
struct strtab;

/*
 * Count a fork or an exec of the image, which has a lineage, and return the lineage of what it
 * created, interned in `names`. NULL: it is too long for the name of a file, or there are too many.
 */
const char *lineage_of_fork(struct strtab *names, struct image *creator);
const char *lineage_of_exec(struct strtab *names, struct image *creator);

#endif
