/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Interrupts: there are none, and the instructions are not allowed. */
#ifndef UMAD_FUZZ_ASM_IRQFLAGS_H
#define UMAD_FUZZ_ASM_IRQFLAGS_H

#ifndef __ASSEMBLY__
static inline unsigned long arch_local_save_flags(void)
{
	return 0;
}

static inline unsigned long arch_local_irq_save(void)
{
	return 0;
}

static inline void arch_local_irq_restore(unsigned long flags)
{
}

static inline void arch_local_irq_disable(void)
{
}

static inline void arch_local_irq_enable(void)
{
}

static inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return 0;
}

static inline int arch_irqs_disabled(void)
{
	return 0;
}

static inline void arch_safe_halt(void)
{
}

static inline void native_safe_halt(void)
{
}

static inline void native_halt(void)
{
}
#endif

#endif /* UMAD_FUZZ_ASM_IRQFLAGS_H */
