"""Plans of GVGAI games before they are run."""

from __future__ import annotations

from examiner.answers import Scalar, StoredAnswer
from examiner.arena import GvgaiPlan
from examiner.messages import counted
from examiner.reporting.finding import Finding
from examiner.reporting.renderers import finding_of


def render_gvgai_plan(plan: GvgaiPlan) -> Finding:
    """Show what a plan would play in a checkout of GVGAI, under which rules, and how long at most."""
    jobs, rules = plan.jobs(), plan.rules
    games = list(dict.fromkeys(job.game for job in jobs))
    levels = {(job.game, job.level) for job in jobs}
    headline = (
        f"{counted(len(jobs), 'play')}: {counted(len(plan.agents), 'agent')} × "
        f"{counted(len(levels), 'level')} of {counted(len(games), 'game')} × "
        f"{counted(len(plan.seeds), 'seed')}."
    )
    hours = len(jobs) * rules.cpu_seconds / 3600
    busy = "A budget of milliseconds allows fewer model calls on a busy machine: use idle cores."
    answer = StoredAnswer(
        "examiner.plan/1",
        headline,
        {},
        {
            "jobs": Scalar(len(jobs), "Plays of the plan"),
            "rules": Scalar(rules.name, "Rules"),
            "max_ticks": Scalar(rules.max_ticks, "Ticks of a play, at most"),
            "cpu_seconds": Scalar(rules.cpu_seconds, "Processor time of a play, at most", "s"),
            "core_hours": Scalar(hours, "Processor time of all plays, at most", "core-hours"),
        },
        () if rules.milliseconds is None else (busy,),
        {
            "name": plan.name,
            "agents": [agent.name for agent in plan.agents],
            "games": games,
            "seeds": list(plan.seeds),
            "protocol": rules.to_dict(),
            "protocol_hash": rules.hash,
        },
    )
    return finding_of(answer)
