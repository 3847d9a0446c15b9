package examiner.gvgai;

import java.util.Random;

/** A generator without a seed of its own gets the next of the play's. */
public class PlayRandom extends Random {
    private static final long serialVersionUID = 1L;

    public PlayRandom() {
        super(Substitutes.nextSeed());
    }

    public PlayRandom(long seed) {
        super(seed);
    }
}
