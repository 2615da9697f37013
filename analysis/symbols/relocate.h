/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts relocatable files (compiler output, kernel modules) so that readers of
 * linked files can read them: gives each section an address, and adjusts symbols and
 * debug sections to these addresses.
 */
#ifndef SYMBOLS_RELOCATE_H
#define SYMBOLS_RELOCATE_H

/*
 * Make the linked form of the relocatable file open at fd, as a memory file. Returns
 * its descriptor, which the caller closes; -1 if fd is not a relocatable file of a
 * supported machine. Symbols defined in other files get addresses in an extra section
 * without content, flagged SHF_EXCLUDE, so that calls have a target with a name
 * (elfsyms.h: RAW_ELSEWHERE).
 */
int relocate_open(int fd);

#endif
