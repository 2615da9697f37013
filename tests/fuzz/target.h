/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libFuzzer calls in each target_*.c. The programs are built by `make fuzz`
 * with clang; run.sh runs them, each from seeds that seeds.c makes.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
