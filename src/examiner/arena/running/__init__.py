"""Many jobs played by a crew, resumed wherever they were left."""
