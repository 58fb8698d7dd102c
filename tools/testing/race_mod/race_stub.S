/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A task that is stopped comes here, by a probe's handler or by a return address
 * that one has changed: between two instructions of any code. All registers are
 * saved, race_stopped() sleeps and says where to go on, all are restored.
 * The order is that of struct race_frame.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>

	.text
SYM_FUNC_START(race_stub)
	ANNOTATE_NOENDBR
	pushq	$0
	pushfq
	pushq	%rax
	pushq	%rbx
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%rbp
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, %rdi
	movq	%rsp, %rbx
	andq	$-16, %rsp
	cld
	call	race_stopped
	movq	%rbx, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rbp
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	popq	%rax
	popfq
	RET
SYM_FUNC_END(race_stub)
/* Whose stack it is, objtool cannot know. */
STACK_FRAME_NON_STANDARD race_stub
