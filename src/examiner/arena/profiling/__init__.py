"""What a profile is measured with: a random walk, states on its way, and other ways of playing."""
