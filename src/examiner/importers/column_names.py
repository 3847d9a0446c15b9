"""Names by which columns of plain tables are known as the agent or the task; the best known first."""

AGENT_COLUMNS = (
    *("agent", "algorithm", "algo", "model", "method"),
    *("technique", "controller", "player"),
)
TASK_COLUMNS = ("task", "game", "env", "environment", "env_id", "env_name", "benchmark", "dataset")
