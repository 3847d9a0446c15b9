"""Plans: what is to be played, as files and by name; some come with the package."""
