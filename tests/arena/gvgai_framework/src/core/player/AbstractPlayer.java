package core.player;

public abstract class AbstractPlayer extends Player {}
