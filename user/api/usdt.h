/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * USDT probes with a semaphore: the notes that <sys/sdt.h> writes. USDT_PROBE has two arguments, a
 * pointer and an int. A file may have several places of one probe.
 */
#ifndef USER_API_USDT_H
#define USER_API_USDT_H

/* At file scope, once: the counter that the kernel raises while somebody has the probe attached. */
#define USDT_SEMAPHORE(provider, probe) \
	volatile unsigned short provider##_##probe##_semaphore __attribute__((section(".probes")))

#define USDT_NOTE(provider, probe, arguments, ...)                                                 \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: .8byte 990b, _.stapsdt.base, " #provider "_" #probe "_semaphore\n"  \
			 ".asciz \"" #provider "\"\n"                                              \
			 ".asciz \"" #probe "\"\n"                                                 \
			 ".asciz \"" arguments "\"\n"                                              \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n"                                                           \
			 ".ifndef _.stapsdt.base\n"                                                \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"   \
			 ".weak _.stapsdt.base\n"                                                  \
			 ".hidden _.stapsdt.base\n"                                                \
			 "_.stapsdt.base: .space 1\n"                                              \
			 ".size _.stapsdt.base, 1\n"                                               \
			 ".popsection\n"                                                           \
			 ".endif\n"                                                                \
			 :: __VA_ARGS__)

#define USDT_PROBE(provider, probe, pointer, number) \
	USDT_NOTE(provider, probe, "8@%[p] -4@%[n]", [p] "nor"(pointer), [n] "nor"(number))
/* The argument is what the pointer points to. */
#define USDT_POINTED(provider, probe, pointer) \
	USDT_NOTE(provider, probe, "8@(%[p])", [p] "r"(pointer))

#endif
