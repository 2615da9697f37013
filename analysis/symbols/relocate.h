/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relocatable files, object files of a compiler and kernel modules, made such that
 * readers of linked files can read them: each section gets an address, symbols and
 * debug sections the values that follow from these.
 */
#ifndef SYMBOLS_RELOCATE_H
#define SYMBOLS_RELOCATE_H

/*
 * A file in memory with the linked form of the relocatable file open at fd, to be
 * closed; -1 when fd is no relocatable file of a machine that is known here. What other
 * files define lies in a section of its own, without content and flagged SHF_EXCLUDE, so
 * that calls have a target with a name (elfsyms.h: RAW_ELSEWHERE).
 */
int relocate_open(int fd);

#endif
