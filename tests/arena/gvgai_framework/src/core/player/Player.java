package core.player;

import core.game.StateObservation;
import ontology.Types;
import tools.ElapsedCpuTimer;

public abstract class Player {
    public abstract Types.ACTIONS act(StateObservation seen, ElapsedCpuTimer timer);

    public void result(StateObservation seen, ElapsedCpuTimer timer) {}
}
