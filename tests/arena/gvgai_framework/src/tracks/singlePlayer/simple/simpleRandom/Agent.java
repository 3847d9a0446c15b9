package tracks.singlePlayer.simple.simpleRandom;

import core.game.StateObservation;
import core.player.AbstractPlayer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import ontology.Types;
import tools.ElapsedCpuTimer;

/** Draws in all ways that agents draw: from a generator, from one made on the way, by Math and by shuffling. */
public class Agent extends AbstractPlayer {
    private static int plays;
    private final Random random = new Random();

    public Agent(StateObservation seen, ElapsedCpuTimer timer) {
        plays++;
    }

    @Override
    public Types.ACTIONS act(StateObservation seen, ElapsedCpuTimer timer) {
        if (plays > 1) {
            throw new IllegalStateException("an earlier play was left in the class");
        }
        List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3));
        Collections.shuffle(order);
        Random local = new Random(System.nanoTime());
        double drawn = random.nextInt(2) + new Random().nextInt(2) + Math.random() + order.get(0) + local.nextInt(2);
        return drawn > 3 ? Types.ACTIONS.ACTION_RIGHT : Types.ACTIONS.ACTION_LEFT;
    }
}
