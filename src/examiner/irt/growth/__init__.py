"""A fit that grows: new agents placed, new tasks calibrated, and whether old tasks have moved."""
