package tracks.singlePlayer.simple.doNothing;

import core.game.StateObservation;
import core.player.AbstractPlayer;
import ontology.Types;
import tools.ElapsedCpuTimer;

public class Agent extends AbstractPlayer {
    public Agent(StateObservation seen, ElapsedCpuTimer timer) {}

    @Override
    public Types.ACTIONS act(StateObservation seen, ElapsedCpuTimer timer) {
        return Types.ACTIONS.ACTION_NIL;
    }
}
