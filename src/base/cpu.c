/* SPDX-License-Identifier: MIT */
/* What the processor can do; for the choice of a MAC. */
#include "config.h"

#include "base/cpu.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/* Intel's manual, CPUID leaf 7: bit 29 of EBX is SHA. */
bool
cpu_has_sha256(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
	       (b >> 29 & 1) != 0;
#elif defined(__aarch64__) && defined(__linux__)
	return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0;
#else
	return false;
#endif
}
