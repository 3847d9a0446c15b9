"""What is played in a checkout of GVGAI: a plan before it is run."""

from __future__ import annotations

from examiner.arena import GvgaiPlan
from examiner.messages import counted
from examiner.reporting.finding import Finding, Text


def tell_plan(plan: GvgaiPlan) -> Finding:
    """Tell what a plan would play in a checkout of GVGAI, under which rules, and how long at most."""
    jobs = plan.jobs()
    games = list(dict.fromkeys(job.game for job in jobs))
    levels = {(job.game, job.level) for job in jobs}
    about = (
        f"{counted(len(jobs), 'play')}: {counted(len(plan.agents), 'agent')} × "
        f"{counted(len(levels), 'level')} of {counted(len(games), 'game')} × "
        f"{counted(len(plan.seeds), 'seed')}"
    )
    rules = plan.rules
    lines = [
        f"Rules: {rules.name}, at most {rules.max_ticks:,} ticks and {rules.cpu_seconds:g} CPU seconds a "
        f"play ({rules.hash})",
        f"At most {len(jobs) * rules.cpu_seconds / 3600:,.1f} core-hours, by the limit of a play",
    ]
    if rules.milliseconds is not None:
        lines.append("Milliseconds buy less on a busy machine: play on idle cores")
    data = {
        "name": plan.name,
        "jobs": len(jobs),
        "agents": [agent.name for agent in plan.agents],
        "games": {game: plan.split(game) for game in games},
        "seeds": list(plan.seeds),
        "protocol": rules.to_dict(),
        "protocol_name": rules.name,
        "protocol_hash": rules.hash,
    }
    return Finding(blocks=tuple(map(Text, lines)), data=data, about=about)
