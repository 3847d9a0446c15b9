"""One job played: its episodes, and what was done in them."""
