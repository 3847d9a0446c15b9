"""What learning agents are made of: a tree of histories, features of screens, sparse weights, memories."""
