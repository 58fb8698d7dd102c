// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The use of an agent; register.c has its beginning and its end. */
#include <linux/types.h>
#include "agent.h"

#include "file.h"

/**
 * umad_agent_is_there() - is it worth to wait before umad_agent_enter()?
 * @file: that would have it
 * @id: below UMAD_MAX_AGENTS
 *
 * Context: any; takes no lock, so the answer is of a moment.
 * Return: false if umad_agent_enter() would find none now.
 */
bool umad_agent_is_there(struct umad_file *file, u32 id)
{
	return !READ_ONCE(file->shutdown) && umad_file_agent(file, id);
}

/**
 * umad_agent_enter() - use an agent
 * @file: that has it
 * @id: below UMAD_MAX_AGENTS
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 * Return: the agent, which stays registered until umad_agent_leave(), or NULL
 * when there is none.
 */
struct umad_agent *umad_agent_enter(struct umad_file *file, u32 id)
{
	struct umad_agent *agent;

	spin_lock(&file->lock);
	agent = umad_file_agent(file, id);
	/* One whose end is near would only make its closer wait. */
	if (agent && (file->shutdown || !agent->published ||
		      !umad_active_ref_tryget(&agent->active_ref)))
		agent = NULL;
	spin_unlock(&file->lock);
	return agent;
}

/**
 * umad_agent_leave() - end the use of an agent
 * @agent: that was entered
 *
 * Context: any.
 */
void umad_agent_leave(struct umad_agent *agent)
{
	umad_active_ref_put(&agent->active_ref);
}

/**
 * umad_agent_kind() - is there such an agent, now, and how does it send?
 * @file: that would have it
 * @id: below UMAD_MAX_AGENTS
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 * Return: its kind.
 */
enum umad_agent_kind umad_agent_kind(struct umad_file *file, u32 id)
{
	struct umad_agent *agent = umad_agent_enter(file, id);
	enum umad_agent_kind kind;

	if (!agent)
		return UMAD_AGENT_NONE;
	kind = agent->kernel_rmpp ? UMAD_AGENT_RMPP : UMAD_AGENT_PLAIN;
	umad_agent_leave(agent);
	return kind;
}

/**
 * umad_agent_shut() - let nobody use an agent any more
 * @agent: may be shut already
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_agent_shut(struct umad_agent *agent)
{
	lockdep_assert_held(&agent->file->lock);
	if (agent->shutdown)
		return;
	agent->shutdown = true;
	umad_active_ref_kill(&agent->active_ref);
}
