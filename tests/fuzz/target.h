/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that libFuzzer calls in each target_*.c. `make fuzz` builds the programs with
 * clang; run.sh runs each from the seeds of seeds.c.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
