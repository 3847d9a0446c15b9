package core.game;

import java.util.Random;

/** A copy of the game whose noise is its own. */
public class ForwardModel {
    private final Random noise = new Random();
    int tick;
    double score;

    ForwardModel(int tick, double score) {
        this.tick = tick;
        this.score = score;
    }

    public ForwardModel copy() {
        return new ForwardModel(tick, score);
    }

    void advance() {
        tick++;
        score += noise.nextInt(10);
    }
}
